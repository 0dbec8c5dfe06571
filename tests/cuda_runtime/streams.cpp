#include <set>
#include <thread>

#include <ebb/cuda/emulator/sanitizer.h>

#include "support.h"

using ebb::Tensor;
using ebb::cuda::Event;
using ebb::cuda::getCurrentCUDAStream;
using ebb::cuda::getDefaultCUDAStream;
using ebb::cuda::getStreamFromPool;
using ebb::cuda::MultiStreamGuard;
using ebb::cuda::Stream;
using ebb::cuda::StreamGuard;
using test::CleanDevices;
using test::kCuda0;
using test::kCuda1;
using test::values;

TEST_CASE("the pool gives 32 streams per priority and device, in turn") {
  std::set<ebb::memory::StreamId> seen;
  for (int i = 0; i < 32; ++i) seen.insert(getStreamFromPool(false, 0).id());
  CHECK(seen.size() == 32);
  CHECK(seen.count(getStreamFromPool(false, 0).id()) == 1);
  CHECK(seen.count(getStreamFromPool(true, 0).id()) == 0);
  CHECK(seen.count(getStreamFromPool(false, 1).id()) == 0);
  CHECK(seen.count(getDefaultCUDAStream(0).id()) == 0);
}

TEST_CASE("priorities are kept within what the device has") {
  CHECK(getStreamFromPool(0, 0).priority() == 0);
  CHECK(getStreamFromPool(-2, 0).priority() == -2);
  CHECK(getStreamFromPool(-100, 0).priority() == -5);
  CHECK(getStreamFromPool(3, 0).priority() == 0);
  CHECK(getStreamFromPool(/*is_high_priority=*/true, 0).priority() == -5);
}

TEST_CASE("a stream guard sets stream and device, and gives both back") {
  const Stream stream = getStreamFromPool(false, 1);
  {
    StreamGuard guard(stream);
    CHECK(getCurrentCUDAStream() == stream);
    CHECK(ebb::cuda::current_device() == 1);
    CHECK(guard.original_stream() == getDefaultCUDAStream(1));
    CHECK(guard.original_device() == kCuda0);
    const Stream other = getStreamFromPool(false, 0);
    guard.reset_stream(other);
    CHECK(getCurrentCUDAStream() == other);
    CHECK(getCurrentCUDAStream(1) == getDefaultCUDAStream(1));
    bool elsewhere = false;
    std::thread([&] { elsewhere = getCurrentCUDAStream(0) == getDefaultCUDAStream(0); }).join();
    CHECK(elsewhere);
  }
  CHECK(getCurrentCUDAStream() == getDefaultCUDAStream(0));
  {
    const Stream a = getStreamFromPool(false, 0);
    const MultiStreamGuard guard({a, stream});
    CHECK(getCurrentCUDAStream(0) == a);
    CHECK(getCurrentCUDAStream(1) == stream);
    CHECK(ebb::cuda::current_device() == 0);
  }
  CHECK(getCurrentCUDAStream(1) == getDefaultCUDAStream(1));
}

TEST_CASE("a stream knows when its work is done") {
  const Stream stream = getStreamFromPool();
  const StreamGuard guard(stream);
  const Tensor a = ebb::ones({100}, kCuda0) + 1;
  stream.synchronize();
  CHECK(stream.query());
  const Tensor b = a * 2;
  int queries = 0;
  while (!stream.query()) ++queries;
  CHECK(queries < 100);
  CHECK(values(b) == std::vector<float>(100, 4));
}

TEST_CASE("blocks belong to the stream they were allocated on") {
  const CleanDevices clean;
  void* first = nullptr;
  const Stream stream = getStreamFromPool();
  {
    const StreamGuard guard(stream);
    const Tensor a = ebb::empty({100}, kCuda0);
    first = a.data_ptr();
  }
  const Tensor b = ebb::empty({100}, kCuda0);  // the default stream: another block
  CHECK(b.data_ptr() != first);
  const StreamGuard guard(stream);
  const Tensor c = ebb::empty({100}, kCuda0);
  CHECK(c.data_ptr() == first);
}

namespace {

/// A tensor made on the default stream is read on another one, freed at once, and its block is
/// written again on the default stream. Whether the reader saw what it should.
bool read_beside_reuse(bool with_record_stream) {
  const Stream side = getStreamFromPool();
  Tensor read;
  const void* block = nullptr;
  {
    const Tensor x = ebb::full({512}, 1, kCuda0);
    block = x.data_ptr();
    Event made;
    made.record();
    const StreamGuard guard(side);
    made.block(side);
    read = x + 1;
    if (with_record_stream) x.record_stream(side);
  }
  const Tensor next = ebb::full({512}, 7, kCuda0);
  CHECK((next.data_ptr() == block) == !with_record_stream);
  ebb::cuda::synchronize();
  const bool right = values(read) == std::vector<float>(512, 2);
  return right && values(next) == std::vector<float>(512, 7);
}

}  // namespace

TEST_CASE("record_stream keeps a block from being used again too early") {
  const CleanDevices clean;
  const uint64_t seed = ebb::cuda::emulator::seed();
  for (uint64_t other = 1; other <= 20; ++other) {
    ebb::cuda::emulator::set_seed(seed * 100 + other);
    CHECK(read_beside_reuse(true));
    ebb::cuda::empty_cache();
  }
  ebb::cuda::emulator::set_seed(seed);
}

TEST_CASE("a block reused on its stream while another one reads it shows as a wrong result") {
  // Under AddressSanitizer the read of the freed block ends the program with its report.
  if (ebb::cuda::emulator::kAddressSanitizer) return;
  const CleanDevices clean;
  const uint64_t seed = ebb::cuda::emulator::seed();
  int wrong = 0;
  for (uint64_t other = 1; other <= 40; ++other) {
    ebb::cuda::emulator::set_seed(seed * 100 + other);
    wrong += read_beside_reuse(false) ? 0 : 1;
    ebb::cuda::empty_cache();
  }
  ebb::cuda::emulator::set_seed(seed);
  CHECK(wrong > 0);
}

TEST_CASE("a recorded block waits for the stream, and comes back when it has passed") {
  const CleanDevices clean;
  const Stream side = getStreamFromPool();
  {
    const Tensor x = ebb::ones({512}, kCuda0);
    Event made;
    made.record();
    made.block(side);  // with work that the side stream must wait for
    x.record_stream(side);
  }
  CHECK(ebb::cuda::memory_stats(0).at("active_bytes.all.current") == 2048);
  CHECK(ebb::cuda::memory_stats(0).at("allocated_bytes.all.current") == 0);
  side.synchronize();
  { const Tensor y = ebb::empty({512}, kCuda0); }
  CHECK(ebb::cuda::memory_stats(0).at("active_bytes.all.current") == 0);
}

TEST_CASE("a stream of another device cannot be recorded") {
  const Tensor x = ebb::ones({2}, kCuda0);
  CHECK_THAT(test::message_of([&] { x.record_stream(getStreamFromPool(false, 1)); }),
             Catch::Matchers::Contains("record_stream: the tensor is on cuda:0, the stream on cuda:1"));
}

TEST_CASE("backward runs on the streams of the forward pass") {
  const Stream side = getStreamFromPool();
  for (int round = 0; round < 5; ++round) {
    Tensor a = test::counting({64}).cuda().requires_grad_();
    ebb::cuda::synchronize();
    Tensor loss;
    {
      const StreamGuard guard(side);
      loss = (a * a).sum();
    }
    Event done;
    done.record(side);
    done.block(getCurrentCUDAStream());
    loss.backward();
    CHECK(values(a.grad()) == values(test::counting({64}) * 2));
  }
}
