#include <ebb/core/ops/attention_kernels.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <ebb/core/cpu/kernels/gemm.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/math.h>

// Attention by tiles of queries and keys, each small enough for the cache: scores, weights and
// their gradients exist for one tile at a time. Forward goes through the keys with a running
// maximum and sum (online softmax); backward makes the weights again from the kept log of the sum,
// once for each block of queries (grad_query) and once for each block of keys (grad_key,
// grad_value), so that every sum has one order and no two threads add to one element.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr int64_t kQueryBlock = 64;
constexpr int64_t kKeyBlock = 128;
constexpr int64_t kTileElements = kQueryBlock * kKeyBlock;

/// Elements of the rows of a block at most.
constexpr int64_t kRowsElements = kKeyBlock * AttentionArguments::kMaxWidth;

/// The tensors of one matrix of the batch, computed in T.
template <typename T>
struct Head {
  const AttentionArguments& a;
  int64_t index;
  T* log_sum_exp;
  T* products;

  Head(const AttentionArguments& a, int64_t index)
      : a(a),
        index(index),
        log_sum_exp(static_cast<T*>(a.log_sum_exp) + index * a.queries),
        products(static_cast<T*>(a.products) + index * a.queries) {}

  /// Rows first to first + count - 1 as they are, or converted to T in `buffer`.
  [[nodiscard]] MatrixSource<T> rows(const MatrixView& view, int64_t first, int64_t count,
                                     int64_t width, T* buffer) const {
    const char* const from = element(view, first, 0, a.dtype);
    if (a.dtype == scalar_type_of<T>) {
      return {reinterpret_cast<const T*>(from), view.row_stride, view.column_stride};
    }
    load(view, from, count, width, a.dtype, buffer);
    return {buffer, width, 1};
  }
  /// Part of the mask as numbers.
  void load_mask(int64_t query, int64_t key, int64_t keys, T* to) const {
    const ScalarType dtype = a.mask_is_bool ? kBool : a.dtype;
    load(a.mask, element(a.mask, query, key, dtype), 1, keys, dtype, to);
  }
  /// Writes `count` rows of a contiguous result that has `all` in each matrix.
  void store_rows(const T* from, int64_t count, int64_t width, void* result, int64_t first,
                  int64_t all) const {
    const auto bytes = static_cast<int64_t>(element_size(a.dtype));
    const int64_t start = (index * all + first) * width * bytes;
    stores(scalar_type_of<T>)[static_cast<int>(a.dtype)](static_cast<char*>(result) + start, from,
                                                         {count * width, 1, bytes, 0});
  }

 private:
  [[nodiscard]] const char* element(const MatrixView& view, int64_t row, int64_t column,
                                    ScalarType dtype) const {
    int64_t offset = row * view.row_stride + column * view.column_stride;
    int64_t i = index;
    for (size_t d = a.batch.size(); d-- > 0;) {
      if (!view.batch_strides.empty()) offset += i % a.batch[d] * view.batch_strides[d];
      i /= a.batch[d];
    }
    return static_cast<const char*>(view.data) + offset * static_cast<int64_t>(element_size(dtype));
  }
  static void load(const MatrixView& view, const char* from, int64_t rows, int64_t columns,
                   ScalarType dtype, T* to) {
    const auto bytes = static_cast<int64_t>(element_size(dtype));
    loads(scalar_type_of<T>)[static_cast<int>(dtype)](
        to, from, {columns, rows, view.column_stride * bytes, view.row_stride * bytes});
  }
};

/// The rows of `source` as lines along k.
template <typename T>
MatrixSource<T> transposed(const MatrixSource<T>& source) {
  return {source.data, source.k_stride, source.line_stride};
}

/// A piece of the matrix of scores.
struct Part {
  int64_t query;
  int64_t queries;
  int64_t key;
  int64_t keys;
};

/// What a thread works in: panels of products, tiles of scores, converted rows of query (0), key
/// (1), value (2) and grad_output (3), and sums.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t sums) {
    const Block block{0, kKeyBlock, 0, std::max(kKeyBlock, AttentionArguments::kMaxWidth)};
    const int64_t panels = panel_elements<T>(block, AttentionArguments::kMaxWidth);
    const int64_t all = panels + 2 * kTileElements + 4 * kRowsElements + sums;
    panels_ = static_cast<T*>(packing_buffer(static_cast<size_t>(all) * sizeof(T)));
    tiles_ = panels_ + panels;
    rows_ = tiles_ + 2 * kTileElements;
  }
  [[nodiscard]] T* panels() const { return panels_; }
  [[nodiscard]] T* tile(int64_t i) const { return tiles_ + i * kTileElements; }
  [[nodiscard]] T* rows(int64_t i) const { return rows_ + i * kRowsElements; }
  [[nodiscard]] T* sums() const { return rows(4); }

 private:
  T* panels_;
  T* tiles_;
  T* rows_;
};

template <typename T>
Destination<T, T> tile_at(T* data, T alpha) {
  return {.data = data, .row_stride = kKeyBlock, .column_stride = 1, .alpha = alpha};
}

/// Adds to rows of sums, `width` apart.
template <typename T>
Destination<T, T> sums_at(T* data, int64_t width) {
  return {.data = data,
          .row_stride = width,
          .column_stride = 1,
          .beta = T{1},
          .addend = data,
          .addend_row_stride = width,
          .addend_column_stride = 1};
}

template <typename T>
void apply_mask(const Head<T>& head, const Part& part, T* scores) {
  const AttentionArguments& a = head.a;
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  T mask[kKeyBlock];
  for (int64_t i = 0; i < part.queries; ++i) {
    T* const row = scores + i * kKeyBlock;
    if (a.mask.data != nullptr) {
      head.load_mask(part.query + i, part.key, part.keys, mask);
      if (a.mask_is_bool) {
        for (int64_t j = 0; j < part.keys; ++j) row[j] = mask[j] != T{0} ? row[j] : kNever;
      } else {
        for (int64_t j = 0; j < part.keys; ++j) row[j] += mask[j];
      }
    }
    if (!a.is_causal) continue;
    const int64_t met = std::max<int64_t>(part.query + i + 1 - part.key, 0);
    for (int64_t j = met; j < part.keys; ++j) row[j] = kNever;
  }
}

/// The rows of the tensors that a tile is made of.
template <typename T>
struct Rows {
  MatrixSource<T> query;
  MatrixSource<T> key;
  MatrixSource<T> value;
  MatrixSource<T> grad_output;
};

/// The scores of a tile; those that the mask forbids are -inf.
template <typename T>
void score(const Head<T>& head, const Part& part, const Rows<T>& rows, T* scores, T* panels) {
  multiply_block(rows.query, rows.key, head.a.width, {0, part.queries, 0, part.keys},
                 tile_at(scores, static_cast<T>(head.a.scale)), panels);
  apply_mask(head, part, scores);
}

/// Multiplies a tile by 1 / (1 - p) where dropout keeps an element, by 0 elsewhere.
template <typename T>
void drop(const Head<T>& head, const Part& part, T* elements) {
  const AttentionArguments& a = head.a;
  if (a.dropout_p == 0) return;
  const double keep = 1 - a.dropout_p;
  const T scale = keep == 0 ? T{0} : static_cast<T>(1 / keep);
  uint32_t words[kKeyBlock];
  for (int64_t i = 0; i < part.queries; ++i) {
    const int64_t first = (head.index * a.queries + part.query + i) * a.keys + part.key;
    random::fill_words(a.draw.seed, a.draw.offset, static_cast<uint64_t>(first), part.keys, words);
    T* const row = elements + i * kKeyBlock;
    for (int64_t j = 0; j < part.keys; ++j) {
      const T kept = row[j] * scale;
      row[j] = random::to_bernoulli(words[j], keep) ? kept : T{0};
    }
  }
}

/// Whether a tile has scores that count.
bool is_met(const AttentionArguments& a, const Part& part) {
  return !a.is_causal || part.key < part.query + part.queries;
}

/// The running softmax of a block of queries.
template <typename T>
struct OnlineSoftmax {
  T largest[kQueryBlock];
  T sum[kQueryBlock];

  explicit OnlineSoftmax(int64_t queries) {
    std::fill(largest, largest + queries, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + queries, T{0});
  }

  /// Makes the scores of row i weights (not yet over the sum), and the results so far fit them.
  void add(int64_t i, T* row, int64_t keys, T* results, int64_t width) {
    T most = largest[i];
    for (int64_t j = 0; j < keys; ++j) most = row[j] > most ? row[j] : most;
    const bool none = most == -std::numeric_limits<T>::infinity();
    const T shift = none ? T{0} : most;  // -inf - -inf is not a number
    const T correction = functors::math::exp(largest[i] - shift);
    for (int64_t j = 0; j < keys; ++j) row[j] = functors::math::exp(row[j] - shift);
    T added = 0;
    for (int64_t j = 0; j < keys; ++j) added += row[j];
    sum[i] = sum[i] * correction + added;
    largest[i] = most;
    for (int64_t e = 0; e < width; ++e) results[e] *= correction;
  }
};

template <typename T>
void forward_block(const Head<T>& head, int64_t first) {
  const AttentionArguments& a = head.a;
  const int64_t width = a.value_width;
  const int64_t queries = std::min(kQueryBlock, a.queries - first);
  const Scratch<T> scratch(kQueryBlock * width);
  T* const weights = scratch.tile(0);
  T* const results = scratch.sums();
  std::fill(results, results + queries * width, T{0});
  OnlineSoftmax<T> softmax(queries);
  Rows<T> rows{};
  rows.query = head.rows(a.query, first, queries, a.width, scratch.rows(0));
  for (int64_t j = 0; j < a.keys; j += kKeyBlock) {
    const Part part{first, queries, j, std::min(kKeyBlock, a.keys - j)};
    if (!is_met(a, part)) break;
    rows.key = head.rows(a.key, j, part.keys, a.width, scratch.rows(1));
    rows.value = head.rows(a.value, j, part.keys, width, scratch.rows(2));
    score(head, part, rows, weights, scratch.panels());
    for (int64_t i = 0; i < queries; ++i) {
      softmax.add(i, weights + i * kKeyBlock, part.keys, results + i * width, width);
    }
    drop(head, part, weights);
    multiply_block(MatrixSource<T>{weights, kKeyBlock, 1}, transposed(rows.value), part.keys,
                   {0, queries, 0, width}, sums_at(results, width), scratch.panels());
  }
  for (int64_t i = 0; i < queries; ++i) {
    const T sum = softmax.sum[i];
    const T factor = sum == T{0} ? T{0} : T{1} / sum;
    for (int64_t e = 0; e < width; ++e) results[i * width + e] *= factor;
    head.log_sum_exp[first + i] =
        sum == T{0} ? std::numeric_limits<T>::infinity() : softmax.largest[i] + std::log(sum);
  }
  head.store_rows(results, queries, width, a.output, first, a.queries);
}

/// The weights of a tile and the gradient of its scores. `weights` gets what the values were
/// multiplied with, after dropout.
template <typename T>
void backward_tile(const Head<T>& head, const Part& part, const Rows<T>& rows, T* weights, T* grads,
                   T* panels) {
  score(head, part, rows, weights, panels);
  multiply_block(rows.grad_output, rows.value, head.a.value_width, {0, part.queries, 0, part.keys},
                 tile_at(grads, T{1}), panels);
  drop(head, part, grads);
  for (int64_t i = 0; i < part.queries; ++i) {
    T* const row = weights + i * kKeyBlock;
    T* const grad = grads + i * kKeyBlock;
    const T shift = head.log_sum_exp[part.query + i];
    const T product = head.products[part.query + i];
    for (int64_t j = 0; j < part.keys; ++j) row[j] = functors::math::exp(row[j] - shift);
    for (int64_t j = 0; j < part.keys; ++j) grad[j] = row[j] * (grad[j] - product);
  }
  drop(head, part, weights);
}

template <typename T>
void load_queries(const Head<T>& head, int64_t first, int64_t count, const Scratch<T>& scratch,
                  Rows<T>& rows) {
  const AttentionArguments& a = head.a;
  rows.query = head.rows(a.query, first, count, a.width, scratch.rows(0));
  rows.grad_output = head.rows(a.grad_output, first, count, a.value_width, scratch.rows(3));
}

template <typename T>
void load_keys(const Head<T>& head, int64_t first, int64_t count, const Scratch<T>& scratch,
               Rows<T>& rows) {
  const AttentionArguments& a = head.a;
  rows.key = head.rows(a.key, first, count, a.width, scratch.rows(1));
  rows.value = head.rows(a.value, first, count, a.value_width, scratch.rows(2));
}

template <typename T>
void scale_all(T* elements, int64_t count, T factor) {
  for (int64_t i = 0; i < count; ++i) elements[i] *= factor;
}

template <typename T>
void backward_queries(const Head<T>& head, int64_t first) {
  const AttentionArguments& a = head.a;
  const int64_t queries = std::min(kQueryBlock, a.queries - first);
  const Scratch<T> scratch(kQueryBlock * a.width);
  T* const sums = scratch.sums();
  T* const grads = scratch.tile(1);
  std::fill(sums, sums + queries * a.width, T{0});
  Rows<T> rows{};
  load_queries(head, first, queries, scratch, rows);
  for (int64_t j = 0; j < a.keys; j += kKeyBlock) {
    const Part part{first, queries, j, std::min(kKeyBlock, a.keys - j)};
    if (!is_met(a, part)) break;
    load_keys(head, j, part.keys, scratch, rows);
    backward_tile(head, part, rows, scratch.tile(0), grads, scratch.panels());
    multiply_block(MatrixSource<T>{grads, kKeyBlock, 1}, transposed(rows.key), part.keys,
                   {0, queries, 0, a.width}, sums_at(sums, a.width), scratch.panels());
  }
  scale_all(sums, queries * a.width, static_cast<T>(a.scale));
  head.store_rows(sums, queries, a.width, a.grad_query, first, a.queries);
}

template <typename T>
void backward_keys(const Head<T>& head, int64_t first) {
  const AttentionArguments& a = head.a;
  const int64_t keys = std::min(kKeyBlock, a.keys - first);
  const Scratch<T> scratch(kKeyBlock * (a.width + a.value_width));
  T* const grad_key = scratch.sums();
  T* const grad_value = grad_key + keys * a.width;
  std::fill(grad_key, grad_value + keys * a.value_width, T{0});
  T* const weights = scratch.tile(0);
  T* const grads = scratch.tile(1);
  Rows<T> rows{};
  load_keys(head, first, keys, scratch, rows);
  // Queries before the first key's place do not meet these keys.
  for (int64_t i = a.is_causal ? first / kQueryBlock * kQueryBlock : 0; i < a.queries;
       i += kQueryBlock) {
    const Part part{i, std::min(kQueryBlock, a.queries - i), first, keys};
    load_queries(head, i, part.queries, scratch, rows);
    backward_tile(head, part, rows, weights, grads, scratch.panels());
    multiply_block(MatrixSource<T>{weights, 1, kKeyBlock}, transposed(rows.grad_output),
                   part.queries, {0, keys, 0, a.value_width}, sums_at(grad_value, a.value_width),
                   scratch.panels());
    multiply_block(MatrixSource<T>{grads, 1, kKeyBlock}, transposed(rows.query), part.queries,
                   {0, keys, 0, a.width}, sums_at(grad_key, a.width), scratch.panels());
  }
  if (a.grad_key != nullptr) {
    scale_all(grad_key, keys * a.width, static_cast<T>(a.scale));
    head.store_rows(grad_key, keys, a.width, a.grad_key, first, a.keys);
  }
  if (a.grad_value != nullptr) {
    head.store_rows(grad_value, keys, a.value_width, a.grad_value, first, a.keys);
  }
}

/// What softmax subtracts from the gradients of the weights of a query: grad_output times output.
template <typename T>
void sum_products(const Head<T>& head, int64_t first) {
  const AttentionArguments& a = head.a;
  const int64_t queries = std::min(kQueryBlock, a.queries - first);
  const Scratch<T> scratch(0);
  const MatrixView output{a.output, a.value_width, 1, {}};
  const MatrixSource<T> out =
      head.rows(output, head.index * a.queries + first, queries, a.value_width, scratch.rows(0));
  const MatrixSource<T> grad =
      head.rows(a.grad_output, first, queries, a.value_width, scratch.rows(3));
  for (int64_t i = 0; i < queries; ++i) {
    T sum = 0;
    for (int64_t e = 0; e < a.value_width; ++e) {
      sum +=
          out.data[i * out.line_stride + e] * grad.data[i * grad.line_stride + e * grad.k_stride];
    }
    head.products[first + i] = sum;
  }
}

/// Calls f(head, first) for blocks of `rows` rows, `block` each, of all matrices of the batch.
template <typename T, typename F>
void for_each_block(const AttentionArguments& a, int64_t rows, int64_t block, F&& f) {
  int64_t heads = 1;
  for (const int64_t size : a.batch) heads *= size;
  const int64_t blocks = (rows + block - 1) / block;
  const int64_t others = a.queries + a.keys - rows;
  const int64_t work = std::max<int64_t>(1, block * others * (a.width + a.value_width));
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / work);
  parallel_for(0, heads * blocks, grain, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) f(Head<T>(a, begin / blocks), begin % blocks * block);
  });
}

/// Calls f(T{}) with what the arguments are computed in.
template <typename F>
void dispatch_accumulator(const AttentionArguments& a, F&& f) {
  if (a.dtype == kDouble) return f(double{});
  f(float{});
}

void forward(const AttentionArguments& a) {
  dispatch_accumulator(a, [&](auto zero) {
    for_each_block<decltype(zero)>(a, a.queries, kQueryBlock, [](const auto& head, int64_t first) {
      forward_block(head, first);
    });
  });
}

void backward(const AttentionArguments& a) {
  dispatch_accumulator(a, [&](auto zero) {
    using T = decltype(zero);
    for_each_block<T>(a, a.queries, kQueryBlock,
                      [](const auto& head, int64_t first) { sum_products(head, first); });
    if (a.grad_query != nullptr) {
      for_each_block<T>(a, a.queries, kQueryBlock,
                        [](const auto& head, int64_t first) { backward_queries(head, first); });
    }
    if (a.grad_key == nullptr && a.grad_value == nullptr) return;
    for_each_block<T>(a, a.keys, kKeyBlock,
                      [](const auto& head, int64_t first) { backward_keys(head, first); });
  });
}

}  // namespace

extern const AttentionKernels attention_kernels = {&forward, &backward};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
