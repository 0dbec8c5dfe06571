// The caching allocator: what it costs to get memory that is cached, and memory that is not.
#include <ebb/core/memory/memory.h>

#include <benchmark/benchmark.h>

#include <vector>

namespace {

using ebb::memory::allocate;
using ebb::memory::Block;
using ebb::memory::release;

/// One block from the cache and back.
void allocate_free_pair(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    Block* block = allocate(bytes, ebb::kCPU);
    benchmark::DoNotOptimize(block->data);
    release(block);
  }
}
BENCHMARK(allocate_free_pair)->Arg(64)->Arg(4096)->Arg(1 << 20)->Arg(4 << 20);
BENCHMARK(allocate_free_pair)->Arg(64)->Threads(2)->UseRealTime();

/// The pattern of a training step: many sizes are taken, then all given back. Per block.
void allocate_all_then_free(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<Block*> blocks(count);
  for (auto _ : state) {
    for (size_t i = 0; i < count; ++i) blocks[i] = allocate(i % 37 * 3000 + 1, ebb::kCPU);
    for (Block* block : blocks) release(block);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(allocate_all_then_free)->Arg(16)->Arg(256);

/// The host's C allocator, for comparison.
void malloc_free_pair(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    auto* data = ::operator new(bytes);
    benchmark::DoNotOptimize(data);
    ::operator delete(data);
  }
}
BENCHMARK(malloc_free_pair)->Arg(64)->Arg(4096)->Arg(1 << 20);

}  // namespace

BENCHMARK_MAIN();
