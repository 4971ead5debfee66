#include "plan/simulation_plan.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "analysis/history/evidence.h"
#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/plan/own_connections.h"
#include "fabric/history/digest_observer.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "sim/bipartition.h"
#include "sim/cpu_time.h"
#include "sim/cross_shard_frame.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

/// Hosts of the samples, about. Their switches are as large as those of the fabric, because what a packet costs grows with
/// them: a host has as many paths to a peer. The third, of fabrics that are as large, takes a gigabyte and some twenty
/// seconds: from 2,048 to 8,192 hosts a packet became 1.7 times as dear where both were tried.
constexpr uint32_t kSampleHosts[] = {512, 2048, 8192};
constexpr uint32_t kSampleRows[] = {
    8, 64, 64};                       ///< with three tiers, where there is no third: T0s of a plane
constexpr uint32_t kSampleRack = 32;  ///< with three tiers: most hosts at a T0
constexpr uint32_t kFollowed =
    64;  ///< hosts of a sample whose packets are followed, as in a large run
constexpr double kLoad = 0.9;
/// Base round trips until a sample is looked at. In the first ones queues and memory are still filling, and a packet costs
/// three quarters of what it costs later (measured at 8,192 hosts).
constexpr int64_t kWarmRtts = 2;
constexpr double kWarmSeconds = 60;  ///< CPU time to warm a sample up, at most
/// CPU time of one slice of a sample. What a packet cost is that of the median slice: of a machine that others use for
/// a while some slices cost twice as much.
constexpr double kSliceSeconds = 0.25;
constexpr int kSlices = 8;
constexpr int64_t kSampleRtts = 40;
/// A packet costs more by this factor with each doubling of the hosts beyond the largest sample: from 8,192 to 131,072 hosts a
/// host's microsecond of fabric time took 94 and 152 us (tests/bench/README.md). It is not taken from the samples: how they
/// differ on a machine that is not idle would be carried over four doublings.
constexpr double kGrowthOfDoubling = 1.13;
constexpr uint32_t kRanks[] = {1, 2, 4, 8, 16, 64, 256, 1024};
constexpr uint32_t kHostsPerRank = 16;  ///< at least

double bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// All ports of hosts and switches.
uint64_t ports_of(const FabricShape& shape) {
  if (!shape.graph.empty()) {
    uint64_t ports = 2 * shape.graph.links.size();
    for (const auto& switches : shape.graph.hosts) ports += 2 * switches.size();
    return ports;
  }
  const uint64_t t0_links =
      uint64_t{shape.t0} * (shape.hosts_per_t0 + shape.t1 / std::max(shape.pods, 1u));
  return uint64_t{shape.planes} * 2 * (t0_links + shape.t2_link_count());
}

uint64_t switches_of(const FabricShape& shape) {
  if (!shape.graph.empty()) return shape.graph.switches.size();
  return uint64_t{shape.planes} * (shape.t0 + shape.t1 + shape.t2);
}

/// A fabric of the same kind for that sample. It has as many switch ports for each host.
FabricShape smaller(const FabricShape& shape, size_t sample) {
  FabricShape small = shape;
  small.name = "sample";
  small.forwarding = {};  // the simulator has our switches only
  small.speaker = {};
  small.routing = {};
  small.link_rates.clear();  // they name links that a smaller fabric does not have
  if (!shape.graph.empty()) return small;
  if (shape.t2 == 0) {
    small.t0 = std::min(shape.t0, std::max(kSampleHosts[sample] / shape.hosts_per_t0, 2u));
    return small;
  }
  const uint32_t part = (shape.hosts_per_t0 + kSampleRack - 1) / kSampleRack;
  small.hosts_per_t0 = std::max(shape.hosts_per_t0 / part, 1u);
  const uint32_t t0s = shape.t0 / shape.pods, t1s = shape.t1 / shape.pods;
  const uint32_t fewer_t1s = std::max(t1s / part, 1u);
  const uint32_t fewest =
      sample == 0 ? 2 : 4;  // so that the samples differ with large pods as well
  small.pods = std::min(std::max(kSampleRows[sample] / t0s, fewest), shape.pods);
  small.t0 = small.pods * t0s;
  small.t1 = small.pods * fewer_t1s;
  if (shape.t2_links == T2Links::kGroup) small.t2 = shape.t2 / t1s * fewer_t1s;
  return small;
}

/// Keeps what a run without captures does, and counts frames at hosts.
class Counted : public DigestObserver {
 public:
  Counted(const Topology& topology, NodeId node, NodeObserver& judge)
      : DigestObserver(topology, node, FabricTime::never(), judge),
        is_host_(topology.node(node).role == NodeRole::kHost) {}
  void packet(const PacketRecord& record) override {
    DigestObserver::packet(record);
    if (!is_host_ || !record.frame) return;
    ++frames;
    bytes += record.frame.size() + kCrossShardHeadBytes;
  }
  uint64_t frames = 0, bytes = 0;

 private:
  bool is_host_;
};

/// The samples' world, and what its hosts have come to.
class SampleWorld {
 public:
  explicit SampleWorld(const Topology& topology, uint32_t shift)
      : topology_(topology), evidence_(topology, {}, topology.base_rtt * kSampleRtts) {
    std::vector<bool> followed(topology.host_count(), false);
    std::fill_n(followed.begin(), std::min(kFollowed, topology.host_count()), true);
    evidence_.follow(analysis::FollowedSenders(std::move(followed)));
    endpoint::PermutationSpec permutation;
    for (uint32_t host = 0; host < topology.host_count(); ++host) permutation.hosts.push_back(host);
    permutation.shift = shift;
    permutation.load = Probability{static_cast<uint32_t>(kLoad * Probability::kOne)};
    permutation.message = {1 << 20};
    config_.transport = endpoint::make_profile(endpoint::TransportChoice{}, topology);
    config_.workloads = {permutation};
    config_.end = topology.base_rtt * kSampleRtts;
    config_.payload_elided = true;
    connections_ = endpoint::plan_connections(topology, config_.workloads, 1);
    by_host_.emplace(connections_, topology.host_count());
    config_.connections = &*by_host_;
    for (const NodeSite& site : topology.nodes) {
      observers_.push_back(
          std::make_unique<Counted>(topology, site.id, evidence_.observer(site.id)));
    }
    world_ = std::make_unique<SimWorld>(
        topology, SimWorld::Options{.seed = 1, .room = kHeaderRoom},
        [this](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
          if (topology_.node(environment.self).role != NodeRole::kHost) {
            return std::make_unique<switchd::SwitchNode>(environment);
          }
          auto host = std::make_unique<endpoint::HostNode>(environment, config_);
          hosts_.push_back(host.get());
          return host;
        },
        [this](NodeId node) -> NodeObserver& { return *observers_[node.value]; });
  }

  struct Count {
    double delivered = 0, frames = 0, bytes = 0;
  };
  Count count() const {
    Count count;
    for (const endpoint::HostNode* host : hosts_) {
      for (const auto& plane : host->stats().planes) {
        count.delivered += static_cast<double>(plane.rx_payload_bytes) / topology_.pmtu;
      }
    }
    for (const auto& observer : observers_) {
      count.frames += static_cast<double>(observer->frames);
      count.bytes += static_cast<double>(observer->bytes);
    }
    return count;
  }
  void run_until(FabricTime until, double seconds) {
    const double begin = thread_cpu_seconds();
    world_->run_until(until, [&](FabricTime) { return thread_cpu_seconds() - begin < seconds; });
  }
  FabricTime end() const { return config_.end; }
  FabricTime now() const { return world_->now(); }

 private:
  const Topology& topology_;
  analysis::Evidence evidence_;
  endpoint::HostConfig config_;
  std::vector<endpoint::ConnectionPlan> connections_;
  std::optional<endpoint::OwnConnections> by_host_;
  std::vector<std::unique_ptr<Counted>> observers_;
  std::vector<const endpoint::HostNode*> hosts_;
  std::unique_ptr<SimWorld> world_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

SimulationSample simulate(const FabricShape& shape) {
  SimulationSample sample;
  sample.hosts = shape.host_count();
  const double before = bytes_in_use();
  const Topology topology = build_topology(shape);
  const double built = bytes_in_use();
  sample.port_bytes = (built - before) / static_cast<double>(ports_of(shape));
  SampleWorld world(topology, shape.graph.empty() && shape.t0 > 1 ? shape.hosts_per_t0 : 1);
  world.run_until(topology.base_rtt * kWarmRtts, kWarmSeconds);
  const SampleWorld::Count warm = world.count();
  const FabricTime since = world.now();
  std::vector<double> costs;  // of a delivered packet, by slice
  SampleWorld::Count done = warm;
  for (int slice = 0; slice < kSlices && world.now() < world.end(); ++slice) {
    const double delivered_before = done.delivered, begin = thread_cpu_seconds();
    world.run_until(world.end(), kSliceSeconds);
    done = world.count();
    const double took = thread_cpu_seconds() - begin;
    const double came = done.delivered - delivered_before;
    if (came > 0) costs.push_back(took * 1e6 / came);
  }
  const double delivered = std::max(done.delivered - warm.delivered, 1.0);
  sample.delivered = static_cast<uint64_t>(delivered);
  const double simulated_us = static_cast<double>((world.now() - since).ps()) * 1e-6;
  sample.host_packets = delivered / simulated_us / static_cast<double>(sample.hosts);
  sample.core_us = median(std::move(costs));
  sample.host_frames = (done.frames - warm.frames) / delivered;
  sample.cross_shard_frame = (done.bytes - warm.bytes) / std::max(done.frames - warm.frames, 1.0);
  sample.host_bytes = (bytes_in_use() - built) / static_cast<double>(sample.hosts);
  return sample;
}

double core_us_at(const SimulationSample& largest, uint64_t hosts) {
  const double more = static_cast<double>(hosts) / static_cast<double>(largest.hosts);
  return largest.core_us * std::pow(kGrowthOfDoubling, std::log2(std::max(more, 1.0)));
}

RankCost cost_of_ranks(const SimulationPlan& plan, uint32_t ranks, double windows_by_lookahead,
                       bool three_tiers) {
  const SimulationSample& sample = plan.samples.back();
  const double share = 1.0 / ranks;
  RankCost cost{.ranks = ranks};
  cost.memory = plan.topology_bytes + plan.node_bytes * share;
  const double frames = plan.packets * sample.host_frames;
  // Each hop of a packet is a frame that starts: two at hosts, and two between switches for each tier above T0s.
  const auto at_once =
      static_cast<double>(SimWorld::frames_at_once(plan.nodes, ranks, kHeaderRoom));
  cost.windows = std::max(windows_by_lookahead, (three_tiers ? 3 : 2) * frames / at_once);
  // Hosts are split evenly and switches by plane, so a frame between host and switch stays with 1 / ranks.
  cost.sent = frames * sample.cross_shard_frame * (1 - share) * share / cost.windows;
  const double computed = plan.packets * plan.core_us * 1e-6 * share;
  const double exchange =
      ranks == 1 ? 0 : kExchangeSeconds + cost.sent * 8 / static_cast<double>(kRankRate.bps);
  cost.seconds = computed + cost.windows * exchange;
  return cost;
}

}  // namespace

SimulationPlan plan_simulation(const FabricShape& shape) {
  SimulationPlan plan;
  plan.hosts = shape.host_count();
  plan.ports = ports_of(shape);
  plan.nodes = plan.hosts + switches_of(shape);
  if (plan.hosts < 2) throw InputError("--simulate: found one host: expected at least two");
  for (size_t number = 0; number < std::size(kSampleHosts); ++number) {
    const FabricShape small = smaller(shape, number);
    if (!plan.samples.empty() && small.host_count() <= plan.samples.back().hosts) continue;
    plan.samples.push_back(simulate(small));
  }
  const SimulationSample& sample = plan.samples.back();
  plan.packets = sample.host_packets * static_cast<double>(plan.hosts);
  plan.core_us = core_us_at(sample, plan.hosts);
  plan.topology_bytes = sample.port_bytes * static_cast<double>(plan.ports);
  plan.node_bytes = sample.host_bytes * static_cast<double>(plan.hosts);
  const Topology small = build_topology(smaller(shape, 0));
  const Bipartition sides = bipartition(small);
  const double windows = sides.windows_in(FabricTime::from_us(1));
  for (const uint32_t ranks : kRanks) {
    if (ranks > 1 && plan.hosts < uint64_t{ranks} * kHostsPerRank) break;
    plan.ranks.push_back(cost_of_ranks(plan, ranks, windows, shape.t2 > 0));
  }
  return plan;
}

}  // namespace mrclab::lab
