#pragma once
// Retries of a requester: how many it has made without progress, how long it waits, and which packets go again
// later because the receiver had no room for them (MRC API: linear retries at a fixed interval, then exponential).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/base/sequence.h"
#include "fabric/base/fifo.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

class RetryState {
 public:
  explicit RetryState(const RetryPolicy& policy) : policy_(policy), refused_(kMaxRefused) {}
  /// What was agreed for sending; before anything was sent.
  void set_policy(const RetryPolicy& policy) { policy_ = policy; }

  /// How long to wait for an answer now.
  FabricTime timeout() const;
  /// The wait between tail probes: twice as long after each retry, so that a dead peer is probed ever more rarely, but
  /// once per timeout at least: a retry without a probe must not count as unanswered. `shortest` is the wait before the
  /// first retry.
  FabricTime tail_interval(FabricTime shortest) const;
  /// When the timeout of a sender with nothing in flight runs out.
  FabricTime idle_deadline() const { return std::max(last_news_, last_timeout_) + timeout(); }

  /// Newest progress or transmission.
  FabricTime last_news() const { return last_news_; }
  void note_news(FabricTime now) { last_news_ = now; }
  void note_progress(FabricTime now) {
    retries_ = 0;
    last_news_ = now;
  }
  /// A timeout of `waited` has run out. True if that is a retry of its own: packets that were sent at about
  /// the same time expire one after the other, and count once.
  bool begins_retry(FabricTime waited, FabricTime now);
  /// Has a timeout run out since the last progress?
  bool is_retrying() const { return retries_ > 0; }
  /// Counts a retry. False if there were too many.
  bool count_retry() { return ++retries_ <= policy_.limit() || policy_.for_ever(); }

  // Packets that the receiver refused for lack of resources. Those that are refused while the interval of
  // a retry runs are part of that retry, and go again together when it is over.
  bool is_backing_off(FabricTime now) const { return now < backs_off_until_; }
  void begin_back_off(FabricTime now) { backs_off_until_ = now + timeout(); }
  /// False if there is no room to remember it: it may go at once.
  bool hold_refused(Sequence s) { return refused_.push({s, backs_off_until_}); }
  bool holds_refused() const { return !refused_.empty(); }
  FabricTime refused_due() const {
    return refused_.empty() ? FabricTime::never() : refused_.front().due;
  }
  /// The next one whose interval is over, in the order of their NACKs.
  std::optional<Sequence> release_refused(FabricTime now);

 private:
  /// Beyond a range's worth they can only be packets that were acknowledged after all.
  static constexpr size_t kMaxRefused = kMaxMprUnits * size_t{kMprUnit};
  struct RefusedPacket {
    Sequence sequence = 0;
    FabricTime due;
  };

  RetryPolicy policy_;
  uint32_t retries_ = 0;
  FabricTime last_news_;
  FabricTime last_timeout_;
  FabricTime backs_off_until_;
  Fifo<RefusedPacket> refused_;
};

}  // namespace mrclab::endpoint
