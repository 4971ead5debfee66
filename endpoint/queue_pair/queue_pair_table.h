#pragma once
// The queue pairs of a host, by place. They come and go; a place keeps its number, a queue pair its
// address. Iteration visits those that exist, in the order of places.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/queue_pair/queue_pair.h"

namespace mrclab::endpoint {

class QueuePairTable {
  using Slots = std::vector<std::unique_ptr<QueuePair>>;
  template <class Slot, class Item>
  class Iterator {
   public:
    Iterator(Slot at, Slot end) : at_(at), end_(end) { skip(); }
    Item& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void skip() {
      while (at_ != end_ && !*at_) ++at_;
    }
    Slot at_, end_;
  };

 public:
  /// Where the next queue pair will be: the lowest free place.
  uint32_t next_place() const {
    uint32_t place = 0;
    while (contains(place)) ++place;
    return place;
  }
  template <class... Args>
  QueuePair& emplace(uint32_t place, Args&&... args) {
    if (slots_.size() <= place) slots_.resize(place + 1);
    slots_[place] = std::make_unique<QueuePair>(std::forward<Args>(args)...);
    ++size_;
    return *slots_[place];
  }
  void erase(uint32_t place) {
    slots_[place].reset();
    --size_;
  }

  bool contains(uint32_t place) const { return place < slots_.size() && slots_[place] != nullptr; }
  QueuePair& operator[](uint32_t place) { return *slots_[place]; }
  const QueuePair& operator[](uint32_t place) const { return *slots_[place]; }
  size_t size() const { return size_; }
  /// All places are below this.
  uint32_t places() const { return static_cast<uint32_t>(slots_.size()); }

  auto begin() { return Iterator<Slots::iterator, QueuePair>(slots_.begin(), slots_.end()); }
  auto end() { return Iterator<Slots::iterator, QueuePair>(slots_.end(), slots_.end()); }
  auto begin() const {
    return Iterator<Slots::const_iterator, const QueuePair>(slots_.begin(), slots_.end());
  }
  auto end() const {
    return Iterator<Slots::const_iterator, const QueuePair>(slots_.end(), slots_.end());
  }

 private:
  Slots slots_;
  size_t size_ = 0;
};

}  // namespace mrclab::endpoint
