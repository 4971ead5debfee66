#pragma once
// What the sources of the rooms use of C++20, and the standard library of Debian's emscripten does not have yet.

#ifdef __cplusplus
#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace std {

class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};

template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t size) {
  return unique_ptr<Array>(new remove_extent_t<Array>[size]);
}

template <class To, class From>
To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> &&
                is_trivially_copyable_v<From>);
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

template <class Item, size_t count>
constexpr strong_ordering operator<=>(const array<Item, count>& left,
                                      const array<Item, count>& right) {
  for (size_t i = 0; i < count; ++i) {
    if (const strong_ordering order = left[i] <=> right[i]; order != 0) return order;
  }
  return strong_ordering::equal;
}

template <class Item, class Allocator>
constexpr strong_ordering operator<=>(const vector<Item, Allocator>& left,
                                      const vector<Item, Allocator>& right) {
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (const strong_ordering order = left[i] <=> right[i]; order != 0) return order;
  }
  return left.size() <=> right.size();
}

template <class Item>
constexpr strong_ordering operator<=>(const optional<Item>& left, const optional<Item>& right) {
  return left && right ? *left <=> *right : left.has_value() <=> right.has_value();
}

}  // namespace std
#endif
