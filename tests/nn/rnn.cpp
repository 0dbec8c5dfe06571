#include "networks.h"

#include <cmath>

#include <ebb/testing/gradcheck.h>

using namespace networks;
using namespace nn::utils::rnn;
using Catch::Matchers::ContainsSubstring;
using nn::GRU, nn::GRUOptions, nn::LSTM, nn::LSTMOptions, nn::RNN, nn::RNNOptions;
using State = nn::LSTMImpl::State;

namespace {

using Sizes = std::vector<int64_t>;

Sizes sizes_of(const Tensor& tensor) { return tensor.sizes().vec(); }

Tensor output_of(const std::tuple<Tensor, State>& result) { return std::get<0>(result); }
Tensor output_of(const std::tuple<Tensor, Tensor>& result) { return std::get<0>(result); }

}  // namespace

TEST_CASE("a recurrent module has LibTorch's parameters, uniform in one over root hidden_size") {
  ebb::manual_seed(1);
  LSTM lstm(LSTMOptions(3, 4).num_layers(2).bidirectional(true));
  std::vector<std::string> names;
  std::vector<Sizes> sizes;
  for (const auto& p : lstm->named_parameters()) {
    names.push_back(p.key());
    sizes.push_back(sizes_of(p.value()));
    CHECK(p.value().abs().max().item<double>() <= 0.5);
    CHECK(p.value().std().item<double>() == Approx(0.5 / std::sqrt(3)).epsilon(0.5));
  }
  CHECK(names == std::vector<std::string>{
                     "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
                     "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
                     "bias_hh_l0_reverse", "weight_ih_l1", "weight_hh_l1", "bias_ih_l1",
                     "bias_hh_l1", "weight_ih_l1_reverse", "weight_hh_l1_reverse",
                     "bias_ih_l1_reverse", "bias_hh_l1_reverse"});
  CHECK(sizes[0] == Sizes{16, 3});
  CHECK(sizes[1] == Sizes{16, 4});
  CHECK(sizes[2] == Sizes{16});
  CHECK(sizes[8] == Sizes{16, 8});
  CHECK(lstm->all_weights().size() == 16);
  CHECK(GRU(GRUOptions(3, 4).bias(false))->parameters().size() == 2);
  CHECK(sizes_of(GRU(3, 4)->named_parameters()["weight_hh_l0"]) == Sizes{12, 4});
  CHECK(sizes_of(RNN(3, 4)->named_parameters()["weight_ih_l0"]) == Sizes{4, 3});
  CHECK(printed(lstm) ==
        "ebb::nn::LSTM(input_size=3, hidden_size=4, num_layers=2, bias=true, batch_first=false, "
        "dropout=0, bidirectional=true)");
  CHECK(printed(nn::RNNCell(nn::RNNCellOptions(2, 3).nonlinearity(ebb::kReLU))) ==
        "ebb::nn::RNNCell(2, 3, nonlinearity=kReLU)");
}

TEST_CASE("outputs and states have LibTorch's sizes, with and without a batch") {
  LSTM lstm(LSTMOptions(3, 4).num_layers(2).bidirectional(true));
  const auto [output, state] = lstm->forward(ebb::randn({5, 2, 3}));
  CHECK(sizes_of(output) == Sizes{5, 2, 8});
  CHECK(sizes_of(std::get<0>(state)) == Sizes{4, 2, 4});
  CHECK(sizes_of(std::get<1>(state)) == Sizes{4, 2, 4});

  GRU gru(GRUOptions(3, 4).batch_first(true));
  const auto x = ebb::randn({2, 5, 3});
  const auto [by_batch, last] = gru->forward(x);
  CHECK(sizes_of(by_batch) == Sizes{2, 5, 4});
  CHECK(ebb::equal(by_batch.select(1, 4), last.squeeze(0)));
  const auto [one, last_one] = gru->forward(x[1]);
  CHECK(sizes_of(one) == Sizes{5, 4});
  CHECK(sizes_of(last_one) == Sizes{1, 4});
  CHECK(ebb::allclose(one, by_batch[1]));
  CHECK(sizes_of(output_of(gru->forward(ebb::randn({0, 5, 3})))) == Sizes{0, 5, 4});
}

TEST_CASE("a state that is left out is zeros") {
  const auto x = ebb::randn({3, 2, 3});
  const auto zeros = ebb::zeros({1, 2, 4});
  RNN rnn(3, 4);
  CHECK(ebb::equal(output_of(rnn->forward(x)), output_of(rnn->forward(x, zeros))));
  LSTM lstm(3, 4);
  CHECK(ebb::equal(output_of(lstm->forward(x)), output_of(lstm->forward(x, State(zeros, zeros)))));
  nn::GRUCell cell(3, 4);
  CHECK(ebb::equal(cell->forward(x[0]), cell->forward(x[0], zeros[0])));
}

TEST_CASE("a cell, step by step, is the layer") {
  LSTM lstm(3, 4);
  nn::LSTMCell cell(3, 4);
  {
    const ebb::NoGradGuard no_grad;
    for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
      cell->named_parameters()[name].copy_(lstm->named_parameters()[name + std::string("_l0")]);
    }
  }
  const auto x = ebb::randn({5, 2, 3});
  const auto [output, last] = lstm->forward(x);
  std::optional<State> state;
  for (int64_t t = 0; t < 5; ++t) {
    state = cell->forward(x[t], state);
    CHECK(ebb::allclose(std::get<0>(*state), output[t], 1e-5, 1e-6));
  }
  CHECK(ebb::allclose(std::get<1>(*state), std::get<1>(last)[0], 1e-5, 1e-6));
  const auto [one, cell_of_one] = cell->forward(x[0][1]);
  CHECK(ebb::allclose(one, output[0][1], 1e-5, 1e-6));
  CHECK(sizes_of(cell_of_one) == Sizes{4});
}

TEST_CASE("packed sequences give what each sequence gives alone, in any order") {
  GRU gru(GRUOptions(3, 4).num_layers(2).bidirectional(true));
  const std::vector<Tensor> sequences = {ebb::randn({2, 3}), ebb::randn({5, 3}),
                                         ebb::randn({3, 3})};
  const auto hx = ebb::randn({4, 3, 4});
  const auto [packed, last] =
      gru->forward_with_packed_input(pack_sequence(sequences, /*enforce_sorted=*/false), hx);
  CHECK(sizes_of(packed.data()) == Sizes{10, 8});
  const auto [padded, lengths] = pad_packed_sequence(packed, /*batch_first=*/true);
  for (int64_t b = 0; b < 3; ++b) {
    const auto [output, h] =
        gru->forward(sequences[static_cast<size_t>(b)], hx.select(1, b).contiguous());
    CHECK(ebb::allclose(padded[b].narrow(0, 0, output.size(0)), output, 1e-5, 1e-6));
    CHECK(ebb::allclose(last.select(1, b), h, 1e-5, 1e-6));
  }
}

TEST_CASE("dropout is between layers, and in training alone") {
  const auto x = ebb::randn({4, 3, 8});
  LSTM one(LSTMOptions(8, 8).dropout(0.5));
  CHECK(ebb::equal(output_of(one->forward(x)), output_of(one->forward(x))));
  LSTM two(LSTMOptions(8, 8).num_layers(2).dropout(0.5));
  CHECK_FALSE(ebb::equal(output_of(two->forward(x)), output_of(two->forward(x))));
  two->eval();
  CHECK(ebb::equal(output_of(two->forward(x)), output_of(two->forward(x))));
  LSTM all(LSTMOptions(8, 8).num_layers(2).dropout(1.0));
  LSTM blind(LSTMOptions(8, 8).num_layers(2).dropout(1.0));
  {
    const ebb::NoGradGuard no_grad;
    const auto from = all->parameters();
    const auto to = blind->parameters();
    for (size_t i = 4; i < from.size(); ++i) to[i].copy_(from[i]);
  }
  // The second layers are alike and see nothing of the first.
  CHECK(ebb::equal(output_of(all->forward(x)), output_of(blind->forward(x))));
}

TEST_CASE("recurrent modules are cloned, converted, and used in a Sequential") {
  LSTM lstm(3, 4);
  const auto x = ebb::randn({2, 1, 3});
  const auto copy = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
  CHECK(ebb::equal(output_of(copy->forward(x)), output_of(lstm->forward(x))));
  {
    const ebb::NoGradGuard no_grad;
    for (const auto& p : copy->parameters()) p.zero_();
  }
  CHECK(output_of(copy->forward(x)).abs().max().item<float>() == 0);
  CHECK(output_of(lstm->forward(x)).abs().max().item<float>() > 0);
  lstm->to(ebb::kDouble);
  CHECK(output_of(lstm->forward(x.to(ebb::kDouble))).scalar_type() == ebb::kDouble);
  nn::Sequential sequential{nn::Linear(3, 3), RNN(3, 4)};
  const auto [output, last] = sequential->forward<std::tuple<Tensor, Tensor>>(x);
  CHECK(sizes_of(output) == Sizes{2, 1, 4});
}

TEST_CASE("16-bit recurrent nets compute near the float32 ones, in every mode") {
  for (const auto dtype : {ebb::kHalf, ebb::kBFloat16}) {
    const auto x = ebb::randn({4, 2, 8});
    const auto check = [&](auto module) {
      const Tensor expected = output_of(module->forward(x));
      module->to(dtype);
      const Tensor y = output_of(module->forward(x.to(dtype)));
      CHECK(y.scalar_type() == dtype);
      // Eight bits of mantissa, over four steps.
      CHECK((y.to(ebb::kFloat) - expected).abs().max().template item<float>() < 0.03);
      y.sum().backward();
      for (const auto& p : module->parameters()) {
        CHECK(p.grad().scalar_type() == dtype);
        CHECK(p.grad().isfinite().all().template item<bool>());
      }
    };
    check(RNN(8, 8));
    check(LSTM(8, 8));
    check(GRU(8, 8));
  }
}

TEST_CASE("input and states that do not fit are refused with both sizes") {
  LSTM lstm(LSTMOptions(3, 4).num_layers(2));
  CHECK_THROWS_WITH(lstm->forward(ebb::zeros({5, 2, 7})),
                    ContainsSubstring("input.size(-1) must be equal to input_size. Expected 3, "
                                      "got 7"));
  CHECK_THROWS_WITH(lstm->forward(ebb::zeros({3})), ContainsSubstring("2-D or 3-D"));
  CHECK_THROWS_WITH(lstm->forward(ebb::zeros({0, 2, 3})),
                    ContainsSubstring("Expected sequence length to be larger than 0 in RNN"));
  const auto x = ebb::zeros({5, 2, 3});
  const auto good = ebb::zeros({2, 2, 4});
  CHECK_THROWS_WITH(lstm->forward(x, State(ebb::zeros({1, 2, 4}), good)),
                    ContainsSubstring("Expected hidden[0] size [2, 2, 4], got [1, 2, 4]"));
  CHECK_THROWS_WITH(lstm->forward(x, State(good, ebb::zeros({2, 1, 4}))),
                    ContainsSubstring("Expected hidden[1] size [2, 2, 4], got [2, 1, 4]"));
  CHECK_THROWS_WITH(lstm->forward(x, State(good, Tensor())), ContainsSubstring("both"));
  CHECK_THROWS_WITH(lstm->forward(x.select(1, 0), State(good, good)),
                    ContainsSubstring("hx should also be 2-D"));
  CHECK_THROWS_WITH(lstm->forward(x.to(ebb::kDouble)), ContainsSubstring("rnn_layer"));
  CHECK_THROWS_WITH(LSTM(LSTMOptions(3, 4).dropout(1.5)), ContainsSubstring("range [0, 1]"));
  CHECK_THROWS_WITH(LSTM(LSTMOptions(3, 4).proj_size(2)), ContainsSubstring("proj_size"));
  CHECK_THROWS_WITH(GRU(GRUOptions(0, 4)), ContainsSubstring("greater than zero"));
  CHECK_THROWS_WITH(nn::GRUCell(3, 4)->forward(ebb::zeros({2, 3}), ebb::zeros({3, 4})),
                    ContainsSubstring("Input batch size 2"));
  CHECK_THROWS_WITH(nn::GRUCell(3, 4)->forward(ebb::zeros({2, 4})),
                    ContainsSubstring("got 4 expected 3"));
}
