#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>

#include "facts.h"

namespace tour {

namespace {

namespace nn = ebb::nn;
namespace data = ebb::data;
using ebb::Tensor;

/// Two blocks of convolution and batch norm, and two linear layers.
struct NetImpl : nn::Module {
  NetImpl() {
    features = register_module(
        "features",
        nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::BatchNorm2d(16),
                       nn::ReLU(), nn::MaxPool2d(2),
                       nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)), nn::BatchNorm2d(32),
                       nn::ReLU(), nn::MaxPool2d(2), nn::Flatten()));
    classifier =
        register_module("classifier", nn::Sequential(nn::Dropout(0.3), nn::Linear(32 * 7 * 7, 64),
                                                     nn::ReLU(), nn::Linear(64, 10)));
  }
  Tensor forward(const Tensor& images) { return classifier->forward(features->forward(images)); }

  nn::Sequential features{nullptr};
  nn::Sequential classifier{nullptr};
};
EBB_MODULE(Net);

/// Runs one call of a phase in a memory scope of its own and adds its figures.
class Phases {
 public:
  explicit Phases(ebb::Device device) : device_(device) {}

  void run(const std::string& name, const std::function<void()>& body) {
    Phase& phase = find(name);
    const auto start = std::chrono::steady_clock::now();
    ebb::memory::Scope scope(phase.name, device_);
    body();
    phase.calls += 1;
    phase.peak_bytes = std::max(phase.peak_bytes, scope.peak_bytes());
    phase.net_bytes = scope.net_bytes();
    phase.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  [[nodiscard]] const std::vector<Phase>& all() const { return phases_; }

 private:
  Phase& find(const std::string& name) {
    for (Phase& phase : phases_) {
      if (phase.name == name) return phase;
    }
    phases_.push_back({name, 0, 0, 0, 0});
    return phases_.back();
  }

  ebb::Device device_;
  std::vector<Phase> phases_;
};

/// A bar that is drawn anew in a terminal, or a line an epoch elsewhere.
class Progress {
 public:
  Progress(int epochs, int64_t batches) : epochs_(epochs), batches_(batches) {}

  void batch(int epoch, int64_t done, double loss) const {
    if (!is_terminal_) return;
    constexpr int width = 30;
    const auto filled = static_cast<int>(done * width / batches_);
    std::fprintf(stderr, "\repoch %d/%d [%s%s] loss %.4f ", epoch, epochs_,
                 std::string(static_cast<size_t>(filled), '#').c_str(),
                 std::string(static_cast<size_t>(width - filled), '.').c_str(), loss);
  }
  void epoch(int epoch, double loss, double accuracy) const {
    std::fprintf(stderr, "%sepoch %d/%d: mean loss %.4f, test accuracy %.2f %%%s\n",
                 is_terminal_ ? "\r" : "", epoch, epochs_, loss, 100 * accuracy,
                 is_terminal_ ? "                    " : "");
  }

 private:
  int epochs_;
  int64_t batches_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
};

Moment moment(std::string when, ebb::Device device) {
  return {std::move(when), ebb::memory::memory_allocated(device),
          ebb::memory::memory_reserved(device)};
}

/// The digits of a set, at most `most` of them.
class Digits : public data::datasets::Dataset<Digits> {
 public:
  Digits(data::datasets::MNIST digits, size_t most)
      : digits_(std::move(digits)), size_(std::min(most, *digits_.size())) {}
  data::Example<> get(size_t index) override { return digits_.get(index); }
  [[nodiscard]] std::optional<size_t> size() const override { return size_; }

 private:
  data::datasets::MNIST digits_;
  size_t size_;
};

auto pipeline(const Options& options, data::datasets::MNIST::Mode mode) {
  const size_t most = options.digits > 0  ? static_cast<size_t>(options.digits)
                      : options.is_part() ? 1024
                                          : SIZE_MAX;
  return Digits(data::datasets::MNIST(options.data, mode), most)
      .map(data::transforms::Normalize<>(0.1307, 0.3081))
      .map(data::transforms::Stack<>());
}

template <typename Loader>
double evaluate(Net& net, Loader& loader, ebb::Device device) {
  const ebb::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0;
  int64_t total = 0;
  for (auto& batch : loader) {
    const Tensor digits = net->forward(batch.data.to(device)).argmax(1);
    right += digits.eq(batch.target.to(device)).sum().template item<int64_t>();
    total += batch.target.size(0);
  }
  net->train();
  return static_cast<double>(right) / static_cast<double>(total);
}

template <typename Loader>
void train(Net& net, Loader& loader, ebb::optim::Optimizer& optimizer, Phases& phases,
           ebb::Device device, const std::function<void(int64_t, double)>& after_batch) {
  auto batches = loader.end();
  Tensor images, labels;
  const auto load = [&] {
    if (batches == loader.end()) return;
    images = batches->data.to(device);
    labels = batches->target.to(device);
  };
  phases.run("load", [&] {
    batches = loader.begin();
    load();
  });
  for (int64_t done = 1; batches != loader.end(); ++done) {
    Tensor output, loss;
    phases.run("forward", [&] { output = net->forward(images); });
    phases.run("loss", [&] {
      loss = ebb::cross_entropy_loss(output, labels);
      output.reset();
    });
    phases.run("backward", [&] { loss.backward(); });
    phases.run("step", [&] {
      optimizer.step();
      optimizer.zero_grad();
    });
    after_batch(done, loss.item<double>());
    loss.reset();
    phases.run("load", [&] {
      images.reset();
      labels.reset();
      ++batches;
      load();
    });
  }
}

int64_t evaluation_peak(Net& net, const Tensor& images, bool record) {
  const ebb::AutoGradMode mode(record);
  ebb::memory::Scope scope("one batch", images.device());
  (void)net->forward(images);
  return scope.peak_bytes();
}

void note_peak(Facts& facts, ebb::Device device) {
  facts.peak_bytes = ebb::memory::max_memory_allocated(device);
  if (!device.is_cpu()) facts.host_peak_bytes = ebb::memory::max_memory_allocated(ebb::kCPU);
  const auto at_peak = ebb::memory::categories_at_peak(device);
  for (int i = 0; i < ebb::memory::kCategories; ++i) {
    const auto category = static_cast<ebb::memory::Category>(i);
    facts.categories.push_back({ebb::memory::name(category), at_peak[static_cast<size_t>(i)]});
  }
}

/// Everything that lives as long as the model; what is left when it returns is the caller's.
void train_and_evaluate(const Options& options, ebb::Device device, Facts& facts, Phases& phases) {
  auto train_set = pipeline(options, data::datasets::MNIST::Mode::kTrain);
  auto test_set = pipeline(options, data::datasets::MNIST::Mode::kTest);
  const auto batch_size = static_cast<size_t>(options.batch_size);
  const auto train_size = static_cast<int64_t>(*train_set.size());
  auto train_loader = data::make_data_loader(std::move(train_set),
                                             data::DataLoaderOptions().batch_size(batch_size));
  auto test_loader = data::make_data_loader<data::samplers::SequentialSampler>(
      std::move(test_set), data::DataLoaderOptions().batch_size(batch_size));

  Net net;
  net->to(device);
  for (const Tensor& parameter : net->parameters()) facts.parameters += parameter.numel();
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(2e-3));
  ebb::optim::StepLR schedule(optimizer, /*step_size=*/2, /*gamma=*/0.5);

  const int64_t batches = (train_size + options.batch_size - 1) / options.batch_size;
  const int epochs = options.is_part() ? 1 : options.epochs;
  const Progress progress(epochs, batches);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double total_loss = 0;
    train(net, *train_loader, optimizer, phases, device, [&](int64_t done, double loss) {
      total_loss += loss;
      progress.batch(epoch, done, loss);
    });
    schedule.step();
    phases.run("evaluation", [&] { facts.test_accuracy = evaluate(net, *test_loader, device); });
    progress.epoch(epoch, total_loss / static_cast<double>(batches), facts.test_accuracy);
  }
  note_peak(facts, device);

  const auto images = ebb::zeros({options.batch_size, 1, 28, 28}, device);
  facts.evaluation_peak_with_grad = evaluation_peak(net, images, true);
  facts.evaluation_peak_no_grad = evaluation_peak(net, images, false);
  facts.moments.push_back(moment("trained model and data in scope", device));
}

}  // namespace

Facts run(const Options& options) {
  if (options.threads > 0) ebb::set_num_threads(options.threads);
  ebb::manual_seed(options.seed);
  const ebb::Device device = ebb::resolve(ebb::Device(options.device));
  Facts facts;
  facts.device = device.str();
  Phases phases(device);
  const auto start = std::chrono::steady_clock::now();
  facts.moments.push_back(moment("before anything", device));
  train_and_evaluate(options, device, facts, phases);
  facts.moments.push_back(moment("model and data out of scope", device));
  ebb::memory::empty_cache(device);
  facts.moments.push_back(moment("after empty_cache()", device));
  facts.phases = phases.all();
  facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return facts;
}

}  // namespace tour
