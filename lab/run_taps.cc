#include "lab/run_taps.h"

namespace mrclab::lab {

std::filesystem::path tap_file(const RunFolder& folder) { return folder.taps() / "veths.pcapng"; }

void check_taps(const Scenario& scenario) {
  if (scenario.taps == CaptureScope::kNone) return;
  if (scenario.captures == CaptureScope::kNone) {
    throw InputError(scenario.name +
                     ": found \"taps\" beside \"captures: none\": expected captures to hold them "
                     "against");
  }
  if (scenario.taps == CaptureScope::kAll && scenario.topology.wires == WireMode::kFast) {
    throw InputError(
        scenario.name +
        ": found \"taps: all\" in a fabric of fast wires: expected \"taps: hosts\", or "
        "\"wires: veth\"; fast wires are inside a process");
  }
}

std::unique_ptr<netio::VethTaps> tap_veths(const LiveFabric& fabric, CaptureScope scope,
                                           const RunFolder& folder) {
  if (scope == CaptureScope::kNone) return nullptr;
  const Topology& topology = fabric.topology();
  std::vector<netio::TapPort> ports;
  for (const NodeSite& site : topology.nodes) {
    if (scope == CaptureScope::kHosts && site.role != NodeRole::kHost) continue;
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      ports.push_back({topology.port_name(port), &fabric.network_namespace(site.id),
                       site.ports[i].name, site.ports[i].out});
    }
  }
  std::filesystem::create_directories(folder.taps());
  return std::make_unique<netio::VethTaps>(ports, tap_file(folder), kTapBytes);
}

namespace {

/// Memory of the kernel's ring for one byte of wire length, at most: the smallest frames (84 bytes
/// on the wire) take about 200 with trailer, headers of the ring and alignment.
constexpr uint64_t kRingPerWireByte = 3;

FabricTime span_of(uint64_t room, const Topology& topology) {
  FabricTime shortest = FabricTime::never();
  for (const Link& link : topology.links) {
    // Both directions go into one ring.
    shortest =
        std::min(shortest, serialization_time(Bytes{room / (2 * kRingPerWireByte)}, link.rate));
  }
  return shortest;
}

}  // namespace

TapBrake::TapBrake(const netio::VethTaps& taps, const Topology& topology)
    : taps_(taps), span_(span_of(taps.room(), topology)) {}

FabricTime TapBrake::limit(FabricTime clock) {
  if (taps_.rounds_done() >= round_) {
    read_ = asked_;
    asked_ = std::max(asked_, std::min(clock, read_ + span_));
    round_ = taps_.rounds_begun() + 1;
  }
  return read_ + span_;
}

analysis::TapCost cost_of(const netio::TapReport& report) {
  analysis::TapCost cost;
  cost.interfaces = report.interfaces;
  cost.packets = report.packets;
  cost.bytes = report.bytes;
  cost.missing = report.dropped + report.skipped;
  cost.cpu_seconds = report.cpu_seconds;
  cost.open_seconds = report.open_seconds;
  return cost;
}

}  // namespace mrclab::lab
