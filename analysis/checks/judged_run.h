#pragma once
// What the checks of all families look at: the inputs, and the words in which checks speak of hosts,
// flows, packets and faults. Only judge_*.cc and checks.cc include it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/checks/check_inputs.h"
#include "analysis/checks/check_result.h"
#include "analysis/checks/reliance.h"
#include "analysis/expect/expect_losses.h"
#include "analysis/measure/qp_name.h"

namespace mrclab::analysis {

/// Does this attempt's entropy value belong to the plane?
bool in_plane(const Attempt& attempt, uint32_t plane);
/// "12.3"
std::string one_digit(double value);
double percent_of(Probability share);
/// How many of the flags are set.
uint64_t count_of(const std::vector<bool>& flags);
/// Hosts of a pattern, by host number; all if it is empty.
std::vector<bool> hosts_of(const Topology& topology, const std::string& pattern);
/// Ports of a pattern; none if it matches nothing.
std::vector<PortRef> ports_of(const Topology& topology, const std::string& pattern);

/// How far the checks of a run look.
CheckedSpan span_of(const CheckInputs& in);

struct JudgedRun : CheckInputs {
  explicit JudgedRun(const CheckInputs& in) : CheckInputs(in) {}

  // Names.
  std::string fault_name(size_t index) const { return faults[index].description; }
  std::string host_name(uint32_t host) const { return topology.node(topology.host(host)).name; }
  /// Empty: no host of the fabric has this name.
  std::optional<uint32_t> host_number(const std::string& name) const;
  std::string flow_name(uint32_t flow) const;
  std::string packet_name(const Attempt& attempt) const;

  // Where to look.
  /// From a fault's start to its heal, or for `least` where that is longer.
  WhereToLook around(const FaultSpan& fault, FabricTime least) const;
  /// For a finding that belongs to no instant in particular.
  WhereToLook whole_run(std::string who) const {
    return {FabricTime::zero(), measurements.end, std::move(who)};
  }
  WhereToLook at_failure(const QpFailure& failure) const {
    return {failure.t, measurements.end, host_name(failure.host) + " " + qp_name(failure.qp)};
  }
  /// A packet as a place to look: from its first start to its end, and its name.
  WhereToLook at_packet(const Packet& packet) const;
  PacketToLookAt to_look_at(const Packet& packet) const;

  // What was looked at.
  Looked of_whole_run(uint64_t count, Noun what, Source source) const {
    return {count, std::move(what), FabricTime::zero(), measurements.end, source};
  }
  /// Data packets of these flows that were under way between the two instants; of one plane, if one is given.
  Looked sent(const std::vector<bool>& flows, FabricTime from, FabricTime until,
              std::optional<uint32_t> plane = std::nullopt) const;
  /// The same of RoCE's flows, and the pauses of their class that arrived then.
  Looked roce_sent(FabricTime from, FabricTime until) const;
  /// Queue pairs to which messages were posted, as hosts report, and of hosts that report no single ones those
  /// whose data packets were seen: a queue pair that had nothing to do has not held.
  Looked used_queue_pairs() const;
  /// Data packets that reached their hosts whole between the two instants.
  Looked arrived(FabricTime from, FabricTime until) const;

  // Instants.
  FabricTime first_fault() const;
  /// How many faults began before the run ended. Those without effect, because others held all that they would
  /// have broken, did not.
  size_t faults_begun() const;
  bool has_begun(const FaultSpan& fault) const { return fault.start < measurements.end; }
  /// When the last fault was undone; empty if one was not, or there is none.
  std::optional<FabricTime> last_heal() const;
  FabricTime end_of(FabricTime until) const { return std::min(until, measurements.end); }
  /// The same for what hosts take in.
  FabricTime delivered_by(FabricTime until) const {
    return std::min(until, measurements.delivered_until);
  }
  /// Before this instant the packets that were seen are all packets there
  /// were, and their fate is known.
  FabricTime settled() const {
    const FabricTime known = coverage.until(Witness::kPackets);
    return known == FabricTime::never() ? known : known - span_of(*this).settling;
  }

  // What several families ask.
  /// Payload bytes that arrived, by host: of its peers' requests, and of answers to its own READs.
  std::vector<uint64_t> delivered_by_host() const;
  /// The job of that name; every job where it is empty.
  std::vector<const JobResult*> jobs_named(const std::string& name) const;
  /// When the last of its work can have been done: the run's end, or what ended the job.
  FabricTime end_of_job(const JobResult& job) const;
  /// Which of the flows are selected, by flow number.
  std::vector<bool> selected(const FlowSelection& selection) const;
  /// Was the host ever without power up to then? Its work and its word about it are gone.
  bool lost_power(uint32_t host, FabricTime until) const;
  bool all_lost_power() const;
  /// Is work lost that no check may require to be done: did its queue pairs fail, or its host lose
  /// power?
  bool work_lost() const;
};

/// A number held against one or two bounds; the bound shown is the one that was broken, else the
/// upper one.
CheckResult judge_count(CheckResult check, uint64_t count, uint64_t at_least, uint64_t at_most,
                        const std::string& why, const Looked& looked);
/// When an attempt counts; empty if it does not.
using WhenCounted = std::function<std::optional<FabricTime>(const Attempt&)>;
/// Judges the number of attempts, of the selected flows, that `when` puts into the interval. `looked`: among
/// which they are; empty: among all that the selected flows sent in it.
CheckResult count_attempts(const JudgedRun& run, const PacketBounds& expected,
                           const WhenCounted& when, std::optional<Looked> looked = std::nullopt);

}  // namespace mrclab::analysis
