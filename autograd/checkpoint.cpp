#include <ebb/autograd/checkpoint.h>

#include <mutex>
#include <optional>

#include <ebb/autograd/autocast.h>
#include <ebb/autograd/engine.h>
#include <ebb/autograd/saved_tensor.h>
#include <ebb/core/device_setup.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/random/generator.h>

// A region's saved tensors are holders: numbered, empty, and filled by a second run, whose ops save
// the same tensors in the same order. A holder is emptied when the node that it belongs to has run.
// Nodes own holders, which own the region; the region knows them weakly.

namespace ebb::autograd {

namespace {

constinit thread_local bool recomputing = false;

/// Thrown where the last tensor that is needed has been saved. No std::exception, so that what
/// looks for errors does not catch it.
struct RecomputationDone {};

/// Parameters, buffers and gradients are there anyway.
bool stays_saved(const Tensor& tensor) {
  const memory::Block* block = tensor.storage().block();
  return block != nullptr && memory::category(block) <= memory::Category::gradient;
}

/// Makes the random ops of this thread draw from clones of some generators.
class ReplayedGenerators {
 public:
  explicit ReplayedGenerators(const std::vector<Generator>& generators) {
    for (const Generator& generator : generators) {
      guards_.push_back(std::make_unique<GeneratorGuard>(generator.clone()));
    }
  }
  ~ReplayedGenerators() {
    while (!guards_.empty()) guards_.pop_back();  // the innermost first
  }
  ReplayedGenerators(const ReplayedGenerators&) = delete;
  ReplayedGenerators& operator=(const ReplayedGenerators&) = delete;

 private:
  std::vector<std::unique_ptr<GeneratorGuard>> guards_;
};

std::vector<Generator> generators_of(const variable_list& tensors) {
  std::vector<Generator> found;
  const auto add = [&](Device device) {
    for (const Generator& other : found) {
      if (other.device() == device) return;
    }
    found.push_back(current_generator(device).clone());
  };
  add(kCPU);
  if (!get_default_device().is_cpu()) add(current_generator(get_default_device()).device());
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) add(tensor.device());
  }
  return found;
}

}  // namespace

bool is_recomputing() noexcept { return recomputing; }

namespace detail {

RecomputingScope::RecomputingScope()
    : op_name_(std::exchange(thread_state().op_name, nullptr)),
      node_(std::exchange(thread_state().current_node, nullptr)),
      recomputing_(std::exchange(recomputing, true)) {}
RecomputingScope::~RecomputingScope() {
  thread_state().op_name = op_name_;
  thread_state().current_node = node_;
  recomputing = recomputing_;
}

struct Holder {
  std::shared_ptr<Region> region;
  size_t slot;
  SavedTensor value;  // guarded by the region's mutex
};

/// What one op saved at one place, in the first run.
struct Slot {
  std::weak_ptr<Holder> holder;  // null if the tensor stayed saved
  const char* op;
  DimVector sizes;
  ScalarType dtype;
  Device device;

  [[nodiscard]] std::string describe() const {
    return ebb::detail::concat(op == nullptr ? "an op" : op, " saved ", dtype, IntArrayRef(sizes),
                               " on ", device);
  }
};

Slot slot_of(const Tensor& tensor) {
  return {{},
          thread_state().op_name,
          DimVector(tensor.sizes()),
          tensor.scalar_type(),
          tensor.device()};
}

bool is_like(const Slot& a, const Slot& b) {
  return IntArrayRef(a.sizes) == IntArrayRef(b.sizes) && a.dtype == b.dtype && a.device == b.device &&
         (a.op == b.op ||
          (a.op != nullptr && b.op != nullptr && std::string_view(a.op) == b.op));
}

class Region : public std::enable_shared_from_this<Region> {
 public:
  Region(const CheckpointOptions& options, const variable_list& tensors, RegionScope::Again again)
      : options_(options), again_(std::move(again)), autocast_(amp::AutocastState::current()) {
    for (const Tensor& tensor : tensors) tensors_.emplace_back(tensor);
    if (options.preserve_rng_state) generators_ = generators_of(tensors);
  }

  [[nodiscard]] const amp::AutocastState& autocast() const { return autocast_; }

  /// In the first run: a holder instead of the tensor.
  PackedTensor pack(const Tensor& tensor) {
    slots_.push_back(slot_of(tensor));
    if (stays_saved(tensor)) return {{tensor}, {}};
    auto holder = std::make_shared<Holder>(Holder{shared_from_this(), slots_.size() - 1, {}});
    slots_.back().holder = holder;
    return {{}, std::move(holder)};
  }

  Tensor unpack(const std::shared_ptr<Holder>& holder) {
    const std::lock_guard lock(mutex_);
    if (!holder->value.defined()) recompute();
    Tensor value = holder->value.unpack({}, /*with_history=*/false);
    const bool in_backward =
        engine::after_node([holder = std::weak_ptr(holder), this, self = shared_from_this()] {
          const std::lock_guard lock(mutex_);
          if (const auto alive = holder.lock()) alive->value.reset();
        });
    if (!in_backward) empty();  // nobody would tell when the others have been used
    return value;
  }

 private:
  /// Runs the function again and fills the holders that are alive.
  void recompute() {
    Run run{needed()};
    try {
      run_again(run);
    } catch (const RecomputationDone&) {
    } catch (...) {
      empty();
      throw;
    }
    if (run.missing > 0 || (run.complete && options_.determinism_check)) check_count(run);
    engine::after_backward([self = weak_from_this()] {
      if (const auto region = self.lock()) {
        const std::lock_guard lock(region->mutex_);
        region->empty();
      }
    });
  }

  struct Run {
    size_t missing;
    size_t saved = 0;
    bool complete = false;
  };

  void run_again(Run& run) {
    const RecomputingScope forward;
    const amp::AutocastStateGuard autocast(autocast_);
    const ReplayedGenerators replayed(generators_);
    variable_list tensors;
    for (const SavedTensor& tensor : tensors_) tensors.push_back(tensor.unpack({}));
    const SavedTensorHooks hooks(
        [this, &run](const Tensor& tensor) {
          fill(run, tensor);
          return PackedTensor();
        },
        [](const PackedTensor&) -> Tensor {
          EBB_CHECK(false, "checkpoint: backward reached the graph of a recomputation, which keeps "
                           "nothing; return tensors from the function instead of storing them");
          return {};
        });
    again_(tensors);
    run.complete = true;
  }

  void fill(Run& run, const Tensor& tensor) {
    const size_t i = run.saved++;
    EBB_CHECK(i < slots_.size(), "checkpoint: the recomputation saves more tensors than the ",
              slots_.size(), " of the first run (", slot_of(tensor).describe(), "); ", kAdvice);
    const Slot& slot = slots_[i];
    if (options_.determinism_check) {
      const Slot now = slot_of(tensor);
      EBB_CHECK(is_like(slot, now), "checkpoint: saved tensor ", i,
                " of the recomputation differs: ", slot.describe(), " at first, ", now.describe(),
                " now; ", kAdvice);
    }
    const std::shared_ptr<Holder> holder = slot.holder.lock();
    if (holder != nullptr && !holder->value.defined()) {
      holder->value = SavedTensor(tensor);
      --run.missing;
    }
    if (run.missing == 0 && options_.early_stop) throw RecomputationDone();
  }

  void check_count(const Run& run) const {
    EBB_CHECK(run.saved == slots_.size(), "checkpoint: the recomputation saved ", run.saved,
              " tensors, the first run ", slots_.size(),
              run.saved < slots_.size() ? ebb::detail::concat(" (next came: ", slots_[run.saved].describe(), ")")
                                        : std::string(),
              "; ", kAdvice);
  }

  /// How many holders are alive and empty.
  [[nodiscard]] size_t needed() const {
    size_t count = 0;
    for (const Slot& slot : slots_) {
      const auto holder = slot.holder.lock();
      if (holder != nullptr && !holder->value.defined()) ++count;
    }
    return count;
  }

  void empty() noexcept {
    for (const Slot& slot : slots_) {
      if (const auto holder = slot.holder.lock()) holder->value.reset();
    }
  }

  static constexpr const char* kAdvice =
      "the function must do the same in both runs: take what changes (a flag, a counter, random "
      "numbers of an own source) out of it, or pass it as an argument";

  CheckpointOptions options_;
  RegionScope::Again again_;
  amp::AutocastState autocast_;
  std::vector<SavedTensor> tensors_;
  std::vector<Generator> generators_;
  std::vector<Slot> slots_;
  std::recursive_mutex mutex_;  // a hook of the user may read a saved tensor in the second run
};

struct RegionScope::Parts {
  std::shared_ptr<Region> region;
  amp::AutocastStateGuard autocast;  // casts of weights of its own, in both runs
  SavedTensorHooks hooks;

  explicit Parts(std::shared_ptr<Region> made)
      : region(std::move(made)),
        autocast(region->autocast()),
        // The region outlives the scope, and packs only within it.
        hooks([region = region.get()](const Tensor& tensor) { return region->pack(tensor); },
              [](const PackedTensor& packed) {
                if (!packed.tensors.empty()) return packed.tensors[0];
                const auto& holder = std::any_cast<const std::shared_ptr<Holder>&>(packed.state);
                return holder->region->unpack(holder);
              }) {}
};

RegionScope::RegionScope(const CheckpointOptions& options, const variable_list& tensors,
                         Again again)
    : parts_(std::make_unique<Parts>(std::make_shared<Region>(options, tensors, std::move(again)))) {
}
RegionScope::~RegionScope() = default;

}  // namespace detail
}  // namespace ebb::autograd
