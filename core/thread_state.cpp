#include <ebb/core/thread_state.h>

namespace ebb::detail {

constinit thread_local ThreadState tls_state;

}  // namespace ebb::detail
