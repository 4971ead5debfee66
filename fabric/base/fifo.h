#pragma once
// A first-in first-out queue with a bound. It grows by half up to the bound and never shrinks, so a
// warm queue allocates nothing. It is small and begins with room for kFirst items: for one, because a switch has
// hundreds, most of which are empty or hold what leaves at once. With kInside that room lies in the queue itself, for
// queues that nearly always hold something and are in no cache: whoever puts an item in waits for one place less.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "fabric/base/cache_line.h"
#include "fabric/base/place.h"

namespace mrclab {

template <class T, uint32_t kFirst = 1, bool kInside = false>
class Fifo {
 public:
  explicit Fifo(size_t bound)
      : bound_(static_cast<uint32_t>(bound)), room_(kInside ? std::min(kFirst, bound_) : 0) {
    assert(bound <= std::numeric_limits<uint32_t>::max() / 2);
  }
  Fifo(Fifo&&) noexcept = default;
  Fifo& operator=(Fifo&&) noexcept = default;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  size_t bound() const { return bound_; }
  T& front() { return places()[head_]; }
  const T& front() const { return places()[head_]; }
  /// Loads the item of this number into the cache, if there is one; the first has number 0.
  void fetch(uint32_t number) const {
    if (number < size_) fetch_line(places() + place(number));
  }
  /// Loads the place of the next item, if there is one already.
  void fetch_back() const { fetch_line(places() + place(size_)); }
  /// The item of this number; the first has number 0.
  T& operator[](size_t number) { return places()[place(static_cast<uint32_t>(number))]; }

  /// False, leaving `item` alone, when the bound is reached.
  bool push(T&& item) { return emplace(std::move(item)); }
  /// Makes the item where it is to lie. False, leaving what it is made of alone, when the bound is reached.
  template <class... Parts>
  bool emplace(Parts&&... parts) {
    if (size_ == bound_) return false;
    if (size_ == room_) grow();
    if (size_ == 0) head_ = 0;  // the place used last is in a cache, the next one is not
    make_in_place(places()[place(size_)], std::forward<Parts>(parts)...);
    ++size_;
    return true;
  }

  bool push(const T& item) { return push(T(item)); }

  T pop() {
    assert(size_ > 0);
    T item = take_from_place(places()[head_]);
    head_ = place(1);
    --size_;
    return item;
  }

 private:
  struct NoPlaces {};

  T* places() {
    if constexpr (kInside) {
      if (outside_ == nullptr) return inside_.data();
    }
    return outside_.get();
  }
  const T* places() const { return const_cast<Fifo*>(this)->places(); }

  [[gnu::noinline]] void grow() {
    const uint32_t room = std::min(std::max(kFirst, room_ + room_ / 2 + 1), bound_);
    auto larger = std::make_unique<T[]>(room);
    for (uint32_t i = 0; i < size_; ++i) {
      larger[i] = std::move(places()[place(i)]);
    }
    outside_ = std::move(larger);
    room_ = room;
    head_ = 0;
  }

  /// The place of the item that many behind the first.
  uint32_t place(uint32_t behind) const {
    const uint32_t at = head_ + behind;
    return at < room_ ? at : at - room_;
  }

  uint32_t bound_;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
  uint32_t room_;  // places
  std::unique_ptr<T[]> outside_;
  [[no_unique_address]] std::conditional_t<kInside, std::array<T, kFirst>, NoPlaces> inside_;
};

}  // namespace mrclab
