#pragma once
// A run of RoCE's as the checks see it, made by hand: what was sent and what became of it, which
// ports stood, and how far the evidence reaches.

#include <utility>

#include "analysis/checks/checks.h"
#include "tests/support/pauses.h"
#include "tests/support/synthetic_run.h"

namespace mrclab::test {

struct RoceRun : Pauses {
  explicit RoceRun(Topology of = pausing_fabric()) : Pauses(std::move(of)) {
    measurements.end = us(1'000);
    measurements.base_rtt = topology.base_rtt;
  }

  analysis::PacketTables tables;
  analysis::Measurements measurements;
  analysis::Coverage coverage;

  /// h0 sends to h2, by RC or else by MRC. Returns the flow.
  uint32_t flow(bool roce = true) {
    const auto number = static_cast<uint32_t>(tables.flows.size());
    tables.flows.push_back({0, 2, Qpn{number + 1}, roce});
    return number;
  }
  /// A packet of the flow that leaves 10 us before `t`, at which its fate is final.
  analysis::Attempt& sent(uint32_t of, FabricTime t) {
    const auto number = static_cast<uint32_t>(tables.packets.size());
    analysis::Packet& packet = tables.packets.emplace_back();
    packet.flow = of;
    packet.psn = Psn{number};
    packet.last = static_cast<uint32_t>(tables.attempts.size());
    analysis::Attempt& attempt = tables.attempts.emplace_back();
    attempt.start = t - us(10);
    attempt.ended = t;
    attempt.packet = number;
    attempt.fate = analysis::Fate::kDelivered;
    return attempt;
  }
  void dropped(uint32_t of, FabricTime t, DropCause cause, const std::string& at = "p0.t0-0:u0") {
    analysis::Attempt& attempt = sent(of, t);
    attempt.fate = analysis::Fate::kDropped;
    attempt.cause = cause;
    attempt.where = port(at);
  }

  analysis::CheckResult check(analysis::Expectation expectation) {
    tables.pauses = in_order();
    const analysis::PacketHistory history(tables);
    analysis::Evidence evidence(topology, schedule, measurements.end);
    show_ways(evidence);
    const analysis::HostReports hosts;
    const analysis::CheckInputs inputs{topology,
                                       history,
                                       measurements,
                                       {},
                                       hosts,
                                       evidence,
                                       schedule,
                                       {},
                                       FabricTime::zero(),
                                       FabricTime::zero(),
                                       coverage};
    return analysis::run_checks(std::span{&expectation, 1}, inputs).at(0);
  }
  analysis::Result result(analysis::Expectation expectation) {
    return check(std::move(expectation)).result;
  }

 private:
  /// A packet of RoCE's takes each of the ways.
  void show_ways(analysis::Evidence& evidence) const {
    FramePool pool;
    SyntheticRun::Sent s;
    s.destination = 2;
    s.path = {0, 0, Chosen::kByFlow};
    for (const auto& [in, out] : ways) {
      const Frame frame = pool.copy(SyntheticRun(topology).data_frame(s));
      NodeObserver& node = evidence.observer(in.node);
      node.packet({us(1), in.port, Direction::kIngress, PacketEvent::kPassed, DropCause::kNone,
                   QueueClass::kNone, frame});
      node.packet({us(2), out.port, Direction::kEgress, PacketEvent::kPassed, DropCause::kNone,
                   QueueClass::kLossless, frame});
    }
  }
};

}  // namespace mrclab::test
