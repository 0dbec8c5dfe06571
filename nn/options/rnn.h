#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include <ebb/nn/arg.h>
#include <ebb/nn/enum.h>

namespace ebb::nn {

namespace detail {

/// What the options of RNN, LSTM and GRU say alike.
struct RNNOptionsBase {
  RNNOptionsBase(std::string_view mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

  /// "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
  EBB_ARG(std::string_view, mode);
  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(int64_t, num_layers) = 1;
  EBB_ARG(bool, bias) = true;
  EBB_ARG(bool, batch_first) = false;
  EBB_ARG(double, dropout) = 0.0;
  EBB_ARG(bool, bidirectional) = false;
};

/// What the options of the cells say alike.
struct RNNCellOptionsBase {
  RNNCellOptionsBase(std::string_view mode, int64_t input_size, int64_t hidden_size, bool bias)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size), bias_(bias) {}

  EBB_ARG(std::string_view, mode);
  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(bool, bias);
};

}  // namespace detail

/// Options of RNN: the features of the input and of the hidden state.
struct RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  /// How many layers are stacked, each on the output of the one before.
  EBB_ARG(int64_t, num_layers) = 1;
  EBB_ARG(nonlinearity_t, nonlinearity) = enumtype::kTanh();
  /// Whether there are b_ih and b_hh.
  EBB_ARG(bool, bias) = true;
  /// Whether input and output are [B, T, features] and not [T, B, features].
  EBB_ARG(bool, batch_first) = false;
  /// The probability with which the output of each layer but the last is dropped in training.
  EBB_ARG(double, dropout) = 0.0;
  /// Whether a second direction runs from the last step to the first.
  EBB_ARG(bool, bidirectional) = false;
};

/// Options of LSTM, as those of RNN. `proj_size` above 0 is not supported.
struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(int64_t, num_layers) = 1;
  EBB_ARG(bool, bias) = true;
  EBB_ARG(bool, batch_first) = false;
  EBB_ARG(double, dropout) = 0.0;
  EBB_ARG(bool, bidirectional) = false;
  EBB_ARG(int64_t, proj_size) = 0;
};

/// Options of GRU, as those of RNN.
struct GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(int64_t, num_layers) = 1;
  EBB_ARG(bool, bias) = true;
  EBB_ARG(bool, batch_first) = false;
  EBB_ARG(double, dropout) = 0.0;
  EBB_ARG(bool, bidirectional) = false;
};

/// Options of RNNCell.
struct RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(bool, bias) = true;
  EBB_ARG(nonlinearity_t, nonlinearity) = enumtype::kTanh();
};

/// Options of LSTMCell.
struct LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(bool, bias) = true;
};

/// Options of GRUCell.
struct GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(int64_t, input_size);
  EBB_ARG(int64_t, hidden_size);
  EBB_ARG(bool, bias) = true;
};

}  // namespace ebb::nn
