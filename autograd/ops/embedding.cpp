#include <ebb/core/ops/embedding.h>

#include <ebb/autograd/record.h>
#include <ebb/core/error.h>

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::Recorder;

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  return differentiable(
      "embedding", "EmbeddingBackward0", {weight},
      [&] {
        EBB_CHECK_AS(NotImplementedError, !sparse,
                     "sparse gradients are not supported; leave sparse out");
        EBB_CHECK(weight.dim() == 0 || padding_idx < weight.size(0), "padding_idx ", padding_idx,
                  " is out of range: the weight has sizes ", weight.sizes());
        return ops::embedding(weight, indices);
      },
      [&](Recorder& r) {
        return [indices = r.save(indices), rows = weight.size(0), padding_idx,
                scale_grad_by_freq](Backward& b) {
          b.set(0, embedding_backward(b.grad(), b.get(indices), rows, padding_idx,
                                      scale_grad_by_freq));
        };
      });
}

// Linear in grad_output: its gradient takes the rows back, scaled as they were.
Tensor embedding_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                          int64_t padding_idx, bool scale_grad_by_freq) {
  return differentiable(
      "embedding_backward", "EmbeddingBackwardBackward0", {grad_output},
      [&] {
        return ops::embedding_backward(grad_output, indices, num_weights, padding_idx,
                                       scale_grad_by_freq);
      },
      [&](Recorder& r) {
        return
            [indices = r.save(indices), num_weights, padding_idx, scale_grad_by_freq](Backward& b) {
              const Tensor at = b.get(indices);
              Tensor grad = embedding(b.grad(), at);
              if (padding_idx >= 0) grad = grad.masked_fill(at.eq(padding_idx).unsqueeze(-1), 0);
              if (scale_grad_by_freq) {
                const Tensor flat = at.reshape(-1);
                const Tensor ones = b.grad().new_ones(flat.sizes());
                const Tensor counts = b.grad().new_zeros(num_weights).index_add(0, flat, ones);
                grad = grad / counts.index_select(0, flat).view(at.sizes()).unsqueeze(-1);
              }
              b.set(0, grad);
            };
      });
}

}  // namespace ebb
