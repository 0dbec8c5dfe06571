#include "support.h"

using Catch::Matchers::Contains;
using ebb::Tensor;
using ebb::cuda::Event;
using ebb::cuda::getStreamFromPool;
using ebb::cuda::Stream;
using ebb::cuda::StreamGuard;
using test::kCuda0;

TEST_CASE("an event that was never recorded has passed, and belongs to no device") {
  const Event event;
  CHECK_FALSE(event.isCreated());
  CHECK_FALSE(event.device().has_value());
  CHECK(event.query());
  event.synchronize();
  event.block(getStreamFromPool());
}

TEST_CASE("an event orders two streams without the host") {
  for (int round = 0; round < 10; ++round) {
    const Stream producer = getStreamFromPool();
    const Stream consumer = getStreamFromPool();
    Tensor x = ebb::zeros({200}, kCuda0);
    ebb::cuda::synchronize();
    const ebb::cuda::emulator::CallTrace trace;
    Event event;
    {
      const StreamGuard guard(producer);
      x.fill_(3);
      event.record();
    }
    Tensor y;
    {
      const StreamGuard guard(consumer);
      event.block(consumer);
      y = x * 2;
    }
    CHECK(trace.synchronizations() == 0);
    consumer.synchronize();
    CHECK(test::values(y) == std::vector<float>(200, 6));
  }
}

TEST_CASE("an event passes when what was before it is done") {
  const Stream stream = getStreamFromPool();
  Event event;
  event.record(stream);
  CHECK(event.isCreated());
  CHECK(event.device() == kCuda0);
  while (!event.query()) {
  }
  const StreamGuard guard(stream);
  const Tensor a = ebb::ones({10}, kCuda0);
  event.record();
  event.synchronize();
  CHECK(stream.query());
  Event moved = std::move(event);
  CHECK(moved.query());
  CHECK_FALSE(event.isCreated());
}

TEST_CASE("recordOnce keeps the first place") {
  const Stream stream = getStreamFromPool();
  Event event;
  const ebb::cuda::emulator::CallTrace trace;
  event.recordOnce(stream);
  event.recordOnce(stream);
  CHECK(trace.count("cudaEventRecord") == 1);
}

TEST_CASE("events with timing tell the milliseconds between them") {
  Event start(Event::kTiming);
  Event end(Event::kTiming);
  start.record();
  const Tensor a = ebb::ones({1000}, kCuda0) * 2;
  end.record();
  end.synchronize();
  CHECK(start.elapsed_time(end) >= 0);
  CHECK(start.elapsed_time(end) < 60000);
  Event without;
  without.record();
  without.synchronize();
  CHECK_THAT(test::message_of([&] { static_cast<void>(start.elapsed_time(without)); }),
             Contains("kTiming"));
  const Event never(Event::kTiming);
  CHECK_THAT(test::message_of([&] { static_cast<void>(start.elapsed_time(never)); }),
             Contains("must be recorded"));
}

TEST_CASE("an event stays on its device") {
  Event event;
  event.record(getStreamFromPool(false, 1));
  CHECK(event.device() == test::kCuda1);
  CHECK_THAT(test::message_of([&] { event.record(getStreamFromPool(false, 0)); }),
             Contains("the event is on cuda:1, the stream on cuda:0"));
  event.block(getStreamFromPool(false, 0));  // but any stream may wait for it
  ebb::cuda::synchronize(0);
  CHECK(event.query());
}
