#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <ebb/autograd/factories.h>
#include <ebb/nn/nn.h>

#include "catch.h"
#include "golden/golden.h"

using namespace ebb;
namespace rnn = ebb::nn::utils::rnn;

namespace {

using Tensors = std::vector<Tensor>;

/// Which module a case is of, and how many of its inputs are states.
struct RnnCase {
  std::function<std::shared_ptr<nn::Module>()> make;
  size_t states;
  std::function<Tensors(nn::Module& module, const Tensor& x, const Tensors& states)> run;
};

Tensors list(const std::tuple<Tensor, Tensor>& r) { return {std::get<0>(r), std::get<1>(r)}; }
Tensors list(const std::tuple<Tensor, std::tuple<Tensor, Tensor>>& r) {
  return {std::get<0>(r), std::get<0>(std::get<1>(r)), std::get<1>(std::get<1>(r))};
}
Tensors list(const Tensor& tensor) { return {tensor}; }

template <typename M>
RnnCase of_state(typename M::Impl impl) {
  return {[impl] { return std::make_shared<typename M::Impl>(impl); }, 1,
          [](nn::Module& m, const Tensor& x, const Tensors& states) {
            return list(m.as<M>()->forward(x, states[0]));
          }};
}

template <typename M>
RnnCase of_two_states(typename M::Impl impl) {
  return {[impl] { return std::make_shared<typename M::Impl>(impl); }, 2,
          [](nn::Module& m, const Tensor& x, const Tensors& states) {
            return list(m.as<M>()->forward(x, std::tuple(states[0], states[1])));
          }};
}

/// The same with the input packed, lengths 4, 2 and 1, and the output padded with 1/4.
template <typename M, typename State>
Tensors run_packed(nn::Module& module, const Tensor& x, const State& state) {
  const Tensor lengths = ebb::tensor(std::vector<int64_t>{4, 2, 1}, kLong);
  auto [packed, last] =
      module.as<M>()->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths), state);
  return list(std::tuple(std::get<0>(rnn::pad_packed_sequence(packed, false, 0.25)), last));
}

const std::map<std::string, RnnCase>& cases() {
  using nn::GRUOptions, nn::LSTMOptions, nn::RNNOptions;
  static const auto two_ways = [](auto options) {
    return options.num_layers(2).bidirectional(true);
  };
  static const std::map<std::string, RnnCase> all = [] {
    std::map<std::string, RnnCase> table = {
        {"rnn tanh", of_state<nn::RNN>(nn::RNNImpl(3, 2))},
        {"rnn relu",
         of_state<nn::RNN>(nn::RNNImpl(RNNOptions(3, 2).nonlinearity(kReLU).num_layers(2)))},
        {"lstm", of_two_states<nn::LSTM>(nn::LSTMImpl(3, 2))},
        {"lstm without bias", of_two_states<nn::LSTM>(nn::LSTMImpl(LSTMOptions(3, 2).bias(false)))},
        {"lstm both ways",
         of_two_states<nn::LSTM>(nn::LSTMImpl(two_ways(LSTMOptions(3, 2)).batch_first(true)))},
        {"gru", of_state<nn::GRU>(nn::GRUImpl(3, 2))},
        {"gru without bias", of_state<nn::GRU>(nn::GRUImpl(GRUOptions(3, 2).bias(false)))},
        {"gru both ways",
         of_state<nn::GRU>(nn::GRUImpl(two_ways(GRUOptions(3, 2)).batch_first(true)))},
        {"rnn packed", of_state<nn::RNN>(nn::RNNImpl(RNNOptions(3, 2).bidirectional(true)))},
        {"lstm packed", of_two_states<nn::LSTM>(nn::LSTMImpl(two_ways(LSTMOptions(3, 2))))},
        {"gru packed", of_state<nn::GRU>(nn::GRUImpl(two_ways(GRUOptions(3, 2))))},
        {"rnn cell", of_state<nn::RNNCell>(nn::RNNCellImpl(4, 3))},
        {"rnn cell relu",
         of_state<nn::RNNCell>(nn::RNNCellImpl(nn::RNNCellOptions(4, 3).nonlinearity(kReLU)))},
        {"lstm cell", of_two_states<nn::LSTMCell>(nn::LSTMCellImpl(4, 3))},
        {"gru cell", of_state<nn::GRUCell>(nn::GRUCellImpl(4, 3))},
    };
    table.at("rnn packed").run = [](nn::Module& m, const Tensor& x, const Tensors& s) {
      return run_packed<nn::RNN>(m, x, s[0]);
    };
    table.at("lstm packed").run = [](nn::Module& m, const Tensor& x, const Tensors& s) {
      return run_packed<nn::LSTM>(m, x, std::tuple(s[0], s[1]));
    };
    table.at("gru packed").run = [](nn::Module& m, const Tensor& x, const Tensors& s) {
      return run_packed<nn::GRU>(m, x, s[0]);
    };
    return table;
  }();
  return all;
}

/// Gives the module the parameters of the case, and returns leaves numbered as its inputs.
Tensors leaves_of(const GoldenCase& golden, nn::Module& module, size_t states) {
  const NoGradGuard no_grad;
  Tensors leaves;
  for (size_t i = 0; i <= states; ++i) {
    leaves.push_back(golden.inputs[i].clone().requires_grad_(true));
  }
  module.to(kDouble);
  const auto parameters = module.parameters();
  REQUIRE(parameters.size() + leaves.size() == golden.inputs.size());
  for (const Tensor& parameter : parameters) {
    const Tensor& value = golden.inputs[leaves.size()];
    REQUIRE(parameter.sizes() == value.sizes());
    parameter.copy_(value);
    leaves.push_back(parameter);
  }
  return leaves;
}

}  // namespace

TEST_CASE("recurrent modules, packed and not, and their gradients agree with PyTorch") {
  std::set<std::string> seen;
  for (const GoldenCase& golden : load_golden(EBB_SOURCE_DIR "/tests/golden/rnn.txt")) {
    INFO(golden.name);
    const auto found = cases().find(golden.name);
    REQUIRE(found != cases().end());
    seen.insert(golden.name);
    const RnnCase& rnn_case = found->second;
    const auto module = rnn_case.make()->clone();
    const Tensors leaves = leaves_of(golden, *module, rnn_case.states);
    const Tensors states(leaves.begin() + 1, leaves.begin() + 1 + rnn_case.states);
    const Tensors outputs = rnn_case.run(*module, leaves[0], states);
    REQUIRE(outputs.size() == golden.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) check_close(outputs[i], golden.outputs[i]);
    check_gradients(golden, leaves, outputs);
  }
  CHECK(seen.size() == cases().size());
}
