#include <ebb/techniques/accumulate_to.h>

namespace ebb {

Tensor MicroBatch::of(const Tensor& examples) const {
  EBB_CHECK(examples.dim() > 0 && examples.size(0) == batch, "MicroBatch::of: expected a batch of ",
            batch, " examples along dimension 0, got sizes ", examples.sizes());
  return examples.narrow(0, begin, size);
}

std::vector<MicroBatch> accumulate_to(int64_t batch, int64_t micro) {
  EBB_CHECK(batch > 0 && micro > 0, "accumulate_to: expected positive sizes, got a batch of ", batch,
            " in parts of ", micro);
  const int64_t parts = batch / micro + (batch % micro != 0 ? 1 : 0);
  std::vector<MicroBatch> result;
  int64_t begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t size = batch / parts + (i < batch % parts ? 1 : 0);
    result.push_back({begin, size, batch});
    begin += size;
  }
  return result;
}

}  // namespace ebb
