// What every flow of a simulated scenario gets, by the base RTT: what bench_congestion is made of.
//
//   flow_rates SCENARIO.yaml     prints JSON
//
// A flow is all that one host writes to another. Bins are one base RTT long; bytes are write payload
// that reached the receiver's NIC whole. Trims are counted where they arrive, drops where they happen.

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fabric/headers.h"
#include "fabric/path.h"
#include "lab/scenario.h"
#include "lab/simulation.h"

namespace mrclab {
namespace {

using Bins = std::vector<uint64_t>;

struct Flow {
  Bins payload;  // bytes
  Bins trimmed;  // packets
};

/// What arrives at one host.
class Arrivals : public NodeObserver {
 public:
  Arrivals(FabricTime rtt, size_t bins) : wire(bins), rtt_(rtt), bins_(bins) {}
  void packet(const PacketRecord& record) override {
    if (record.event == PacketEvent::kDropped || record.direction != Direction::kIngress) return;
    MrcPacket packet;
    const size_t bin = static_cast<size_t>(record.t.ps() / rtt_.ps());
    if (bin >= bins_) return;
    wire[bin] += record.frame.wire_length().value;
    if (parse_mrc_frame(record.frame.bytes(), packet, {.allow_cut = true}) != ParseError::kNone)
      return;
    if (!is_write(packet.bth.opcode)) return;
    Flow& flow = flows[packet.inner.source];
    if (flow.payload.empty()) flow = {Bins(bins_), Bins(bins_)};
    if (packet.trimmed) {
      ++flow.trimmed[bin];
    } else {
      flow.payload[bin] += packet.payload_length;
    }
  }
  void event(const EventRecord&) override {}

  std::map<Ipv6Address, Flow> flows;
  Bins wire;  // bytes, of anything

 private:
  FabricTime rtt_;
  size_t bins_;
};

/// What a switch drops.
class Drops : public NodeObserver {
 public:
  void packet(const PacketRecord& record) override {
    if (record.event != PacketEvent::kDropped) return;
    MrcPacket packet;
    const ParseError error = parse_mrc_frame(record.frame.bytes(), packet, {.allow_cut = true});
    const char* const kind = error != ParseError::kNone    ? "other"
                             : packet.trimmed              ? "trimmed"
                             : is_write(packet.bth.opcode) ? "data"
                                                           : "control";
    ++drops[std::string(name_of(record.cause)) + " " + kind];
  }
  void event(const EventRecord&) override {}
  std::map<std::string, uint64_t> drops;
};

nlohmann::ordered_json measure(const char* file) {
  lab::ScenarioOverrides overrides;
  overrides.payload_elided = true;
  const lab::Scenario scenario = lab::read_scenario_file(file, overrides);
  const Topology& topology = scenario.topology;
  const FabricTime rtt = topology.base_rtt;
  const auto bins = static_cast<size_t>(scenario.stop().ps() / rtt.ps());
  std::vector<std::unique_ptr<NodeObserver>> observers;
  std::vector<Arrivals*> hosts;
  std::vector<Drops*> switches;
  std::map<Ipv6Address, std::string> names;
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) {
      auto arrivals = std::make_unique<Arrivals>(rtt, bins);
      hosts.push_back(arrivals.get());
      observers.push_back(std::move(arrivals));
      names[host_address(topology, site.index)] = site.name;
    } else {
      auto drops = std::make_unique<Drops>();
      switches.push_back(drops.get());
      observers.push_back(std::move(drops));
    }
  }
  lab::Simulation simulation(scenario, 1,
                             [&](NodeId node) -> NodeObserver& { return *observers[node.value]; });
  std::vector<Bins> windows(hosts.size()), in_flight(hosts.size());
  for (size_t bin = 1; bin <= bins; ++bin) {
    simulation.run({}, rtt * static_cast<int64_t>(bin));
    for (uint32_t h = 0; h < hosts.size(); ++h) {
      const endpoint::HostStats stats = simulation.account(h).stats;
      windows[h].push_back(stats.window_bytes);
      in_flight[h].push_back(stats.in_flight_bytes);
    }
  }
  simulation.run();
  std::map<std::string, uint64_t> drops;
  for (const Drops* each : switches) {
    for (const auto& [kind, count] : each->drops) drops[kind] += count;
  }
  nlohmann::ordered_json out{{"rtt_ns", static_cast<double>(rtt.ps()) / 1e3},
                             {"port_bps", topology.host_rate.bps},
                             {"planes", topology.planes},
                             {"pmtu", topology.pmtu},
                             {"bins", bins},
                             {"drops", drops}};
  for (size_t h = 0; h < hosts.size(); ++h) {
    const endpoint::HostStats stats = simulation.account(static_cast<uint32_t>(h)).stats;
    nlohmann::ordered_json& own = out["hosts"]["h" + std::to_string(h)];
    own = {{"losses", stats.losses_detected},
           {"spurious", stats.spurious_losses},
           {"timeouts", stats.timeouts},
           {"evs_lost", stats.evs_lost},
           {"retransmissions", stats.retransmissions},
           {"sent", stats.data_packets_sent},
           {"window", stats.window_bytes},
           {"errors", stats.qps_in_error},
           {"marks", stats.ce_marks_seen}};
    if (stats.data_packets_sent > 0) own["windows"] = windows[h], own["in_flight"] = in_flight[h];
    if (hosts[h]->flows.empty()) continue;
    own["wire"] = hosts[h]->wire;
    for (const auto& [source, flow] : hosts[h]->flows) {
      own["from"][names[source]] = {{"payload", flow.payload}, {"trimmed", flow.trimmed}};
    }
  }
  return out;
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: flow_rates SCENARIO.yaml\n");
    return 2;
  }
  try {
    std::printf("%s\n", mrclab::measure(argv[1]).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flow_rates: %s\n", error.what());
    return 1;
  }
}
