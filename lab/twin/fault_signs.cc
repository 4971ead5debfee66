#include "lab/twin/fault_signs.h"

#include <algorithm>

#include "analysis/blame/taken_ways.h"
#include "analysis/history/path_wires.h"
#include "analysis/verdict/story_losses.h"
#include "fabric/text/enum_words.h"
#include "faults/fault.h"
#include "lab/chaos/blame_target.h"
#include "lab/twin/answer_losses.h"
#include "scenario/judging/run_inputs.h"

namespace mrclab::lab {
namespace {

using faults::FaultKind;

bool delays_frames(FaultKind kind) {
  return kind == FaultKind::kDelay || kind == FaultKind::kJitter || kind == FaultKind::kReorder ||
         kind == FaultKind::kRate;
}

/// A queue of so many frames of full length before a packet is a sign that it came late (our choice: one frame on its way
/// out is met without any burst).
constexpr int64_t kLateFrames = 2;

class SignCounter {
 public:
  SignCounter(const Scenario& scenario, const analysis::Evidence& evidence,
              const FrameWatch& frames, FabricTime until)
      : scenario_(scenario),
        t_(scenario.topology),
        evidence_(evidence),
        packets_(evidence.packets()),
        frames_(frames),
        until_(until),
        ranks_(t_.host_count()),
        spans_(fault_spans_of(scenario)),
        signs_(scenario.faults.size()) {
    for (const analysis::FaultSpan& span : spans_) struck_.emplace_back(t_, span);
    for (const endpoint::WorkloadSpec& spec : scenario.workload) {
      const auto* job = std::get_if<endpoint::JobWorkload>(&spec);
      if (job == nullptr) continue;
      for (const uint32_t host : job->spec.hosts) ranks_[host] = true;
    }
  }

  std::vector<FaultSigns> count() {
    lost_data();
    for (const LostAnswer& answer : frames_.lost_answers()) lost_answer(answer);
    for (size_t i = 0; i < signs_.size(); ++i) {
      const faults::Fault& fault = scenario_.faults[i];
      held_messages(i);
      if (darkens_ports(fault.kind)) avoided_ports(i);
      if (delays_frames(fault.kind)) late_frames(i);
      if (fault.kind == FaultKind::kIncast || fault.kind == FaultKind::kAttack) behind_bursts(i);
      if (fault.kind == FaultKind::kEcnAlways) add(i, Sign::kMarked, hits(fault));
      if (fault.kind == FaultKind::kPauseStorm) add(i, Sign::kPaused, hits(fault));
    }
    return std::move(signs_);
  }

 private:
  void add(size_t fault, Sign sign, uint64_t more = 1) {
    signs_[fault][static_cast<size_t>(sign)] += more;
  }
  bool of_job(uint32_t source, uint32_t destination) const {
    return ranks_[source] && ranks_[destination];
  }
  bool of_job(const analysis::Attempt& attempt) const {
    const analysis::Flow& flow = flow_of(attempt);
    return of_job(flow.source, flow.destination);
  }
  const analysis::Flow& flow_of(const analysis::Attempt& attempt) const {
    return packets_.flows()[packets_.packets()[attempt.packet].flow];
  }

  void lost_data() {
    const analysis::StoryLosses losses =
        analysis::story_losses(t_, packets_, t_.base_rtt, spans_, struck_);
    for (size_t i = 0; i < signs_.size(); ++i) {
      for (const auto* list : {&losses.lost[i], &losses.refused[i]}) {
        for (const uint32_t index : *list) {
          const analysis::Attempt& attempt = packets_.attempts()[index];
          if (attempt.ended <= until_ && of_job(attempt)) add(i, Sign::kData);
        }
      }
    }
  }

  void lost_answer(const LostAnswer& answer) {
    if (answer.t > until_ || !of_job(answer.source, answer.destination)) return;
    if (const auto fault = fault_of_answer(t_, answer, spans_, struck_)) {
      add(*fault, Sign::kAnswers);
    }
  }

  void held_messages(size_t fault) {
    for (const analysis::SlowedReceiver& slow : spans_[fault].receivers) {
      for (const HeldMessage& held : frames_.held()) {
        const bool then = held.until >= slow.from && held.from <= slow.until;
        if (!then || held.from > until_ || t_.host(held.host) != slow.host) continue;
        if (of_job(held.peer, held.host)) add(fault, Sign::kHeld);
      }
    }
  }

  void avoided_ports(size_t fault) {
    for (const analysis::PathNews& news : evidence_.events().paths()) {
      if (news.ev || news.usable || !news.local || news.plane >= t_.planes) continue;
      const Port& port = t_.port({t_.host(news.host), PortId{news.plane}});
      const auto darkens = [&](const analysis::Impairment& part) {
        const bool then = news.t >= part.from &&
                          (part.until == FabricTime::never() || news.t <= part.until + t_.base_rtt);
        return then && (part.wire == port.in || part.wire == port.out);
      };
      const auto& parts = spans_[fault].impairments;
      if (std::none_of(parts.begin(), parts.end(), darkens)) continue;
      add(fault, Sign::kAvoided, sent_around(news));
    }
  }

  /// Packets of the job from or to the host that went by other ports until it reported this one again.
  uint64_t sent_around(const analysis::PathNews& dark) const {
    FabricTime over = until_;
    for (const analysis::PathNews& news : evidence_.events().paths()) {
      const bool same = !news.ev && news.usable && news.host == dark.host && news.qp == dark.qp &&
                        news.plane == dark.plane;
      if (same && news.t >= dark.t) over = std::min(over, news.t);
    }
    uint64_t packets = 0;
    for (const analysis::Attempt& attempt : packets_.attempts()) {
      if (attempt.start < dark.t || attempt.start > over || !of_job(attempt)) continue;
      const analysis::Flow& flow = flow_of(attempt);
      if (flow.source != dark.host && flow.destination != dark.host) continue;
      const auto path = path_of(attempt.ev);
      packets += path && path->plane != dark.plane ? 1 : 0;
    }
    return packets;
  }

  void late_frames(size_t fault) {
    const faults::Fault& of = scenario_.faults[fault];
    const faults::Interval on = faults::interval_of(of, t_);
    for (const LateFrame& frame : frames_.late()) {
      if (frame.t < on.start || frame.t > on.last_heal + t_.base_rtt || frame.t > until_) continue;
      if (!of_job(frame.source, frame.destination)) continue;
      const auto& wires = of.targets.wires;
      if (std::count(wires.begin(), wires.end(), frame.wire) > 0) add(fault, Sign::kLate);
    }
  }

  /// Packets that were under way to a host while datagrams of the fault's went there.
  void behind_bursts(size_t fault) {
    const auto& senders = scenario_.faults[fault].targets.nodes;
    for (const analysis::DatagramBurst& burst : packets_.bursts()) {
      if (std::count(senders.begin(), senders.end(), t_.host(burst.source)) == 0) continue;
      const FabricTime over = burst.until + t_.base_rtt;
      for (const analysis::Attempt& attempt : packets_.attempts()) {
        if (attempt.start > over || attempt.ended < burst.from || attempt.ended > until_) continue;
        const bool there = flow_of(attempt).destination == burst.destination;
        if (there && of_job(attempt) && is_hindered(attempt)) add(fault, Sign::kLate);
      }
    }
  }

  bool is_hindered(const analysis::Attempt& attempt) const {
    if (attempt.trimmed || attempt.marked || attempt.congested()) return true;
    if (attempt.fate != analysis::Fate::kDelivered) return false;
    const analysis::Flow& flow = flow_of(attempt);
    const auto path = analysis::built_path(t_, flow.source, flow.destination, attempt.ev);
    if (!path) return false;
    const Bytes length = wire_length({packets_.packets()[attempt.packet].payload});
    const auto wires = analysis::wires_of(t_, flow.source, flow.destination, *path);
    const FabricTime frame = serialization_time(wire_length({t_.pmtu}), t_.wire(wires.back()).rate);
    return attempt.ended - attempt.start >
           analysis::idle_transit(t_, wires, length) + frame * kLateFrames;
  }

  uint64_t hits(const faults::Fault& fault) const {
    const analysis::TakenWays ways(t_, packets_);
    uint64_t all = 0;
    for (const BlameTarget& target : blame_targets(t_, fault)) {
      all += hits_of(t_, evidence_, ways, {&fault, &target}, {}).all;
    }
    return all;
  }

  const Scenario& scenario_;
  const Topology& t_;
  const analysis::Evidence& evidence_;
  const analysis::PacketHistory& packets_;
  const FrameWatch& frames_;
  const FabricTime until_;
  std::vector<bool> ranks_;  ///< by host number
  std::vector<analysis::FaultSpan> spans_;
  std::vector<analysis::StruckWires> struck_;
  std::vector<FaultSigns> signs_;
};

}  // namespace

std::string_view name_of(Sign sign) {
  static constexpr auto kNames = words_by_value<Sign>({{Sign::kData, "data"},
                                                       {Sign::kAnswers, "answers"},
                                                       {Sign::kHeld, "held"},
                                                       {Sign::kLate, "late"},
                                                       {Sign::kMarked, "marked"},
                                                       {Sign::kPaused, "paused"},
                                                       {Sign::kAvoided, "avoided"}});
  return kNames[static_cast<size_t>(sign)];
}

bool without_signs(FaultKind kind) {
  return !delays_frames(kind) && !without_evidence(kind).empty();
}

std::set<WireId> delaying_wires(const Scenario& scenario) {
  std::set<WireId> wires;
  for (const faults::Fault& fault : scenario.faults) {
    if (!delays_frames(fault.kind)) continue;
    wires.insert(fault.targets.wires.begin(), fault.targets.wires.end());
  }
  return wires;
}

std::vector<FaultSigns> fault_signs(const Scenario& scenario, const analysis::Evidence& evidence,
                                    const FrameWatch& frames, FabricTime until) {
  return SignCounter(scenario, evidence, frames, until).count();
}

}  // namespace mrclab::lab
