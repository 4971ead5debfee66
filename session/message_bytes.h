#pragma once
// Numbers of the binary messages to the page (page_messages.h, whole_messages.h): the bytes that they have here, which
// page/link.js reads as little endian.

#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace mrclab::lab {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

template <class T>
void put_number(std::string& out, T value) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

}  // namespace mrclab::lab
