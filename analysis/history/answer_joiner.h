#pragma once
// Which packets an answer (SACK, NACK, transport ACK) acknowledges as it arrives at their sender.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "analysis/history/flow_table.h"
#include "analysis/history/sighting.h"

namespace mrclab::analysis {

/// Used by PartJoiner, whose tables it writes.
class AnswerJoiner {
 public:
  /// All borrowed.
  AnswerJoiner(const Topology& topology, std::span<const SeenAnswer> answers, FlowTable& flows,
               PacketTables& tables)
      : topology_(topology), answers_(answers), flows_(flows), tables_(tables) {}

  /// A control frame arrived at a host.
  void arrives(const Sighting& s);
  /// Assigns answers to RC queue pairs to their flows: only later answers may show to which flow an earlier one belongs.
  void finish();

 private:
  static constexpr uint32_t kNone = Attempt::kNone;

  std::optional<uint32_t> flow_answered_by(const Sighting& s, const SeenAnswer& answer);
  bool arrived_on(uint32_t packet, EntropyValue ev) const;
  void take_ack(const Sighting& s, const SeenAnswer& answer);
  void take_answer(uint32_t flow, const SeenAnswer& answer, FabricTime t);
  void acknowledge(uint32_t flow, Psn psn, FabricTime t);
  bool arrived_up_to(uint32_t flow, int64_t unwrapped);

  const Topology& topology_;
  std::span<const SeenAnswer> answers_;
  FlowTable& flows_;
  PacketTables& tables_;
  std::unordered_map<uint64_t, uint32_t> flow_by_answers_;  // by flow_key() of the answers
  std::map<uint64_t, RcAnswers> rc_answers_;                // likewise
};

}  // namespace mrclab::analysis
