#include "against_cpu.h"

using namespace kernel_tests;

namespace {

struct Reducing {
  const char* name;
  std::vector<Tensor> (*run)(const Tensor& x, int64_t dim);
  bool integers;  ///< takes them
};

const std::vector<Reducing> kReductions = {
    {"sum", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.sum(d)}; }, true},
    {"mean", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.mean(d)}; }, false},
    {"prod", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.prod(d)}; }, true},
    {"amax", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.amax(d)}; }, true},
    {"amin", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.amin(d)}; }, true},
    {"all", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.all(d)}; }, true},
    {"any", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.any(d)}; }, true},
    {"argmax", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.argmax(d)}; }, true},
    {"argmin", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.argmin(d)}; }, true},
    {"max",
     [](const Tensor& x, int64_t d) {
       return std::vector<Tensor>{std::get<0>(x.max(d)), std::get<1>(x.max(d))};
     },
     true},
    {"var", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.var(d, false)}; }, false},
    {"std", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.std(d, false)}; }, false},
    {"logsumexp", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.logsumexp(d)}; },
     false},
    {"norm 0", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.norm(0, d)}; }, false},
    {"norm 1", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.norm(1, d)}; }, false},
    {"norm 2", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.norm(2, d)}; }, false},
    {"norm 3", [](const Tensor& x, int64_t d) { return std::vector<Tensor>{x.norm(3, d)}; }, false},
    {"norm inf",
     [](const Tensor& x, int64_t d) {
       return std::vector<Tensor>{x.norm(std::numeric_limits<double>::infinity(), d)};
     },
     false},
    {"norm -inf",
     [](const Tensor& x, int64_t d) {
       return std::vector<Tensor>{x.norm(-std::numeric_limits<double>::infinity(), d)};
     },
     false},
};

void check(const Reducing& reduction, const Tensor& x) {
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    INFO(reduction.name << " of dimension " << dim << " of sizes " << x.sizes());
    check_against_cpu(
        {x}, [&](const std::vector<Tensor>& in) { return reduction.run(in[0], dim); },
        4 * tolerance_of(x.scalar_type()));
  }
}

}  // namespace

TEST_CASE("Reductions on the device give what the CPU gives, for each dtype and dimension",
          "[reduce]") {
  for (const Reducing& reduction : kReductions) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kUInt8, kBool}) {
      if (!is_floating_point(dtype) && !reduction.integers) continue;
      check(reduction, host_tensor({5, 3, 37}, dtype, dtype == kUInt8 || dtype == kBool ? 0 : -2));
    }
  }
}

TEST_CASE("Rows and columns of lengths around warps and blocks are reduced", "[reduce]") {
  for (const Reducing& reduction : {kReductions[0], kReductions[7], kReductions[10]}) {
    for (const int64_t n : kLengths) {
      check(reduction, host_tensor({2, n}, kFloat));
      check(reduction, host_tensor({n, 3}, kDouble));
    }
  }
}

TEST_CASE("One output of many elements is reduced by several blocks", "[reduce]") {
  for (const Reducing& reduction : kReductions) {
    if (std::string(reduction.name) == "prod") continue;  // would be 0
    check(reduction, host_tensor({40009}, kFloat));
  }
  check(kReductions[0], host_tensor({4099, 2}, kLong, -1000, 1000));
  check(kReductions[10], host_tensor({2, 17001}, kDouble));
}

TEST_CASE("The variance on the device keeps its figures far from zero", "[reduce]") {
  Values elements = numbers(20000);
  for (double& element : elements) element += 1000;
  const Tensor x = made_of(elements, {20000}, kFloat).cpu();
  const Values exact = values(x.to(kDouble).var(false));
  check_close(x.to(kCUDA).var(false), exact, 1e-5);
}

TEST_CASE("argmax on the device finds the first of equals, and NaN before all", "[reduce]") {
  for (const int64_t n : {5, 100, 3000, 50000}) {
    Values elements(static_cast<size_t>(n), 1.0);
    elements[static_cast<size_t>(n / 2)] = 3;
    elements[static_cast<size_t>(n - 1)] = 3;
    const Tensor x = made_of(elements, {n}, kFloat).to(kCUDA);
    CHECK(x.argmax().item<int64_t>() == n / 2);
    CHECK(x.argmin().item<int64_t>() == 0);
    elements[static_cast<size_t>(n - 2)] = std::nan("");
    const Tensor y = made_of(elements, {n}, kFloat).to(kCUDA);
    CHECK(y.argmax().item<int64_t>() == n - 2);
    CHECK(y.argmin().item<int64_t>() == n - 2);
    CHECK(std::isnan(y.max().item<double>()));
    CHECK(std::isnan(y.sum().item<double>()));
  }
}

TEST_CASE("Reductions of nothing and of several dimensions agree", "[reduce][short]") {
  const auto sums = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].sum({0, 2}), in[0].sum({1, 3}, true), in[0].sum()};
  };
  check_against_cpu({host_tensor({3, 4, 5, 6}, kFloat)}, sums, 1e-5);
  check_against_cpu({host_tensor({3, 0, 5, 6}, kFloat)}, sums, 0);
}

TEST_CASE("A reduction of many dimensions that do not merge is one of a copy", "[reduce]") {
  // Every second dimension is reduced, of 20 that are turned round.
  std::vector<int64_t> sizes(20, 1);
  for (size_t d = 0; d < 20; ++d) sizes[d] = d < 2 ? 1 : 2;
  const Tensor x = host_tensor({1 << 18}, kInt, -100, 100).view(sizes);
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < 20; d += 2) dims.push_back(d);
  const auto sum = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].sum(dims)};
  };
  const Tensor expected = sum({x})[0];
  check_close(sum({x.to(kCUDA)})[0], values(expected), 0);
}
