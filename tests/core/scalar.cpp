#include <cmath>
#include <sstream>

#include <ebb/core/tensor/scalar.h>

#include "catch.h"

using namespace ebb;

namespace {
constexpr ScalarType kAll[] = {kUInt8, kInt8,  kShort,  kInt,  kLong,
                               kHalf,  kFloat, kDouble, kBool, kBFloat16};
}

TEST_CASE("scalars keep the kind of number they were made from") {
  CHECK(Scalar(1).type() == kLong);
  CHECK(Scalar(1.5).type() == kDouble);
  CHECK(Scalar(1.5F).is_floating_point());
  CHECK(Scalar(true).is_boolean());
  CHECK_FALSE(Scalar(true).is_integral(false));
  CHECK(Scalar(true).is_integral(true));
  CHECK(Scalar(uint8_t{200}).toLong() == 200);
  CHECK(Scalar(Half(1.5F)).toDouble() == 1.5);
  CHECK(Scalar().toLong() == 0);
  CHECK((-Scalar(2)).toLong() == -2);
  CHECK((-Scalar(2.5)).toDouble() == -2.5);
  CHECK(Scalar(2).equal(2.0));
}

TEST_CASE("scalars convert as elements do") {
  CHECK(Scalar(2.9).toLong() == 2);
  CHECK(Scalar(-2.9).toLong() == -2);
  CHECK(Scalar(0.5).toBool());
  CHECK_FALSE(Scalar(0.0).toBool());
  CHECK(Scalar(1e30).toLong() == INT64_MIN);
  CHECK(Scalar(std::nan("")).toLong() == INT64_MIN);
  CHECK(Scalar(300).to<uint8_t>() == 44);
  CHECK(Scalar(0.1).to<float>() == 0.1F);
  CHECK(Scalar(0.1).to<double>() == 0.1);
  CHECK(static_cast<float>(Scalar(0.5).to<Half>()) == 0.5F);
  CHECK(static_cast<float>(Scalar(3).to<BFloat16>()) == 3);
  CHECK(Scalar(INT64_MAX).toLong() == INT64_MAX);
}

TEST_CASE("scalars print as numbers") {
  std::ostringstream stream;
  stream << Scalar(1) << ' ' << Scalar(1.5) << ' ' << Scalar(true);
  CHECK(stream.str() == "1 1.5 true");
}

TEST_CASE("promotion is commutative, idempotent and associative but for the 16-bit floats") {
  for (const ScalarType a : kAll) {
    CHECK(promote_types(a, a) == a);
    for (const ScalarType b : kAll) {
      INFO(a << " " << b);
      const ScalarType c = promote_types(a, b);
      CHECK(c == promote_types(b, a));
      CHECK(promote_types(a, c) == c);
      CHECK(can_cast(a, c));
      CHECK(is_floating_point(c) == (is_floating_point(a) || is_floating_point(b)));
    }
  }
}

TEST_CASE("promotion has LibTorch's results") {
  CHECK(promote_types(kUInt8, kInt8) == kShort);
  CHECK(promote_types(kUInt8, kShort) == kShort);
  CHECK(promote_types(kInt8, kInt) == kInt);
  CHECK(promote_types(kLong, kHalf) == kHalf);
  CHECK(promote_types(kLong, kBFloat16) == kBFloat16);
  CHECK(promote_types(kHalf, kBFloat16) == kFloat);
  CHECK(promote_types(kHalf, kFloat) == kFloat);
  CHECK(promote_types(kFloat, kDouble) == kDouble);
  CHECK(promote_types(kBool, kUInt8) == kUInt8);
  CHECK(promote_types(kBool, kBool) == kBool);
}

TEST_CASE("casts that lose the kind of number are not allowed") {
  CHECK_FALSE(can_cast(kFloat, kLong));
  CHECK_FALSE(can_cast(kLong, kBool));
  CHECK_FALSE(can_cast(kFloat, kBool));
  CHECK(can_cast(kDouble, kHalf));
  CHECK(can_cast(kLong, kUInt8));
  CHECK(can_cast(kBool, kHalf));
}

TEST_CASE("dtypes have LibTorch's names and sizes") {
  CHECK(std::string(to_string(kFloat)) == "Float");
  CHECK(std::string(to_string(kBFloat16)) == "BFloat16");
  CHECK(std::string(to_string(kUInt8)) == "Byte");
  CHECK(element_size(kHalf) == 2);
  CHECK(element_size(kBool) == 1);
  CHECK(element_size(kLong) == 8);
  CHECK(scalar_type_of<float> == kFloat);
  CHECK(scalar_type_of<int64_t> == kLong);
  CHECK(scalar_type_of<long long> == kLong);
  CHECK(scalar_type_of<bool> == kBool);
  for (const ScalarType type : kAll) {
    dispatch(type, [&](auto zero) { CHECK(sizeof(zero) == element_size(type)); });
  }
}

TEST_CASE("only floating-point dtypes can be the default") {
  CHECK_THROWS_AS(set_default_dtype(kInt), Error);
  CHECK(get_default_dtype() == kFloat);
}
