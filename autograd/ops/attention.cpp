#include <ebb/core/ops/attention.h>

#include <cmath>
#include <limits>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::Backward;
using autograd::needs_recording;
using autograd::Recorder;

namespace {

/// What a call of attention was told, beside its tensors.
struct Settings {
  double dropout_p;
  random::Reservation draw;
  bool is_causal;
  double scale;

  [[nodiscard]] ops::AttentionParameters with(const Tensor& mask) const {
    return {mask, dropout_p, is_causal, scale, draw};
  }
};

// Attention written out with public ops, for what the kernels do not do: gradients of gradients and
// of the mask, and rows wider than they take. The matrix of weights is held.

Tensor widened(const Tensor& x) { return x.scalar_type() == kDouble ? x : x.to(kFloat); }

/// The scores, where the mask allows them, else -inf.
Tensor composed_scores(const Tensor& query, const Tensor& key, const Tensor& mask,
                       const Settings& settings) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Tensor scores = matmul(query, key.transpose(-2, -1)) * settings.scale;
  if (settings.is_causal) {
    const Tensor met =
        tril(ones({query.size(-2), key.size(-2)}, TensorOptions(kBool).device(query.device())));
    scores = masked_fill(scores, logical_not(met), kNever);
  }
  if (!mask.defined()) return scores;
  return mask.scalar_type() == kBool ? masked_fill(scores, logical_not(mask), kNever)
                                     : scores + mask.to(scores.scalar_type());
}

/// The weights before dropout; zeros for a query that meets no key.
Tensor composed_weights(const Tensor& query, const Tensor& key, const Tensor& mask,
                        const Settings& settings) {
  const Tensor scores = composed_scores(query, key, mask, settings);
  if (!mask.defined() && key.size(-2) > 0) return softmax(scores, -1);
  const Tensor alone = all(eq(scores, -std::numeric_limits<double>::infinity()), -1, true);
  return masked_fill(softmax(masked_fill(scores, alone, 0), -1), alone, 0);
}

Tensor dropped(const Tensor& weights, const Settings& settings) {
  if (settings.dropout_p == 0) return weights;
  return dropout_backward(weights, settings.dropout_p, static_cast<int64_t>(settings.draw.seed),
                          static_cast<int64_t>(settings.draw.offset));
}

Tensor composed(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                const Settings& settings) {
  const Tensor weights = composed_weights(widened(query), widened(key), mask, settings);
  return matmul(dropped(weights, settings), widened(value)).to(query.scalar_type());
}

void compose_backward(Backward& b, const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor& mask, const Settings& settings) {
  const Tensor q = widened(query);
  const Tensor k = widened(key);
  const Tensor grad = widened(b.grad());
  const Tensor weights = composed_weights(q, k, mask, settings);
  if (b.needs(2)) b.set(2, matmul(dropped(weights, settings).transpose(-2, -1), grad));
  if (!b.needs(0) && !b.needs(1)) return;
  const Tensor of_weights = dropped(matmul(grad, widened(value).transpose(-2, -1)), settings);
  const Tensor of_scores =
      weights * (of_weights - (of_weights * weights).sum(-1, true)) * settings.scale;
  if (b.needs(0)) b.set(0, matmul(of_scores, k));
  if (b.needs(1)) b.set(1, matmul(of_scores.transpose(-2, -1), q));
}

void check_settings(const Tensor& mask, double dropout_p, bool is_causal) {
  EBB_CHECK(dropout_p >= 0 && dropout_p <= 1,
            "dropout probability has to be between 0 and 1, but got ", dropout_p);
  EBB_CHECK(!is_causal || !mask.defined(),
            "Explicit attn_mask should not be set when is_causal=True; put the causal part into "
            "the mask");
}

Tensor fused(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
             const Settings& settings) {
  ops::Attention attention =
      ops::scaled_dot_product_attention(query, key, value, settings.with(mask));
  Tensor result(std::move(attention.output));
  if (!needs_recording({query, key, value})) return result;
  Recorder r("ScaledDotProductAttentionBackward0", {query, key, value});
  r.keep_result();
  r.record(result,
           [query = r.save(query), key = r.save(key), value = r.save(value),
            mask = r.save_if(mask.defined(), mask),
            log_sum_exp = r.save(Tensor(std::move(attention.log_sum_exp))), settings](Backward& b) {
             const Tensor q = b.get(query);
             const Tensor k = b.get(key);
             const Tensor v = b.get(value);
             const Tensor m = b.get(mask);
             if (GradMode::is_enabled()) return compose_backward(b, q, k, v, m, settings);
             auto gradients = ops::scaled_dot_product_attention_backward(
                 b.grad(), q, k, v, {b.result(), b.get(log_sum_exp)}, settings.with(m),
                 {b.needs(0), b.needs(1), b.needs(2)});
             for (size_t i = 0; i < gradients.size(); ++i) {
               if (gradients[i].defined()) b.set(i, Tensor(std::move(gradients[i])));
             }
           });
  return result;
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale) {
  if (const autograd::AutocastCall cast(autograd::autocast_of("scaled_dot_product_attention"),
                                        {query, key, value, autograd::or_undefined(attn_mask)});
      cast) {
    return scaled_dot_product_attention(cast[0], cast[1], cast[2], cast.optional(3), dropout_p,
                                        is_causal, scale);
  }
  const OpName name("scaled_dot_product_attention");
  Tensor mask = attn_mask.value_or(Tensor());
  check_settings(mask, dropout_p, is_causal);
  if (mask.defined() && mask.scalar_type() == kFloat) mask = mask.to(query.scalar_type());
  const DimVector batch = ops::check_attention(query, key, value, mask);
  Settings settings{
      dropout_p, {}, is_causal, scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))))};
  if (dropout_p > 0) settings.draw = ops::reserve_attention_dropout(query, key, batch);
  if ((mask.defined() && needs_recording({mask})) || !ops::has_attention_kernel(query, value)) {
    return composed(query, key, value, mask, settings);
  }
  return fused(query, key, value, mask, settings);
}

}  // namespace ebb
