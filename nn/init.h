#pragma once

#include <cstdint>
#include <tuple>
#include <variant>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/enum.h>

/// First values for parameters. Each function writes its tensor in place, without recording it, and
/// returns it.
namespace ebb::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                 enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;
/// Whether the magnitudes shall be kept in the forward pass or in backward.
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// The factor by which a nonlinearity shrinks values: 1 for linear, convolution and sigmoid, 5/3
/// for tanh, sqrt(2) for ReLU, sqrt(2 / (1 + param^2)) for leaky ReLU of slope `param`.
EBB_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

EBB_API Tensor constant_(Tensor tensor, Scalar value);
EBB_API Tensor ones_(Tensor tensor);
EBB_API Tensor zeros_(Tensor tensor);
/// The identity; `matrix` must have two dimensions.
EBB_API Tensor eye_(Tensor matrix);
/// The identity for convolutions: [O, C, ...] with 1 at the middle of filter i for channel i.
EBB_API Tensor dirac_(Tensor tensor);
/// Uniform in [low, high).
EBB_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
EBB_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);

/// Normal with std gain * sqrt(2 / (fan_in + fan_out)), or uniform of the same variance (Glorot and
/// Bengio, 2010). At least two dimensions.
EBB_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
EBB_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
/// Normal with std gain(nonlinearity, a) / sqrt(fan), or uniform of the same variance (He et al.,
/// 2015). At least two dimensions.
EBB_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                               NonlinearityType nonlinearity = kLeakyReLU);
EBB_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                NonlinearityType nonlinearity = kLeakyReLU);

/// How many values enter and leave a unit of a weight [out, in, ...]. Throws for fewer than two
/// dimensions.
EBB_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace ebb::nn::init
