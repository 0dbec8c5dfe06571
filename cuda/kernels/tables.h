#pragma once

#include <ebb/core/ops/kernels.h>

// The kernels of the CUDA device. cuda/kernels/<family>.cu defines the table of its family, with
// the members of core/ops/<family>_kernels.h; a new one adds its line here and in tables.cpp.

namespace ebb::cuda {

extern const ElementwiseKernels<ElementwiseFamily::unary> unary_kernels;
extern const ElementwiseKernels<ElementwiseFamily::activation> activation_kernels;
extern const ElementwiseKernels<ElementwiseFamily::binary> binary_kernels;
extern const ElementwiseKernels<ElementwiseFamily::compare> compare_kernels;
extern const CopyKernels copy_kernels;
extern const FillKernels fill_kernels;
extern const MatmulKernels matmul_kernels;
extern const AttentionKernels attention_kernels;
extern const ConvKernels conv_kernels;
extern const PoolKernels pool_kernels;
extern const RandomKernels random_kernels;
extern const ShapeKernels shape_kernels;
extern const IndexKernels index_kernels;
extern const LossKernels loss_kernels;
extern const NormKernels norm_kernels;
extern const ReduceKernels reduce_kernels;
extern const ScanKernels scan_kernels;
extern const SortKernels sort_kernels;
extern const SoftmaxKernels softmax_kernels;
extern const OptimizerKernels optimizer_kernels;
extern const QuantizeKernels quantize_kernels;
extern const RnnKernels rnn_kernels;

/// All kernels of the device, for register_kernels. A family that is not there is null.
const Kernels& kernel_table();

}  // namespace ebb::cuda
