#include <ebb/cuda/kernels/tables.h>

namespace ebb::cuda {

namespace {

// In the order of struct Kernels; the elementwise families in that of ElementwiseFamily.
constexpr Kernels kTable = {
    .elementwise = {unary_kernels.kernels, activation_kernels.kernels, binary_kernels.kernels,
                    compare_kernels.kernels},
    .copy = &copy_kernels,
    .fill = &fill_kernels,
    .random = &random_kernels,
    .reduce = &reduce_kernels,
    .scan = &scan_kernels,
    .sort = &sort_kernels,
    .softmax = &softmax_kernels,
    .index = &index_kernels,
    .loss = &loss_kernels,
    .matmul = &matmul_kernels,
    .attention = &attention_kernels,
    .conv = &conv_kernels,
    .pool = &pool_kernels,
    .norm = &norm_kernels,
    .shape = &shape_kernels,
    .optimizer = &optimizer_kernels,
    .quantize = &quantize_kernels,
    .rnn = &rnn_kernels,
};

}  // namespace

const Kernels& kernel_table() { return kTable; }

}  // namespace ebb::cuda
