#pragma once

// What LibTorch's sources and extensions write before their declarations; it means nothing here.
#define TORCH_API
#define C10_API
#define C10_UNUSED [[maybe_unused]]
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
