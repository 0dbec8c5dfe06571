// The static library of a subproject, with the kernels that suit this CPU: a product against plain
// loops, and its gradient.
#include <ebb/ebb.h>

#include <cmath>
#include <cstdio>

int main() {
  const int64_t n = 67;
  const auto a = ebb::rand({n, n}, ebb::requires_grad());
  const auto b = ebb::rand({n, n});
  const auto product = ebb::matmul(a, b);
  product.sum().backward();

  float worst = 0;
  const auto x = a.accessor<float, 2>();
  const auto y = b.accessor<float, 2>();
  const auto z = product.accessor<float, 2>();
  const auto gradient = a.grad().accessor<float, 2>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      float row = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += x[i][k] * y[k][j];
        row += y[j][k];
      }
      worst = std::fmax(worst, std::fabs(z[i][j] - sum));
      worst = std::fmax(worst, std::fabs(gradient[i][j] - row));
    }
  }
  std::printf("version %s, worst difference %g\n", ebb::version(), static_cast<double>(worst));
  return worst < 1e-4f ? 0 : 1;
}
