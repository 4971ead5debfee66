#pragma once
// A bounded first-in first-out queue in one array that grows by doubling up to its limit.

#include <cstddef>
#include <utility>
#include <vector>

namespace mrclab::endpoint {

template <class T>
class Fifo {
 public:
  explicit Fifo(size_t limit) : limit_(limit) {}
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  /// False, and the item is gone, when the queue is full.
  bool push(T item) {
    if (size_ == limit_) return false;
    if (size_ == items_.size()) grow();
    items_[(head_ + size_) & (items_.size() - 1)] = std::move(item);
    ++size_;
    return true;
  }
  T pop() {
    T item = std::move(items_[head_]);
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> bigger(items_.empty() ? 16 : items_.size() * 2);
    for (size_t i = 0; i < size_; ++i) {
      bigger[i] = std::move(items_[(head_ + i) & (items_.size() - 1)]);
    }
    items_ = std::move(bigger);
    head_ = 0;
  }

  size_t limit_;
  size_t head_ = 0;
  size_t size_ = 0;
  std::vector<T> items_;
};

}  // namespace mrclab::endpoint
