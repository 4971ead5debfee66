#pragma once
// The words of an enum's values, each written beside its value. The compiler proves that the list is in the order of
// the values, so that a place in it may stand for a value, and a value for a place.

#include <array>
#include <cstddef>
#include <string_view>

namespace mrclab {

template <class E>
struct EnumWord {
  E value;
  std::string_view word;
};

/// The words by value: kWords[static_cast<size_t>(value)]. Does not compile if a value is missing, twice, or not
/// in its place.
template <class E, size_t N>
consteval std::array<std::string_view, N> words_by_value(const EnumWord<E> (&entries)[N]) {
  std::array<std::string_view, N> words;
  for (size_t i = 0; i < N; ++i) {
    if (static_cast<size_t>(entries[i].value) != i) throw "a value is not in its place";
    words[i] = entries[i].word;
  }
  return words;
}

}  // namespace mrclab
