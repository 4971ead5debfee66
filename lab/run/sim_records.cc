#include "lab/run/sim_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/judging/run_inputs.h"
#include "sim/sim_world.h"

namespace mrclab::lab {

SimRecords::SimRecords(const Scenario& scenario, const RunFolder& folder, const Options& options)
    : stop_(scenario.stop()), followed_(followed_senders(scenario)), shards_(options.threads) {
  const Topology& topology = scenario.topology;
  netio::RunRecorder::Wanted wanted;
  if (!followed_.all()) {
    wanted = [this, &topology](const Frame& frame) { return followed_.follows(topology, frame); };
  }
  const uint32_t all_shards =
      options.threads * (options.ranks != nullptr ? options.ranks->count() : 1);
  const uint32_t first = options.threads * (options.ranks != nullptr ? options.ranks->rank() : 0);
  std::vector<uint32_t> shard_of_node;
  for (const NodeSite& site : topology.nodes) {
    const uint32_t shard = SimWorld::shard_of(topology, site.id, all_shards);
    shard_of_node.push_back(shard);
    if (shard >= first && shard - first < shards_.size()) {
      shards_[shard - first].nodes.push_back(site.id);
    }
  }
  recorders_.resize(topology.nodes.size());
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    if (shard.nodes.empty())
      continue;  // more shards than hosts or planes: it has nothing to record
    const std::string name = all_shards == 1 ? "sim" : fmt::format("sim-{}", first + i);
    const uint64_t share =
        netio::history_share(topology, shard_of_node, first + i, options.history_bytes);
    open_files(shard, name, scenario, folder, options, share);
    for (const NodeId node : shard.nodes) {
      const bool passed =
          scenario.captures == CaptureScope::kAll || topology.node(node).role == NodeRole::kHost;
      recorders_[node.value] =
          std::make_unique<netio::RunRecorder>(topology, node, stop_, shard.capture.get(), passed,
                                               shard.events.get(), shard.records.get(), wanted);
    }
  }
}

void SimRecords::open_files(Shard& shard, const std::string& name, const Scenario& scenario,
                            const RunFolder& folder, const Options& options,
                            uint64_t history_bytes) {
  shard.events = std::make_unique<netio::EventLog>(folder.path / "events" / (name + ".jsonl"));
  if (scenario.captures != CaptureScope::kNone) {
    netio::PcapngOptions snap;
    snap.snap_length = netio::kCaptureSnapLength;
    snap.max_file_bytes = options.capture_bytes;
    shard.capture =
        std::make_unique<netio::PcapngWriter>(folder.captures() / (name + ".pcapng"), snap);
  }
  if (options.history_bytes > 0) {
    shard.records = std::make_unique<netio::HistoryWriter>(
        folder.history() / (name + ".bin"), stream_count(scenario.topology), history_bytes);
  }
}

FabricTime SimRecords::last() const {
  FabricTime last;
  for (const auto& recorder : recorders_) {
    if (recorder) last = std::max(last, recorder->last());
  }
  return last;
}

void SimRecords::set_end(FabricTime end) {
  for (const auto& recorder : recorders_) {
    if (recorder) recorder->set_end(end);
  }
}

void SimRecords::close(FabricTime reached) {
  for (Shard& shard : shards_) {
    if (shard.nodes.empty()) continue;
    EvidenceSeal told;
    told.nodes = shard.nodes;
    if (reached < stop_) told.until = reached;
    if (shard.capture) {
      // The seal stands with an interface, and nobody may have been followed here.
      if (!shard.capture->has_interfaces()) recorder(shard.nodes.front()).add_drop_interface();
      shard.capture->close(told);
    }
    shard.events->close(told);
    if (shard.records) shard.records->close(told);
  }
}

uint64_t SimRecords::capture_records() const {
  uint64_t records = 0;
  for (const Shard& shard : shards_) records += shard.capture ? shard.capture->written() : 0;
  return records;
}

std::vector<HistoryStream> SimRecords::streams() const {
  std::vector<HistoryStream> all;
  for (const auto& recorder : recorders_) {
    if (!recorder) continue;
    const auto streams = recorder->history().reported();
    all.insert(all.end(), streams.begin(), streams.end());
  }
  return all;
}

}  // namespace mrclab::lab
