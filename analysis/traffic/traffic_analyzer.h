#pragma once
// The analyzer of traffic: sightings in the order of time in, Traffic out, in one pass. State is
// kept per flow, path, plane and place, and per PSN only within a window (psn_window.h); every
// table has a bound, and what falls out of one is counted.

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/capture/flat_index.h"
#include "analysis/roce/traffic_filter.h"
#include "analysis/traffic/psn_window.h"
#include "analysis/traffic/traffic.h"

namespace mrclab::analysis {

/// Wide for a reason: flows, paths, slots and attempts are numbers into its tables, which answers
/// and data change together in one pass. Its functions stand in one file for each subject.
class TrafficAnalyzer {
 public:
  /// `paths` and `format` are needed only if there are foreign sightings. `dscps`: the fabric's.
  TrafficAnalyzer(ConversationTable& conversations, TrafficFilter filter,
                  const ForeignPaths* paths = nullptr, const LearnedFormat* format = nullptr,
                  const DscpMap& dscps = {});
  void add_sighting(const TrafficSighting& s);
  /// Judges what is still open and gives the result away.
  Traffic finish();
  Traffic& traffic() { return traffic_; }

 private:
  static constexpr uint32_t kNone = FlatIndex::kNone;
  static constexpr size_t kMaxSlots = 1u << 21;  // 80 MiB
  static constexpr size_t kMaxCandidates = 64;   // QPs of two hosts that an answer is tried on
  static constexpr uint32_t kAnswerPaths = 0x8000'0000;

  /// The internal state of a flow, which is not part of the result.
  struct FlowState {
    PsnWindow window;
    int64_t complete = 0;  // all before it have arrived
    int64_t highest_arrived = -1;
    uint64_t held = 0;  // arrived beyond the first gap
    bool arrival_seen = false;
    int64_t last_arrival = -1;  // when data last arrived, in ps
    bool has_offset = false;
    uint16_t timestamp_offset = 0;  // sender's 16-bit clock minus capture time
    int64_t timestamp_unit_ps = 128'000;
    // These two are kept where the receiver was not captured.
    int64_t last_answer = -1;   // when its last SACK came, in ps
    int64_t acknowledged = -1;  // SACKs cover all packet numbers up to this one
  };
  /// The capture points at which frames count that leave on a path, and that arrive. Apart from PathState, because every
  /// sighting asks for them: those of all paths fit into a cache.
  struct PathPoints {
    uint32_t sent = kNone, arrived = kNone;
  };
  struct PathState {
    uint64_t last_turn = 0;                     // the flow's packets at the last use
    int64_t losing_since = -1, last_good = -1;  // sending times, ps
    int64_t newest_arrived = -1;  // when the newest of all whole packets that arrived was sent, ps
    int64_t newest_came = -1;     // and when it arrived
    int64_t probe_sent = -1, probe_answered = -1;
    uint16_t probe_id = 0;
  };
  struct Side {
    bool sent = false, arrived = false;
  };

  bool wanted(const TrafficSighting& s) const;
  Side side_of(const TrafficSighting& s, Conversation::Vantage vantage, uint32_t path);
  uint32_t flow_of(uint32_t conversation);
  uint32_t path_of_flow(uint32_t flow, const TrafficSighting& s);
  uint32_t path_of_data(uint32_t flow, const TrafficSighting& s);
  uint32_t known_path(uint32_t flow, EntropyValue path) const {
    return path_index_.find(uint64_t{flow} << 32 | path.value);
  }
  PlaneTraffic& plane(uint32_t number);

  void on_data(const TrafficSighting& s);
  void on_sent(const TrafficSighting& s, uint32_t flow, uint32_t path);
  void on_first_sent(const TrafficSighting& s, uint32_t flow, uint32_t path);
  void note_place(const TrafficSighting& s, uint32_t flow);
  static TrafficAttempt attempt_of(const TrafficSighting& s, uint32_t path, int64_t sent,
                                   bool there);
  std::optional<EntropyValue> shown_entropy(EntropyValue path) const;
  bool is_copy(const TrafficSighting& s, const PsnSlot& slot);
  void on_arrived(const TrafficSighting& s, uint32_t flow, uint32_t path);
  void on_delivered(const TrafficSighting& s, uint32_t flow, uint32_t path, PsnSlot& slot,
                    int64_t number);
  void on_trimmed(const TrafficSighting& s, uint32_t flow, uint32_t path);
  void note_order(TrafficFlow& flow, FlowState& state, int64_t number);
  void on_drop(const TrafficSighting& s);
  void undo_arrival(TrafficFlow& flow, FlowPath& path, PsnSlot& slot);

  void on_answer(const TrafficSighting& s);
  void take_answer(const TrafficSighting& s, uint32_t flow);
  void on_endpoint_answer(const TrafficSighting& s);
  void count_answer(const TrafficSighting& s, TrafficFlow& flow);
  void take_rtt(const TrafficSighting& s, uint32_t flow);
  void on_probe(const TrafficSighting& s);
  void on_probe_answer(const TrafficSighting& s, uint32_t flow);
  bool may_answer(EntropyValue reflected, const PsnSlot& slot);
  uint32_t flow_answered_by(const TrafficSighting& s);

  // traffic_matching.cc: which flow a foreign answer belongs to
  /// Answers to one queue pair whose flow is not known yet.
  struct Matching {
    std::unordered_map<uint32_t, uint32_t> fitting;  // flow -> answers that it may have had
    uint32_t answers = 0;
    std::vector<TrafficSighting> waiting;
  };
  /// How well an answer fits a flow.
  enum class Likeness : uint8_t { kNone, kPsn, kPsnAndEv, kTimestamp };
  AnswerGroup& group_of(uint32_t conversation);
  void on_foreign_answer(const TrafficSighting& s, AnswerGroup& group);
  std::vector<uint32_t> flows_answered_between(const TrafficSighting& s) const;
  Likeness likeness(const TrafficSighting& s, uint32_t flow);
  std::optional<uint32_t> flow_named_by_ids(const TrafficSighting& s);
  std::optional<uint32_t> flow_answered_alone(const TrafficSighting& s, Matching& matching,
                                              MatchedBy& by);
  void hold(const TrafficSighting& s, Matching& matching);
  void release(Matching& matching, AnswerGroup& group, uint32_t flow, MatchedBy by);
  void settle_what_waits();

  // traffic_evidence.cc: what answers prove about packets whose receiver was not captured
  bool known_by_answers(uint32_t flow) const;
  void learn_from(const TrafficSighting& s, uint32_t flow);
  void learn_from_nack(const TrafficSighting& s, uint32_t flow);
  void learn_from_sack(const TrafficSighting& s, uint32_t flow);
  void note_arrival(const TrafficSighting& s, uint32_t flow, PsnSlot& slot,
                    TrafficAttempt& arrived);
  void acknowledge(const TrafficSighting& s, uint32_t flow, int64_t number);
  TrafficAttempt* attempt_answered(PsnSlot& slot, uint16_t timestamp);
  bool overtaken(const FlowState& flow, const PathState& path, const PsnSlot& slot,
                 const TrafficAttempt& attempt) const;
  bool lost_by_answers(uint32_t flow, const PsnSlot& slot, const TrafficAttempt& attempt) const;

  bool may_lead_to(EntropyValue earlier, EntropyValue later) const;

  PsnSlot* open_slot(uint32_t flow, Psn psn);
  AttemptChoice<TrafficAttempt*> attempts_of(const TrafficSighting& s, PsnSlot& slot);
  TrafficAttempt* add_attempt(PsnSlot& slot, const TrafficAttempt& attempt);
  void retire(uint32_t flow, int64_t number, PsnSlot& slot);
  void judge_attempt(uint32_t flow, const PsnSlot& slot, const TrafficAttempt& attempt);
  void judge_need(TrafficFlow& flow, PsnSlot& slot);
  void change(FabricTime t, uint32_t flow, EntropyValue ev, bool back, bool probed);
  bool away(const TrafficFlow& flow, const PathState& path) const;
  bool probed_since(uint32_t flow, EntropyValue ev, FabricTime since) const;

  ConversationTable& conversations_;
  TrafficFilter filter_;
  Traffic traffic_;
  std::vector<uint32_t> flow_of_conversation_;
  std::vector<uint32_t> answered_by_conversation_;  // flow that its answers are about
  std::vector<FlowState> states_;
  std::vector<PathState> path_states_;
  std::vector<PathPoints> path_points_;
  FlatIndex path_index_{kMaxFlowPaths};
  FlatIndex pair_index_{ConversationTable::kMax};  // (source, destination) -> flows_between_
  std::vector<std::vector<uint32_t>> flows_between_;
  AttemptPool later_;
  size_t spare_slots_ = kMaxSlots;
  int64_t grace_ps_ = 0;  // the longest way across that was seen
  const ForeignPaths* paths_;
  const LearnedFormat* format_;
  DscpMap dscps_;

  static constexpr size_t kMaxWaitingOfGroup = 256, kMaxWaiting = 1u << 14;
  static constexpr size_t kMaxProbes = 1u << 16;
  std::vector<uint32_t> group_of_conversation_;
  std::unordered_map<uint32_t, Matching> matching_;  // by conversation
  size_t waiting_ = 0;
  size_t flows_left_to_try_ = size_t{1} << 26;  // by flow_named_by_ids, over a capture
  std::unordered_set<uint32_t> answered_flows_;
  /// Foreign probes that wait for their answer: (flow, probe id) -> path.
  std::unordered_map<uint64_t, uint32_t> probe_paths_;
};

}  // namespace mrclab::analysis
