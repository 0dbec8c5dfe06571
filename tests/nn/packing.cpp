#include "networks.h"

#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

using namespace networks;
using namespace nn::utils::rnn;
using Catch::Matchers::ContainsSubstring;
using ebb::memory::rounded;
using ebb::testing::measure;

namespace {

Tensor longs(const std::vector<int64_t>& numbers) { return ebb::tensor(numbers, ebb::kLong); }

std::vector<double> values(const Tensor& tensor) {
  const Tensor dense = tensor.cpu().to(ebb::kDouble).contiguous();
  const auto* data = dense.data_ptr<double>();
  return {data, data + dense.numel()};
}

using Values = std::vector<double>;

/// Three sequences of 2, 3 and 1 numbers: 10 b + t, side by side in [T, B, 1], padded with -1.
Tensor padded_columns() {
  return ebb::tensor({{0.0, 10.0, 20.0}, {1.0, 11.0, -1.0}, {-1.0, 12.0, -1.0}}).unsqueeze(2);
}

}  // namespace

TEST_CASE("packing puts the first steps of all sequences first, the longest sequence first") {
  const auto packed = pack_padded_sequence(padded_columns(), longs({2, 3, 1}), false, false);
  CHECK(values(packed.data()) == Values{10, 0, 20, 11, 1, 12});
  CHECK(packed.data().sizes() == ebb::IntArrayRef({6, 1}));
  CHECK(values(packed.batch_sizes()) == Values{3, 2, 1});
  CHECK(packed.batch_sizes().device().is_cpu());
  CHECK(values(packed.sorted_indices()) == Values{1, 0, 2});
  CHECK(values(packed.unsorted_indices()) == Values{1, 0, 2});
  CHECK(packed.sorted_indices().device() == packed.data().device());
}

TEST_CASE("a padded batch, and one whose first dimension is the batch, pack to the same") {
  const auto by_step = pack_padded_sequence(padded_columns(), longs({2, 3, 1}), false, false);
  const auto by_batch =
      pack_padded_sequence(padded_columns().transpose(0, 1), longs({2, 3, 1}), true, false);
  CHECK(ebb::equal(by_step.data(), by_batch.data()));
  const auto sequences = std::vector<Tensor>{
      ebb::tensor({{0.0}, {1.0}}), ebb::tensor({{10.0}, {11.0}, {12.0}}), ebb::tensor({{20.0}})};
  const auto of_list = pack_sequence(sequences, false);
  CHECK(ebb::equal(by_step.data(), of_list.data()));
  CHECK(ebb::equal(by_step.batch_sizes(), of_list.batch_sizes()));
  CHECK(ebb::equal(pad_sequence(sequences, false, -1), padded_columns()));
  CHECK(ebb::equal(pad_sequence(sequences, true, -1), padded_columns().transpose(0, 1)));
}

TEST_CASE("padding again gives the batch in its order, its lengths, and the padding asked for") {
  const auto packed = pack_padded_sequence(padded_columns(), longs({2, 3, 1}), false, false);
  const auto [padded, lengths] = pad_packed_sequence(packed, false, -1);
  CHECK(ebb::equal(padded, padded_columns()));
  CHECK(values(lengths) == Values{2, 3, 1});
  const auto [longer, same_lengths] = pad_packed_sequence(packed, true, -1, 4);
  CHECK(longer.sizes() == ebb::IntArrayRef({3, 4, 1}));
  CHECK(ebb::equal(longer.narrow(1, 0, 3), padded_columns().transpose(0, 1)));
  CHECK(values(longer.select(1, 3)) == Values{-1, -1, -1});
  CHECK(values(same_lengths) == Values{2, 3, 1});
}

TEST_CASE("sorted sequences keep their order and need no indices") {
  const auto input = ebb::arange(12, ebb::kFloat).view({3, 2, 2});
  const auto packed = pack_padded_sequence(input, longs({3, 1}));
  CHECK(values(packed.data()) == Values{0, 1, 2, 3, 4, 5, 8, 9});
  CHECK_FALSE(packed.sorted_indices().defined());
  CHECK_FALSE(packed.unsorted_indices().defined());
  CHECK(packed.to(ebb::kFloat).data().is_same(packed.data()));
  CHECK(packed.to(ebb::kDouble).data().scalar_type() == ebb::kDouble);
}

TEST_CASE("gradients go through packing and padding") {
  const auto x = ebb::randn({3, 2, 2}, ebb::kDouble).requires_grad_(true);
  CHECK(ebb::testing::gradcheck(
      [](const std::vector<Tensor>& in) {
        const auto packed = pack_padded_sequence(in[0], longs({1, 3}), false, false);
        const auto again = PackedSequence(packed.data() * packed.data(), packed.batch_sizes(),
                                          packed.sorted_indices());
        return std::vector<Tensor>{std::get<0>(pad_packed_sequence(again, true, 7.0, 5))};
      },
      {x}));
  const auto a = ebb::randn({2, 3}, ebb::kDouble).requires_grad_(true);
  const auto b = ebb::randn({1, 3}, ebb::kDouble).requires_grad_(true);
  CHECK(ebb::testing::gradcheck(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{pad_sequence(in).square(), pack_sequence(in).data().square()};
      },
      {a, b}));
}

TEST_CASE("a packed batch takes the rows of its sequences and no more") {
  constexpr int64_t kSteps = 40, kBatch = 8, kWidth = 64;
  const auto input = ebb::randn({kSteps, kBatch, kWidth}).requires_grad_(true);
  const auto lengths = longs({40, 12, 9, 9, 5, 3, 1, 1});
  constexpr int64_t kRows = 40 + 12 + 9 + 9 + 5 + 3 + 1 + 1;
  PackedSequence packed;
  const auto m = measure([&] { packed = pack_padded_sequence(input, lengths); }, input.device());
  // The rows, and where each came from, for the gradient.
  int64_t kept = rounded(kRows * kWidth * 4) + rounded(kRows * 8);
  if (input.is_cpu()) kept += rounded(kSteps * 8);  // batch_sizes
  CHECK(m.net_bytes == kept);
  CHECK(kept < input.numel() * 4 / 3);
}

TEST_CASE("lengths that make no packed sequence are refused as LibTorch refuses them") {
  const auto input = ebb::zeros({3, 2, 1});
  CHECK_THROWS_WITH(pack_padded_sequence(input, longs({1, 3})),
                    ContainsSubstring("must be sorted in decreasing order"));
  CHECK_THROWS_WITH(pack_padded_sequence(input, longs({3, 0})),
                    ContainsSubstring("has to be greater than 0"));
  CHECK_THROWS_WITH(pack_padded_sequence(input, longs({3})),
                    ContainsSubstring("Expected `len(lengths)` to be equal to batch_size, but got "
                                      "1 (batch_size=2)"));
  CHECK_THROWS_WITH(pack_padded_sequence(input, longs({4, 2})), ContainsSubstring("3 steps"));
  CHECK_THROWS_WITH(pack_padded_sequence(ebb::zeros({0, 2, 1}), longs({1, 1})),
                    ContainsSubstring("Cannot pack empty tensors"));
  CHECK_THROWS_WITH(pack_sequence({ebb::zeros({1, 2}), ebb::zeros({2, 2})}),
                    ContainsSubstring("enforce_sorted"));
  CHECK_THROWS_WITH(pad_sequence({}), ContainsSubstring("empty list"));
  const auto packed = pack_padded_sequence(input, longs({3, 2}));
  CHECK_THROWS_WITH(pad_packed_sequence(packed, false, 0.0, 2),
                    ContainsSubstring("Expected total_length to be at least the length"));
}

TEST_CASE("parameters become one vector, and a vector becomes the parameters") {
  nn::Linear linear(3, 2);
  const auto vector = nn::utils::parameters_to_vector(linear->parameters());
  CHECK(vector.sizes() == ebb::IntArrayRef({8}));
  vector.square().sum().backward();
  CHECK(ebb::equal(linear->bias.grad(), 2 * linear->bias.detach()));

  const auto fresh = ebb::arange(8, ebb::kFloat);
  const auto weight = linear->weight;
  const auto m = measure([&] { nn::utils::vector_to_parameters(fresh, linear->parameters()); },
                         fresh.device());
  CHECK(m.requests == 0);
  CHECK(weight.requires_grad());
  CHECK(ebb::equal(linear->weight.detach(), fresh.narrow(0, 0, 6).view({2, 3})));
  CHECK(ebb::equal(linear->bias.detach(), fresh.narrow(0, 6, 2)));
  CHECK(linear->weight.is_alias_of(fresh));
  CHECK_THROWS_WITH(nn::utils::vector_to_parameters(ebb::zeros({7}), linear->parameters()),
                    ContainsSubstring("8 elements"));
}
