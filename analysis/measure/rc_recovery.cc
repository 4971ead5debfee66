#include "analysis/measure/rc_recovery.h"

#include <algorithm>
#include <optional>

namespace mrclab::analysis {
namespace {

/// Follows the transmissions of one flow.
class FlowRounds {
 public:
  explicit FlowRounds(const RcAnswers* answers) : answers_(answers) {}

  void sent(FabricTime start, Psn psn, bool again, RcRecovery& recovery) {
    if (again) {
      if (!in_round_ || !last_ || psn - *last_ <= 0) begin_round(start, psn, recovery);
      ++recovery.resent[static_cast<size_t>(cause_)];
    } else {
      ++recovery.packets;
      in_round_ = false;
    }
    last_ = psn;
  }

 private:
  void begin_round(FabricTime start, Psn psn, RcRecovery& recovery) {
    cause_ = RcCause::kTimeout;
    in_round_ = true;
    if (answers_ != nullptr) {
      for (; next_ < answers_->naks.size() && answers_->naks[next_].t <= start; ++next_) {
        const RcNak& nak = answers_->naks[next_];
        if (nak.psn == psn) cause_ = nak.not_ready ? RcCause::kNotReady : RcCause::kNak;
      }
    }
    ++recovery.rounds[static_cast<size_t>(cause_)];
  }

  const RcAnswers* answers_;
  size_t next_ = 0;  // the first of the answers that a later round may belong to
  bool in_round_ = false;
  RcCause cause_ = RcCause::kTimeout;
  std::optional<Psn> last_;
};

}  // namespace

std::string_view name_of(RcCause cause) {
  switch (cause) {
    case RcCause::kNak: return "NAK";
    case RcCause::kNotReady: return "not ready";
    case RcCause::kTimeout: return "timeout";
  }
  return "";
}

std::vector<RcRecovery> rc_recoveries(const PacketHistory& history) {
  std::vector<RcRecovery> recoveries;
  std::vector<FlowRounds> rounds;
  std::vector<size_t> place(history.flows().size());
  for (uint32_t flow = 0; flow < place.size(); ++flow) {
    if (!history.flows()[flow].roce) continue;
    place[flow] = recoveries.size();
    RcRecovery& recovery = recoveries.emplace_back();
    recovery.flow = flow;
    const bool answered = flow < history.rc_answers().size();
    rounds.emplace_back(answered ? &history.rc_answers()[flow] : nullptr);
    if (!answered) continue;
    const RcAnswers& answers = history.rc_answers()[flow];
    recovery.cnps = answers.cnps;
    recovery.not_ready = static_cast<uint64_t>(std::count_if(
        answers.naks.begin(), answers.naks.end(), [](const RcNak& nak) { return nak.not_ready; }));
    recovery.naks = answers.naks.size() - recovery.not_ready;
  }
  for (const Attempt& attempt : history.attempts()) {
    const Packet& packet = history.packets()[attempt.packet];
    if (!attempt.start_seen || !history.flows()[packet.flow].roce) continue;
    const size_t at = place[packet.flow];
    rounds[at].sent(attempt.start, packet.psn, attempt.attempt > 0, recoveries[at]);
  }
  return recoveries;
}

}  // namespace mrclab::analysis
