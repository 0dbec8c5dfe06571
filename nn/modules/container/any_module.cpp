#include <ebb/nn/modules/container/any_module.h>

#include <cxxabi.h>

#include <cstdlib>

namespace ebb::nn::detail {

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : type.name();
}

void AnyModuleBody::raise_count(const Module& module, size_t least, size_t most, size_t count) {
  const std::string expected =
      least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
  ebb::detail::raise<Error>(module.name() + "'s forward() method expects " + expected +
                            " argument(s), but received " + std::to_string(count));
}

void AnyModuleBody::raise_type(size_t index, const std::type_info& expected,
                               const std::type_info& actual) {
  ebb::detail::raise<Error>("Expected argument #" + std::to_string(index) + " to be of type " +
                            type_name(expected) + ", but received value of type " +
                            type_name(actual));
}

}  // namespace ebb::nn::detail
