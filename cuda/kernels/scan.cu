#include <ebb/core/ops/scan_kernels.h>

#include <optional>

#include <ebb/core/ops/functors/reduce.h>
#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Running sums and products. Long lines of adjacent elements are scanned by blocks, other lines by
// a thread each. Where there are few lines they are cut into pieces: the totals of the pieces come
// first, then what is before each piece, then the scans.

namespace ebb::cuda {

namespace {

/// Elements of a thread in a tile of a block.
constexpr int kItems = 4;
constexpr int64_t kTile = int64_t{kItems} * kBlockThreads;
/// Up to that many elements a line is scanned by one thread.
constexpr int64_t kShortLine = 32;

struct ScanPlan {
  LineShape shape;
  bool by_blocks;
  int64_t pieces;
  int64_t length;  ///< of a piece

  explicit ScanPlan(const LineShape& shape)
      : shape(shape), by_blocks(shape.inner == 1 && shape.n > kShortLine) {
    constexpr int64_t kBlocks = 1024;
    constexpr int64_t kThreads = 65536;
    const int64_t most = (by_blocks ? kBlocks : kThreads) / shape.lines();
    const int64_t by_size = shape.n / (by_blocks ? 4 * kTile : 64);
    pieces = std::clamp<int64_t>(std::min(most, by_size), 1, kBlocks);
    length = (shape.n + pieces - 1) / pieces;
  }
  [[nodiscard]] int64_t runs() const { return shape.lines() * pieces; }
};

/// A piece of a line, the pieces of neighbouring lines one after another.
struct Run {
  int64_t number;  ///< where its state is: [lines, pieces]
  int64_t start;
  int64_t step;
  int64_t n;

  __device__ __forceinline__ Run(const ScanPlan& plan, int64_t i) {
    const int64_t lines = plan.shape.outer * plan.shape.inner;
    const int64_t piece = plan.pieces == 1 ? 0 : i / lines;
    const int64_t line = i - piece * lines;
    const int64_t outer = plan.shape.inner == 1 ? line : line / plan.shape.inner;
    const int64_t begin = piece * plan.length;
    const int64_t rest = plan.shape.n - begin;
    number = line * plan.pieces + piece;
    step = plan.shape.inner;
    start = (outer * plan.shape.n + begin) * step + (line - outer * step);
    n = rest < plan.length ? (rest > 0 ? rest : 0) : plan.length;
  }
};

/// Fold::merge as an object.
template <typename Fold>
struct Merge {
  using State = typename Fold::State;
  __device__ __forceinline__ State operator()(State a, State b) const { return Fold::merge(a, b); }
};

/// `kTotals`: states becomes the totals of the runs; else the runs are scanned, each after its
/// state (null: after nothing).
template <typename Fold, typename T, bool kTotals>
__global__ void scan_by_threads(ScanPlan plan, Elements<T, AnyType> in, Elements<T, AnyType> out,
                                typename Fold::State* states) {
  using State = typename Fold::State;
  const int64_t runs = plan.shape.outer * plan.shape.inner * plan.pieces;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < runs; i += step) {
    const Run run(plan, i);
    State state = static_cast<State>(Fold::identity());
    if (!kTotals && states != nullptr) state = states[run.number];
    for (int64_t k = 0; k < run.n; ++k) {
      const int64_t at = run.start + k * run.step;
      state = Fold::merge(state, static_cast<State>(in.load(at)));
      if (!kTotals) out.store(at, static_cast<T>(state));
    }
    if (kTotals) states[run.number] = state;
  }
}

/// The same by a block for each run, whose elements are adjacent.
template <typename Fold, typename T, bool kTotals>
__global__ void scan_by_blocks(ScanPlan plan, Elements<T, AnyType> in, Elements<T, AnyType> out,
                               typename Fold::State* states) {
  using State = typename Fold::State;
  const auto identity = static_cast<State>(Fold::identity());
  for (int64_t i = blockIdx.x; i < plan.shape.outer * plan.pieces; i += gridDim.x) {
    const Run run(plan, i);
    State before = identity;
    if (!kTotals && states != nullptr) before = states[run.number];
    for (int64_t tile = 0; tile < run.n; tile += kTile) {
      const int64_t first = tile + int64_t{threadIdx.x} * kItems;
      State sums[kItems];
      State sum = identity;
      for (int k = 0; k < kItems; ++k) {
        if (first + k < run.n) {
          sum = Fold::merge(sum, static_cast<State>(in.load(run.start + first + k)));
        }
        sums[k] = sum;
      }
      State total;
      const State left = block_exclusive_scan(sum, Merge<Fold>(), identity, &total);
      const State start = Fold::merge(before, left);
      for (int k = 0; k < kItems; ++k) {
        if (kTotals || first + k >= run.n) continue;
        out.store(run.start + first + k, static_cast<T>(Fold::merge(start, sums[k])));
      }
      before = Fold::merge(before, total);
    }
    if (kTotals && threadIdx.x == 0) states[run.number] = before;
  }
}

/// The totals of each line's pieces become what is before them; a warp for each line.
template <typename Fold>
__global__ void scan_totals(int64_t lines, int64_t pieces, typename Fold::State* states) {
  using State = typename Fold::State;
  const int64_t warps = int64_t{gridDim.x} * (blockDim.x / kWarpSize);
  const int64_t lane = threadIdx.x % kWarpSize;
  for (int64_t line = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarpSize; line < lines;
       line += warps) {
    auto before = static_cast<State>(Fold::identity());
    for (int64_t first = 0; first < pieces; first += kWarpSize) {
      const int64_t piece = first + lane;
      State* const state = states + line * pieces + piece;
      const State own = piece < pieces ? *state : static_cast<State>(Fold::identity());
      const State sum = warp_inclusive_scan(own, Merge<Fold>());
      const State left = shuffle_up(sum, 1);
      if (piece < pieces) *state = lane == 0 ? before : Fold::merge(before, left);
      before = Fold::merge(before, shuffle(sum, static_cast<int>(kWarpSize) - 1));
    }
  }
}

template <typename Fold, typename T>
void scan_in(const ScanArguments& a) {
  using State = typename Fold::State;
  const KernelDevice device;
  const ScanPlan plan(a.shape);
  const Elements<T, AnyType> in(a.input, a.input_dtype);
  const Elements<T, AnyType> out(a.output, a.output_dtype);
  const uint32_t blocks = plan.by_blocks ? blocks_for(plan.runs(), 1) : blocks_for(plan.runs());
  std::optional<Workspace> scratch;
  State* states = nullptr;
  if (plan.pieces > 1) {
    scratch.emplace(static_cast<size_t>(plan.runs()) * sizeof(State));
    states = scratch->as<State>();
    launch(plan.by_blocks ? &scan_by_blocks<Fold, T, true> : &scan_by_threads<Fold, T, true>,
           blocks, kBlockThreads, 0, device.stream(), plan, in, out, states);
    const int64_t lines = a.shape.lines();
    launch(&scan_totals<Fold>, blocks_for(lines * kWarpSize), kBlockThreads, 0, device.stream(),
           lines, plan.pieces, states);
  }
  launch(plan.by_blocks ? &scan_by_blocks<Fold, T, false> : &scan_by_threads<Fold, T, false>,
         blocks, kBlockThreads, 0, device.stream(), plan, in, out, states);
}

template <template <typename> typename Fold>
void scan(const ScanArguments& a) {
  if (a.compute == kFloat) return scan_in<Fold<float>, float>(a);
  if (a.compute == kDouble) return scan_in<Fold<double>, double>(a);
  scan_in<Fold<int64_t>, int64_t>(a);
}

}  // namespace

extern const ScanKernels scan_kernels = {&scan<functors::SumFold>, &scan<functors::ProdFold>};

}  // namespace ebb::cuda
