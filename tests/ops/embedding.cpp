#include "reduce_reference.h"

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("An embedding gives the rows that indices name", "[embedding]") {
  const Tensor weight = random_tensor({7, 5});
  for (const Tensor& w : layouts(weight)) {
    for (const Tensor& indices : layouts(random_indices({3, 4}, 7))) {
      const Tensor result = embedding(w, indices);
      CHECK(result.sizes() == IntArrayRef({3, 4, 5}));
      const Tensor flat = indices.contiguous().view(-1);
      check_close(result, values(weight.index_select(0, flat)), 0);
      check_close(embedding(w, indices.to(kInt)), values(result), 0);
    }
  }
  CHECK(embedding(weight, made_of({3}, {}, kLong)).sizes() == IntArrayRef({5}));
  CHECK(embedding(weight, zeros({0, 2}, kLong)).sizes() == IntArrayRef({0, 2, 5}));
}

// A device reports an index when the host waits for it: here for the copy to the CPU.
TEST_CASE("Indices outside an embedding are errors", "[embedding]") {
  const Tensor weight = zeros({7, 5});
  for (const double bad : {7.0, -1.0}) {
    CHECK_THROWS_AS(embedding(weight, made_of({bad}, {1}, kLong)).cpu(), IndexError);
  }
  CHECK_THROWS_WITH(
      embedding(weight, made_of({9}, {1}, kLong)).cpu(),
      ContainsSubstring("embedding") && ContainsSubstring("9") && ContainsSubstring("7"));
  CHECK_THROWS_WITH(embedding(zeros({7}), zeros({1}, kLong)), ContainsSubstring("[7]"));
  CHECK_THROWS_WITH(embedding(weight, zeros({1})), ContainsSubstring("Float"));
}

TEST_CASE("The gradient of an embedding adds up equal indices", "[embedding][grad]") {
  const Tensor weight = random_tensor({4, 2}).requires_grad_();
  const Tensor indices = made_of({1, 3, 1, 1}, {2, 2}, kLong);
  embedding(weight, indices).sum().backward();
  check_close(weight.grad(), {0, 0, 3, 3, 0, 0, 1, 1});
}

TEST_CASE("The padding row of an embedding gets no gradient", "[embedding][grad]") {
  const Tensor weight = random_tensor({4, 2}).requires_grad_();
  const Tensor indices = made_of({1, 3, 1, 2}, {4}, kLong);
  embedding(weight, indices, 1).sum().backward();
  check_close(weight.grad(), {0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("Gradients of an embedding may be scaled by frequency", "[embedding][grad]") {
  const Tensor weight = random_tensor({4, 2}).requires_grad_();
  const Tensor indices = made_of({1, 3, 1, 2}, {4}, kLong);
  const Tensor grad = made_of({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  embedding(weight, indices, -1, true).backward(grad);
  check_close(weight.grad(), {0, 0, 3, 4, 7, 8, 3, 4});
}

TEST_CASE("Embeddings have first and second derivatives", "[embedding][grad]") {
  const Tensor weight = random_tensor({4, 2}).requires_grad_();
  const Tensor indices = made_of({1, 3, 1, 2}, {2, 2}, kLong);
  CHECK(check_gradients([&](auto& in) { return embedding(in[0], indices).square(); }, {weight}));
  const Tensor grad = random_tensor({2, 2, 2}).requires_grad_();
  CHECK(check_gradients([&](auto& in) { return embedding_backward(in[0], indices, 4, -1, false); },
                        {grad}));
  CHECK(check_gradients([&](auto& in) { return embedding_backward(in[0], indices, 4, 1, false); },
                        {grad}));
  CHECK(check_gradients([&](auto& in) { return embedding_backward(in[0], indices, 4, 3, true); },
                        {grad}));
}

TEST_CASE("Embeddings and their gradients are the same for any number of threads", "[embedding]") {
  const Tensor weight = random_tensor({50, 64}, kFloat);
  const Tensor indices = random_indices({4000}, 50);
  const Tensor grad = random_tensor({4000, 64}, kFloat, -1, 1, 3);
  check_same_for_any_threads([&] { return embedding(weight, indices); });
  check_same_for_any_threads([&] { return embedding_backward(grad, indices, 50, -1, false); });
}

TEST_CASE("An embedding allocates its result alone", "[embedding]") {
  const Tensor weight = random_tensor({50, 64}, kFloat);
  const Tensor indices = random_indices({16}, 50);
  CHECK(measure([&] { return embedding(weight, indices); }).peak_bytes == 16 * 64 * 4);
}
