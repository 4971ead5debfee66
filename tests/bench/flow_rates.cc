// What every flow of a simulated scenario gets, by the base RTT: what bench_congestion is made of.
//
//   flow_rates [--losses] SCENARIO.yaml     prints JSON
//
// With --losses also every packet that arrived by a retransmission (loss_recovery.h), in RTTs.
//
// A flow is all that one host writes to another. Bins are one base RTT long; bytes are write payload
// that reached the receiver's NIC whole. Trims are counted where they arrive, drops where they happen.

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario.h"
#include "tests/bench/loss_recovery.h"

namespace mrclab {
namespace {

using Bins = std::vector<uint64_t>;

struct Flow {
  Bins payload;  // bytes
  Bins trimmed;  // packets
};

/// What one host sees; what it sends only where losses are looked at.
class Arrivals : public NodeObserver {
 public:
  Arrivals(FabricTime rtt, size_t bins, uint32_t host, const std::map<Ipv6Address, uint32_t>& hosts,
           LossRecoveries* losses)
      : wire(bins), rtt_(rtt), bins_(bins), host_(host), hosts_(hosts), losses_(losses) {}
  void packet(const PacketRecord& record) override {
    if (record.event == PacketEvent::kDropped) return;
    MrcPacket packet;
    if (record.direction != Direction::kIngress) {
      if (losses_ == nullptr) return;
      if (parse_mrc_frame(record.frame.bytes(), packet, {.allow_cut = true}) != ParseError::kNone)
        return;
      if (is_write(packet.bth.opcode))
        losses_->sent(host_, packet.bth.destination_qp, packet.bth.psn, record.t);
      return;
    }
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
      if (losses_ != nullptr)
        losses_->arrived(hosts_.at(packet.inner.source), packet.bth.destination_qp, packet.bth.psn,
                         record.t, packet.bth.retransmission);
    }
  }
  void event(const EventRecord& record) override {
    if (losses_ == nullptr || record.kind != "loss_detected") return;
    losses_->declared(host_, *record.qp, *record.psn, record.t, record.cause);
  }

  std::map<Ipv6Address, Flow> flows;
  Bins wire;  // bytes, of anything

 private:
  FabricTime rtt_;
  size_t bins_;
  uint32_t host_;
  const std::map<Ipv6Address, uint32_t>& hosts_;
  LossRecoveries* losses_;
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

nlohmann::ordered_json recoveries_of(lab::Simulation& simulation, LossRecoveries& losses,
                                     size_t hosts, FabricTime rtt) {
  std::map<std::pair<uint32_t, uint32_t>, Qpn> remote_of;
  for (uint32_t h = 0; h < hosts; ++h) {
    for (const endpoint::QueueCounts& queue : simulation.account(h).queues) {
      remote_of[{h, queue.local.value}] = queue.remote;
    }
  }
  const auto rtts = [&](FabricTime t) {
    return static_cast<double>(t.ps()) / static_cast<double>(rtt.ps());
  };
  auto list = nlohmann::ordered_json::array();
  for (const LossRecovery& each : losses.finish(remote_of)) {
    list.push_back({{"source", "h" + std::to_string(each.source)},
                    {"found", each.found},
                    {"sent", rtts(each.sent)},
                    {"noticed", rtts(each.noticed)},
                    {"again", rtts(each.again)},
                    {"delivered", rtts(each.delivered)},
                    {"attempts", each.attempts}});
  }
  return list;
}

nlohmann::ordered_json measure(const char* file, bool with_losses) {
  lab::ScenarioOverrides overrides;
  overrides.payload_elided = true;
  const lab::Scenario scenario = lab::read_scenario_file(file, overrides);
  const Topology& topology = scenario.topology;
  const FabricTime rtt = topology.base_rtt;
  const auto bins = static_cast<size_t>(scenario.stop().ps() / rtt.ps());
  std::vector<std::unique_ptr<NodeObserver>> observers;
  std::vector<Arrivals*> hosts;
  std::vector<Drops*> switches;
  std::map<Ipv6Address, uint32_t> numbers;
  LossRecoveries losses;
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) {
      auto arrivals = std::make_unique<Arrivals>(rtt, bins, site.index, numbers,
                                                 with_losses ? &losses : nullptr);
      hosts.push_back(arrivals.get());
      observers.push_back(std::move(arrivals));
      numbers[host_address(topology, site.index)] = site.index;
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
      own["from"]["h" + std::to_string(numbers.at(source))] = {{"payload", flow.payload},
                                                               {"trimmed", flow.trimmed}};
    }
  }
  if (with_losses) out["recoveries"] = recoveries_of(simulation, losses, hosts.size(), rtt);
  return out;
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  const bool losses = argc == 3 && std::strcmp(argv[1], "--losses") == 0;
  if (argc != 2 && !losses) {
    std::fprintf(stderr, "usage: flow_rates [--losses] SCENARIO.yaml\n");
    return 2;
  }
  try {
    std::printf("%s\n", mrclab::measure(argv[argc - 1], losses).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flow_rates: %s\n", error.what());
    return 1;
  }
}
