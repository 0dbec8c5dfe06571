#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb::memory {

/// A block of memory that is still in use, and what is known about it.
struct Leak {
  Device device;  ///< page-locked memory of the host: the CPU
  int64_t bytes = 0;                         ///< as counted in memory_allocated
  Category category = Category::temporary;   ///< now: `saved` if a graph holds it for backward
  bool is_tensor = false;                    ///< false: a storage without a tensor, or scratch
  std::vector<int64_t> sizes;                ///< of the first tensor over it
  ScalarType dtype = ScalarType::Undefined;  ///< of the first tensor over it
  std::string op;                            ///< that asked for it; empty: none ran
  std::string scope;                         ///< where: "step/forward"; empty: in no scope
};

/// Finds the tensors that outlive a piece of code, whoever holds them: a list, the graph of a loss
/// that was added up, or a cycle of a tensor and a hook that captured it.
///
///     memory::LeakCheck check;
///     train_one_step();
///     check.expect_none();
///
/// It counts what any thread allocates on any device since the check was made. Tensors that share
/// memory are one leak; memory of others (from_blob) is none. Checks may nest and overlap. While a
/// check is there an allocation and its free take 15 to 65 ns more (bench/recording.cpp), as the
/// block is known to the check or new; without one, nothing.
class EBB_API LeakCheck {
 public:
  LeakCheck();
  ~LeakCheck();
  LeakCheck(const LeakCheck&) = delete;
  LeakCheck& operator=(const LeakCheck&) = delete;

  /// What was allocated since the check was made and is in use now, by device and in the order of
  /// the requests.
  [[nodiscard]] std::vector<Leak> leaks() const;
  /// Throws an Error with the table of leaks and the usual reasons if there are any.
  void expect_none() const;

 private:
  class Notes;
  std::unique_ptr<Notes> notes_;
};

/// A table for people: bytes, device, dtype and sizes, category, op, scope. Leaks that differ in
/// nothing share a line; the largest lines come first, 20 at most.
[[nodiscard]] EBB_API std::string describe(const std::vector<Leak>& leaks);

}  // namespace ebb::memory
