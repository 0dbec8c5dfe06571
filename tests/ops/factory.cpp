#include <cmath>
#include <memory>

#include "shape_support.h"

using namespace ebb;
using Values = std::vector<double>;

TEST_CASE("factories take dtype, device and requires_grad from their options") {
  CHECK(zeros({2}).scalar_type() == kFloat);
  CHECK(zeros({2}, kHalf).scalar_type() == kHalf);
  CHECK(zeros({2}, dtype(kInt)).scalar_type() == kInt);
  CHECK(zeros({2}, dtype<double>()).scalar_type() == kDouble);
  CHECK(zeros({2}, TensorOptions().device(kCPU).dtype(kLong)).scalar_type() == kLong);
  CHECK(zeros({2}, requires_grad()).requires_grad());
  CHECK(zeros({2}, requires_grad()).is_leaf());
  CHECK_FALSE(zeros({2}).requires_grad());
  CHECK_THROWS_AS(zeros({2}, dtype(kInt).requires_grad(true)), Error);
  CHECK(values(zeros({2})) == Values{0, 0});
  CHECK(values(ones({2}, kBool)) == Values{1, 1});
  CHECK(sizes(empty({2, 0, 3})) == Sizes{2, 0, 3});
  CHECK(sizes(empty(5)) == Sizes{5});
  CHECK(sizes(zeros(std::vector<int64_t>{2, 3})) == Sizes{2, 3});
  CHECK(scalar_tensor(2.5).dim() == 0);
  CHECK(ones({2})._version() == 0);
}

TEST_CASE("the kind of the number gives the dtype of full") {
  CHECK(full({2}, 1.5).scalar_type() == kFloat);
  CHECK(full({2}, 1).scalar_type() == kLong);
  CHECK(full({2}, true).scalar_type() == kBool);
  CHECK(full({2}, 1, kDouble).scalar_type() == kDouble);
  CHECK(values(full({2}, -7)) == Values{-7, -7});
}

TEST_CASE("like and new take what options leave out from the tensor") {
  const Tensor x = counted({2, 3}).t();
  CHECK(strides(empty_like(x)) == Sizes{1, 3});
  CHECK(strides(zeros_like(x)) == Sizes{1, 3});
  CHECK(strides(zeros_like(x, TensorOptions().memory_format(MemoryFormat::Contiguous))) ==
        Sizes{2, 1});
  CHECK(ones_like(x).scalar_type() == kDouble);
  CHECK(ones_like(x, kInt).scalar_type() == kInt);
  CHECK(values(full_like(x, 3)) == Values(6, 3.0));
  CHECK(strides(zeros_like(x.slice(0, 0, 3, 2))) == Sizes{2, 1});
  CHECK_FALSE(zeros_like(x.clone().requires_grad_()).requires_grad());
  CHECK(x.new_zeros({4}).scalar_type() == kDouble);
  CHECK(x.new_ones({4}, kInt).scalar_type() == kInt);
  CHECK(values(x.new_full({1}, 2)) == Values{2});
  CHECK(sizes(x.new_empty({1, 2})) == Sizes{1, 2});
}

TEST_CASE("each factory allocates its result alone, in rounded bytes") {
  CHECK(bytes_peak([] { return zeros({1000}); }) == memory::rounded(4000));
  CHECK(bytes_peak([] { return eye(100); }) == memory::rounded(40000));
  CHECK(bytes_peak([] { return arange(1000); }) == memory::rounded(8000));
  CHECK(bytes_peak([] { return linspace(0, 1, 1000); }) == memory::rounded(4000));
  CHECK(bytes_peak([] { return randperm(1000); }) == memory::rounded(8000));
  CHECK(bytes_peak([] { return randn({1000}); }) == memory::rounded(4000));
  CHECK(bytes_peak([] { return tensor({1., 2., 3.}); }) == memory::rounded(12));
  CHECK(bytes_peak([] { return zeros({0}); }) == 0);
}

TEST_CASE("sizes that are negative or overflow are errors that name op and sizes") {
  CHECK_THAT(error_of([] { return zeros({2, -1}); }), says("zeros: ") && says("[2, -1]"));
  CHECK_THAT(error_of([] {
               return empty({INT64_MAX, 2});
             }),
             says("empty: ") && says("9223372036854775807"));
  CHECK_THAT(error_of([] { return empty({INT64_MAX / 4}, kDouble); }), says("2^63"));
  CHECK_THAT(error_of([] {
               return ones({int64_t{1} << 40, int64_t{1} << 40, 0});
             }),
             says("ones: "));
  CHECK_THAT(error_of([] { return rand({-1}); }), says("rand: "));
  CHECK_THAT(error_of([] { return eye(-1); }), says("eye: "));
  CHECK_THAT(error_of([] { return empty_strided({2, 2}, {1}); }), says("empty_strided: "));
  CHECK_THAT(error_of([] { return empty_strided({2}, {-1}); }), says("negative"));
  CHECK_THAT(error_of([] { return empty_strided({2, 2}, {INT64_MAX, 1}); }), says("2^63"));
}

TEST_CASE("empty_strided reserves what its strides reach") {
  const Tensor x = empty_strided({2, 3}, {1, 2});
  CHECK(strides(x) == Sizes{1, 2});
  CHECK(x.storage().nbytes() == 24);
  CHECK(empty_strided({2, 2}, {10, 3}).storage().nbytes() == 14 * 4);
  CHECK(empty_strided({0, 2}, {10, 3}).storage().nbytes() == 0);
}

TEST_CASE("arange has the elements and dtype of LibTorch's") {
  CHECK(arange(5).scalar_type() == kLong);
  CHECK(values(arange(5)) == Values{0, 1, 2, 3, 4});
  CHECK(values(arange(2, 5)) == Values{2, 3, 4});
  CHECK(values(arange(5, 0, -2)) == Values{5, 3, 1});
  CHECK(arange(0, 1, 0.25).scalar_type() == kFloat);
  CHECK(values(arange(0, 1, 0.25)) == Values{0, 0.25, 0.5, 0.75});
  CHECK(arange(2.0).scalar_type() == kFloat);
  CHECK(arange(0, 1, 0.1, kDouble).numel() == 10);
  CHECK(values(arange(3, kHalf)) == Values{0, 1, 2});
  CHECK(values(arange(INT64_MAX - 2, INT64_MAX)).size() == 2);
  CHECK(arange(INT64_MAX - 1, INT64_MAX).item<int64_t>() == INT64_MAX - 1);
  CHECK(arange(INT64_MIN, INT64_MAX, int64_t{1} << 62)[3].item<int64_t>() == int64_t{1} << 62);
  CHECK(arange(0).numel() == 0);
  CHECK(values(arange(100000).slice(0, 99998)) == Values{99998, 99999});
  CHECK_THAT(error_of([] { return arange(0, 5, 0); }),
             says("arange: ") && says("step must be nonzero"));
  CHECK_THAT(error_of([] { return arange(5, 0); }), says("inconsistent with step sign"));
  CHECK_THAT(error_of([] { return arange(0, INFINITY); }), says("unsupported range"));
  CHECK_THAT(error_of([] { return arange(0, NAN); }), says("unsupported range"));
}

TEST_CASE("linspace meets both ends") {
  CHECK(values(linspace(0, 1, 5)) == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(values(linspace(3, -3, 3)) == Values{3, 0, -3});
  CHECK(values(linspace(2, 5, 1)) == Values{2});
  CHECK(linspace(0, 1, 0).numel() == 0);
  CHECK(linspace(0, 0.7, 1000, kDouble)[999].item<double>() == 0.7);
  CHECK(values(linspace(0, 10, 5, kInt)) == Values{0, 2, 5, 7, 10});
  CHECK_THROWS_AS(linspace(0, 1, -1), Error);
}

TEST_CASE("eye has ones on its diagonal") {
  CHECK(values(eye(2)) == Values{1, 0, 0, 1});
  CHECK(values(eye(2, 3)) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(eye(3, 2, kBool)) == Values{1, 0, 0, 1, 0, 0});
  CHECK(eye(0).numel() == 0);
}

TEST_CASE("random factories follow the seed and lie in their ranges") {
  manual_seed(5);
  const Tensor a = rand({1000}), b = randn({1000}), c = randint(10, {1000});
  manual_seed(5);
  CHECK(rand({1000}).equal(a));
  CHECK(randn({1000}).equal(b));
  CHECK(randint(10, {1000}).equal(c));
  CHECK(a.min().item<float>() >= 0);
  CHECK(a.max().item<float>() < 1);
  CHECK(std::abs(a.mean().item<double>() - 0.5) < 0.05);
  CHECK(std::abs(b.mean().item<double>()) < 0.15);
  CHECK(c.scalar_type() == kLong);
  CHECK(c.min().item<int64_t>() == 0);
  CHECK(c.max().item<int64_t>() == 9);
  CHECK(randint(-3, -1, {50}, kFloat).max().item<float>() == -2);
  CHECK(rand_like(a).sizes() == a.sizes());
  CHECK(randn_like(a).sizes() == a.sizes());
  CHECK(randint_like(a, 5).scalar_type() == kFloat);
  CHECK(a._version() == 0);
  CHECK(rand({2}, requires_grad()).requires_grad());
  const Generator own(get_default_device(), 9);
  const Tensor d = rand({3}, own);
  CHECK(d.equal(rand({3}, Generator(get_default_device(), 9))));
  CHECK_THROWS_AS(rand({2}, kInt), Error);
  CHECK_THAT(error_of([] { return randint(3, 3, {2}); }), says("randint: ") && says("low 3"));
}

TEST_CASE("randperm holds each number once, in an order that the seed gives") {
  manual_seed(1);
  const Tensor p = randperm(1000);
  CHECK(p.scalar_type() == kLong);
  CHECK(std::get<0>(p.sort()).equal(arange(1000)));
  CHECK_FALSE(p.equal(arange(1000)));
  manual_seed(1);
  CHECK(randperm(1000).equal(p));
  CHECK(randperm(0).numel() == 0);
  CHECK(randperm(1).item<int64_t>() == 0);
  CHECK(randperm(10, kFloat).scalar_type() == kFloat);
  CHECK(randperm(128, kInt8).numel() == 128);
  CHECK_THROWS_AS(randperm(129, kInt8), Error);
  CHECK_THROWS_AS(randperm(-1), Error);
}

TEST_CASE("every place of a permutation is equally likely") {
  manual_seed(3);
  Tensor counts = zeros({4, 4}, kLong);
  for (int i = 0; i < 2000; ++i) {
    const Tensor p = randperm(4);
    for (int64_t k = 0; k < 4; ++k) counts[k][p[k].item<int64_t>()].add_(1);
  }
  CHECK(counts.min().item<int64_t>() > 400);
  CHECK(counts.max().item<int64_t>() < 600);
}

TEST_CASE("from_blob shows foreign memory, which counts nowhere") {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const int64_t before = memory::memory_allocated();
  Tensor x = from_blob(data, {2, 3});
  CHECK(memory::memory_allocated() == before);
  CHECK(x.data_ptr<float>() == data);
  x[1][0] = 30;
  x.add_(1);
  CHECK(data[3] == 31);
  CHECK(values(from_blob(data, {2, 2}, {3, 2})) == Values{1, 3, 31, 6});
  CHECK(from_blob(data, {6}, requires_grad()).requires_grad());
  int16_t small[2] = {1, 2};
  CHECK(values(from_blob(small, {2}, kShort)) == Values{1, 2});
  CHECK_THAT(error_of([] { return from_blob(nullptr, {2}); }), says("from_blob: ") && says("[2]"));
  CHECK(from_blob(nullptr, {0}).numel() == 0);
}

TEST_CASE("from_blob's deleter runs once, when the last tensor over the memory is gone") {
  int deleted = 0;
  void* seen = nullptr;
  auto* data = new float[4]{};
  Tensor view;
  {
    const Tensor x = from_blob(data, {4}, [&](void* memory) {
      ++deleted;
      seen = memory;
      delete[] static_cast<float*>(memory);
    });
    view = x.slice(0, 2);
  }
  CHECK(deleted == 0);
  view.reset();
  CHECK(deleted == 1);
  CHECK(seen == data);
  auto shared = std::make_shared<int>(1);
  double more[4] = {};
  from_blob(
      more, {2}, {2}, [shared](void*) {}, kDouble)
      .reset();
  CHECK(shared.use_count() == 1);
}

TEST_CASE("factories in inference mode make inference tensors") {
  const InferenceMode mode;
  CHECK(zeros({2}).is_inference());
  CHECK(tensor({1.0}).is_inference());
  CHECK(zeros({2}).view({2, 1}).is_inference());
}
