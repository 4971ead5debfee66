// What a switch node has counted, of all its ports.

#include <string>
#include <vector>

#include "switchd/switch_node.h"

namespace mrclab::switchd {

SwitchCounters SwitchNode::counters() const {
  SwitchCounters out;
  out.ports.resize(port_count());
  ports_.for_each([&](uint32_t number, const PortState& state) {
    PortCounters& port = out.ports[number];
    static_cast<TrafficCounters&>(port) = state.tally.traffic;
    static_cast<TroubleCounters&>(port) = state.tally.seen_trouble();
    const auto take = [&](QueueClass of, Bytes& depth, Bytes& most) {
      depth = state.egress.depth(of);
      most = state.egress.depth_max(of);
    };
    take(QueueClass::kData, port.data_depth, port.data_depth_max);
    take(QueueClass::kControl, port.control_depth, port.control_depth_max);
    take(QueueClass::kTrimmed, port.trimmed_depth, port.trimmed_depth_max);
    take(QueueClass::kLossless, port.lossless_depth, port.lossless_depth_max);
    port.queued = state.egress.queued_frames();
    port.carrier = state.egress.carrier();
  });
  return out;
}

uint64_t SwitchNode::trimmed() const {
  uint64_t total = 0;
  ports_.for_each([&](uint32_t, const PortState& port) { total += port.tally.traffic.trimmed; });
  return total;
}

NamedCounters SwitchNode::named_counters() const {
  std::vector<std::string> names;
  for (const Port& port : environment_.topology.node(environment_.self).ports) {
    names.push_back(port.name());
  }
  return named(counters(), names);
}

}  // namespace mrclab::switchd
