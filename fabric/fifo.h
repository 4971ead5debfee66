#pragma once
// A first-in first-out queue with a bound. It grows by doubling up to the bound and never shrinks,
// so a warm queue allocates nothing.

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/place.h"

namespace mrclab {

template <class T>
class Fifo {
 public:
  explicit Fifo(size_t bound) : bound_(bound) {}
  Fifo(Fifo&&) noexcept = default;
  Fifo& operator=(Fifo&&) noexcept = default;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  size_t bound() const { return bound_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }

  /// False, leaving `item` alone, when the bound is reached.
  bool push(T&& item) {
    if (size_ == bound_) return false;
    if (size_ == slots_.size()) grow();
    if (size_ == 0) head_ = 0;  // the place used last is in a cache, the next one is not
    put_in_place(slots_[(head_ + size_) & (slots_.size() - 1)], std::move(item));
    ++size_;
    return true;
  }

  bool push(const T& item) { return push(T(item)); }

  T pop() {
    assert(size_ > 0);
    T item = take_from_place(slots_[head_]);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? kFirstSize : slots_.size() * 2);
    for (size_t i = 0; i < size_; ++i) {
      larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    }
    slots_ = std::move(larger);
    head_ = 0;
  }

  static constexpr size_t kFirstSize = 4;
  static_assert((kFirstSize & (kFirstSize - 1)) == 0, "indices are masked");
  size_t bound_;
  size_t head_ = 0;
  size_t size_ = 0;
  std::vector<T> slots_;  // a power of two, or empty
};

}  // namespace mrclab
