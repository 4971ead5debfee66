#pragma once
// The state of a flow's latest PSNs. A window slides over them: PSNs behind it have been judged and
// are forgotten, so that memory does not grow with the capture.
//
//   base ........ highest            slots_: a ring, twice as long whenever its oldest packet is not
//   oldest PSN    newest PSN seen    finished yet, up to MRC's own largest window

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/frame/attempt_match.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// One attempt. Times in ps, kUnseen if no capture shows it leaving.
struct TrafficAttempt {
  static constexpr int64_t kUnseen = -1;
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  int64_t sent = kUnseen;
  EntropyValue ev;
  Fate fate = Fate::kInFlight;
  bool seen_marked = false, seen_trimmed = false;  ///< some capture has shown it so
  bool packet_there : 1 = false;  ///< when it was sent the packet had already arrived
  bool cut : 1 = false;           ///< trimmed at a switch; its header may still be on its way
  bool rtx : 1 = false;           ///< its retransmission bit
  bool timed : 1 = false;         ///< it has a timestamp
  bool refused : 1 = false;       ///< dropped by the receiving NIC: it arrived, and is not lost
  uint16_t timestamp = 0;         ///< the sender's
  uint32_t path = kNone;          ///< the path that it took: its number in Traffic::paths

  AttemptMark mark() const { return {ev, rtx, timed, timestamp}; }
};
static_assert(sizeof(TrafficAttempt) == 24);

/// One PSN: its first attempt, and where its later ones are.
struct PsnSlot {
  TrafficAttempt first;
  int64_t arrived = TrafficAttempt::kUnseen;  ///< first whole arrival, or its first acknowledgement
  uint32_t later = TrafficAttempt::kNone;     ///< newest later attempt, in AttemptPool
  uint16_t attempts = 0;                      ///< 0: no record of this PSN
  uint16_t payload = 0;
  bool finished() const { return arrived != TrafficAttempt::kUnseen; }
};

/// Later attempts, which few packets have: a chain per packet, newest first.
class AttemptPool {
 public:
  struct Link {
    TrafficAttempt attempt;
    uint32_t previous = TrafficAttempt::kNone;
  };
  static constexpr size_t kMax = 1u << 20;

  /// kNone when the pool is full.
  uint32_t keep_attempt(const TrafficAttempt& attempt, uint32_t previous) {
    uint32_t index = free_;
    if (index != TrafficAttempt::kNone) {
      free_ = links_[index].previous;
    } else {
      if (links_.size() >= kMax) return TrafficAttempt::kNone;
      index = static_cast<uint32_t>(links_.size());
      links_.emplace_back();
    }
    links_[index] = {attempt, previous};
    return index;
  }
  Link& operator[](uint32_t index) { return links_[index]; }
  const Link& operator[](uint32_t index) const { return links_[index]; }
  void free_chain(uint32_t newest) {
    while (newest != TrafficAttempt::kNone) {
      const uint32_t previous = links_[newest].previous;
      links_[newest].previous = free_;
      free_ = newest;
      newest = previous;
    }
  }

 private:
  std::vector<Link> links_;
  uint32_t free_ = TrafficAttempt::kNone;
};

class PsnWindow {
 public:
  static constexpr int64_t kLargest = 1 << 15;  ///< MRC's: 32,640 (specification table 7-4)
  /// Enough for needless retransmissions to find what they repeat; less when there are many flows.
  static constexpr int64_t kUsual = 1 << 10, kSmallest = 1 << 8;

  bool empty() const { return slots_.empty(); }
  int64_t base() const { return base_; }
  int64_t highest() const { return highest_; }
  size_t capacity() const { return slots_.size(); }

  /// The number of this PSN, counted on over its wrap: the one nearest to the highest seen.
  int64_t number_of(Psn psn) const {
    return highest_ + (psn - Psn{static_cast<uint32_t>(highest_ & Psn::kMask)});
  }
  /// Null if it is not in the window.
  PsnSlot* find(int64_t number) {
    return !empty() && number >= base_ && number <= highest_ ? &slot(number) : nullptr;
  }

  /// The slot of a PSN, sliding the window so that it is in; null if it lies behind. `retire` gets
  /// every slot that falls out, `spare` is how many more slots all windows together may take.
  template <class Retire>
  PsnSlot* open(Psn psn, size_t& spare, const Retire& retire) {
    if (empty()) {
      if (spare < kSmallest) return nullptr;
      const size_t start = spare >= size_t{kUsual} << 10 ? kUsual : kSmallest;
      spare -= start;
      slots_.resize(start);
      base_ = highest_ = psn.value() + kFirstNumber;
      return &slot(base_);
    }
    const int64_t number = number_of(psn);
    if (number < base_) return before(number, spare);
    while (number - base_ >= size()) {
      if (number - base_ < kLargest && !slot(base_).finished() && grow(spare)) continue;
      if (number - highest_ >= size()) {  // nothing of the window stays
        slide_to(highest_ + 1, retire);
        base_ = highest_ = number;
        return &slot(number);
      }
      slide_to(base_ + 1, retire);
    }
    highest_ = std::max(highest_, number);
    return &slot(number);
  }

  template <class Retire>
  void retire_all(const Retire& retire) {
    if (!empty()) slide_to(highest_ + 1, retire);
  }

 private:
  static constexpr int64_t kFirstNumber = 1 << 24;  ///< so that earlier PSNs stay positive

  int64_t size() const { return static_cast<int64_t>(slots_.size()); }
  PsnSlot& slot(int64_t number) { return slots_[static_cast<size_t>(number & (size() - 1))]; }

  /// A PSN older than the window: added in front as long as nothing was retired. Once something was,
  /// it is refused (null), and the window grows, as it has retired too early.
  PsnSlot* before(int64_t number, size_t& spare) {
    if (slid_ && base_ - number < kLargest) grow(spare);
    if (slid_ || highest_ - number >= size()) return nullptr;
    base_ = number;
    return &slot(number);
  }

  bool grow(size_t& spare) {
    const size_t more = slots_.size();
    if (more * 2 > kLargest || spare < more) return false;
    spare -= more;
    std::vector<PsnSlot> old(more * 2);
    old.swap(slots_);
    for (int64_t n = base_; n <= highest_; ++n) {
      slot(n) = old[static_cast<size_t>(n) & (more - 1)];
    }
    return true;
  }

  template <class Retire>
  void slide_to(int64_t number, const Retire& retire) {
    slid_ = true;
    for (; base_ < number; ++base_) {
      PsnSlot& oldest = slot(base_);
      if (base_ <= highest_ && oldest.attempts > 0) retire(base_, oldest);
      oldest = PsnSlot{};
    }
  }

  std::vector<PsnSlot> slots_;
  int64_t base_ = 0, highest_ = 0;
  bool slid_ = false;
};

}  // namespace mrclab::analysis
