#pragma once
// Network byte order at a fixed place. The caller has checked the bounds.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace mrclab {

template <std::unsigned_integral T>
constexpr T swapped_on_little_endian(T value) {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

template <std::unsigned_integral T>
T load_be(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return swapped_on_little_endian(value);
}

template <std::unsigned_integral T>
void store_be(uint8_t* to, T value) {
  value = swapped_on_little_endian(value);
  std::memcpy(to, &value, sizeof value);
}

inline uint32_t load_be24(const uint8_t* from) {
  return uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
}

}  // namespace mrclab
