#include "lesson.h"

#include <algorithm>
#include <optional>

// A dataset that makes its examples when they are asked for needs the memory of one batch; one that
// holds them needs that of all.

namespace {

constexpr int64_t kExamples = 1024, kBatch = 32, kWidth = 256;

struct Lazy : ebb::data::datasets::Dataset<Lazy> {
  ebb::data::Example<> get(size_t index) override {
    return {ebb::full({kWidth}, static_cast<double>(index)), ebb::zeros({1})};
  }
  [[nodiscard]] std::optional<size_t> size() const override { return kExamples; }
};

}  // namespace

int main() {
  const int64_t start = lesson::allocated();
  {
    const ebb::Tensor all = ebb::zeros({kExamples, kWidth});
    lesson::equal("all examples", lesson::bytes({kExamples, kWidth}), lesson::allocated() - start);
  }
  auto loader = ebb::data::make_data_loader(Lazy().map(ebb::data::transforms::Stack<>()),
                                            ebb::data::DataLoaderOptions().batch_size(kBatch));
  int64_t most = 0;
  int64_t seen = 0;
  for (const auto& batch : *loader) {
    seen += batch.data.size(0);
    most = std::max(most, lesson::allocated() - start);
  }
  if (seen != kExamples) return 1;
  lesson::equal("one batch and its targets",
                lesson::bytes({kBatch, kWidth}) + lesson::bytes({kBatch, 1}), most);
  lesson::say("The bytes of a batch do not depend on how many examples there are.");
}
