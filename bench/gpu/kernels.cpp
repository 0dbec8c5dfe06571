// Times the kernels of the CUDA device against their floors, and training steps. A kernel that moves
// memory can at best move its bytes as fast as a copy within the device does; a product or a
// convolution can at best compute as fast as cuBLAS does on a large square.
//
//   gpu_kernels [--small] [--json FILE]
//
// --small: sizes for a check that everything runs, as on the emulated device.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <ebb/cuda/cuda.h>
#include <ebb/ebb.h>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

/// What a kernel is held against.
enum class Floor { bandwidth, arithmetic };

struct Row {
  std::string name;
  std::string dtype;
  double microseconds;
  double rate;      ///< GB/s, or GFLOP/s
  double fraction;  ///< of the floor
};

struct Sizes {
  int64_t elements;
  int64_t rows;
  int64_t columns;
  int64_t square;
  int64_t images;
  int repeats;
};
constexpr Sizes kFull{int64_t{1} << 26, 8192, 4096, 8192, 64, 20};
constexpr Sizes kSmall{int64_t{1} << 10, 8, 64, 32, 2, 1};

/// The least time of one call in microseconds, by events around each, after two calls to warm up.
double time_us(const std::function<void()>& call, int repeats) {
  call();
  if (repeats > 1) call();
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    ebb::cuda::Event start(ebb::cuda::Event::kTiming);
    ebb::cuda::Event end(ebb::cuda::Event::kTiming);
    start.record();
    call();
    end.record();
    end.synchronize();
    best = std::min(best, static_cast<double>(start.elapsed_time(end)) * 1e3);
  }
  return std::max(best, 1e-3);
}

const char* name_of(ebb::ScalarType dtype) {
  return dtype == ebb::kHalf ? "float16" : dtype == ebb::kBFloat16 ? "bfloat16" : "float32";
}

/// Makes the rows of the table.
class Bench {
 public:
  explicit Bench(const Sizes& sizes) : sizes_(sizes) {}

  void run() {
    const ebb::NoGradGuard no_grad;
    measure_floors();
    for (const auto dtype : {ebb::kFloat, ebb::kHalf}) {
      options_ = ebb::TensorOptions().device(ebb::kCUDA).dtype(dtype);
      dtype_ = dtype;
      elementwise();
      reductions();
      rows();
      products();
      images();
    }
    steps();
  }

  [[nodiscard]] const std::vector<Row>& table() const { return table_; }

 private:
  void add(const std::string& name, Floor floor, double amount,
           const std::function<void()>& call) {
    const double us = time_us(call, sizes_.repeats);
    const double rate = amount / us * 1e-3;  // per microsecond to giga per second
    const double best =
        floor == Floor::bandwidth ? copy_rate_ : gemm_rate_[dtype_ == ebb::kFloat ? 0 : 1];
    table_.push_back({name, name_of(dtype_), us, rate, rate / best});
  }
  void bytes(const std::string& name, double bytes, const std::function<void()>& call) {
    add(name, Floor::bandwidth, bytes, call);
  }
  void flops(const std::string& name, double flops, const std::function<void()>& call) {
    add(name, Floor::arithmetic, flops, call);
  }

  void measure_floors() {
    const Tensor from = ebb::ones({sizes_.elements}, ebb::kCUDA);
    Tensor to = ebb::empty_like(from);
    const double copied = 8.0 * static_cast<double>(sizes_.elements);
    const double us = time_us([&] { to.copy_(from); }, sizes_.repeats);
    copy_rate_ = copied / us * 1e-3;
    table_.push_back({"copy (the floor of memory)", "float32", us, copy_rate_, 1});
    for (int half = 0; half < 2; ++half) {
      const auto dtype = half == 0 ? ebb::kFloat : ebb::kHalf;
      const Tensor a = ebb::randn({sizes_.square, sizes_.square}, ebb::kCUDA).to(dtype);
      const double product_us = time_us([&] { (void)ebb::mm(a, a); }, sizes_.repeats);
      const auto n = static_cast<double>(sizes_.square);
      gemm_rate_[half] = 2 * n * n * n / product_us * 1e-3;
      table_.push_back({"mm, square (the floor of products)", name_of(dtype), product_us,
                        gemm_rate_[half], 1});
    }
  }

  void elementwise() {
    const Tensor x = ebb::randn({sizes_.elements}, options_);
    const Tensor y = ebb::randn({sizes_.elements}, options_);
    const auto size = static_cast<double>(x.numel() * x.element_size());
    bytes("add", 3 * size, [&] { (void)(x + y); });
    bytes("mul by a number", 2 * size, [&] { (void)(x * 2); });
    bytes("relu", 2 * size, [&] { (void)ebb::relu(x); });
    bytes("gelu", 2 * size, [&] { (void)ebb::gelu(x); });
    bytes("fill_", size, [&] { ebb::Tensor(x).fill_(1); });
    bytes("uniform_", size, [&] { ebb::Tensor(x).uniform_(0, 1); });
    const Tensor matrix = x.view({-1, sizes_.columns / 2});
    bytes("transpose to contiguous", 2 * size, [&] { (void)matrix.t().contiguous(); });
  }

  void reductions() {
    const Tensor x = ebb::randn({sizes_.rows, sizes_.columns}, options_);
    const auto size = static_cast<double>(x.numel() * x.element_size());
    bytes("sum of all", size, [&] { (void)x.sum(); });
    bytes("sum of rows", size, [&] { (void)x.sum(1); });
    bytes("sum of columns", size, [&] { (void)x.sum(0); });
    bytes("argmax of rows", size, [&] { (void)x.argmax(1); });
    bytes("cumsum of rows", 2 * size, [&] { (void)x.cumsum(1); });
  }

  void rows() {
    const Tensor x = ebb::randn({sizes_.rows, sizes_.columns}, options_);
    const auto size = static_cast<double>(x.numel() * x.element_size());
    const Tensor weight = ebb::ones({sizes_.columns}, options_);
    bytes("softmax", 2 * size, [&] { (void)x.softmax(-1); });
    bytes("log_softmax", 2 * size, [&] { (void)x.log_softmax(-1); });
    bytes("layer_norm", 2 * size,
          [&] { (void)ebb::layer_norm(x, {sizes_.columns}, weight, weight); });
    const Tensor index = ebb::randint(sizes_.rows, {sizes_.rows}, ebb::kCUDA);
    bytes("index_select of rows", 2 * size, [&] { (void)x.index_select(0, index); });
    bytes("topk(8) of rows", size, [&] { (void)x.topk(8); });
    bytes("sort of rows (values and int64)", 2 * size + 8.0 * static_cast<double>(x.numel()),
          [&] { (void)x.sort(); });
  }

  void products() {
    const auto n = static_cast<double>(sizes_.square / 4);
    const Tensor a = ebb::randn({sizes_.square / 4, sizes_.square / 4}, options_);
    flops("mm", 2 * n * n * n, [&] { (void)ebb::mm(a, a); });
    flops("mm, both transposed", 2 * n * n * n, [&] { (void)ebb::mm(a.t(), a.t()); });
    const Tensor b = ebb::randn({16, sizes_.square / 8, sizes_.square / 8}, options_);
    flops("bmm, 16", 16 * 2 * n * n * n / 8, [&] { (void)ebb::bmm(b, b); });
  }

  void images() {
    const int64_t pixels = sizes_.repeats == 1 ? 8 : 56;
    const int64_t channels = sizes_.repeats == 1 ? 4 : 64;
    const Tensor x = ebb::randn({sizes_.images, channels, pixels, pixels}, options_);
    const Tensor weight = ebb::randn({channels, channels, 3, 3}, options_);
    const double work = 2.0 * static_cast<double>(x.numel() * channels * 9);
    const auto size = static_cast<double>(x.numel() * x.element_size());
    flops("conv2d 3x3", work, [&] { (void)ebb::conv2d(x, weight, {}, 1, 1); });
    bytes("max_pool2d 2x2", 1.25 * size, [&] { (void)ebb::max_pool2d(x, 2); });
    const Tensor ones = ebb::ones({channels}, options_.dtype(ebb::kFloat));
    bytes("batch_norm in training (two reads)", 3 * size,
          [&] { (void)ebb::batch_norm(x, ones, ones, {}, {}, true, 0.1, 1e-5); });
  }

  /// A training step of a small convolutional network, as bench/gpu/torch_steps.py has it.
  void steps() {
    const ebb::AutoGradMode recorded(true);
    dtype_ = ebb::kFloat;
    nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)), nn::ReLU(),
                       nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)),
                       nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(64 * 7 * 7, 128),
                       nn::ReLU(), nn::Linear(128, 10));
    net->to(ebb::kCUDA);
    ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3));
    const int64_t batch = sizes_.repeats == 1 ? 2 : 256;
    const Tensor x = ebb::randn({batch, 1, 28, 28}, ebb::kCUDA);
    const Tensor target = ebb::randint(10, {batch}, ebb::kCUDA);
    const double us = time_us(
        [&] {
          optimizer.zero_grad();
          ebb::cross_entropy_loss(net->forward(x), target).backward();
          optimizer.step();
        },
        sizes_.repeats);
    table_.push_back({"training step, MNIST net", "float32", us, 0, 0});
  }

  const Sizes& sizes_;
  ebb::TensorOptions options_;
  ebb::ScalarType dtype_ = ebb::kFloat;
  double copy_rate_ = 1;
  double gemm_rate_[2] = {1, 1};
  std::vector<Row> table_;
};

void print(const std::vector<Row>& table) {
  std::printf("%-36s %-9s %12s %12s %10s\n", "kernel", "dtype", "us", "G per s", "of floor");
  for (const Row& row : table) {
    std::printf("%-36s %-9s %12.1f %12.1f %9.0f%%\n", row.name.c_str(), row.dtype.c_str(),
                row.microseconds, row.rate, 100 * row.fraction);
  }
}

void write_json(const std::vector<Row>& table, const std::string& path) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Row& row : table) {
    json.push_back({{"name", row.name},
                    {"dtype", row.dtype},
                    {"us", row.microseconds},
                    {"giga_per_s", row.rate},
                    {"of_floor", row.fraction}});
  }
  std::ofstream(path) << json.dump(2) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  bool is_small = false;
  std::string json;
  CLI::App app("Times ebb's CUDA kernels against their floors.", "gpu_kernels");
  app.add_flag("--small", is_small, "Small sizes, once: a check that everything runs");
  app.add_option("--json", json, "Write the table to this file too");
  CLI11_PARSE(app, argc, argv);
  if (!ebb::cuda::is_available()) {
    std::fprintf(stderr, "gpu_kernels: %s\n", ebb::cuda::unavailable_reason().c_str());
    return 77;
  }
  try {
    Bench bench(is_small ? kSmall : kFull);
    bench.run();
    print(bench.table());
    if (!json.empty()) write_json(bench.table(), json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_kernels: %s\n", error.what());
    return 2;
  }
}
