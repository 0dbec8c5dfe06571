#include "lesson.h"

// Attention by the book holds a weight for each pair of tokens. scaled_dot_product_attention
// computes them tile by tile, again in backward, and keeps one number for each token and head.

namespace {

constexpr int64_t kHeads = 2, kWidth = 16;

int64_t peak(int64_t length, bool by_the_book) {
  ebb::Tensor qkv[3];
  for (ebb::Tensor& x : qkv) x = ebb::randn({kHeads, length, kWidth}).requires_grad_();
  const auto& [q, k, v] = qkv;
  return ebb::testing::measure([&q = q, &k = k, &v = v, by_the_book] {
           ebb::Tensor out;
           if (by_the_book) {
             out = ebb::matmul((ebb::matmul(q, k.transpose(-2, -1)) * 0.25).softmax(-1), v);
           } else {
             out = ebb::scaled_dot_product_attention(q, k, v);
           }
           out.sum().backward();
         })
      .peak_bytes;
}

}  // namespace

int main() {
  const auto scalar = lesson::bytes({1});
  for (const int64_t length : {256, 512, 1024}) {
    const auto matrix = lesson::bytes({kHeads, length, length});
    const auto rows = lesson::bytes({kHeads, length});
    const auto tensor = lesson::bytes({kHeads, length, kWidth});
    // In backward: the weights, their gradient, that of the scores; the output, one more gradient.
    lesson::equal(std::to_string(length) + " tokens by the book", 3 * matrix + 2 * tensor + scalar,
                  peak(length, true));
    // The output, three gradients; the log-sum-exp, and in backward one product, of each query.
    lesson::equal(std::to_string(length) + " tokens in tiles", 4 * tensor + 2 * rows + 2 * scalar,
                  peak(length, false));
  }
  lesson::say("What grows with the square of the length is never held.");
}
