#include <ebb/core/thread_state.h>
#include <ebb/cuda/runtime/index_error.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

#include "support.h"

using Catch::Matchers::Contains;
using ebb::cuda::IndexCheck;
using test::kCuda0;
using test::message_of;

namespace {

/// Reports each index that is not below size.
__global__ void check_indices(const int64_t* indices, int64_t n, int64_t size, IndexCheck check) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && (indices[i] < 0 || indices[i] >= size)) {
    ebb::cuda::report_index_error(check, indices[i], size);
  }
}

/// An op as a kernel entry would run it.
void look_up(const ebb::Tensor& indices, int64_t size) {
  const ebb::OpName name("look_up");
  ebb::thread_state().kernel_device = indices.device().index();
  const ebb::cuda::KernelDevice device;
  ebb::cuda::launch(&check_indices, 1, 64, 0, device.stream(),
                    static_cast<const int64_t*>(indices.data_ptr()), indices.numel(), size,
                    ebb::cuda::index_check());
}

ebb::Tensor indices_on(ebb::Device device, std::vector<int64_t> indices) {
  return ebb::tensor(indices, ebb::device(ebb::kCPU)).to(device, ebb::kLong);
}

}  // namespace

TEST_CASE("an index out of range becomes an error of its op at the next synchronisation") {
  const ebb::Tensor indices = indices_on(kCuda0, {0, 1, 7, 2});
  const ebb::cuda::emulator::CallTrace trace;
  look_up(indices, 5);  // does not throw, does not wait
  CHECK(trace.synchronizations() == 0);
  CHECK_THROWS_AS(ebb::cuda::synchronize(), ebb::IndexError);
  ebb::cuda::synchronize();  // it is reported once

  look_up(indices, 5);
  CHECK_THAT(message_of([] { ebb::cuda::getCurrentCUDAStream().synchronize(); }),
             Contains("look_up: index 7 is out of range for size 5") && Contains("cuda:0"));
  look_up(indices, 5);
  CHECK_THROWS_AS(indices.cpu(), ebb::IndexError);
  look_up(indices, 5);
  CHECK_THROWS_AS(indices[0].item<int64_t>(), ebb::IndexError);
  look_up(indices, 5);
  ebb::cuda::Event event;
  event.record();
  CHECK_THROWS_AS(event.synchronize(), ebb::IndexError);
  look_up(indices, 8);
  ebb::cuda::synchronize();
}

TEST_CASE("the first of many bad indices is reported, and each device has its own report") {
  const ebb::Tensor bad = indices_on(test::kCuda1, {-3, -3, -3});
  look_up(bad, 5);
  ebb::cuda::synchronize(0);
  CHECK_THAT(message_of([] { ebb::cuda::synchronize(1); }), Contains("index -3") && Contains("cuda:1"));
}
