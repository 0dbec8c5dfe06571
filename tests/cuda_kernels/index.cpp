#include "against_cpu.h"

using namespace kernel_tests;

namespace {

/// x, an index that fits it along `dim` with n entries there, and a source of the index's sizes.
std::vector<Tensor> indexed(IntArrayRef sizes, int64_t dim, int64_t n, ScalarType dtype) {
  std::vector<int64_t> index_sizes(sizes.begin(), sizes.end());
  const auto d = static_cast<size_t>(dim);
  index_sizes[d] = n;
  return {host_tensor(sizes, dtype),
          host_tensor(index_sizes, kLong, 0, static_cast<double>(sizes[d]), 2),
          host_tensor(index_sizes, dtype, -2, 2, 3),
          host_tensor(n, kLong, 0, static_cast<double>(sizes[d]), 4)};
}

void check(IntArrayRef sizes, int64_t dim, int64_t n, ScalarType dtype) {
  INFO("dimension " << dim << " of sizes " << sizes << ", " << n << " indices, " << dtype);
  check_against_cpu(
      indexed(sizes, dim, n, dtype),
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{ebb::gather(in[0], dim, in[1]),
                                   in[0].index_select(dim, in[3]),
                                   ebb::scatter(in[0], dim, in[1], in[2]),
                                   ebb::scatter(in[0], dim, in[1], Scalar(1)),
                                   ebb::scatter_add(in[0], dim, in[1], in[2]),
                                   ebb::index_add(in[0], dim, in[3], in[2], 2)};
      },
      0);  // in the order of the CPU
}

}  // namespace

TEST_CASE("Gathers, scatters and additions at indices are the CPU's bit for bit, for each dtype",
          "[index]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt16, kUInt8, kBool}) {
    for (const int64_t dim : {0, 1, 2}) check({4, 6, 5}, dim, 4, dtype);
  }
}

TEST_CASE("Where an index occurs many times, writes and additions keep their order", "[index]") {
  for (const int64_t n : {1, 17, 31, 33, 257, 1025, 3000}) {
    check({7}, 0, n, kFloat);
    check({7, 3}, 0, n, kHalf);
    check({3, 7}, 1, n, kFloat);
  }
}

TEST_CASE("Rows of 16 bytes are gathered as such", "[index]") {
  check({9, 64}, 0, 20, kFloat);
  check({9, 64}, 0, 20, kHalf);
  check({9, 63}, 0, 20, kHalf);
  const auto rows = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].narrow(1, 1, 32).index_select(0, in[1])};
  };
  check_against_cpu({host_tensor({9, 64}, kFloat), host_tensor(20, kLong, 0, 9)}, rows, 0);
}

TEST_CASE("An index out of range is skipped, and reported when the host waits", "[index][short]") {
  const Tensor x = host_tensor({5, 4}, kFloat).to(kCUDA);
  const Tensor before = x.cpu();
  for (const int64_t n : {3, 40}) {
    Values positions(static_cast<size_t>(n), 2.0);
    for (const double bad : {5.0, -1.0}) {
      positions[1] = bad;
      const Tensor index = made_of(positions, {n}, kLong).to(kCUDA);
      const Tensor wide = index.view({n, 1}).expand({n, 4}).contiguous();
      const Tensor source = host_tensor({n, 4}, kFloat).to(kCUDA);
      CHECK_THROWS_AS(x.index_select(0, index).cpu(), IndexError);
      CHECK_THROWS_AS(ebb::gather(x, 0, wide).cpu(), IndexError);
      CHECK_THROWS_AS(ebb::scatter(x, 0, wide, source).cpu(), IndexError);
      CHECK_THROWS_AS(ebb::scatter_add(x, 0, wide, source).cpu(), IndexError);
      CHECK_THROWS_AS(ebb::index_add(x, 0, index, source).cpu(), IndexError);
      CHECK(ebb::equal(x.cpu(), before));
    }
  }
}

TEST_CASE("What is not zero is found and selected as on the CPU", "[index]") {
  for (const ScalarType dtype : {kFloat, kHalf, kLong, kUInt8, kBool}) {
    for (const int64_t n : {0, 1, 33, 255, 257, 2049, 5000}) {
      const Tensor x = host_tensor({n, 2}, kInt, -2, 2).abs().to(dtype);
      check_against_cpu(
          {x},
          [](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{ebb::nonzero(in[0]),
                                       ebb::masked_select(in[0], in[0].to(kBool))};
          },
          0);
    }
  }
  const auto of_a_number = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{ebb::nonzero(in[0])};
  };
  check_against_cpu({host_tensor({}, kFloat, 1, 2)}, of_a_number, 0);
}

TEST_CASE("Embedding on the device and its gradient are the CPU's bit for bit", "[index]") {
  for (const int64_t rows : {3, 40, 300}) {
    const std::vector<Tensor> inputs = {host_tensor({11, 8}, kFloat),
                                        host_tensor({rows, 2}, kLong, 0, 11, 2),
                                        host_tensor({rows, 2, 8}, kFloat, -1, 1, 3)};
    check_against_cpu(
        inputs,
        [](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{ebb::embedding(in[0], in[1]),
                                     ebb::embedding_backward(in[2], in[1], 11, -1, false),
                                     ebb::embedding_backward(in[2], in[1], 11, 3, false)};
        },
        0);
  }
}

TEST_CASE("One-hot rows on the device", "[index]") {
  check_against_cpu(
      {host_tensor({7, 3}, kLong, 0, 5)},
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{ebb::one_hot(in[0]), ebb::one_hot(in[0], 9)};
      },
      0);
}
