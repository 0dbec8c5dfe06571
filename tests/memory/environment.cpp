// What the environment sets is read once, on first use: each test here is a process of its own, the
// test program again with the name of a hidden test.

#include <cmath>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;
using test::Held;
using test::kMiB;

namespace {

struct Result {
  int status = -1;
  std::string errors;
};

Result run_hidden(const char* name, const char* variable, const char* value) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, value, 1);
    dup2(ends[1], STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    close(ends[0]);
    execl("/proc/self/exe", "test", name, static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  Result result;
  char buffer[512];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    result.errors.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace

TEST_CASE("hidden: nothing is cached", "[.]") {
  Held a(allocate(5 * kMiB, ebb::kCPU));
  CHECK(memory_reserved() == 5 * static_cast<int64_t>(kMiB));
  a.reset();
  CHECK(memory_reserved() == 0);
}

TEST_CASE("hidden: memory is NaN", "[.]") {
  const Held a(allocate(64, ebb::kCPU));
  for (int i = 0; i < 16; ++i) CHECK(std::isnan(static_cast<float*>(a->data)[i]));
}

TEST_CASE("hidden: requests are refused", "[.]") {
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(allocate(1, ebb::kCPU), ebb::ValueError);
  }
  CHECK(memory_allocated() == 0);
}

TEST_CASE("hidden: blocks of 32 MiB are not split", "[.]") {
  release(allocate(1, ebb::kCPU));
  release(allocate(1, ebb::kCPU));
  CHECK(memory_stats().at("max_split_size") == 32 * static_cast<int64_t>(kMiB));
}

TEST_CASE("EBB_NO_CACHING=1 gives every request to the system and back") {
  CHECK(run_hidden("hidden: nothing is cached", "EBB_NO_CACHING", "1").status == 0);
  CHECK(run_hidden("hidden: nothing is cached", "EBB_NO_CACHING", "0").status != 0);
}

TEST_CASE("EBB_FILL=nan fills fresh memory, and another value is an error") {
  CHECK(run_hidden("hidden: memory is NaN", "EBB_FILL", "nan").status == 0);
  CHECK(run_hidden("hidden: requests are refused", "EBB_FILL", "zero").status == 0);
}

TEST_CASE("EBB_ALLOC_CONF is read on first use, and a fault in it is an error of every request") {
  CHECK(
      run_hidden("hidden: blocks of 32 MiB are not split", "EBB_ALLOC_CONF", "max_split_size_mb:32")
          .status == 0);
  CHECK(
      run_hidden("hidden: requests are refused", "EBB_ALLOC_CONF", "max_split_size_mb:1").status ==
      0);
  CHECK(run_hidden("hidden: requests are refused", "EBB_ALLOC_CONF", "max_split:64").status == 0);
}

TEST_CASE("a key that means nothing gives one warning on stderr") {
  const Result result = run_hidden("hidden: blocks of 32 MiB are not split", "EBB_ALLOC_CONF",
                                   "max_split_size_mb:32,pinned_num_register_threads:8");
  CHECK(result.status == 0);
  CHECK_THAT(result.errors, ContainsSubstring("ebb: warning: ") &&
                                ContainsSubstring("pinned_num_register_threads"));
  CHECK(result.errors.find("warning") == result.errors.rfind("warning"));
}
