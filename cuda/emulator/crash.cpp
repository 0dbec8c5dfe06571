#include <ebb/cuda/emulator/crash.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include <ebb/cuda/emulator/block_scheduler.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/report.h>
#include <ebb/cuda/emulator/sanitizer.h>

// The process is about to end: the report is made as well as it goes, and printed.

namespace ebb::cuda::emulator {

namespace {

/// What is known of an access to `address`; "" if it has nothing to do with the device.
std::string describe_crash(const void* address) {
  std::string text;
  const std::string where = describe_address(address);
  const bool on_device = scheduler().running();
  if (on_device && scheduler().stack_overflowed_at(address)) {
    text = "stack overflow: a thread of the emulator has " +
           std::to_string(Fiber::stack_bytes() >> 10) + " KiB for the local variables of a kernel";
  } else if (!where.empty()) {
    text = std::string(on_device ? "illegal address" : "the host touched device memory") + ": " +
           where;
  } else if (on_device) {
    text = "the kernel made an illegal access";
  }
  if (text.empty()) return "";
  if (on_device) text += scheduler().context();
  return "ebb CUDA emulator: " + text + "\n  reproduce: " + reproduction() + "\n";
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

bool told = false;  // once is enough

void tell(const void* address) {
  if (told) return;
  told = true;
  print(describe_crash(address));
}

struct sigaction previous[2];
constexpr int kSignals[2] = {SIGSEGV, SIGBUS};

void on_signal(int, siginfo_t* info, void*) {
  // The next access, or the next fault in here, is for whoever handled the signal before.
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &previous[i], nullptr);
  tell(info->si_addr);
}

#if defined(EBB_ASAN)
void on_death() { tell(__asan_get_report_address()); }
#endif

void install() {
#if defined(EBB_ASAN)
  __sanitizer_set_death_callback(on_death);
#endif
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, &previous[i]);
}

/// Where a stack has overflowed, the handler needs another.
void use_other_stack() {
  constexpr size_t kBytes = 64 << 10;
  struct Stack {
    void* memory = std::malloc(kBytes);
    Stack() {
      stack_t mine{};
      if (sigaltstack(nullptr, &mine) != 0 || (mine.ss_flags & SS_DISABLE) == 0) return;
      mine = {};
      mine.ss_sp = memory;
      mine.ss_size = kBytes;
      sigaltstack(&mine, nullptr);
    }
    ~Stack() {
      stack_t mine{};
      if (sigaltstack(nullptr, &mine) == 0 && mine.ss_sp == memory) {
        mine.ss_flags = SS_DISABLE;
        sigaltstack(&mine, nullptr);
      }
      std::free(memory);
    }
  };
  thread_local const Stack stack;
  static_cast<void>(stack.memory);
}

}  // namespace

#if defined(EBB_ASAN)
// UndefinedBehaviorSanitizer, which finds misaligned accesses, ends the process without the death
// callback; before its report it calls this.
extern "C" __attribute__((visibility("default"))) void __ubsan_on_report() {
  if (scheduler().running()) tell(nullptr);
}
#endif

void watch_for_crashes() {
  static std::once_flag once;
  std::call_once(once, install);
  use_other_stack();
}

}  // namespace ebb::cuda::emulator
