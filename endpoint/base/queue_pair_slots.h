#pragma once
// The queue pairs of one transport of a host, by place and by queue pair number. They come and go; a place keeps its number,
// a queue pair its address. Iteration visits those that exist, in the order of places.
//
// Touched queue pairs are those that the event in hand changed: the code that changes one calls touch(), and
// once the event is over the host sets their timers anew. Most packets leave a timer where it is or move it to a
// later time, which the host finds when it runs out; code that can exclude an earlier time marks that, too.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/base/ids.h"

namespace mrclab::endpoint {

/// How the event in hand concerns a queue pair.
enum class Touched : uint8_t { kNot, kTimerStays, kTimerMayBeSooner };

/// `QueuePair` has a member `id` with `local`, its number, and a member `touched`.
template <class QueuePair>
class QueuePairSlots {
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
    place_of_qpn_.emplace(slots_[place]->id.local.value, place);
    touched_.reserve(size_);
    return *slots_[place];
  }
  uint32_t place_of(const QueuePair& qp) const { return place_of_qpn_.at(qp.id.local.value); }
  void erase(QueuePair& qp) {
    std::erase(touched_, &qp);
    if (found_last_ == &qp) found_last_ = nullptr;
    const uint32_t place = place_of(qp);
    place_of_qpn_.erase(qp.id.local.value);
    slots_[place].reset();
    --size_;
  }

  bool contains(uint32_t place) const { return place < slots_.size() && slots_[place] != nullptr; }
  QueuePair& operator[](uint32_t place) { return *slots_[place]; }
  const QueuePair& operator[](uint32_t place) const { return *slots_[place]; }
  /// Null if no queue pair has this number.
  QueuePair* find(Qpn qpn) {
    // Most packets are for the queue pair that the one before was for.
    if (found_last_ != nullptr && found_last_->id.local == qpn) return found_last_;
    const auto found = place_of_qpn_.find(qpn.value);
    if (found == place_of_qpn_.end()) return nullptr;
    return found_last_ = slots_[found->second].get();
  }
  size_t size() const { return size_; }
  /// All places are below this.
  uint32_t places() const { return static_cast<uint32_t>(slots_.size()); }

  void touch(QueuePair& qp, Touched how = Touched::kTimerMayBeSooner) {
    if (qp.touched == Touched::kNot) touched_.push_back(&qp);
    qp.touched = std::max(qp.touched, how);
  }
  /// In the order in which they were touched first.
  const std::vector<QueuePair*>& touched() const { return touched_; }
  void clear_touched() {
    for (QueuePair* const qp : touched_) qp->touched = Touched::kNot;
    touched_.clear();
  }

  auto begin() {
    return Iterator<typename Slots::iterator, QueuePair>(slots_.begin(), slots_.end());
  }
  auto end() { return Iterator<typename Slots::iterator, QueuePair>(slots_.end(), slots_.end()); }
  auto begin() const {
    return Iterator<typename Slots::const_iterator, const QueuePair>(slots_.begin(), slots_.end());
  }
  auto end() const {
    return Iterator<typename Slots::const_iterator, const QueuePair>(slots_.end(), slots_.end());
  }

 private:
  Slots slots_;
  size_t size_ = 0;
  std::unordered_map<uint32_t, uint32_t> place_of_qpn_;  ///< lookup only, never iterated
  QueuePair* found_last_ = nullptr;
  std::vector<QueuePair*> touched_;
};

}  // namespace mrclab::endpoint
