#pragma once
// The inside of checks: one operator per expectation. Only checks*.cc include it.
//
//   checks.cc            of hosts and faults as a whole: QP errors, memory, healed, detect, recover
//   checks_traffic.cc    goodput and what is made of it, latency, losses, completion times
//   checks_packets.cc    how many packets were lost, trimmed, sent again, or took a path; counters
//   checks_safety.cc     while faults are on
//   checks_liveness.cc   steady before, alive again after

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/checks/checks.h"
#include "analysis/checks/coverage_check.h"
#include "analysis/measure/qp_name.h"

namespace mrclab::analysis {

/// The check fails, unless judge_coverage() finds that missing evidence might have changed that.
CheckResult failed(CheckResult check, std::string why);
/// The check fails by what was seen, whatever evidence is missing.
CheckResult proven(CheckResult check, std::string why);
CheckResult unjudged(CheckResult check, std::string why);
CheckResult passed(CheckResult check);
/// Does this attempt's entropy value belong to the plane?
bool in_plane(const Attempt& attempt, uint32_t plane);
/// "12.3"
std::string one_digit(double value);
double percent_of(Probability share);

/// How far the checks of a run look.
CheckedSpan span_of(const CheckInputs& in);

class Judge {
 public:
  explicit Judge(const CheckInputs& in) : in_(in) {}

  CheckResult operator()(const ExpectNoQpError&) const;
  CheckResult operator()(const ExpectMemoryIntact&) const;
  CheckResult operator()(const ExpectHealed&) const;
  CheckResult operator()(const ExpectGoodput& expected) const;
  CheckResult operator()(const ExpectDetect& expected) const;
  CheckResult operator()(const ExpectRecover& expected) const;
  CheckResult operator()(const ExpectLeave& expected) const;
  CheckResult operator()(const ExpectQpError& expected) const;
  CheckResult operator()(const ExpectGap& expected) const;
  CheckResult operator()(const ExpectSamples& expected) const;
  CheckResult operator()(const ExpectLatency& expected) const;
  CheckResult operator()(const ExpectFairness& expected) const;
  CheckResult operator()(const ExpectLossesPerQp& expected) const;
  CheckResult operator()(const ExpectAffectedQps& expected) const;
  CheckResult operator()(const ExpectCompletionTime& expected) const;
  CheckResult operator()(const ExpectSteady&) const;
  CheckResult operator()(const ExpectSafety&) const;
  CheckResult operator()(const ExpectPlacedOnce&) const;
  CheckResult operator()(const ExpectNoSilentLoss&) const;
  CheckResult operator()(const ExpectInOrder&) const;
  CheckResult operator()(const ExpectNoQpErrorWhileAPathLives&) const;
  CheckResult operator()(const ExpectAccounted&) const;
  CheckResult operator()(const ExpectLiveness&) const;
  CheckResult operator()(const ExpectGoodputBack& expected) const;
  CheckResult operator()(const ExpectEvsGood& expected) const;
  CheckResult operator()(const ExpectQueuesEmpty&) const;
  CheckResult operator()(const ExpectLosses& expected) const;
  CheckResult operator()(const ExpectTrims& expected) const;
  CheckResult operator()(const ExpectRetransmissions& expected) const;
  CheckResult operator()(const ExpectShare& expected) const;
  CheckResult operator()(const ExpectPathUnused& expected) const;
  CheckResult operator()(const ExpectCounter& expected) const;

 private:
  uint64_t delivered_to(const std::string& host) const;
  std::string fault_name(size_t index) const { return in_.faults[index].description; }
  /// From a fault's start to its heal, or for `least` where that is longer.
  WhereToLook around(const FaultSpan& fault, FabricTime least) const;
  std::string host_name(uint32_t host) const {
    return in_.topology.node(in_.topology.host(host)).name;
  }
  std::string flow_name(uint32_t flow) const;
  FabricTime first_fault() const;
  /// Was the host ever without power up to then? Its work and its word about it are gone.
  bool lost_power(uint32_t host, FabricTime until) const;
  bool all_lost_power() const;
  /// Is work lost that no check can ask to come back: did its queue pairs fail, or its host lose
  /// power?
  bool work_lost() const;
  /// When the last fault was undone; empty if one was not, or there is none.
  std::optional<FabricTime> last_heal() const;
  /// Before this instant the packets that were seen are all packets there
  /// were, and their fate is known.
  FabricTime settled() const {
    const FabricTime known = in_.coverage.until(Witness::kPackets);
    return known == FabricTime::never() ? known : known - span_of(in_).settling;
  }
  FabricTime end_of(FabricTime until) const { return std::min(until, in_.measurements.end); }
  /// The same for what hosts take in.
  FabricTime delivered_by(FabricTime until) const {
    return std::min(until, in_.measurements.delivered_until);
  }

  /// What the data packets to one host port met in some interval.
  struct PortLoad {
    uint32_t packets = 0;
    FabricTime busy;                              ///< the time that the port needs to send them
    FabricTime least_wait = FabricTime::never();  ///< the packet that waited least
  };
  using PortLoads = std::map<std::pair<uint32_t, uint32_t>, PortLoad>;
  PortLoads port_loads(FabricTime from, FabricTime until) const;

  /// Queue pairs, as (host, QP), whose work ended: they failed, or their peer lost its power.
  std::set<std::pair<uint32_t, Qpn>> dead_queue_pairs() const;
  CheckResult judge_left_frames(CheckResult check, FabricTime from, uint64_t queues) const;
  CheckResult judge_standing_queues(CheckResult check, FabricTime from) const;

  /// How many frames the balances of wires and switches lack, or have too many. These two put the
  /// first thing that is wrong into `first`, unless there is something, and its place into `check`.
  uint64_t unbalanced_frames(std::string& first, CheckResult& check) const;
  /// How many data packets left their host and were never seen again.
  uint64_t vanished_packets(std::string& first, CheckResult& check) const;

  /// Which of the flows are selected, by flow number.
  std::vector<bool> selected(const FlowSelection& selection) const;
  GoodputMeter meter_of(const FlowSelection& selection) const;
  BitRate line_rate_of(const FlowSelection& selection) const;
  /// What a goodput is held against; empty and `why` if there is no such thing.
  std::optional<BitRate> reference(const GoodputReference& of, const FlowSelection& selection,
                                   const GoodputMeter& meter, std::string& why) const;
  /// Lost data packets by flow, between two instants; of one plane, if one is given.
  std::vector<uint64_t> losses(FabricTime from, FabricTime until,
                               std::optional<uint32_t> plane) const;
  /// Judges the number of attempts, of the selected flows, that `when` puts into the interval.
  CheckResult count_attempts(
      const PacketBounds& expected,
      const std::function<std::optional<FabricTime>(const Attempt&)>& when) const;
  /// A packet as a place to look: from its first start to its end, and its name.
  WhereToLook at_packet(const Packet& packet) const;
  /// For a finding that belongs to no instant in particular.
  WhereToLook whole_run(std::string who) const {
    return {FabricTime::zero(), in_.measurements.end, std::move(who)};
  }
  WhereToLook at_failure(const QpFailure& failure) const {
    return {failure.t, in_.measurements.end, host_name(failure.host) + " " + qp_name(failure.qp)};
  }
  PacketToLookAt to_look_at(const Packet& packet) const;
  bool names_a_path(const std::string& pattern) const;
  std::string packet_name(const Attempt& attempt) const;

  CheckInputs in_;
};

}  // namespace mrclab::analysis
