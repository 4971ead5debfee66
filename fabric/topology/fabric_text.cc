// Writes a fabric's shape as it stands in a file.

#include "fabric/text/yaml_write.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/forwarding_file.h"
#include "fabric/topology/graph_file.h"

namespace mrclab {
namespace {

std::string in_bdps(uint32_t thousandths) {
  return std::to_string(thousandths / 1000) + "." +
         std::to_string(1000 + thousandths % 1000).substr(1);
}

std::string dscps_text(const DscpMap& dscps) {
  std::string text;
  for (const DscpClass& each : kDscpClasses) {
    text += (text.empty() ? "{" : ", ") + std::string(each.name) + ": " +
            std::to_string(dscps.*each.member);
  }
  return text + "}";
}

std::string roce_text(const QueueShape& q, const LosslessProfile& lossless) {
  return std::string("{pfc: ") + (lossless.pfc ? "on" : "off") +
         ", adaptive_routing: " + (lossless.adaptive ? "on" : "off") +
         ", red: {min: " + in_bdps(q.red_min) + ", max: " + in_bdps(q.red_max) +
         ", most: " + exact(lossless.red_most) + "}, tail_drop: " + in_bdps(q.lossless_limit) +
         ", buffer: " + in_bdps(q.buffer_share) + ", alpha: " + in_bdps(lossless.alpha_permille) +
         ", watchdog: " + watchdog_text(lossless) + "}";
}

std::string link_rates_text(const std::vector<LinkRate>& rates) {
  std::string text;
  for (const LinkRate& other : rates) {
    text += (text.empty() ? "" : ", ") + ("{links: " + yaml_word(other.links)) +
            ", rate: " + exact(other.rate) + "}";
  }
  return "[" + text + "]";
}

}  // namespace

std::string watchdog_text(const LosslessProfile& lossless) {
  if (lossless.watchdog == WatchdogAction::kOff) return "off";
  const char* const action = lossless.watchdog == WatchdogAction::kDrop ? "drop" : "forward";
  return "{detect: " + exact(lossless.detect) + ", restore: " + exact(lossless.restore) +
         ", action: " + action + "}";
}

std::string to_yaml(const FabricShape& shape, size_t indent) {
  const std::string margin(indent, ' ');
  std::string text;
  const auto line = [&](const std::string& key, const std::string& value) {
    text += margin + key + ": " + value + "\n";
  };
  const auto range = [](const NicProfile::Range& r) {
    return "[" + exact(r.min) + ", " + exact(r.max) + "]";
  };
  const QueueShape& q = shape.queues;
  line("name", yaml_word(shape.name));
  if (shape.graph.empty()) {
    line("planes", std::to_string(shape.planes));
    line("t0", std::to_string(shape.t0));
    line("t1", std::to_string(shape.t1));
    line("hosts_per_t0", std::to_string(shape.hosts_per_t0));
    line("address_plan", std::string(UsidLayout::of(shape.address_plan).name()));
  } else {
    text += graph_yaml(shape.graph, margin);
  }
  line("decap", shape.decap == Decap::kLeaf ? "leaf" : "nic");
  line("segments", shape.segments == Segments::kAdjacency ? "adjacency" : "node");
  line("host_rate", exact(shape.host_rate));
  line("fabric_rate", exact(shape.fabric_rate));
  if (!shape.link_rates.empty()) line("link_rates", link_rates_text(shape.link_rates));
  line("propagation", exact(shape.propagation));
  line("switch_latency", exact(shape.switch_latency));
  line("host_latency", exact(shape.host_latency));
  line("pmtu", std::to_string(shape.pmtu));
  line("optics", shape.links_per_optic == 0
                     ? "off"
                     : "{t0_downlinks: " + std::to_string(shape.links_per_optic) + "}");
  line("forwarding", forwarding_text(shape.forwarding));
  line("routing", routing_text(shape.routing));
  if (shape.speaker != SpeakerChoice{}) line("speaker", speaker_text(shape.speaker));
  line("wires", shape.wires == WireMode::kFast ? "fast" : "veth");
  line("ecn",
       !q.ecn ? "off" : "{min: " + in_bdps(q.ecn_min) + ", max: " + in_bdps(q.ecn_max) + "}");
  line("trim", !q.trim ? "off"
                       : "{threshold: " + in_bdps(q.trim_threshold) +
                             ", last_hop: " + in_bdps(q.trim_threshold_last_hop) + "}");
  line("queues", "{control: " + in_bdps(q.control_limit) + ", trimmed: " +
                     in_bdps(q.trimmed_limit) + ", tail_drop: " + in_bdps(q.tail_drop) + "}");
  line("dscp", dscps_text(shape.dscps));
  line("roce", roce_text(q, shape.lossless));
  line("nic", shape.nic.name == "ideal"
                  ? "ideal"
                  : "{name: " + yaml_word(shape.nic.name) +
                        ", port_down_delay: " + exact(shape.nic.port_down_delay) +
                        ", port_up_delay: " + exact(shape.nic.port_up_delay) +
                        ", remap_down: " + range(shape.nic.remap_down) +
                        ", remap_up: " + range(shape.nic.remap_up) + "}");
  return text;
}

}  // namespace mrclab
