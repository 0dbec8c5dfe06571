#include <ebb/core/memory/report.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include <ebb/core/memory/page.h>
#include <ebb/core/memory/scope.h>

namespace ebb::memory::detail {

namespace {

constexpr size_t kEvents = 2'000'000;

/// What the report needs at exit; never destroyed.
struct Report {
  std::string path;
  std::terminate_handler outer = nullptr;
  long process = 0;
  bool is_written = false;
};

Report& report() {
  static auto* the_report = new Report;
  return *the_report;
}

long this_process() {
#if defined(__unix__) || defined(__APPLE__)
  return getpid();
#else
  return 0;
#endif
}

void write_report() noexcept {
  Report& to = report();
  if (to.is_written || to.process != this_process()) return;  // a forked child writes none
  to.is_written = true;
  try {
    write_page(to.path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: EBB_MEMORY_REPORT: %s\n", error.what());
  }
}

[[noreturn]] void write_and_terminate() {
  write_report();
  if (report().outer != nullptr) report().outer();
  std::abort();
}

}  // namespace

size_t start_report() {
  const char* path = std::getenv("EBB_MEMORY_REPORT");
  if (path == nullptr || *path == '\0') return 0;
  Report& to = report();
  to.path = path;
  to.process = this_process();
  to.outer = std::set_terminate(write_and_terminate);
  std::atexit([] { write_report(); });
  set_scopes_enabled(true);
  return kEvents;
}

}  // namespace ebb::memory::detail
