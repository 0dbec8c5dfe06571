#include <ebb/cuda/emulator/call.h>

#include <map>
#include <string_view>

#include <ebb/core/error.h>
#include <ebb/cuda/emulator/streams.h>

namespace ebb::cuda::emulator {

namespace {

/// How often each function was called. A function keeps its number, so that a trace can subtract.
struct Counts {
  std::map<std::string, size_t, std::less<>> numbers;
  std::vector<int64_t> calls;
  int64_t synchronizations = 0;
  int64_t until_failure = 0;  // calls to go; 0: none is to fail
  cudaError_t failure = cudaSuccess;
  bool failed = false;
};

Counts& counts() {
  static Counts& counts = *new Counts;
  return counts;
}

void count(const char* function) {
  Counts& c = counts();
  auto found = c.numbers.find(std::string_view(function));
  if (found == c.numbers.end()) {
    found = c.numbers.emplace(function, c.calls.size()).first;
    c.calls.push_back(0);
  }
  ++c.calls[found->second];
}

bool fails_now() {
  Counts& c = counts();
  if (c.until_failure == 0 || --c.until_failure > 0) return false;
  c.failed = true;
  return true;
}

}  // namespace

bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

Call::Call(const char* function) : lock_(mutex()), error_(cudaSuccess) {
  State& s = state();
  count(function);
  if (!s.enabled) {
    error_ = cudaErrorNoDevice;
  } else if (in_host_function()) {
    error_ = cudaErrorNotPermitted;
  } else if (s.sticky != cudaSuccess) {
    error_ = s.sticky;
  } else if (fails_now()) {
    error_ = counts().failure;
    if (is_sticky(error_)) {
      s.sticky = error_;
      drop_everything();
    }
  }
  if (error_ != cudaSuccess) last_error() = error_;
}

cudaError_t Call::end(cudaError_t error) const {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

void count_synchronization() { ++counts().synchronizations; }

void fail_call(int64_t n, cudaError_t error) {
  EBB_CHECK(n >= 1 && error != cudaSuccess, "fail_call(", n, ", ", static_cast<int>(error),
            "): the first call is 1, and the error must be one");
  const std::lock_guard lock(mutex());
  counts().until_failure = n;
  counts().failure = error;
  counts().failed = false;
}

bool stop_failing() {
  const std::lock_guard lock(mutex());
  counts().until_failure = 0;
  return std::exchange(counts().failed, false);
}

CallTrace::CallTrace() {
  const std::lock_guard lock(mutex());
  before_ = counts().calls;
  synchronizations_before_ = counts().synchronizations;
}

int64_t CallTrace::count() const {
  const std::lock_guard lock(mutex());
  int64_t sum = 0;
  for (const int64_t calls : counts().calls) sum += calls;
  for (const int64_t calls : before_) sum -= calls;
  return sum;
}

int64_t CallTrace::count(const std::string& function) const {
  const std::lock_guard lock(mutex());
  const auto found = counts().numbers.find(function);
  if (found == counts().numbers.end()) return 0;
  const size_t number = found->second;
  return counts().calls[number] - (number < before_.size() ? before_[number] : 0);
}

int64_t CallTrace::synchronizations() const {
  const std::lock_guard lock(mutex());
  return counts().synchronizations - synchronizations_before_;
}

std::string CallTrace::str() const {
  const std::lock_guard lock(mutex());
  std::string text;
  for (const auto& [function, number] : counts().numbers) {
    if (const int64_t calls = count(function); calls > 0) {
      text += function + " " + std::to_string(calls) + "\n";
    }
  }
  return text;
}

}  // namespace ebb::cuda::emulator
