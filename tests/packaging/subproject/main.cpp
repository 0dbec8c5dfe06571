// A program with an Eigen of its own, without alignment and vectors: if ebb's code for the same
// templates met it, one of the two would run the other's.
#include <ebb/ebb.h>

#include <Eigen/Dense>

#include <cmath>
#include <cstdio>

int main() {
  const Eigen::MatrixXf own = Eigen::MatrixXf::Random(67, 67);
  const auto tensor =
      ebb::from_blob(const_cast<float*>(own.data()), {67, 67}).t();  // Eigen stores columns
  const auto product = ebb::matmul(tensor, tensor).contiguous();
  const Eigen::MatrixXf expected = own * own;

  float worst = 0;
  for (int i = 0; i < 67; ++i) {
    for (int j = 0; j < 67; ++j) {
      const float difference = product.data_ptr<float>()[i * 67 + j] - expected(i, j);
      worst = std::fmax(worst, std::fabs(difference));
    }
  }
  std::printf("version %s, worst difference %g\n", ebb::version(), worst);
  return worst < 1e-4f ? 0 : 1;
}
