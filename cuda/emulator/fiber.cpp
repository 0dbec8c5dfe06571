#include <ebb/cuda/emulator/fiber.h>

#include <new>

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include <ebb/cuda/emulator/sanitizer.h>

namespace ebb::cuda::emulator {

namespace context = boost::context::detail;

namespace {
constexpr size_t kGuard = 4096;
// The sanitizer's frames are several times as large.
constexpr size_t kStack = kAddressSanitizer ? 256 << 10 : 64 << 10;
constexpr size_t kColours = 16;
constexpr size_t kColourStep = 192;
}  // namespace

struct FiberEntry {
  static void run(context::transfer_t transfer) {
    Fiber& from = *static_cast<Fiber*>(transfer.data);
    Fiber& self = *starting;
    self.arrive(from, transfer.fctx);
    self.body_(self);
  }
  // The fiber that is switched to; its first run finds itself by it.
  static thread_local Fiber* starting;
};
thread_local Fiber* FiberEntry::starting = nullptr;

Fiber::Fiber(void (*body)(Fiber&), unsigned colour) : body_(body), colour_(colour % kColours) {
  void* mapping = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping, kGuard, PROT_NONE);
  mapping_ = static_cast<char*>(mapping);
  bottom_ = mapping_ + kGuard;
  size_ = kStack;
#if defined(EBB_TSAN)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
  restart();
}

Fiber::~Fiber() {
  if (mapping_ == nullptr) return;
  unpoison_range(bottom_, size_);
#if defined(EBB_TSAN)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  munmap(mapping_, kGuard + kStack);
}

void Fiber::restart() {
  unpoison_range(bottom_, size_);
  fake_stack_ = nullptr;
  const size_t size = kStack - colour_ * kColourStep;
  context_ = context::make_fcontext(mapping_ + kGuard + size, size, FiberEntry::run);
}

void Fiber::switch_to(Fiber& to) {
  FiberEntry::starting = &to;
#if defined(EBB_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.size_);
#endif
#if defined(EBB_TSAN)
  if (mapping_ == nullptr) tsan_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
  const context::transfer_t transfer = context::jump_fcontext(to.context_, this);
  arrive(*static_cast<Fiber*>(transfer.data), transfer.fctx);
}

void Fiber::arrive(Fiber& from, void* context) {
  from.context_ = context;
#if defined(EBB_ASAN)
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &size);
  if (from.mapping_ == nullptr) {  // the host's stack, known only now
    from.bottom_ = bottom;
    from.size_ = size;
  }
#endif
}

size_t Fiber::stack_bytes() { return kStack; }

bool Fiber::overflowed_at(const void* address) const {
  const char* at = static_cast<const char*>(address);
  return mapping_ != nullptr && at >= mapping_ && at < mapping_ + kGuard;
}

}  // namespace ebb::cuda::emulator
