#include <sstream>
#include <thread>

#include <ebb/core/memory/memory.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/shape.h>

#include "catch.h"

using namespace ebb;

namespace {

TensorBase make(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return ops::empty(sizes, dtype, kCPU);
}

template <typename T>
std::string printed(const T& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

}  // namespace

TEST_CASE("a handle is one pointer, and copies share the tensor") {
  CHECK(sizeof(TensorBase) == sizeof(void*));
  const TensorBase a = make({2, 3});
  const TensorBase b = a;  // NOLINT: the copy is the point
  CHECK(a.is_same(b));
  CHECK(a.use_count() == 2);
  CHECK(a.storage().use_count() == 1);
}

TEST_CASE("an undefined handle says so instead of crashing") {
  const TensorBase none;
  CHECK_FALSE(none.defined());
  CHECK_THROWS_AS(none.sizes(), Error);
  CHECK_THROWS_AS(none.data_ptr(), Error);
  CHECK_THROWS_AS(none.dtype(), Error);
  CHECK_FALSE(none.has_storage());
}

TEST_CASE("metadata follow from sizes and dtype") {
  const TensorBase x = make({2, 3, 4}, kDouble);
  CHECK(x.dim() == 3);
  CHECK(x.numel() == 24);
  CHECK(x.size(-1) == 4);
  CHECK(x.stride(0) == 12);
  CHECK(x.nbytes() == 192);
  CHECK(x.itemsize() == 8);
  CHECK(x.is_contiguous());
  CHECK(x.is_floating_point());
  CHECK(x.get_device() == -1);
  CHECK_THROWS_AS(x.size(3), IndexError);
  CHECK_THROWS_AS(make({}).size(0), IndexError);
  CHECK(make({0, 3}).stride(0) == 3);
  CHECK(make({0}).data_ptr() == nullptr);
}

TEST_CASE("data_ptr and accessor check dtype and dimension") {
  const TensorBase x = make({2, 2});
  float* data = x.data_ptr<float>();
  for (int i = 0; i < 4; ++i) data[i] = static_cast<float>(i);
  CHECK_THROWS_AS(x.data_ptr<double>(), Error);
  const auto a = x.accessor<float, 2>();
  CHECK(a[1][0] == 2);
  CHECK(a.size(1) == 2);
  const TensorBase transposed = ops::transpose(x, 0, 1);
  CHECK(transposed.accessor<float, 2>()[1][0] == 1);
  CHECK_THROWS_AS((x.accessor<float, 1>()), Error);
  CHECK_THROWS_AS((x.accessor<int, 2>()), Error);
  CHECK(transposed.data_ptr<float>() == data);
  CHECK(ops::select(x, 0, 1).data_ptr<float>() == data + 2);
}

TEST_CASE("views share a version counter; set_version parts them") {
  const TensorBase x = make({4});
  x.impl()->bump_version();
  const TensorBase view = ops::narrow(x, 0, 1, 2);
  CHECK(view._version() == 1);
  view.impl()->bump_version();
  CHECK(x._version() == 2);
  view.impl()->set_version(make_intrusive<VersionCounter>(0));
  view.impl()->bump_version();
  CHECK(x._version() == 2);
  CHECK(view._version() == 1);
}

TEST_CASE("threads that share a version counter lose no write", "[threads]") {
  const TensorBase x = make({4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) ops::narrow(x, 0, 0, 2).impl()->bump_version();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(x._version() == 4000);
}

TEST_CASE("tensors die on other threads than they were made on", "[threads]") {
  const int64_t before = memory::memory_allocated();
  std::vector<TensorBase> tensors;
  for (int i = 0; i < 200; ++i) tensors.push_back(make({10}));
  std::thread([&] { tensors.clear(); }).join();
  CHECK(memory::memory_allocated() == before);
}

TEST_CASE("set_data takes over memory, dtype and sizes") {
  const TensorBase x = make({2}), y = make({3, 4}, kInt);
  x.impl()->bump_version();
  x.impl()->set_data(*y.impl());
  CHECK(x.is_alias_of(y));
  CHECK(x.scalar_type() == kInt);
  CHECK(x.numel() == 12);
  CHECK(x._version() == 1);
}

TEST_CASE("a storage counts its owners and frees at the last") {
  const int64_t before = memory::memory_allocated();
  {
    const TensorBase x = make({1000});
    CHECK(memory::memory_allocated() - before == memory::rounded(4000));
    const Storage storage = x.storage();
    CHECK(storage.use_count() == 2);
    CHECK(storage.nbytes() == 4000);
    CHECK(storage.data() == x.data_ptr());
    const Storage moved = Storage(storage);
    CHECK(moved.is_alias_of(storage));
  }
  CHECK(memory::memory_allocated() == before);
  CHECK_FALSE(Storage().is_alias_of(Storage()));
}

TEST_CASE("inline vectors behave as vectors, in place and on the heap") {
  for (const size_t length : {0U, 3U, 5U, 6U, 20U}) {
    std::vector<int64_t> reference;
    DimVector list;
    for (size_t i = 0; i < length; ++i) {
      list.push_back(static_cast<int64_t>(i));
      reference.push_back(static_cast<int64_t>(i));
    }
    list.insert(length / 2, 77);
    reference.insert(reference.begin() + static_cast<std::ptrdiff_t>(length / 2), 77);
    DimVector copy = list;
    CHECK(IntArrayRef(copy) == reference);
    copy.erase(0);
    reference.erase(reference.begin());
    CHECK(IntArrayRef(copy) == reference);
    DimVector moved = std::move(copy);
    CHECK(IntArrayRef(moved) == reference);
    CHECK(copy.empty());  // NOLINT: a moved-from list is empty
    copy = moved;
    CHECK(IntArrayRef(copy) == reference);
    list = std::move(moved);
    CHECK(IntArrayRef(list) == reference);
    list.resize(30, 4);
    CHECK(list.back() == 4);
    CHECK(list.size() == 30);
    list.assign({1, 2});
    CHECK(IntArrayRef(list) == std::vector<int64_t>{1, 2});
  }
}

TEST_CASE("array refs are made of braces, vectors, arrays and numbers") {
  const auto count = [](IntArrayRef list) { return list.size(); };
  const auto sum = [](IntArrayRef list) {
    int64_t total = 0;
    for (const int64_t value : list) total += value;
    return total;
  };
  CHECK(sum({1, 2, 3}) == 6);
  CHECK(count({}) == 0);
  CHECK(sum(5) == 5);
  CHECK(sum(std::vector<int64_t>{4, 5}) == 9);
  CHECK(sum(std::array<int64_t, 2>{4, 5}) == 9);
  CHECK(sum(DimVector{1, 2}) == 3);
  CHECK(printed(IntArrayRef(std::vector<int64_t>{2, 3})) == "[2, 3]");
  CHECK(printed(DimVector{}) == "[]");
  const std::vector<int64_t> list = {1, 2, 3};
  CHECK(IntArrayRef(list).slice(1).vec() == std::vector<int64_t>{2, 3});
  CHECK(IntArrayRef(list).slice(1, 1).vec() == std::vector<int64_t>{2});
  CHECK_THROWS_AS(IntArrayRef(list).at(3), Error);
  const auto has = [](OptionalIntArrayRef dims) { return dims.has_value(); };
  CHECK_FALSE(has(std::nullopt));
  CHECK(has({0, 1}));
  CHECK(has(3));
}

TEST_CASE("options print, merge and keep what they were given") {
  const TensorOptions options = dtype(kInt).requires_grad(false).device(kCPU);
  CHECK(options.dtype() == kInt);
  CHECK(options.has_dtype());
  CHECK_FALSE(TensorOptions().has_dtype());
  CHECK(TensorOptions().dtype() == get_default_dtype());
  CHECK(TensorOptions(kDouble).merge_in(kHalf).dtype() == kHalf);
  CHECK(TensorOptions(kDouble).merge_in(kCPU).dtype() == kDouble);
  CHECK(printed(options).find("Int") != std::string::npos);
}
