#include "lesson.h"

// A frozen layer with an update of low rank (LoRA): gradients and optimizer state shrink from
// in * out to rank * (in + out) numbers, and a merged layer costs nothing more.

int main() {
  constexpr int64_t kBatch = 64, kIn = 512, kOut = 256, kRank = 4;
  const auto full = lesson::bytes({kOut, kIn});
  const auto low = lesson::bytes({kRank, kIn}) + lesson::bytes({kOut, kRank});
  const ebb::Tensor x = ebb::randn({kBatch, kIn});
  const auto trained = [](ebb::nn::Module& module) {
    std::vector<ebb::Tensor> result;
    for (const ebb::Tensor& parameter : module.parameters()) {
      if (parameter.requires_grad()) result.push_back(parameter);
    }
    return result;
  };
  ebb::nn::Linear base(ebb::nn::LinearOptions(kIn, kOut).bias(false));
  const auto step = [&](const char* what, auto& layer, int64_t parameters) {
    std::cout << what << '\n';
    lesson::equal("  gradients", parameters,
                  ebb::testing::measure([&] { layer(x).sum().backward(); }).net_bytes);
    ebb::optim::Adam adam(trained(*layer), ebb::optim::AdamOptions(1e-3));
    lesson::equal("  Adam's state", 2 * parameters,
                  ebb::testing::measure([&] { adam.step(); }).net_bytes);
  };
  step("a layer that trains", base, full);
  base->zero_grad();

  ebb::nn::LoRALinear layer{nullptr};
  lesson::equal("the update beside the layer, whose weight it shares", low,
                ebb::testing::measure([&] { layer = ebb::nn::LoRALinear(base, kRank); }).net_bytes);
  step("the layer frozen, its update trained", layer, low);

  layer->eval();
  layer->merge();
  const ebb::NoGradGuard no_grad;
  lesson::equal("merged: the output alone", lesson::bytes({kBatch, kOut}),
                ebb::testing::measure([&] { return layer(x); }).peak_bytes);
}
