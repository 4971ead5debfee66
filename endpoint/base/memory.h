#pragma once
// A piece of a host's memory, or only the length of one. In a run whose payload is elided nothing
// is stored and nothing is sent, but all lengths and addresses are those of a run with payload:
// applications cut and pass on such pieces without a check, and only code that reads or writes
// bytes has to ask.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace mrclab::endpoint {

template <class Byte>
class BasicMemory {
 public:
  constexpr BasicMemory() = default;
  constexpr BasicMemory(Byte* data, uint64_t size) : data_(data), size_(size) {}
  /// Whatever a span of bytes can be made from. It hides no copy: this class is no range.
  template <std::ranges::contiguous_range Range>
  requires std::is_convertible_v<Range&&, std::span<Byte>>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  constexpr BasicMemory(Range&& range) : data_(std::ranges::data(range)), size_(std::size(range)) {}
  /// Read-only from writable.
  template <class Other>
  requires(std::is_const_v<Byte>&& std::is_same_v<
           Other, std::remove_const_t<Byte>>) constexpr BasicMemory(const BasicMemory<Other>& other)
      : data_(other.data()), size_(other.size()) {}
  static constexpr BasicMemory elided(uint64_t size) { return {nullptr, size}; }

  constexpr bool elided() const { return data_ == nullptr; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr uint64_t size() const { return size_; }
  constexpr Byte* data() const { return data_; }  ///< null if elided
  /// `offset` + `length` <= size().
  constexpr BasicMemory subspan(uint64_t offset, uint64_t length) const {
    assert(offset <= size_ && length <= size_ - offset);
    return {elided() ? nullptr : data_ + offset, length};
  }
  constexpr BasicMemory first(uint64_t length) const { return subspan(0, length); }
  /// The bytes. Not to be called if they are elided, unless the piece is empty.
  constexpr std::span<Byte> bytes() const {
    assert(!elided() || empty());
    return {data_, static_cast<size_t>(size_)};
  }

 private:
  Byte* data_ = nullptr;
  uint64_t size_ = 0;
};

using Memory = BasicMemory<uint8_t>;
using ConstMemory = BasicMemory<const uint8_t>;

}  // namespace mrclab::endpoint
