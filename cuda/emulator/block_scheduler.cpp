#include <ebb/cuda/emulator/block_scheduler.h>

#include <cstring>
#include <numeric>
#include <utility>

uint3 threadIdx{};
uint3 blockIdx{};
dim3 blockDim{};
dim3 gridDim{};

namespace ebb::cuda::emulator {

namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kBlocksPerOrder = 8;

bool same(const Place& a, const Place& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

BlockScheduler& scheduler() {
  static BlockScheduler& scheduler = *new BlockScheduler;
  return scheduler;
}

BlockScheduler::BlockScheduler() : indices_of_(0, 0, 0) {}

void BlockScheduler::begin(const Launch& launch, bool early_exit, Random random) {
  launch_ = &launch;
  early_exit_ = early_exit;
  random_ = random;
  blocks_ = 0;
  const dim3 block = launch.block;
  blockDim = block;
  gridDim = launch.grid;
  threads_ = block.x * block.y * block.z;
  order_.resize(threads_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (block.x == indices_of_.x && block.y == indices_of_.y && block.z == indices_of_.z) return;
  indices_of_ = block;
  indices_.clear();
  for (uint32_t i = 0; i < threads_; ++i) {
    indices_.push_back({i % block.x, i / block.x % block.y, i / (block.x * block.y)});
  }
  state_.assign(threads_, {});
  offers_.assign(threads_, nullptr);
  warps_.assign((threads_ + kWarp - 1) / kWarp, {});
}

bool BlockScheduler::run_block() {
  // A shuffle for some blocks, turned for each, is random enough and costs little.
  if (blocks_++ % kBlocksPerOrder == 0) {
    for (uint32_t i = threads_; i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  }
  first_ = random_.below(threads_);
  started_ = 0;
  exited_ = 0;
  at_barrier_ = 0;
  for (uint32_t i = 0; i < warps_.size(); ++i) {
    const uint32_t lanes = threads_ - i * kWarp;
    warps_[i].present = lanes >= kWarp ? 0xffffffffu : (1u << lanes) - 1;
    warps_[i].exited = 0;
    warps_[i].waiting = 0;
  }
  failed_ = false;
  running_ = true;
  host_.switch_to(idle_fiber());
  running_ = false;
  if (failed_) restart_fibers();
  return !failed_;
}

void BlockScheduler::fiber_body(Fiber& fiber) {
  for (;;) scheduler().run_threads(fiber);
}

/// Starts threads until there is none left, then hands over to one that can go on.
void BlockScheduler::run_threads(Fiber& fiber) {
  while (started_ < threads_ && (ready_.empty() || (random_.next() & 1) != 0)) {
    resume_current(next_unstarted());
    state_[current_].fiber = &fiber;
    launch_->kernel->run_thread();
    finish_current();
  }
  if (ready_.empty() && exited_ < threads_) fault_of_deadlock();
  idle_.push_back(&fiber);
  fiber.switch_to(ready_.empty() ? host_ : *state_[take_ready()].fiber);
}

void BlockScheduler::resume_current(uint32_t thread) {
  current_ = thread;
  threadIdx = indices_[thread];
}

uint32_t BlockScheduler::next_unstarted() {
  uint32_t position = first_ + started_++;
  if (position >= threads_) position -= threads_;
  return order_[position];
}

uint32_t BlockScheduler::take_ready() {
  std::swap(ready_[random_.below(static_cast<uint32_t>(ready_.size()))], ready_.back());
  const uint32_t thread = ready_.back();
  ready_.pop_back();
  return thread;
}

Fiber& BlockScheduler::idle_fiber() {
  if (idle_.empty()) return fibers_.emplace_back(fiber_body, static_cast<unsigned>(fibers_.size()));
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void BlockScheduler::finish_current() {
  ++exited_;
  Warp& warp = warps_[current_ / kWarp];
  warp.exited |= 1u << current_ % kWarp;
  if (warp.waiting != 0) {
    for (uint32_t lane = 0; lane < kWarp; ++lane) {
      const uint32_t thread = current_ / kWarp * kWarp + lane;
      if ((warp.waiting >> lane & 1) && (state_[thread].mask >> current_ % kWarp & 1)) {
        fault_of_early_exit(thread);
      }
    }
  }
  if (at_barrier_ == 0) return;
  if (!early_exit_) fault_of_early_exit(first_at_barrier_);
  if (at_barrier_ == threads_ - exited_) release_block();
}

/// Lets another thread run until the running one is ready and chosen.
void BlockScheduler::suspend() {
  const uint32_t self = current_;
  Fiber& fiber = *state_[self].fiber;
  const bool can_start = started_ < threads_;
  if (!can_start && ready_.empty()) fault_of_deadlock();
  Fiber* next = nullptr;
  if (can_start && (ready_.empty() || (random_.next() & 1) != 0)) {
    next = &idle_fiber();
  } else {
    next = state_[take_ready()].fiber;
  }
  if (next != &fiber) fiber.switch_to(*next);
  resume_current(self);
}

void BlockScheduler::wait_for_block(const char* what, void* offer, Combine combine,
                                    const void* state, Place place) {
  Thread& self = state_[current_];
  self.what = what;
  self.place = place;
  self.waits = Waits::for_block;
  offers_[current_] = offer;
  if (at_barrier_++ == 0) first_at_barrier_ = current_;
  if (exited_ > 0 && (!early_exit_ || combine != nullptr)) fault_of_early_exit(current_);
  if (combine != nullptr && (threads_ % kWarp != 0 || threads_ != launch_->block.x)) {
    fault_of_shape(what);
  }
  const Thread& other = state_[first_at_barrier_];
  if (!same(place, other.place)) fault_of_divergence();
  if (at_barrier_ == threads_ - exited_) {
    if (combine != nullptr) combine(offers_.data(), threads_, state);
    release_block();
  }
  suspend();
}

void BlockScheduler::release_block() {
  at_barrier_ = 0;
  for (uint32_t thread = 0; thread < threads_; ++thread) {
    if (state_[thread].waits != Waits::for_block) continue;
    state_[thread].waits = Waits::no;
    ready_.push_back(thread);
  }
}

void BlockScheduler::wait_for_warp(const char* what, void* offer, uint32_t mask, Combine combine,
                                   const void* state, Place place) {
  const uint32_t index = current_ / kWarp;
  const uint32_t lane = current_ % kWarp;
  Warp& warp = warps_[index];
  Thread& self = state_[current_];
  self.what = what;
  self.place = place;
  self.mask = mask;
  check_mask(warp, mask, what, place);
  self.waits = Waits::for_warp;
  warp.offers[lane] = offer;
  warp.waiting |= 1u << lane;
  if ((warp.waiting & mask) == mask) {
    check_same_exchange(index, mask);
    combine(warp.offers, mask, state);
    release_warp(index, mask);
  }
  suspend();
}

void BlockScheduler::release_warp(uint32_t warp, uint32_t mask) {
  warps_[warp].waiting &= ~mask;
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    state_[warp * kWarp + lane].waits = Waits::no;
    ready_.push_back(warp * kWarp + lane);
  }
}

bool BlockScheduler::stack_overflowed_at(const void* address) const {
  for (const Fiber& fiber : fibers_) {
    if (fiber.overflowed_at(address)) return true;
  }
  return false;
}

void BlockScheduler::restart_fibers() {
  ready_.clear();
  idle_.clear();
  for (Thread& thread : state_) thread = {};
  for (Fiber& fiber : fibers_) {
    fiber.restart();
    idle_.push_back(&fiber);
  }
}

void BlockScheduler::leave_block() {
  failed_ = true;
  state_[current_].fiber->switch_to(host_);
  __builtin_unreachable();
}

void block_barrier(Place place) {
  scheduler().wait_for_block("__syncthreads", nullptr, nullptr, nullptr, place);
}

void block_exchange(const char* what, void* offer, Combine combine, const void* state,
                    Place place) {
  scheduler().wait_for_block(what, offer, combine, state, place);
}

void warp_exchange(const char* what, void* offer, uint32_t mask, Combine combine, const void* state,
                   Place place) {
  scheduler().wait_for_warp(what, offer, mask, combine, state, place);
}

}  // namespace ebb::cuda::emulator
