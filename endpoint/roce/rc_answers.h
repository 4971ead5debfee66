#pragma once
// What the responder of an RC queue pair answers with data: READs in pieces, and atomics. They leave in the order of
// their requests. What atomics found is kept for requests that come again, so many as may be under way (InfiniBand
// specification 9.7.4.5: responder resources): an atomic happens once.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "endpoint/base/sequence.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class RcAnswers {
 public:
  struct Answer {
    Sequence first = 0, last = 0;
    Sequence next = 0;                 ///< packet that leaves next
    Reth read;                         ///< of a READ: what its request says
    std::optional<uint64_t> original;  ///< of an atomic
  };

  explicit RcAnswers(uint32_t most) : most_(most) {}
  bool empty() const { return waiting_.empty(); }
  /// So many wait, or more: the peer keeps to what was agreed, so that another one breaks a rule.
  bool full() const { return waiting_.size() >= most_; }
  void push(const Answer& answer) { waiting_.push_back(answer); }
  Answer& front() { return waiting_.front(); }
  void pop() { waiting_.pop_front(); }
  void clear() { waiting_.clear(); }
  /// The peer asks again from `s` on, and for all behind it: what waits for that is answered anew.
  void drop_from(Sequence s) {
    while (!waiting_.empty() && waiting_.back().last >= s) waiting_.pop_back();
  }

  void remember(Sequence s, uint64_t original) {
    atomics_.push_back({s, original});
    if (atomics_.size() > most_) atomics_.pop_front();
  }
  std::optional<uint64_t> recall(Sequence s) const {
    for (const Atomic& atomic : atomics_) {
      if (atomic.at == s) return atomic.original;
    }
    return std::nullopt;
  }

 private:
  struct Atomic {
    Sequence at = 0;
    uint64_t original = 0;
  };
  uint32_t most_;
  std::deque<Answer> waiting_;
  std::deque<Atomic> atomics_;
};

}  // namespace mrclab::endpoint
