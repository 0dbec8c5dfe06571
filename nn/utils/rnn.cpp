#include <ebb/nn/utils/rnn.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <ebb/autograd/factories.h>

namespace ebb::nn::utils::rnn {

namespace {

using Numbers = std::vector<int64_t>;

Tensor host_tensor(const Numbers& numbers) {
  const Tensor result =
      empty({static_cast<int64_t>(numbers.size())}, TensorOptions(kLong).device(kCPU));
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<int64_t>());
  return result;
}

Numbers numbers_of(const Tensor& tensor) {
  const Tensor dense = tensor.cpu().to(kLong).contiguous();
  const auto* data = dense.data_ptr<int64_t>();
  return {data, data + dense.numel()};
}

/// Where the steps of a batch of sequences lie: step t of sequence b is row first[b] + t * step.
struct Rows {
  Numbers first;
  int64_t step;

  /// Padded to `steps` steps.
  static Rows padded(int64_t batch, int64_t steps, bool batch_first) {
    Rows rows{Numbers(static_cast<size_t>(batch)), batch_first ? 1 : batch};
    for (size_t b = 0; b < rows.first.size(); ++b) {
      rows.first[b] = static_cast<int64_t>(b) * (batch_first ? steps : 1);
    }
    return rows;
  }
};

/// The rows of all steps that there are, those of one step side by side, on `device`. `order`: the
/// sequences from the longest to the shortest.
Tensor packed_index(const Rows& rows, const Numbers& batch_sizes, const Numbers& order,
                    Device device) {
  Numbers index;
  index.reserve(
      static_cast<size_t>(std::accumulate(batch_sizes.begin(), batch_sizes.end(), int64_t{0})));
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    for (int64_t b = 0; b < batch_sizes[t]; ++b) {
      const auto sequence = static_cast<size_t>(order[static_cast<size_t>(b)]);
      index.push_back(rows.first[sequence] + static_cast<int64_t>(t) * rows.step);
    }
  }
  return host_tensor(index).to(device);
}

Numbers ascending(size_t count) {
  Numbers result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

void check_lengths(const Numbers& lengths, const Numbers& order, bool enforce_sorted) {
  for (size_t b = 0; b < lengths.size(); ++b) {
    EBB_CHECK(lengths[b] > 0,
              "Length of all samples has to be greater than 0, but found an element in 'lengths' "
              "that is <= 0: lengths[",
              b, "] is ", lengths[b]);
    EBB_CHECK(!enforce_sorted || order[b] == static_cast<int64_t>(b),
              "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
              "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
              "sidestep this requirement");
  }
}

/// The sequences by decreasing length, equal ones in their order.
Numbers by_length(const Numbers& lengths) {
  Numbers order = ascending(lengths.size());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return lengths[static_cast<size_t>(a)] > lengths[static_cast<size_t>(b)];
  });
  return order;
}

/// How many sequences have each step.
Numbers count_steps(const Numbers& lengths) {
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  Numbers sizes(static_cast<size_t>(longest));
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) ++sizes[static_cast<size_t>(t)];
  }
  return sizes;
}

/// Packs sequences whose steps are rows of `flat`.
PackedSequence pack(const Tensor& flat, const Rows& rows, const Numbers& lengths,
                    bool enforce_sorted) {
  const Numbers order = by_length(lengths);
  check_lengths(lengths, order, enforce_sorted);
  const Numbers batch_sizes = count_steps(lengths);
  const Tensor data = flat.index_select(0, packed_index(rows, batch_sizes, order, flat.device()));
  Tensor sorted_indices;
  if (!enforce_sorted) sorted_indices = host_tensor(order).to(flat.device());
  return PackedSequence(data, host_tensor(batch_sizes), sorted_indices);
}

/// Sizes with `count` in place of the first `dims` dimensions.
DimVector with_first(int64_t count, IntArrayRef sizes, size_t dims) {
  DimVector result{count};
  for (size_t d = dims; d < sizes.size(); ++d) result.push_back(sizes[d]);
  return result;
}

/// The rows of `data` put where `index` says among `count` rows, the others full of
/// `padding_value`.
Tensor spread(const Tensor& data, const Tensor& index, int64_t count, double padding_value) {
  const int64_t width = data.numel() / std::max<int64_t>(1, data.size(0));
  const Tensor result = full({count, width}, Scalar(padding_value), data.options());
  result.scatter_(0, index.unsqueeze(1).expand({data.size(0), width}),
                  data.reshape({data.size(0), width}));
  return result;
}

/// Rows [steps * batch, width] as [steps, batch, ...] or [batch, steps, ...], the sizes of a step
/// being those of a row of `like`.
Tensor as_padded(const Tensor& rows, int64_t steps, int64_t batch, bool batch_first,
                 const Tensor& like) {
  DimVector sizes = batch_first ? DimVector{batch, steps} : DimVector{steps, batch};
  for (int64_t d = 1; d < like.dim(); ++d) sizes.push_back(like.size(d));
  return rows.view(sizes);
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  const Numbers order = numbers_of(permutation);
  Numbers inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    EBB_CHECK(order[i] >= 0 && order[i] < static_cast<int64_t>(order.size()),
              "invert_permutation: ", order[i], " is no index of ", order.size(), " elements");
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return host_tensor(inverse).to(permutation.device());
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  EBB_CHECK(batch_sizes_.device().is_cpu(),
            "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
            "created manually. They should be instantiated by functions like pack_sequence and "
            "pack_padded_sequences in nn::utils::rnn");
  if (!unsorted_indices_.defined()) unsorted_indices_ = invert_permutation(sorted_indices_);
  EBB_CHECK(!sorted_indices_.defined() || sorted_indices_.device() == data_.device(),
            "PackedSequence: sorted_indices are on ", sorted_indices_.device(), ", data on ",
            data_.device());
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& t) { return t.defined() ? t.pin_memory() : t; };
  return PackedSequence(data_.pin_memory(), batch_sizes_, pinned(sorted_indices_),
                        pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  const Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Tensor& t) { return t.defined() ? t.to(data.device()) : t; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first,
                                    bool enforce_sorted) {
  EBB_CHECK(input.dim() >= 2,
            "pack_padded_sequence: expected input [T, B, ...], or [B, T, ...] "
            "with batch_first, got sizes ",
            input.sizes());
  EBB_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  EBB_CHECK(lengths.dim() == 1, "'lengths' argument should be a 1D CPU int64 tensor, but got ",
            lengths.dim(), "D ", lengths.device(), " ", lengths.scalar_type(), " tensor");
  const int64_t batch = input.size(batch_first ? 0 : 1);
  const int64_t steps = input.size(batch_first ? 1 : 0);
  EBB_CHECK(lengths.size(0) == batch, "Expected `len(lengths)` to be equal to batch_size, but got ",
            lengths.size(0), " (batch_size=", batch, ")");
  const Numbers numbers = numbers_of(lengths);
  for (const int64_t length : numbers) {
    EBB_CHECK(length <= steps, "pack_padded_sequence: a length is ", length,
              ", but the input of sizes ", input.sizes(), " has ", steps, " steps");
  }
  return pack(input.reshape(with_first(batch * steps, input.sizes(), 2)),
              Rows::padded(batch, steps, batch_first), numbers, enforce_sorted);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  const Numbers batch_sizes = numbers_of(sequence.batch_sizes());
  EBB_CHECK(!batch_sizes.empty(), "pad_packed_sequence: the sequence has no steps");
  const auto longest = static_cast<int64_t>(batch_sizes.size());
  EBB_CHECK(!total_length || *total_length >= longest,
            "Expected total_length to be at least the length of the longest sequence in input, but "
            "got total_length=",
            total_length.value_or(0), " and max sequence length being ", longest);
  const int64_t steps = total_length.value_or(longest);
  const int64_t batch = batch_sizes[0];
  const Tensor& sorted = sequence.sorted_indices();
  const Numbers order =
      sorted.defined() ? numbers_of(sorted) : ascending(static_cast<size_t>(batch));
  Numbers lengths(static_cast<size_t>(batch));
  for (const int64_t size : batch_sizes) {
    for (int64_t b = 0; b < size; ++b) {
      ++lengths[static_cast<size_t>(order[static_cast<size_t>(b)])];
    }
  }
  const Tensor& data = sequence.data();
  const Tensor index =
      packed_index(Rows::padded(batch, steps, batch_first), batch_sizes, order, data.device());
  return {
      as_padded(spread(data, index, steps * batch, padding_value), steps, batch, batch_first, data),
      host_tensor(lengths)};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value) {
  EBB_CHECK(!sequences.empty(), "pad_sequence: received an empty list of sequences");
  Numbers index;
  int64_t steps = 0;
  for (const Tensor& sequence : sequences) steps = std::max(steps, sequence.size(0));
  const auto batch = static_cast<int64_t>(sequences.size());
  const Rows rows = Rows::padded(batch, steps, batch_first);
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (int64_t t = 0; t < sequences[b].size(0); ++t) {
      index.push_back(rows.first[b] + t * rows.step);
    }
  }
  const Tensor data = cat(sequences);
  return as_padded(spread(data, host_tensor(index).to(data.device()), steps * batch, padding_value),
                   steps, batch, batch_first, data);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  EBB_CHECK(!sequences.empty(), "pack_sequence: received an empty list of sequences");
  Numbers lengths;
  Rows rows{{}, 1};
  int64_t begin = 0;
  for (const Tensor& sequence : sequences) {
    rows.first.push_back(begin);
    lengths.push_back(sequence.size(0));
    begin += sequence.size(0);
  }
  return pack(cat(sequences), rows, lengths, enforce_sorted);
}

}  // namespace ebb::nn::utils::rnn
