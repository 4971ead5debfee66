#include "endpoint/plan/connection_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "endpoint/base/identity.h"
#include "endpoint/workload/collective_schedule.h"
#include "endpoint/workload/ping_pong.h"
#include "endpoint/workload/slotted_collective.h"
#include "endpoint/workload/stream_layout.h"

namespace mrclab::endpoint {
namespace {

/// Gives out identities, host by host.
class Identities {
 public:
  Identities(const Topology& topology, uint64_t seed)
      : topology_(topology), seed_(seed), qps_(topology.host_count()), regions_(qps_) {}

  EndPlan end(uint32_t host) {
    check(host);
    const uint32_t number = ++qps_[host];
    EndPlan plan;
    plan.host = host;
    plan.qpn = of(host).qpn(number);
    plan.first_psn = of(host).first_psn(number);
    return plan;
  }

  RegionPlan region(uint32_t host, Bytes size) {
    check(host);
    const uint32_t number = ++regions_[host];
    RegionPlan plan;
    plan.va = of(host).va(number);
    plan.rkey = of(host).rkey(number);
    plan.size = size;
    return plan;
  }

 private:
  void check(uint32_t host) const {
    if (host >= topology_.host_count()) {
      throw std::invalid_argument("a workload names host " + std::to_string(host) + ", fabric " +
                                  topology_.name + " has " +
                                  std::to_string(topology_.host_count()));
    }
    if (qps_[host] >= kMaxPerHost) {
      throw std::invalid_argument("host " + std::to_string(host) + " would have over " +
                                  std::to_string(kMaxPerHost) + " queue pairs");
    }
  }
  HostIdentities of(uint32_t host) const { return {seed_, topology_.host(host)}; }

  const Topology& topology_;
  uint64_t seed_;
  std::vector<uint32_t> qps_;
  std::vector<uint32_t> regions_;
};

class Planner {
 public:
  Planner(const Topology& topology, uint64_t seed, Bytes in_flight)
      : ids_(topology, seed), in_flight_(in_flight) {}

  void operator()(const CollectiveSpec& spec) {
    const size_t hosts = spec.hosts.size();
    if (hosts < 2) throw std::invalid_argument("a collective needs two hosts");
    if (spec.slots) return slotted(spec);
    const CollectiveSchedule schedule(spec.kind, spec.size, hosts, spec.qps);
    for (size_t rank = 0; rank < hosts; ++rank) {
      for (size_t link = 0; link < schedule.links(); ++link) {
        const size_t to = schedule.to_rank(rank, link);
        // All queue pairs of a link write to the same memory.
        connect(spec.hosts[rank], spec.hosts[to], schedule.inbox_size(to, link), 0);
        for (uint32_t queue = 1; queue < spec.qps; ++queue) {
          connect_ends(spec.hosts[rank], spec.hosts[to], queue);
        }
      }
    }
  }
  void operator()(const PermutationSpec& spec) {
    for (size_t i = 0; i < spec.hosts.size(); ++i) {
      streams(spec.hosts[i], spec.hosts[(i + spec.shift) % spec.hosts.size()], spec.message,
              spec.qps);
    }
  }
  void operator()(const WriteSpec& spec) { streams(spec.from, spec.to, spec.size, spec.qps); }
  void operator()(const IncastSpec& spec) {
    for (const uint32_t from : spec.from) streams(from, spec.to, spec.message, spec.qps);
    if (spec.victim) streams(spec.victim->from, spec.victim->to, spec.message, spec.qps);
  }
  void operator()(const PingPongSpec& spec) {
    const Bytes size{PingPong::kSlots * spec.size.value};
    connect(spec.from, spec.to, size, 0);
    plan.back().way_back = ids_.region(spec.from, size);
  }

  void operator()(const JobWorkload& spec) {
    if (!spec.plan) throw std::invalid_argument("a job that was not planned");
    for (const JobPair& pair : spec.plan->pairs) {
      const uint32_t from = spec.spec.hosts.at(pair.from), to = spec.spec.hosts.at(pair.to);
      // A ring of slots for each queue pair, in one region.
      connect(from, to, {JobLayout(pair, in_flight_).ring_bytes() * spec.qps}, 0);
      for (uint32_t queue = 1; queue < spec.qps; ++queue) connect_ends(from, to, queue);
    }
    if (spec.recovery) connect_recovery(spec, *spec.recovery);
  }

  std::vector<ConnectionPlan> plan;
  uint32_t workload = 0;
  std::optional<Routing> routing;
  std::optional<TransportKind> transport;

 private:
  /// Slots at the end of each link, and at its beginning the memory that credits are written to.
  void slotted(const CollectiveSpec& spec) {
    const SlotProgram program(spec.kind, spec.size, spec.hosts.size(), *spec.slots);
    for (size_t rank = 0; rank < program.hosts(); ++rank) {
      for (size_t link = 0; link < program.links(); ++link) {
        const uint32_t from = spec.hosts[rank], to = spec.hosts[program.to_rank(rank, link)];
        connect(from, to, program.inbox_size(), 0);
        plan.back().way_back =
            ids_.region(from, {program.channels() * SlottedCollective::kCreditBytes});
        for (uint32_t queue = 1; queue < spec.qps; ++queue) connect_ends(from, to, queue);
      }
    }
  }
  /// Later attempts, pair by pair, and for each line of the launcher one to each host and one back.
  void connect_recovery(const JobWorkload& spec, const JobRecovery& recovery) {
    for (uint32_t i = 0; i < recovery.later.size(); ++i) {
      const size_t first = plan.size();
      for (const JobPair& pair : recovery.later[i].pairs) {
        connect(pair.from, pair.to, {JobLayout(pair, in_flight_).ring_bytes() * spec.qps}, 0);
        for (uint32_t queue = 1; queue < spec.qps; ++queue) {
          connect_ends(pair.from, pair.to, queue);
        }
      }
      for (size_t made = first; made < plan.size(); ++made) plan[made].attempt = i + 1;
    }
    const size_t first = plan.size();
    for (const uint32_t host : recovery.hosts) {
      for (uint32_t line = 0; line < job::kLines && host != recovery.launcher; ++line) {
        connect(recovery.launcher, host, {kLauncherWordBytes}, line);
        connect(host, recovery.launcher, {kLauncherWordBytes}, line);
      }
    }
    for (size_t made = first; made < plan.size(); ++made) plan[made].control = true;
  }
  void streams(uint32_t from, uint32_t to, Bytes message, uint32_t qps) {
    const Bytes region = StreamLayout(message, in_flight_).region_size();
    for (uint32_t queue = 0; queue < qps; ++queue) connect(from, to, region, queue);
  }
  void connect(uint32_t from, uint32_t to, Bytes size, uint32_t queue) {
    connect_ends(from, to, queue);
    plan.back().region = ids_.region(to, size);
  }
  /// A queue pair with the memory of the one before it.
  void connect_ends(uint32_t from, uint32_t to, uint32_t queue) {
    if (from == to) throw std::invalid_argument("a workload connects a host with itself");
    ConnectionPlan c;
    c.workload = workload;
    c.number = static_cast<uint32_t>(plan.size());
    c.routing = routing;
    c.transport = transport;
    c.queue = queue;
    c.in_flight = in_flight_;
    c.initiator = ids_.end(from);
    c.acceptor = ids_.end(to);
    if (!plan.empty()) c.region = plan.back().region;
    plan.push_back(c);
  }

  Identities ids_;
  Bytes in_flight_;
};

}  // namespace

Bytes most_in_flight(const Topology& topology, uint32_t max_psn_range) {
  const BitRate line{topology.host_rate.bps * topology.planes};
  const uint64_t window = bytes_in(line, topology.base_rtt).value * 3 / 2;
  return {std::min(window, uint64_t{max_psn_range} * topology.pmtu)};
}

std::vector<ConnectionPlan> plan_connections(const Topology& topology,
                                             const std::vector<WorkloadSpec>& workloads,
                                             uint64_t seed, uint32_t max_psn_range) {
  Planner planner(topology, seed, most_in_flight(topology, max_psn_range));
  for (const WorkloadSpec& spec : workloads) {
    planner.routing = routing_of(spec);
    planner.transport = transport_of(spec);
    std::visit(planner, spec);
    ++planner.workload;
  }
  return std::move(planner.plan);
}

}  // namespace mrclab::endpoint
