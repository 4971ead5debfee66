#pragma once
// The layout of a header as a table, and a codec made from it at compile time: each field is a load,
// a shift and a mask at a constant place, as if written by hand. Whatever else needs the layout (the
// Wireshark dissector, tests) walks the same table, so that nothing can drift.
//
//   inline constexpr auto kAethTable = header_table<Aeth>(
//       "aeth", "ACK Extended Transport Header", "InfiniBand specification",
//       field(8, "syndrome", "Syndrome", &Aeth::syndrome), field(24, "msn", "MSN", &Aeth::msn));
//   Aeth a = read_header<kAethTable>(bytes);      write_header<kAethTable>(a, bytes);
//
// Fields stand in the order of the wire and have widths, no offsets: what is between two of them is
// named as reserved. A table must fill whole bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fabric/base/byte_order.h"

namespace mrclab {

/// How a number is printed.
enum class Show : uint8_t { kDecimal, kHex };

/// The word for a value; "unknown" for one that has none.
using ValueName = std::string_view (*)(uint64_t value);

/// A field that is a member of the decoded header.
template <class Header, class Member>
struct Field {
  using Decoded = Header;
  uint16_t width;          ///< bits
  std::string_view name;   ///< in display filters
  std::string_view label;  ///< for people
  Member Header::*member;
  Show show = Show::kDecimal;
  ValueName value_name = nullptr;
  std::string_view about = {};
};

/// A field that the decoded header does not have: written as `value`, not read.
struct Constant {
  uint16_t width;
  std::string_view name;  ///< empty: reserved
  std::string_view label;
  uint64_t value = 0;
  Show show = Show::kDecimal;
  ValueName value_name = nullptr;
  std::string_view about = {};
  bool computed = false;  ///< the codec fills it in: any value may be read
};

template <class Header, class Member>
constexpr Field<Header, Member> field(uint16_t width, std::string_view name, std::string_view label,
                                      Member Header::*member, Show show = Show::kDecimal,
                                      ValueName value_name = nullptr, std::string_view about = {}) {
  return {width, name, label, member, show, value_name, about};
}
constexpr Constant constant(uint16_t width, std::string_view name, std::string_view label,
                            uint64_t value, Show show = Show::kDecimal,
                            ValueName value_name = nullptr, std::string_view about = {}) {
  return {width, name, label, value, show, value_name, about};
}
constexpr Constant computed(uint16_t width, std::string_view name, std::string_view label,
                            Show show = Show::kDecimal, std::string_view about = {}) {
  return {width, name, label, 0, show, nullptr, about, true};
}
constexpr Constant reserved(uint16_t width) { return {width, {}, "Reserved"}; }

template <class T>
inline constexpr bool kIsMember = !std::is_same_v<std::remove_cvref_t<T>, Constant>;

/// Where a field stands: its first (most significant) bit, counted from the header's first.
struct FieldPlace {
  size_t bit = 0, width = 0;
};

template <class Header, class... Fields>
struct HeaderTable {
  using Decoded = Header;
  static constexpr size_t kFields = sizeof...(Fields);
  std::string_view name;    ///< in display filters
  std::string_view label;   ///< for people
  std::string_view source;  ///< where the layout is from
  std::tuple<Fields...> fields;

  constexpr std::array<FieldPlace, kFields> places() const {
    std::array<FieldPlace, kFields> result{};
    size_t bit = 0, i = 0;
    const auto next = [&](size_t width) {
      result[i++] = {bit, width};
      bit += width;
    };
    std::apply([&](const auto&... f) { (next(f.width), ...); }, fields);
    return result;
  }
  constexpr size_t bits() const {
    return std::apply([](const auto&... f) { return (size_t{f.width} + ...); }, fields);
  }
  constexpr size_t bytes() const { return bits() / 8; }
};

template <class Header, class... Fields>
constexpr HeaderTable<Header, Fields...> header_table(std::string_view name, std::string_view label,
                                                      std::string_view source, Fields... fields) {
  return {name, label, source, {fields...}};
}

/// The place of a named field; a name that the table does not have does not compile.
template <const auto& kTable>
consteval FieldPlace place_of(std::string_view name) {
  const auto places = kTable.places();
  size_t i = 0;
  size_t found = places.size();
  std::apply([&](const auto&... f) { ((f.name == name ? found = i : 0, ++i), ...); },
             kTable.fields);
  return places.at(found);
}

/// Numbers at any bit: at most 64 wide, and within eight bytes.
template <size_t kBit, size_t kWidth>
inline uint64_t load_bits(const uint8_t* p) {
  constexpr size_t kFirst = kBit / 8, kEnd = (kBit + kWidth + 7) / 8;
  static_assert(kWidth > 0 && kEnd - kFirst <= 8);
  if constexpr (kBit % 8 == 0 && kWidth == 16) {
    return load_be<uint16_t>(p + kFirst);
  } else if constexpr (kBit % 8 == 0 && kWidth == 32) {
    return load_be<uint32_t>(p + kFirst);
  } else if constexpr (kBit % 8 == 0 && kWidth == 64) {
    return load_be<uint64_t>(p + kFirst);
  } else {
    uint64_t value = 0;
    for (size_t i = kFirst; i < kEnd; ++i) value = value << 8 | p[i];
    return value >> (kEnd * 8 - kBit - kWidth) & ((uint64_t{1} << kWidth) - 1);
  }
}

/// Bits of `value` beyond the width are left out. Fields that share a byte are added to it, so
/// those bytes must be zero before.
template <size_t kBit, size_t kWidth>
inline void store_bits(uint8_t* p, uint64_t value) {
  constexpr size_t kFirst = kBit / 8, kEnd = (kBit + kWidth + 7) / 8;
  static_assert(kWidth > 0 && kEnd - kFirst <= 8);
  if constexpr (kBit % 8 == 0 && kWidth == 16) {
    store_be<uint16_t>(p + kFirst, static_cast<uint16_t>(value));
  } else if constexpr (kBit % 8 == 0 && kWidth == 32) {
    store_be<uint32_t>(p + kFirst, static_cast<uint32_t>(value));
  } else if constexpr (kBit % 8 == 0 && kWidth == 64) {
    store_be<uint64_t>(p + kFirst, value);
  } else {
    value = (value & ((uint64_t{1} << kWidth) - 1)) << (kEnd * 8 - kBit - kWidth);
    for (size_t i = kEnd; i-- > kFirst; value >>= 8) {
      constexpr bool kWhole = kBit % 8 == 0 && kWidth % 8 == 0;
      p[i] = static_cast<uint8_t>((kWhole ? 0 : p[i]) | (value & 0xFF));
    }
  }
}

/// A member's value as the bits of its field, and back. Types of their own overload these where the
/// table is.
template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
constexpr uint64_t to_bits(T value) { return static_cast<uint64_t>(value); }
template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
constexpr void from_bits(uint64_t bits, T& value) { value = static_cast<T>(bits); }

template <class T>
inline constexpr bool kIsByteArray = false;
template <size_t kCount>
inline constexpr bool kIsByteArray<std::array<uint8_t, kCount>> = true;

template <const auto& kTable, size_t kIndex>
[[gnu::always_inline]] inline void read_field(
    const uint8_t* p, typename std::remove_cvref_t<decltype(kTable)>::Decoded& h) {
  constexpr auto kField = std::get<kIndex>(kTable.fields);
  constexpr FieldPlace kPlace = kTable.places()[kIndex];
  if constexpr (kIsMember<decltype(kField)>) {
    auto& member = h.*kField.member;
    if constexpr (kIsByteArray<std::remove_cvref_t<decltype(member)>>) {
      static_assert(kPlace.bit % 8 == 0);
      std::copy_n(p + kPlace.bit / 8, member.size(), member.begin());
    } else {
      from_bits(load_bits<kPlace.bit, kPlace.width>(p), member);
    }
  }
}

template <const auto& kTable, size_t kIndex>
[[gnu::always_inline]] inline void write_field(
    const typename std::remove_cvref_t<decltype(kTable)>::Decoded& h, uint8_t* p) {
  constexpr auto kField = std::get<kIndex>(kTable.fields);
  constexpr FieldPlace kPlace = kTable.places()[kIndex];
  if constexpr (!kIsMember<decltype(kField)>) {
    if constexpr (kField.value != 0) store_bits<kPlace.bit, kPlace.width>(p, kField.value);
  } else if constexpr (kIsByteArray<std::remove_cvref_t<decltype(h.*kField.member)>>) {
    static_assert(kPlace.bit % 8 == 0);
    const auto& member = h.*kField.member;
    std::copy(member.begin(), member.end(), p + kPlace.bit / 8);
  } else {
    store_bits<kPlace.bit, kPlace.width>(p, to_bits(h.*kField.member));
  }
}

/// Reads kTable.bytes() bytes into the members that the table has; the caller has checked the bounds.
template <const auto& kTable, class Header>
[[gnu::always_inline]] inline void read_header(const uint8_t* p, Header& h) {
  [&]<size_t... kI>(std::index_sequence<kI...>) __attribute__((always_inline)) {
    (read_field<kTable, kI>(p, h), ...);
  }
  (std::make_index_sequence<kTable.kFields>{});
}

/// Writes kTable.bytes() bytes; what is reserved becomes zero. Returns how many.
template <const auto& kTable, class Header>
[[gnu::always_inline]] inline size_t write_header(const Header& h, uint8_t* p) {
  std::fill_n(p, kTable.bytes(), uint8_t{0});
  [&]<size_t... kI>(std::index_sequence<kI...>) __attribute__((always_inline)) {
    (write_field<kTable, kI>(h, p), ...);
  }
  (std::make_index_sequence<kTable.kFields>{});
  return kTable.bytes();
}

template <const auto& kTable, size_t kIndex>
inline bool constant_right(const uint8_t* p) {
  constexpr auto kField = std::get<kIndex>(kTable.fields);
  constexpr FieldPlace kPlace = kTable.places()[kIndex];
  if constexpr (kIsMember<decltype(kField)>) {
    return true;
  } else {
    return kField.computed || load_bits<kPlace.bit, kPlace.width>(p) == kField.value;
  }
}

/// Do all constants have their values, and is what is reserved zero?
template <const auto& kTable>
inline bool constants_right(const uint8_t* p) {
  return [&]<size_t... kI>(std::index_sequence<kI...>) {
    return (constant_right<kTable, kI>(p) && ...);
  }
  (std::make_index_sequence<kTable.kFields>{});
}

/// Calls f(field, place) for each field in the order of the wire.
template <const auto& kTable, class F>
constexpr void for_each_field(F&& f) {
  const auto places = kTable.places();
  size_t i = 0;
  std::apply([&](const auto&... each) { (f(each, places[i++]), ...); }, kTable.fields);
}

}  // namespace mrclab
