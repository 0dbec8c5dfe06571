#pragma once

#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/random/generator.h>
#include <ebb/core/tensor/tensor_base.h>

// Random numbers written to tensors. Element i of a call (in row-major order) depends on the
// generator's state and i alone. `generator` absent: that of the thread for the tensor's device.

namespace ebb::ops {

using OptionalGenerator = std::optional<Generator>;

/// Uniform in [low, high); for floating-point dtypes. Raises the version, as all of these.
EBB_API void uniform_(const TensorBase& self, double low, double high,
                      const OptionalGenerator& generator = {});
/// Normal with that mean and standard deviation; for floating-point dtypes.
EBB_API void normal_(const TensorBase& self, double mean, double std,
                     const OptionalGenerator& generator = {});
/// Integers in [low, high); both must fit in the dtype.
EBB_API void random_(const TensorBase& self, int64_t low, int64_t high,
                     const OptionalGenerator& generator = {});
/// Integers from `low` to the greatest that the dtype holds exactly.
EBB_API void random_from_(const TensorBase& self, int64_t low,
                          const OptionalGenerator& generator = {});
/// 1 with probability p, else 0.
EBB_API void bernoulli_(const TensorBase& self, double p, const OptionalGenerator& generator = {});
/// 1 with the probability that each element of `probabilities` states, else 0, in its dtype.
EBB_API TensorBase bernoulli(const TensorBase& probabilities,
                             const OptionalGenerator& generator = {});

/// The counters that dropout of n elements takes.
EBB_API random::Reservation reserve_dropout(const TensorBase& input);
/// input / (1 - p) where the mask that `draw` stands for keeps it, else 0.
EBB_API TensorBase dropout(const TensorBase& input, double p, random::Reservation draw);
/// The same in place.
EBB_API void dropout_(const TensorBase& self, double p, random::Reservation draw);

}  // namespace ebb::ops
