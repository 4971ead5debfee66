#pragma once
// Loading ahead what will be read from memory soon.

#include <cstddef>

namespace mrclab {

inline constexpr size_t kCacheLine = 64;  // bytes

/// Loads the cache line with the byte at `address` while the caller goes on. The address may be any.
inline void fetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  // g++ holds a function that only prefetches for one without effects, and drops its calls. It keeps an asm volatile.
  asm volatile("");
}

/// The same for `size` bytes, as if they began with a line.
inline void fetch_lines(const void* begin, size_t size) {
  for (size_t at = 0; at < size; at += kCacheLine) {
    fetch_line(static_cast<const char*>(begin) + at);
  }
}

}  // namespace mrclab
