#include "session/simulated_branch.h"

#include "fabric/history/report_json.h"
#include "fabric/packet/drop_kind.h"
#include "scenario/simulation/work_end.h"
#include "session/recording/first_racks.h"
#include "switchd/switch_node.h"
#include "switchd/table_json.h"

namespace mrclab::lab {
namespace {

Scenario without_payload(Scenario scenario) {
  scenario.payload_elided = true;
  return scenario;
}

FabricTally::SwitchCount count_of(const Topology& topology, const switchd::SwitchNode& node) {
  FabricTally::SwitchCount count;
  const NodeSite& site = topology.node(node.self());
  const switchd::SwitchCounters counters = node.counters();
  for (size_t i = 0; i < counters.ports.size(); ++i) {
    const switchd::PortCounters& port = counters.ports[i];
    const Wire& out = topology.wire(site.ports[i].out);
    const QueueProfile& queues = topology.queues_of(out);
    const Bytes limit = queues.trim ? queues.trim_threshold : queues.tail_drop;
    count.sent_bytes += port.tx_bytes;
    count.trimmed += port.trimmed;
    count.marked += port.ecn_marked;
    for (size_t cause = 0; cause < kDropCauses; ++cause) {
      if (drop_kind(static_cast<DropCause>(cause)) != DropKind::kRefused) {
        count.lost += port.drops[cause];
      }
    }
    // What a wire between switches spoils is counted where it arrives.
    if (topology.node(out.to.node).role == NodeRole::kHost) count.lost += port.tx_lost;
    if (limit.value > 0) {
      count.queue = std::max(count.queue, static_cast<double>(port.data_depth.value) /
                                              static_cast<double>(limit.value));
    }
  }
  return count;
}

}  // namespace

Scenario played_to_its_end(Scenario scenario) {
  return ended_with_work(playable(std::move(scenario)));
}

SimulatedBranch::SimulatedBranch(Scenario scenario, size_t max_packets)
    : Branch(without_payload(playable(std::move(scenario))), nullptr), max_packets_(max_packets) {
  begin(is_summarised(scenario_.topology) ? first_racks(scenario_) : std::vector<uint32_t>());
}

void SimulatedBranch::begin(std::vector<uint32_t> racks) {
  const Topology& topology = scenario_.topology;
  const bool part = is_summarised(topology);
  recording_ = std::make_unique<Recording>(
      topology, scenario_.stop(), part ? kFollowedTimes * max_packets_ : max_packets_,
      part ? FollowedPart(topology, std::move(racks)) : FollowedPart(topology));
  if (part) tally_.emplace(topology, recording_->bin());
  watch_ = std::make_unique<RecordingWatch>(*recording_, topology, scenario_.stop());
  simulation_ = std::make_unique<Simulation>(
      scenario_, 1, [this](NodeId node) -> NodeObserver& { return watch_->observer(node); });
}

void SimulatedBranch::begin_again(Scenario scenario, std::vector<uint32_t> racks) {
  scenario = without_payload(played_to_its_end(std::move(scenario)));
  const auto begin_with = [&](std::vector<uint32_t> followed) {
    simulation_.reset();
    watch_.reset();
    tally_.reset();
    recording_.reset();
    std::swap(scenario_, scenario);
    reached_ = FabricTime::zero();
    begin(std::move(followed));
  };
  std::vector<uint32_t> before = recording_->part().racks();
  try {
    begin_with(std::move(racks));
  } catch (...) {
    begin_with(std::move(before));  // the one that was there, as they have changed places
    throw;
  }
}

void SimulatedBranch::reach(FabricTime until, const GoOn& go_on) {
  until = std::min(until, end());
  while (reached_ < until) {
    const FabricTime window = tally_ ? std::min(tally_->next_end(), end()) : end();
    const FabricTime stop = std::min(until, window);
    reached_ = std::max(reached_, simulation_->run(go_on, stop));
    if (reached_ < stop) break;
    while (tally_ && tally_->windows() < recording_->bins() &&
           std::min(tally_->next_end(), end()) <= reached_) {
      count_window();
    }
  }
  recording_->complete(reached_);
}

/// Nodes that have had nothing to do yet are not made for being asked.
void SimulatedBranch::count_window() {
  std::vector<uint64_t> received;
  for (const NodeSite& site : scenario_.topology.nodes) {
    if (!simulation_->is_made(site.id)) continue;
    if (site.role != NodeRole::kHost) {
      tally_->count_switch(site.id, count_of(scenario_.topology, simulation_->switch_at(site.id)));
      continue;
    }
    const endpoint::HostStats stats = simulation_->host_at(site.id).stats();
    received.clear();
    for (const endpoint::PlaneStats& plane : stats.planes) {
      received.push_back(plane.rx_payload_bytes);
    }
    tally_->count_host(received, stats.retransmissions);
  }
  tally_->close_window();
}

SwitchStatus SimulatedBranch::status_of(const NodeSite& site) const {
  const switchd::SwitchNode& node = simulation_->switch_at(site.id);
  SwitchStatus words;
  words.table = switchd::table_json(node);
  if (const std::optional<NodePauses> pauses = node.pauses()) {
    words.pauses = report_to_json(*pauses);
  }
  for (const auto& [name, value] : node.named_counters()) words.counters[std::string(name)] = value;
  return words;
}

}  // namespace mrclab::lab
