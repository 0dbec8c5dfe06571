#pragma once

#include <variant>

#include <ebb/core/ops/reduction.h>

// Names for choices, each a type of its own: an option lists what it accepts as a std::variant, so
// that a wrong choice does not compile.

namespace ebb {

namespace enumtype {

struct kNone {
  static constexpr const char* name = "kNone";
};
struct kMean {
  static constexpr const char* name = "kMean";
};
struct kSum {
  static constexpr const char* name = "kSum";
};

struct kZeros {
  static constexpr const char* name = "kZeros";
};
struct kReflect {
  static constexpr const char* name = "kReflect";
};
struct kReplicate {
  static constexpr const char* name = "kReplicate";
};
struct kCircular {
  static constexpr const char* name = "kCircular";
};
struct kValid {
  static constexpr const char* name = "kValid";
};
struct kSame {
  static constexpr const char* name = "kSame";
};

struct kLinear {
  static constexpr const char* name = "kLinear";
};
struct kConv1D {
  static constexpr const char* name = "kConv1D";
};
struct kConv2D {
  static constexpr const char* name = "kConv2D";
};
struct kConv3D {
  static constexpr const char* name = "kConv3D";
};
struct kConvTranspose1D {
  static constexpr const char* name = "kConvTranspose1D";
};
struct kConvTranspose2D {
  static constexpr const char* name = "kConvTranspose2D";
};
struct kConvTranspose3D {
  static constexpr const char* name = "kConvTranspose3D";
};
struct kSigmoid {
  static constexpr const char* name = "kSigmoid";
};
struct kTanh {
  static constexpr const char* name = "kTanh";
};
struct kReLU {
  static constexpr const char* name = "kReLU";
};
struct kLeakyReLU {
  static constexpr const char* name = "kLeakyReLU";
};
struct kFanIn {
  static constexpr const char* name = "kFanIn";
};
struct kFanOut {
  static constexpr const char* name = "kFanOut";
};

/// "kMean", ...
template <typename... Choices>
const char* get_enum_name(const std::variant<Choices...>& choice) {
  return std::visit([](const auto& chosen) { return chosen.name; }, choice);
}

}  // namespace enumtype

inline constexpr enumtype::kNone kNone;
inline constexpr enumtype::kMean kMean;
inline constexpr enumtype::kSum kSum;
inline constexpr enumtype::kZeros kZeros;
inline constexpr enumtype::kReflect kReflect;
inline constexpr enumtype::kReplicate kReplicate;
inline constexpr enumtype::kCircular kCircular;
inline constexpr enumtype::kValid kValid;
inline constexpr enumtype::kSame kSame;
inline constexpr enumtype::kLinear kLinear;
inline constexpr enumtype::kConv1D kConv1D;
inline constexpr enumtype::kConv2D kConv2D;
inline constexpr enumtype::kConv3D kConv3D;
inline constexpr enumtype::kConvTranspose1D kConvTranspose1D;
inline constexpr enumtype::kConvTranspose2D kConvTranspose2D;
inline constexpr enumtype::kConvTranspose3D kConvTranspose3D;
inline constexpr enumtype::kSigmoid kSigmoid;
inline constexpr enumtype::kTanh kTanh;
inline constexpr enumtype::kReLU kReLU;
inline constexpr enumtype::kLeakyReLU kLeakyReLU;
inline constexpr enumtype::kFanIn kFanIn;
inline constexpr enumtype::kFanOut kFanOut;

namespace nn {

/// What a loss returns: its elements, their mean, or their sum.
using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

/// The number that ops use for it.
inline int64_t reduction_number(const reduction_t& reduction) {
  constexpr int64_t numbers[] = {Reduction::None, Reduction::Mean, Reduction::Sum};
  return numbers[reduction.index()];
}

}  // namespace nn
}  // namespace ebb
