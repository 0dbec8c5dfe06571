#pragma once

#include <ebb/core/cpu/kernels/window_source.h>

// Convolutions of stride 1 without packed windows. An image is copied once, with its padding; seen
// as one long row, its windows for one tap of the kernel are the image itself, shifted. This pays
// where there are few output channels, so that packing each window would cost as much as the
// multiplications.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

template <typename T>
struct UnalignedVectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

/// tile[i][j] = sum over p of a[p][i] * image[offsets[p] + j] (see multiply_rows).
template <int rows, typename T>
void multiply_shifted_rows(int64_t k, const T* a, const T* image, const int64_t* offsets, T* tile) {
  using Unaligned = typename UnalignedVectorOf<T>::type;
  constexpr int lanes = kLanes<T>;
  Vector<T> sums[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    sums[i][0] = Vector<T>{};
    sums[i][1] = Vector<T>{};
  }
  for (int64_t p = 0; p < k; ++p) {
    const T* const from = image + offsets[p];
    const Vector<T> left = *reinterpret_cast<const Unaligned*>(from);
    const Vector<T> right = *reinterpret_cast<const Unaligned*>(from + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector<T> factor = repeat(a[i]);
      sums[i][0] = multiply_add<T>(factor, left, sums[i][0]);
      sums[i][1] = multiply_add<T>(factor, right, sums[i][1]);
    }
    a += kTileRows;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto* row = reinterpret_cast<Vector<T>*>(tile + i * 2 * lanes);
    row[0] = sums[i][0];
    row[1] = sums[i][1];
  }
}

template <typename T>
void multiply_shifted(int64_t k, int64_t rows, const T* a, const T* image, const int64_t* offsets,
                      T* tile) {
  constexpr int third = kTileRows / 3;
  if (rows <= third) return multiply_shifted_rows<third>(k, a, image, offsets, tile);
  if (rows <= 2 * third) return multiply_shifted_rows<2 * third>(k, a, image, offsets, tile);
  multiply_shifted_rows<kTileRows>(k, a, image, offsets, tile);
}

/// tile[i][j] += sum over the pixels p of a plane of taps[i][p] * b[p][j], where a row of the plane
/// is `pitch` elements after the one before in the image, and adjacent in b.
template <int rows, typename T>
void add_taps_rows(int64_t height, int64_t width, int64_t pitch, const T* const* taps, const T* b,
                   T* tile) {
  constexpr int lanes = kLanes<T>;
  const T* row[rows];
  Vector<T> sums[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    const auto* from = reinterpret_cast<const Vector<T>*>(tile + i * 2 * lanes);
    row[i] = taps[i];
    sums[i][0] = from[0];
    sums[i][1] = from[1];
  }
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x, b += 2 * lanes) {
      const Vector<T> left = reinterpret_cast<const Vector<T>*>(b)[0];
      const Vector<T> right = reinterpret_cast<const Vector<T>*>(b)[1];
      const int64_t at = y * pitch + x;
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const Vector<T> factor = repeat(row[i][at]);
        sums[i][0] = multiply_add<T>(factor, left, sums[i][0]);
        sums[i][1] = multiply_add<T>(factor, right, sums[i][1]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto* to = reinterpret_cast<Vector<T>*>(tile + i * 2 * lanes);
    to[0] = sums[i][0];
    to[1] = sums[i][1];
  }
}

template <typename T>
void add_taps(int64_t height, int64_t width, int64_t pitch, int64_t rows, const T* const* taps,
              const T* b, T* tile) {
  constexpr int third = kTileRows / 3;
  if (rows <= third) return add_taps_rows<third>(height, width, pitch, taps, b, tile);
  if (rows <= 2 * third) return add_taps_rows<2 * third>(height, width, pitch, taps, b, tile);
  add_taps_rows<kTileRows>(height, width, pitch, taps, b, tile);
}

/// The part of an image that the windows reach, and where each tap finds it in a copy of that part.
struct Reached {
  int64_t channels;
  int64_t first[2];  ///< row and column of the image where the copy starts; may be negative
  int64_t size[2];

  Reached(const Reach& rows, const Reach& columns, int64_t channels) : channels(channels) {
    const Reach* both[] = {&rows, &columns};
    for (int d = 0; d < 2; ++d) {
      const int64_t span = (both[d]->taps - 1) * both[d]->tap;
      first[d] = both[d]->start + std::min<int64_t>(0, span);
      size[d] = both[d]->lines + std::max(span, -span);
    }
  }
  [[nodiscard]] int64_t plane() const { return size[0] * size[1]; }
  [[nodiscard]] int64_t elements() const { return channels * plane(); }

  /// Where in the copy the first window finds tap k (channel, row and column of the kernel).
  [[nodiscard]] int64_t offset(const Reach& rows, const Reach& columns, int64_t k) const {
    const int64_t taps = rows.taps * columns.taps;
    const int64_t row = rows.start + k % taps / columns.taps * rows.tap - first[0];
    const int64_t column = columns.start + k % columns.taps * columns.tap - first[1];
    return k / taps * plane() + row * size[1] + column;
  }
};

/// Copies what the windows reach of one image, with zeros around it.
template <typename S, typename T>
void copy_reached(const Reached& reached, const WindowSource<S>& windows, int64_t image, T* to) {
  const S* data = windows.data + image * windows.strides[0];
  const int64_t step = windows.strides[3];
  const int64_t width = reached.size[1];
  const int64_t begin = std::clamp<int64_t>(-reached.first[1], 0, width);
  const int64_t end = std::clamp(windows.columns.size - reached.first[1], begin, width);
  for (int64_t c = 0; c < reached.channels; ++c) {
    for (int64_t y = 0; y < reached.size[0]; ++y, to += width) {
      const int64_t row = reached.first[0] + y;
      if (row < 0 || row >= windows.rows.size) {
        std::fill(to, to + width, T{});
        continue;
      }
      const S* from =
          data + c * windows.strides[1] + row * windows.strides[2] + reached.first[1] * step;
      std::fill(to, to + begin, T{});
      if (step == 1) {
        for (int64_t x = begin; x < end; ++x) to[x] = widened<T>(from[x]);
      } else {
        for (int64_t x = begin; x < end; ++x) to[x] = widened<T>(from[x * step]);
      }
      std::fill(to + end, to + width, T{});
    }
  }
}

constexpr int64_t kDirectMatrix = int64_t{1} << 17;  // elements of a matrix that stays in cache
constexpr int64_t kDirectImage = int64_t{1} << 19;   // elements of an image

/// Whether the direct way pays, which depends on the shape alone. `lines`: outputs per window.
inline bool suits_direct(const Reach& rows, const Reach& columns, int64_t channels, int64_t lines) {
  if (rows.step != 1 || columns.step != 1 || rows.taps * columns.taps == 0) return false;
  const Reached reached(rows, columns, channels);
  const int64_t depth = channels * rows.taps * columns.taps;
  return lines <= 256 && lines * depth <= kDirectMatrix && reached.elements() <= kDirectImage &&
         2 * reached.size[1] <= 3 * columns.lines;
}

/// Rounded up to a multiple of 64 bytes for any element.
constexpr int64_t aligned(int64_t elements) { return round_up(elements, 64); }

/// The windows of some images times the rows of `a`.
template <typename S, typename T>
class DirectProduct {
 public:
  DirectProduct(LeftPanels<T> a, int64_t m, const WindowSource<S>& windows, int64_t channels,
                const Destination<S, T>& out)
      : windows_(windows),
        reached_(windows.rows, windows.columns, channels),
        out_(out),
        m_(m),
        depth_(channels * windows.rows.taps * windows.columns.taps) {
    const int64_t matrix = aligned(round_up(m, kTileRows) * depth_);
    const int64_t image = aligned(reached_.elements() + kTileColumns<T>);
    const int64_t elements = matrix + image;
    auto* const buffer = static_cast<T*>(packing_buffer(static_cast<size_t>(elements) * sizeof(T) +
                                                        static_cast<size_t>(depth_) * 8));
    matrix_ = buffer;
    image_ = buffer + matrix;
    offsets_ = reinterpret_cast<int64_t*>(buffer + elements);
    std::fill(image_ + reached_.elements(), image_ + image, T{});
    for (int64_t k = 0; k < depth_; ++k) {
      offsets_[k] = reached_.offset(windows.rows, windows.columns, k);
    }
    for (int64_t i = 0; i < m; i += kTileRows) {
      a.pack(matrix_ + i * depth_, i, std::min<int64_t>(kTileRows, m - i), 0, depth_);
    }
  }

  /// Panels of neighbouring windows of one image, counted over the rows of its copy.
  [[nodiscard]] static int64_t panels(const WindowSource<S>& windows, int64_t channels) {
    const Reached reached(windows.rows, windows.columns, channels);
    const int64_t positions = (windows.rows.lines - 1) * reached.size[1] + windows.columns.lines;
    return (positions + kTileColumns<T> - 1) / kTileColumns<T>;
  }

  void run(int64_t image, int64_t begin, int64_t end) {
    alignas(64) T tile[kTileRows * kTileColumns<T>];
    copy_reached(reached_, windows_, image, image_);
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t position = panel * kTileColumns<T>;
      for (int64_t i = 0; i < m_; i += kTileRows) {
        const int64_t rows = std::min<int64_t>(kTileRows, m_ - i);
        multiply_shifted(depth_, rows, matrix_ + i * depth_, image_ + position, offsets_, tile);
        store(tile, image, position, i, rows);
      }
    }
  }

 private:
  /// Writes those windows of a panel that there are: between the rows of the plane lie some that
  /// reach over the edge.
  void store(const T* tile, int64_t image, int64_t position, int64_t row, int64_t rows) const {
    const int64_t width = windows_.columns.lines;
    const int64_t pitch = reached_.size[1];
    int64_t y = position / pitch;
    int64_t x = position % pitch;
    for (int64_t done = 0; done < kTileColumns<T> && y < windows_.rows.lines; ++y, x = 0) {
      const int64_t count = std::min(kTileColumns<T> - done, width - x);
      if (count > 0) {
        out_.store(tile + done, kTileColumns<T>, row, (image * windows_.rows.lines + y) * width + x,
                   rows, count, true);
      }
      done += pitch - x;
    }
  }

  const WindowSource<S>& windows_;
  Reached reached_;
  const Destination<S, T>& out_;
  int64_t m_;
  int64_t depth_;
  T* matrix_;
  T* image_;
  int64_t* offsets_;
};

/// The windows of all images times the m rows of `a`.
template <typename S, typename T>
void multiply_directly(LeftPanels<T> a, int64_t m, const WindowSource<S>& windows, int64_t channels,
                       int64_t batch, const Destination<S, T>& out) {
  using Direct = DirectProduct<S, T>;
  const int64_t panels = Direct::panels(windows, channels);
  const int64_t threads = get_num_threads();
  const int64_t pieces =
      threads == 1 ? 1 : std::clamp<int64_t>(2 * threads / batch, 1, (panels + 3) / 4);
  const int64_t piece = (panels + pieces - 1) / pieces;
  const int64_t depth = channels * windows.rows.taps * windows.columns.taps;
  parallel_for(0, batch * pieces, block_grain(m, piece * kTileColumns<T>, depth),
               [&](int64_t begin, int64_t end) {
                 Direct direct(a, m, windows, channels, out);
                 for (; begin < end; ++begin) {
                   const int64_t first = begin % pieces * piece;
                   direct.run(begin / pieces, first, std::min(panels, first + piece));
                 }
               });
}

/// The gradient of the weight from some images: tiles of taps by output channels.
template <typename S, typename T>
class DirectWeight {
 public:
  DirectWeight(const SplitSource<S>& grad, int64_t m, const WindowSource<S>& windows,
               int64_t channels)
      : grad_(grad),
        windows_(windows),
        reached_(windows.rows, windows.columns, channels),
        m_(m),
        pixels_(windows.rows.lines * windows.columns.lines),
        taps_(channels * windows.rows.taps * windows.columns.taps) {
    const int64_t wide = round_up(m, kTileColumns<T>);
    const int64_t sums = aligned(round_up(taps_, kTileRows) * wide);
    const int64_t image = aligned(reached_.elements());
    const int64_t gradient = wide * pixels_;
    auto* const buffer =
        static_cast<T*>(packing_buffer(static_cast<size_t>(sums + image + gradient) * sizeof(T)));
    sums_ = buffer;
    image_ = buffer + sums;
    gradient_ = image_ + image;
    std::fill(sums_, sums_ + sums, T{});
  }

  [[nodiscard]] static bool suits(const WindowSource<S>& windows, int64_t channels, int64_t m) {
    return suits_direct(windows.rows, windows.columns, channels, m) &&
           round_up(m, kTileColumns<T>) * windows.rows.lines * windows.columns.lines <=
               kDirectImage;
  }

  /// Adds what one image contributes.
  void add(int64_t image) {
    constexpr int64_t width = kTileColumns<T>;
    copy_reached(reached_, windows_, image, image_);
    for (int64_t j = 0; j < m_; j += width) {
      grad_.template pack<width>(gradient_ + j * pixels_, j, std::min<int64_t>(width, m_ - j),
                                 image * pixels_, pixels_);
    }
    for (int64_t i = 0; i < taps_; i += kTileRows) {
      const T* taps[kTileRows];
      for (int64_t r = 0; r < kTileRows; ++r) {
        taps[r] =
            image_ + reached_.offset(windows_.rows, windows_.columns, std::min(i + r, taps_ - 1));
      }
      for (int64_t j = 0; j < m_; j += width) {
        add_taps(windows_.rows.lines, windows_.columns.lines, reached_.size[1],
                 std::min<int64_t>(kTileRows, taps_ - i), taps, gradient_ + j * pixels_,
                 tile(i, j));
      }
    }
  }

  /// Writes the sums.
  void store(const Destination<T, T>& out) const {
    for (int64_t i = 0; i < taps_; i += kTileRows) {
      for (int64_t j = 0; j < m_; j += kTileColumns<T>) {
        out.store(tile(i, j), kTileColumns<T>, i, j, std::min<int64_t>(kTileRows, taps_ - i),
                  std::min<int64_t>(kTileColumns<T>, m_ - j), true);
      }
    }
  }

 private:
  [[nodiscard]] T* tile(int64_t i, int64_t j) const {
    return sums_ + i * round_up(m_, kTileColumns<T>) + j * kTileRows;
  }

  const SplitSource<S>& grad_;
  const WindowSource<S>& windows_;
  Reached reached_;
  int64_t m_;
  int64_t pixels_;
  int64_t taps_;
  T* sums_;
  T* image_;
  T* gradient_;
};

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
