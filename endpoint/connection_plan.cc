#include "endpoint/connection_plan.h"

#include <stdexcept>
#include <string>

#include "endpoint/collective_layout.h"
#include "endpoint/stream_layout.h"
#include "fabric/random.h"

namespace mrclab::endpoint {
namespace {

constexpr uint32_t kMaxPerHost = 4000;

/// Gives out identities: random high bits from the seed, a number unique in its host in the low 12.
class Identities {
 public:
  Identities(const Topology& topology, uint64_t seed)
      : topology_(topology), seed_(seed), qps_(topology.host_count()), regions_(qps_) {}

  EndPlan end(uint32_t host) {
    check(host);
    const uint32_t number = ++qps_[host];
    EndPlan plan;
    plan.host = host;
    // Never 0 or 1 (reserved by InfiniBand) nor the endpoint QPN 2: the high bits are not zero.
    plan.qpn = {(1 + static_cast<uint32_t>(below(identity(host, number, 1), 0xFFF))) << 12 |
                number};
    plan.first_psn = Psn{static_cast<uint32_t>(identity(host, number, 2))};
    return plan;
  }

  RegionPlan region(uint32_t host, Bytes size) {
    check(host);
    const uint32_t number = ++regions_[host];
    const uint64_t page = below(identity(host, number, 3), 1u << 24);
    RegionPlan plan;
    plan.va = 0x7000'0000'0000 + (uint64_t{number} << 42) + (page << 12);
    plan.rkey = static_cast<uint32_t>(identity(host, number, 4)) << 12 | number;
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
  uint64_t identity(uint32_t host, uint32_t number, uint32_t what) const {
    return draw(seed_, topology_.host(host), PortId{}, DrawPurpose::kIdentity,
                uint64_t{what} << 32 | number);
  }

  const Topology& topology_;
  uint64_t seed_;
  std::vector<uint32_t> qps_;
  std::vector<uint32_t> regions_;
};

class Planner {
 public:
  Planner(const Topology& topology, uint64_t seed) : topology_(topology), ids_(topology, seed) {}

  void operator()(const AllReduceSpec& spec) {
    if (spec.hosts.size() < 2) throw std::invalid_argument("an all_reduce needs two hosts");
    const CollectiveLayout layout(spec.size, spec.hosts.size());
    for (size_t i = 0; i < spec.hosts.size(); ++i) {
      connect(spec.hosts[i], spec.hosts[(i + 1) % spec.hosts.size()], layout.region_size());
    }
  }
  void operator()(const PermutationSpec& spec) {
    const StreamLayout layout(spec.message);
    for (size_t i = 0; i < spec.hosts.size(); ++i) {
      connect(spec.hosts[i], spec.hosts[(i + spec.shift) % spec.hosts.size()],
              layout.region_size());
    }
  }
  void operator()(const WriteSpec& spec) {
    connect(spec.from, spec.to, StreamLayout(spec.size).region_size());
  }

  std::vector<ConnectionPlan> plan;
  uint32_t workload = 0;

 private:
  void connect(uint32_t from, uint32_t to, Bytes region) {
    if (from == to) throw std::invalid_argument("a workload connects a host with itself");
    ConnectionPlan c;
    c.workload = workload;
    c.initiator = ids_.end(from);
    c.acceptor = ids_.end(to);
    c.region = ids_.region(to, region);
    plan.push_back(c);
  }

  const Topology& topology_;
  Identities ids_;
};

}  // namespace

std::vector<ConnectionPlan> plan_connections(const Topology& topology,
                                             const std::vector<WorkloadSpec>& workloads,
                                             uint64_t seed) {
  Planner planner(topology, seed);
  for (const WorkloadSpec& spec : workloads) {
    std::visit(planner, spec);
    ++planner.workload;
  }
  return std::move(planner.plan);
}

}  // namespace mrclab::endpoint
