#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

#include <ebb/autograd/tensor.h>
#include <ebb/core/ops/copy.h>

// Tensors in LibTorch's format: columns of equal width, a common factor where numbers are large,
// one matrix after the other for more dimensions, and a last line with type and sizes.

namespace ebb {

namespace {

constexpr int64_t kLineWidth = 80;
constexpr int kDigits = 4;
constexpr int kScientificWidth = 11;

/// The numbers of a tensor in row-major order. Host memory, so that printing moves no figure.
std::vector<double> values_of(const Tensor& tensor) {
  TensorBase host = tensor;
  if (!host.is_cpu()) host = ops::to(tensor, tensor.scalar_type(), kCPU);
  std::vector<double> values;
  values.reserve(static_cast<size_t>(host.numel()));
  dispatch(host.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(host.data_ptr());
    DimVector index(static_cast<size_t>(host.dim()));
    for (int64_t n = host.numel(); n > 0; --n) {
      int64_t offset = 0;
      for (size_t i = 0; i < index.size(); ++i) offset += index[i] * host.strides()[i];
      values.push_back(static_cast<double>(data[offset]));
      for (size_t i = index.size(); i-- > 0 && ++index[i] == host.sizes()[i];) index[i] = 0;
    }
  });
  return values;
}

/// How the numbers of one matrix are written.
struct Format {
  enum class Notation { plain, fixed, scientific };
  Notation notation = Notation::plain;
  int width = 0;
  double scale = 1;  ///< numbers are divided by it
};

/// The number of digits before the point; 1 for zero.
int magnitude(double value) {
  return value == 0 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
}

Format choose_format(const double* values, int64_t count) {
  bool is_whole = true, any = false;
  double least = 1, most = 1;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) continue;
    const double size = std::fabs(values[i]);
    is_whole = is_whole && values[i] == std::ceil(values[i]);
    least = any ? std::min(least, size) : size;
    // As LibTorch does, a negative number counts only where it comes first.
    if (!any || values[i] > most) most = size;
    any = true;
  }
  const int low = any ? magnitude(least) : 1, high = any ? magnitude(most) : 1;
  using enum Format::Notation;
  if (is_whole) {
    return high > 9 ? Format{scientific, kScientificWidth, 1} : Format{plain, high + 1, 1};
  }
  if (high - low > kDigits) {
    const bool has_three_digits = std::abs(high) > 99 || std::abs(low) > 99;
    return {scientific, kScientificWidth + (has_three_digits ? 1 : 0), 1};
  }
  if (high > 5 || high < 0) return {fixed, 7, std::pow(10, high - 1)};
  return {fixed, high == 0 ? 7 : high + 6, 1};
}

/// Writes numbers to a stream and leaves its settings as they were.
class Printer {
 public:
  explicit Printer(std::ostream& stream) : stream_(stream), saved_(nullptr) {
    saved_.copyfmt(stream);
  }
  ~Printer() { stream_.copyfmt(saved_); }
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  void scalar(double value) {
    stream_.unsetf(std::ios_base::floatfield);
    stream_ << value << '\n';
  }

  void vector(const double* values, int64_t size) {
    const Format format = choose_format(values, size);
    use(format);
    scale_line(format, 0);
    for (int64_t i = 0; i < size; ++i) {
      stream_ << std::setw(format.width) << values[i] / format.scale << '\n';
    }
  }

  void matrix(const double* values, int64_t rows, int64_t columns, int indent) {
    const Format format = choose_format(values, rows * columns);
    use(format);
    const int64_t per_line = std::max<int64_t>((kLineWidth - indent) / (format.width + 1), 1);
    blanks(indent);
    for (int64_t first = 0; first < columns; first += per_line) {
      const int64_t last = std::min(first + per_line, columns);
      if (per_line < columns) {
        if (first != 0) stream_ << '\n';
        stream_ << "Columns " << first + 1 << " to " << last;
        blanks(indent);
      }
      scale_line(format, indent);
      for (int64_t row = 0; row < rows; ++row) {
        if (row > 0) blanks(indent + (format.scale != 1 ? 1 : 0));
        for (int64_t column = first; column < last; ++column) {
          stream_ << std::setw(format.width) << values[row * columns + column] / format.scale
                  << (column + 1 == last ? '\n' : ' ');
        }
      }
    }
  }

 private:
  void use(const Format& format) {
    if (format.notation == Format::Notation::plain) {
      stream_.unsetf(std::ios_base::floatfield);
      return;
    }
    const bool is_fixed = format.notation == Format::Notation::fixed;
    stream_ << (is_fixed ? std::fixed : std::scientific) << std::setprecision(kDigits);
  }

  void scale_line(const Format& format, int indent) {
    if (format.scale == 1) return;
    std::ostringstream scale;
    scale << std::setprecision(kDigits) << format.scale;
    stream_ << scale.str() << " *\n";
    blanks(indent);
  }

  void blanks(int count) { stream_ << std::string(static_cast<size_t>(count), ' '); }

  std::ostream& stream_;
  std::ios saved_;
};

/// "(1,2,.,.) = " over each matrix of the last two dimensions, the first index running fastest.
void print_matrices(std::ostream& stream, Printer& printer, const Tensor& tensor,
                    const std::vector<double>& values) {
  const int64_t rows = tensor.size(-2), columns = tensor.size(-1);
  const auto outer = static_cast<size_t>(tensor.dim() - 2);
  DimVector index(outer);
  for (int64_t left = tensor.numel() / (rows * columns); left > 0; --left) {
    stream << '(';
    int64_t matrix = 0;
    for (size_t i = 0; i < outer; ++i) {
      stream << index[i] + 1 << ',';
      matrix = matrix * tensor.sizes()[i] + index[i];
    }
    stream << ".,.) = \n";
    printer.matrix(values.data() + matrix * rows * columns, rows, columns, 1);
    if (left > 1) stream << '\n';
    for (size_t i = 0; i < outer && ++index[i] == tensor.sizes()[i]; ++i) index[i] = 0;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.defined()) return stream << "[ Tensor (undefined) ]";
  const std::vector<double> values = values_of(tensor);
  {
    Printer printer(stream);
    if (tensor.dim() == 0) {
      printer.scalar(values[0]);
    } else if (tensor.numel() > 0 && tensor.dim() == 1) {
      printer.vector(values.data(), tensor.numel());
    } else if (tensor.numel() > 0 && tensor.dim() == 2) {
      printer.matrix(values.data(), tensor.size(0), tensor.size(1), 0);
    } else if (tensor.numel() > 0) {
      print_matrices(stream, printer, tensor, values);
    }
  }
  stream << "[ " << tensor.toString() << '{';
  for (int64_t i = 0; i < tensor.dim(); ++i) stream << (i > 0 ? "," : "") << tensor.size(i);
  return stream << "} ]";
}

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return std::string(is_cpu() ? "CPU" : "CUDA") + to_string(scalar_type()) + "Type";
}

void Tensor::print() const {
  if (defined()) {
    std::cerr << '[' << toString() << ' ' << sizes() << "]\n";
  } else {
    std::cerr << "[UndefinedTensor]\n";
  }
}

}  // namespace ebb
