// Writes tests/golden/print.txt: how LibTorch prints the tensors of tests/golden/print_cases.h.
//
//   g++ -std=c++17 -I . -I/usr/include/torch/csrc/api/include tools/print_golden.cpp -ltorch
//       -ltorch_cpu -lc10 -o print_golden && ./print_golden > tests/golden/print.txt

#include <iostream>

#include <torch/torch.h>

#include <tests/golden/print_cases.h>

int main() {
  print_cases([](const char* name, const torch::Tensor& tensor) {
    std::cout << "== " << name << '\n' << tensor << '\n';
  });
}
