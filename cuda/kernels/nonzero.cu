#include <ebb/cuda/kernels/nonzero.h>

#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/synchronization.h>

// Positions are counted piece by piece, a block for each; the host waits for their number, which is
// the size of a result; then each block writes those of its piece.

namespace ebb::cuda {

namespace {

/// The offset in bytes of a position in each of kOperands operands, for any number of dimensions
/// and positions.
template <int kOperands>
struct PositionIndex {
  int ndim;
  int64_t numel;
  int64_t sizes[TensorIterator::kMaxDims];
  int64_t strides[kOperands][TensorIterator::kMaxDims];

  explicit PositionIndex(const TensorIterator& it) : ndim(it.ndim()), numel(it.numel()) {
    for (int dim = 0; dim < ndim; ++dim) {
      sizes[dim] = it.size(dim);
      for (int i = 0; i < kOperands; ++i) strides[i][dim] = it.stride(i, dim);
    }
  }
  EBB_INLINE Offsets<kOperands> operator()(int64_t position) const {
    Offsets<kOperands> offsets = {};
    for (int dim = 0; dim < ndim; ++dim) {
      const int64_t quotient = dim + 1 == ndim ? 0 : position / sizes[dim];
      const int64_t index = position - quotient * sizes[dim];
      for (int i = 0; i < kOperands; ++i) offsets.bytes[i] += index * strides[i][dim];
      position = quotient;
    }
    return offsets;
  }
};

struct Add {
  __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};

__device__ __forceinline__ bool is_set(ScalarType dtype, const char* from) {
  bool set = false;
  dispatch_element(dtype, [&](auto zero) {
    using T = decltype(zero);
    set = *reinterpret_cast<const Stored<T>*>(from) != Stored<T>(0);
  });
  return set;
}

/// The number of elements that are set in each piece.
__global__ void count_set(PositionIndex<1> index, const char* data, ScalarType dtype, int64_t piece,
                          int64_t* counts) {
  for (int64_t number = blockIdx.x; number * piece < index.numel; number += gridDim.x) {
    const int64_t begin = number * piece;
    const int64_t end = begin + piece < index.numel ? begin + piece : index.numel;
    int64_t count = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      count += is_set(dtype, data + index(i)[0]) ? 1 : 0;
    }
    count = block_reduce(count, Add(), int64_t{0});
    if (threadIdx.x == 0) counts[number] = count;
  }
}

/// Counts become what is before each, and the one behind the last what all are. One block.
__global__ void scan_counts(int64_t pieces, int64_t* counts) {
  int64_t before = 0;
  for (int64_t first = 0; first < pieces; first += blockDim.x) {
    const int64_t i = first + threadIdx.x;
    int64_t total = 0;
    const int64_t left =
        block_exclusive_scan(i < pieces ? counts[i] : 0, Add(), int64_t{0}, &total);
    if (i < pieces) counts[i] = before + left;
    before += total;
  }
  if (threadIdx.x == 0) counts[pieces] = before;
}

/// Calls f(position, offsets, number) for the elements that are set, numbered in their order.
template <int kOperands, typename F>
__device__ __forceinline__ void for_each_set(const PositionIndex<kOperands>& index,
                                             const char* data, ScalarType dtype, int64_t piece,
                                             const int64_t* starts, F&& f) {
  for (int64_t number = blockIdx.x; number * piece < index.numel; number += gridDim.x) {
    const int64_t begin = number * piece;
    const int64_t end = begin + piece < index.numel ? begin + piece : index.numel;
    int64_t before = starts[number];
    for (int64_t first = begin; first < end; first += blockDim.x) {
      const int64_t position = first + threadIdx.x;
      const Offsets<kOperands> offsets = index(position < end ? position : begin);
      const bool set = position < end && is_set(dtype, data + offsets[0]);
      int64_t total = 0;
      const int64_t left = block_exclusive_scan(int64_t{set ? 1 : 0}, Add(), int64_t{0}, &total);
      if (set) f(position, offsets, before + left);
      before += total;
    }
  }
}

template <typename Word>
__global__ void select_set(PositionIndex<2> index, const char* mask, const char* data,
                           int64_t piece, const int64_t* starts, Word* out) {
  for_each_set(index, mask, ScalarType::Bool, piece, starts,
               [&](int64_t, const Offsets<2>& offsets, int64_t number) {
                 out[number] = *reinterpret_cast<const Word*>(data + offsets[1]);
               });
}

/// The sizes of the dimensions that positions are counted in, outermost first.
struct Sizes {
  int ndim;
  int64_t sizes[TensorIterator::kMaxDims];
};

__global__ void write_set(PositionIndex<1> index, const char* data, ScalarType dtype, int64_t piece,
                          const int64_t* starts, Sizes sizes, int64_t* out) {
  for_each_set(index, data, dtype, piece, starts,
               [&](int64_t position, const Offsets<1>&, int64_t number) {
                 int64_t* const to = out + number * sizes.ndim;
                 for (int d = sizes.ndim - 1; d >= 0; --d) {
                   const int64_t quotient = position / sizes.sizes[d];
                   to[d] = position - quotient * sizes.sizes[d];
                   position = quotient;
                 }
               });
}

uint32_t blocks_of_pieces(const TensorIterator& it, int64_t piece) {
  return blocks_for(it.numel(), piece);
}

}  // namespace

int64_t start_nonzero(const TensorIterator& it, int64_t piece, int64_t* starts) {
  const KernelDevice device;
  const int64_t pieces = (it.numel() + piece - 1) / piece;
  launch(&count_set, blocks_of_pieces(it, piece), kBlockThreads, 0, device.stream(),
         PositionIndex<1>(it), it.data(0), it.dtype(0), piece, starts);
  launch(&scan_counts, 1, kBlockThreads, 0, device.stream(), pieces, starts);
  int64_t count = 0;
  EBB_CUDA_CHECK(cudaMemcpyAsync(&count, starts + pieces, sizeof(count), cudaMemcpyDeviceToHost,
                                 device.stream()));
  synchronize_stream(device.index(), device.stream(),
                     {"cudaStreamSynchronize", __FILE__, __LINE__});
  return count;
}

void masked_select(const TensorIterator& it, int64_t piece, const int64_t* starts, void* out) {
  const KernelDevice device;
  const auto run = [&]<typename Word>(Word) {
    launch(&select_set<Word>, blocks_of_pieces(it, piece), kBlockThreads, 0, device.stream(),
           PositionIndex<2>(it), it.data(0), it.data(1), piece, starts, static_cast<Word*>(out));
  };
  switch (element_size(it.dtype(1))) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      return run(uint64_t{});
  }
}

void nonzero(const TensorIterator& it, int64_t piece, const int64_t* starts, IntArrayRef sizes,
             int64_t* out) {
  const KernelDevice device;
  Sizes dims{static_cast<int>(sizes.size()), {}};
  for (size_t d = 0; d < sizes.size(); ++d) dims.sizes[d] = sizes[d];
  launch(&write_set, blocks_of_pieces(it, piece), kBlockThreads, 0, device.stream(),
         PositionIndex<1>(it), it.data(0), it.dtype(0), piece, starts, dims, out);
}

}  // namespace ebb::cuda
