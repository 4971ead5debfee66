#include "plan/simulation_plan.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/plan/own_connections.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "netio/record/run_recorder.h"
#include "sim/bipartition.h"
#include "sim/cpu_time.h"
#include "sim/cross_shard_frame.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kSampleRows[] = {8, 64};  ///< T0s of a plane in the two samples
constexpr uint32_t kSampleHosts = 32;        ///< most hosts at a T0 of a sample
constexpr double kLoad = 0.9;
constexpr double kWarmSeconds = 4;  ///< CPU time to warm a sample up, at most
/// CPU time of one slice of a sample. What a packet cost is that of the median slice: of a machine that others use for
/// a while some slices cost twice as much.
constexpr double kSliceSeconds = 0.25;
constexpr int kSlices = 8;
constexpr int64_t kWarmRtts = 1, kSampleRtts = 40;
/// A packet costs more with each doubling of the hosts, as from the smaller sample to the larger one; but no more than by
/// this factor (our bound: a busy machine makes one sample much dearer than the other, and that must not go on growing).
constexpr double kMaxGrowthOfDoubling = 1.1;
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

/// A fabric of the same kind with at most so many T0s of a plane. It has as many switch ports for each host.
FabricShape smaller(const FabricShape& shape, uint32_t rows) {
  FabricShape small = shape;
  small.name = "sample";
  small.forwarding = {};  // the simulator has our switches only
  small.speaker = {};
  small.routing = {};
  small.link_rates.clear();  // they name links that a smaller fabric does not have
  if (!shape.graph.empty()) return small;
  const uint32_t part = (shape.hosts_per_t0 + kSampleHosts - 1) / kSampleHosts;
  small.hosts_per_t0 = std::max(shape.hosts_per_t0 / part, 1u);
  if (shape.t2 == 0) {
    small.t1 = shape.t1 == 0 ? 0 : std::max(shape.t1 / part, 1u);
    small.t0 = std::min(shape.t0, rows);
    return small;
  }
  const uint32_t t0s = shape.t0 / shape.pods, t1s = shape.t1 / shape.pods;
  const uint32_t fewer_t1s = std::max(t1s / part, 1u);
  const uint32_t fewest =
      rows == kSampleRows[0] ? 2 : 4;  // so that the samples differ with large pods as well
  small.pods = std::min(std::max(rows / t0s, fewest), shape.pods);
  small.t0 = small.pods * t0s;
  small.t1 = small.pods * fewer_t1s;
  if (shape.t2_links == T2Links::kGroup) small.t2 = shape.t2 / t1s * fewer_t1s;
  return small;
}

/// Keeps the history's digest, and counts frames at hosts.
class Counted : public NodeObserver {
 public:
  Counted(const Topology& topology, NodeId node)
      : recorder_(topology, node, FabricTime::never(), nullptr, false, nullptr),
        is_host_(topology.node(node).role == NodeRole::kHost) {}
  void packet(const PacketRecord& record) override {
    recorder_.packet(record);
    if (!is_host_ || !record.frame) return;
    ++frames;
    bytes += record.frame.size() + kCrossShardHeadBytes;
  }
  void event(const EventRecord& record) override { recorder_.event(record); }
  uint64_t frames = 0, bytes = 0;

 private:
  netio::RunRecorder recorder_;
  bool is_host_;
};

/// The samples' world, and what its hosts have come to.
class SampleWorld {
 public:
  explicit SampleWorld(const Topology& topology, uint32_t shift) : topology_(topology) {
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
      observers_.push_back(std::make_unique<Counted>(topology, site.id));
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

/// What a packet costs at that size: it grows on by the same factor for each doubling.
double core_us_at(const std::vector<SimulationSample>& samples, uint64_t hosts) {
  const SimulationSample& large = samples.back();
  if (samples.size() < 2 || hosts <= large.hosts) return large.core_us;
  const SimulationSample& small = samples.front();
  const double steps =
      std::log2(static_cast<double>(large.hosts) / static_cast<double>(small.hosts));
  const double growth =
      std::clamp(std::pow(large.core_us / small.core_us, 1 / steps), 1.0, kMaxGrowthOfDoubling);
  const double doublings = std::log2(static_cast<double>(hosts) / static_cast<double>(large.hosts));
  return large.core_us * std::pow(growth, doublings);
}

RankCost cost_of_ranks(const SimulationPlan& plan, uint32_t ranks, double windows_by_lookahead,
                       bool three_tiers) {
  const SimulationSample& sample = plan.samples.back();
  const double share = 1.0 / ranks;
  RankCost cost{.ranks = ranks};
  cost.memory = plan.topology_bytes + plan.node_bytes * share;
  const double frames = plan.packets * sample.host_frames;
  // Each hop of a packet is a frame that starts: two at hosts, and two between switches for each tier above T0s.
  const double at_once = static_cast<double>(SimWorld::Options{}.frames_at_once) * ranks;
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
  if (plan.hosts < 2) throw InputError("--simulate: found one host: expected at least two");
  for (const uint32_t rows : kSampleRows) {
    const FabricShape small = smaller(shape, rows);
    if (!plan.samples.empty() && small.host_count() <= plan.samples.back().hosts) continue;
    plan.samples.push_back(simulate(small));
  }
  const SimulationSample& sample = plan.samples.back();
  plan.packets = sample.host_packets * static_cast<double>(plan.hosts);
  plan.core_us = core_us_at(plan.samples, plan.hosts);
  plan.topology_bytes = sample.port_bytes * static_cast<double>(plan.ports);
  plan.node_bytes = sample.host_bytes * static_cast<double>(plan.hosts);
  const Topology small = build_topology(smaller(shape, kSampleRows[0]));
  const Bipartition sides = bipartition(small);
  const double windows = sides.windows_in(FabricTime::from_us(1));
  for (const uint32_t ranks : kRanks) {
    if (ranks > 1 && plan.hosts < uint64_t{ranks} * kHostsPerRank) break;
    plan.ranks.push_back(cost_of_ranks(plan, ranks, windows, shape.t2 > 0));
  }
  return plan;
}

}  // namespace mrclab::lab
