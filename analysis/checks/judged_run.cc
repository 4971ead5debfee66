#include "analysis/checks/judged_run.h"

#include <algorithm>
#include <cstdio>

#include "fabric/topology/pattern.h"

namespace mrclab::analysis {

std::string one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double percent_of(Probability share) { return static_cast<double>(share.ppb) * 1e-7; }

bool in_plane(const Attempt& attempt, uint32_t plane) {
  const auto path = path_of(attempt.ev);
  return path && path->plane == plane;
}

uint64_t count_of(const std::vector<bool>& flags) {
  return static_cast<uint64_t>(std::count(flags.begin(), flags.end(), true));
}

std::vector<bool> hosts_of(const Topology& topology, const std::string& pattern) {
  std::vector<bool> in(topology.host_count(), pattern.empty());
  if (pattern.empty()) return in;
  try {
    for (const NodeId node : NameResolver(topology, 0).hosts(pattern)) {
      in[topology.node(node).index] = true;
    }
  } catch (const NameError&) {
    // The names match nothing: nothing is selected, and the check cannot be judged.
  }
  return in;
}

std::vector<PortRef> ports_of(const Topology& topology, const std::string& pattern) {
  try {
    return NameResolver(topology, 0).ports(pattern);
  } catch (const NameError&) {
    return {};  // the names match nothing: nothing is selected, and the check cannot be judged
  }
}

/// By the wall clock no record shows a loss: a packet counts as lost after kLostAfterRtts of
/// silence, so its fate settles that much later.
CheckedSpan span_of(const CheckInputs& in) {
  const FabricTime rtt = in.topology.base_rtt;
  return {in.measurements.end, first_start(in.faults),
          in.topology.carries_time() ? rtt : rtt * (PacketHistory::kLostAfterRtts + 1)};
}

std::string JudgedRun::flow_name(uint32_t number) const {
  const Flow& flow = history.flows()[number];
  return host_name(flow.source) + " to " + host_name(flow.destination) + " " +
         qp_name(flow.destination_qp);
}

std::string JudgedRun::packet_name(const Attempt& attempt) const {
  const Packet& packet = history.packets()[attempt.packet];
  const auto path = path_of(attempt.ev);
  return flow_name(packet.flow) + " PSN " + std::to_string(packet.psn.value()) +
         (path ? " on " + to_string(*path) : "");
}

WhereToLook JudgedRun::around(const FaultSpan& fault, FabricTime least) const {
  const FabricTime healed = std::min(fault.healed_at, measurements.end);
  return {fault.start, std::max(healed, fault.start + least), fault.description};
}

WhereToLook JudgedRun::at_packet(const Packet& packet) const {
  WhereToLook where{FabricTime::zero(), FabricTime::zero(),
                    flow_name(packet.flow) + " PSN " + std::to_string(packet.psn.value()),
                    to_look_at(packet)};
  for (uint32_t at = packet.last; at != Attempt::kNone; at = history.attempts()[at].previous) {
    const Attempt& attempt = history.attempts()[at];
    where.from = attempt.start;  // the first attempt comes last
    const FabricTime ended =
        attempt.ended == FabricTime::never() ? measurements.end : attempt.ended;
    where.until = std::max(where.until, ended);
  }
  if (packet.last != Attempt::kNone) {
    where.who = packet_name(history.attempts()[packet.last]);
  }
  if (packet.acknowledged != FabricTime::never()) {
    where.until = std::max(where.until, packet.acknowledged);
  }
  return where;
}

PacketToLookAt JudgedRun::to_look_at(const Packet& packet) const {
  const Flow& flow = history.flows()[packet.flow];
  return {host_name(flow.source), host_name(flow.destination), flow.destination_qp, packet.psn};
}

Looked JudgedRun::sent(const std::vector<bool>& flows, FabricTime from, FabricTime until,
                       std::optional<uint32_t> plane) const {
  uint64_t count = 0;
  for (const Attempt& attempt : history.attempts()) {
    // A packet that is still on its way at the end has a start and no end in the records.
    const FabricTime last = attempt.ended == FabricTime::never() ? attempt.start : attempt.ended;
    if (attempt.start >= until || last < from) continue;
    if (!flows[history.packets()[attempt.packet].flow]) continue;
    if (!plane || in_plane(attempt, *plane)) ++count;
  }
  return {count, "packet", from, until, Source::kPackets};
}

Looked JudgedRun::roce_sent(FabricTime from, FabricTime until) const {
  std::vector<bool> roce;
  for (const Flow& flow : history.flows()) roce.push_back(flow.roce);
  const auto pauses =
      std::count_if(history.pauses().begin(), history.pauses().end(),
                    [&](const PauseSeen& pause) { return pause.t >= from && pause.t < until; });
  return {sent(roce, from, until).count() + static_cast<uint64_t>(pauses),
          {"RoCE packet or pause", "RoCE packets and pauses"},
          from,
          until,
          Source::kPackets};
}

std::optional<uint32_t> JudgedRun::host_number(const std::string& name) const {
  const std::optional<NodeId> node = topology.find_node(name);
  if (!node || topology.node(*node).role != NodeRole::kHost) return std::nullopt;
  return topology.node(*node).index;
}

Looked JudgedRun::used_queue_pairs() const {
  std::vector<uint64_t> flows_of(topology.host_count());
  for (const Flow& flow : history.flows()) {
    ++flows_of[flow.source];
    if (flow.destination != flow.source) ++flows_of[flow.destination];
  }
  uint64_t used = 0;
  for (const HostReport& host : hosts.hosts) {
    const auto posted = static_cast<uint64_t>(
        std::count_if(host.queues.begin(), host.queues.end(),
                      [](const QueueReport& queue) { return queue.posted > 0; }));
    // One that only receives has posted nothing: its packets show that it had work.
    const auto number = host_number(host.host);
    const uint64_t seen = number ? flows_of[*number] : 0;
    used += std::max(posted, std::min<uint64_t>(host.qps, seen));
  }
  return of_whole_run(used, "queue pair with work", Source::kReports);
}

Looked JudgedRun::arrived(FabricTime from, FabricTime until) const {
  const auto deliveries = history.deliveries();
  const auto count = std::count_if(
      deliveries.begin(), deliveries.end(),
      [&](const Delivery& delivery) { return delivery.t >= from && delivery.t < until; });
  return {static_cast<uint64_t>(count), "delivered packet", from, until, Source::kPackets};
}

FabricTime JudgedRun::first_fault() const { return first_start(faults); }

size_t JudgedRun::faults_begun() const {
  return static_cast<size_t>(std::count_if(
      faults.begin(), faults.end(), [&](const FaultSpan& fault) { return has_begun(fault); }));
}

std::optional<FabricTime> JudgedRun::last_heal() const {
  FabricTime last;
  for (const FaultSpan& fault : faults) {
    if (fault.start == FabricTime::never()) continue;  // others held all that it would have broken
    if (!fault.healed()) return std::nullopt;
    last = std::max(last, fault.healed_at);
  }
  return last;
}

std::vector<uint64_t> JudgedRun::delivered_by_host() const {
  std::vector<uint64_t> bytes(topology.host_count());
  for (const Delivery& d : history.deliveries()) {
    bytes[history.flows()[history.packets()[d.packet].flow].destination] += d.bytes;
  }
  // What a host READs comes in the answers to its own requests.
  for (size_t flow = 0; flow < history.rc_answers().size(); ++flow) {
    bytes[history.flows()[flow].source] += history.rc_answers()[flow].read_bytes;
  }
  return bytes;
}

std::vector<const JobResult*> JudgedRun::jobs_named(const std::string& name) const {
  std::vector<const JobResult*> named;
  for (const JobResult& job : jobs) {
    if (name.empty() || job.name == name) named.push_back(&job);
  }
  return named;
}

FabricTime JudgedRun::end_of_job(const JobResult& job) const {
  return job.died ? std::min(job.died->at, measurements.end) : measurements.end;
}

std::vector<bool> JudgedRun::selected(const FlowSelection& selection) const {
  const std::vector<bool> source = hosts_of(topology, selection.source);
  const std::vector<bool> destination = hosts_of(topology, selection.destination);
  const std::vector<bool> host = hosts_of(topology, selection.host);
  std::vector<bool> result;
  for (const Flow& flow : history.flows()) {
    result.push_back(source[flow.source] && destination[flow.destination] &&
                     (host[flow.source] || host[flow.destination]));
  }
  return result;
}

bool JudgedRun::lost_power(uint32_t host, FabricTime until) const {
  return std::any_of(schedule.begin(), schedule.end(), [&](const ScheduledEffect& s) {
    const auto* state = std::get_if<HostState>(&s.effect);
    return state != nullptr && state->work == HostWork::kDown && s.at <= until &&
           state->host == topology.host(host);
  });
}

bool JudgedRun::all_lost_power() const {
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    if (!lost_power(host, measurements.end)) return false;
  }
  return true;
}

bool JudgedRun::work_lost() const {
  if (!evidence.events().failures().empty()) return true;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    if (lost_power(host, measurements.end)) return true;
  }
  return std::any_of(hosts.hosts.begin(), hosts.hosts.end(),
                     [](const HostReport& host) { return host.qps_in_error > 0; });
}

CheckResult judge_count(CheckResult check, uint64_t count, uint64_t at_least, uint64_t at_most,
                        const std::string& why, const Looked& looked) {
  check.looked = looked;
  check.measured = static_cast<double>(count);
  const bool floor = count < at_least || at_most == PacketBounds::kNoBound;
  check.bound = static_cast<double>(floor ? at_least : at_most);
  if (count < at_least || count > at_most) return failed(check, why);
  return passed(check, looked);
}

CheckResult count_attempts(const JudgedRun& run, const PacketBounds& expected,
                           const WhenCounted& when, std::optional<Looked> looked) {
  CheckResult check;
  check.unit = "packets";
  const FabricTime until = run.end_of(expected.until);
  check.where = {expected.from, until, {}};
  if (expected.from >= until) return unjudged(check, "the run ends before this interval");
  const std::vector<bool> flows = run.selected(expected.flows);
  if (std::find(flows.begin(), flows.end(), true) == flows.end()) {
    return unjudged(check, "no such QP sent any data");
  }
  if (!looked) looked = run.sent(flows, expected.from, until, expected.flows.plane);
  if (looked->count() == 0) return without_evidence(check, *looked);
  uint64_t count = 0, settled_count = 0;
  const FabricTime settled_until = run.settled();
  std::string first;
  std::optional<PacketToLookAt> packet;
  for (const Attempt& attempt : run.history.attempts()) {
    const std::optional<FabricTime> t = when(attempt);
    if (!t || *t < expected.from || *t >= until) continue;
    if (!flows[run.history.packets()[attempt.packet].flow]) continue;
    if (expected.flows.plane && !in_plane(attempt, *expected.flows.plane)) continue;
    settled_count += *t < settled_until ? 1 : 0;
    if (count++ > 0) continue;
    first = run.packet_name(attempt) + " at " + to_string(*t);
    packet = run.to_look_at(run.history.packets()[attempt.packet]);
  }
  check.where->who = first;
  check.where->packet = packet;
  check.proven = settled_count > expected.at_most;
  return judge_count(check, count, expected.at_least, expected.at_most,
                     count == 0 ? "there was none" : "among them " + first, *looked);
}

}  // namespace mrclab::analysis
