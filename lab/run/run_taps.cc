#include "lab/run/run_taps.h"

#include "live/bringup/node_plan.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {

namespace {

/// The ports of hosts, or of all nodes.
std::vector<PortRef> ports_in(const Topology& topology, CaptureScope scope) {
  std::vector<PortRef> ports;
  for (const NodeSite& site : topology.nodes) {
    if (scope == CaptureScope::kHosts && site.role != NodeRole::kHost) continue;
    for (uint32_t i = 0; i < site.ports.size(); ++i) ports.push_back({site.id, PortId{i}});
  }
  return ports;
}

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
  const size_t ports = ports_in(scenario.topology, scenario.taps).size();
  if (ports > netio::VethTaps::kMaxPorts) {
    throw InputError(scenario.name + ": found \"taps\" on " + std::to_string(ports) +
                     " ports: expected at most " + std::to_string(netio::VethTaps::kMaxPorts));
  }
}

std::unique_ptr<netio::VethTaps> tap_veths(const LiveFabric& fabric, CaptureScope scope,
                                           const RunFolder& folder) {
  if (scope == CaptureScope::kNone) return nullptr;
  const Topology& topology = fabric.topology();
  std::vector<netio::TapPort> ports;
  for (const PortRef ref : ports_in(topology, scope)) {
    const Port& port = topology.port(ref);
    ports.push_back({topology.port_name(ref), &fabric.network_namespace(ref.node),
                     device_of(topology, ref), port.out});
  }
  netio::OutputFolder::make(folder.taps());
  return std::make_unique<netio::VethTaps>(ports, tap_file(folder), kTapBytes);
}

TapBrake::TapBrake(const netio::VethTaps& taps, const Topology& topology)
    : taps_(taps), span_(span_of(taps.room(), topology)) {}

FabricTime TapBrake::limit(FabricTime done) {
  if (taps_.rounds_done() >= round_) {
    read_ = asked_;
    asked_ = done;
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
