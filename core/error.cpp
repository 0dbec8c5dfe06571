#include <ebb/core/error.h>
#include <ebb/core/thread_state.h>

namespace ebb::detail {

std::string join(std::initializer_list<Part> parts) {
  std::ostringstream stream;
  for (const Part& part : parts) part.print(stream);
  return stream.str();
}

template <typename E>
void raise(const std::string& message) {
  const char* op = thread_state().op_name;
  throw E(op == nullptr ? message : std::string(op) + ": " + message);
}

template EBB_API void raise<Error>(const std::string&);
template EBB_API void raise<IndexError>(const std::string&);
template EBB_API void raise<ValueError>(const std::string&);
template EBB_API void raise<NotImplementedError>(const std::string&);

}  // namespace ebb::detail
