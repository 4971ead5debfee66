#include "switchd/counters.h"

#include <algorithm>

namespace mrclab::switchd {
namespace {

void add_named(const std::string& prefix, const PortCounters& port, NamedCounters& out) {
  const auto add = [&](const char* name, uint64_t value) {
    out.emplace_back(prefix + name, value);
  };
  add("rx", port.rx);
  add("rx_bytes", port.rx_bytes);
  add("arrivals_lost", port.arrivals_lost);
  add("tx", port.tx);
  add("tx_bytes", port.tx_bytes);
  add("tx_lost", port.tx_lost);
  if (port.tx_copies > 0) add("tx_copies", port.tx_copies);
  add("trimmed", port.trimmed);
  add("ecn_marked", port.ecn_marked);
  add("queued", port.queued);
  add("data_depth_bytes", port.data_depth.value);
  add("data_depth_max_bytes", port.data_depth_max.value);
  add("control_depth_bytes", port.control_depth.value);
  add("control_depth_max_bytes", port.control_depth_max.value);
  add("trimmed_depth_bytes", port.trimmed_depth.value);
  add("trimmed_depth_max_bytes", port.trimmed_depth_max.value);
  if (port.lossless_depth_max > Bytes{0}) {
    add("lossless_depth_bytes", port.lossless_depth.value);
    add("lossless_depth_max_bytes", port.lossless_depth_max.value);
  }
  for (const auto& [name, count] :
       {std::pair{"xoff_sent", port.xoff_sent}, std::pair{"xon_sent", port.xon_sent},
        std::pair{"xoff_received", port.xoff_received},
        std::pair{"xon_received", port.xon_received}}) {
    if (count > 0) add(name, count);
  }
  for (size_t cause = 0; cause < kDropCauses; ++cause) {
    if (port.drops[cause] == 0) continue;
    const std::string name = "drop." + std::string(name_of(static_cast<DropCause>(cause)));
    add(name.c_str(), port.drops[cause]);
  }
}

}  // namespace

PortCounters SwitchCounters::total() const {
  PortCounters sum;
  for (const PortCounters& port : ports) {
    sum.rx += port.rx;
    sum.rx_bytes += port.rx_bytes;
    sum.arrivals_lost += port.arrivals_lost;
    sum.tx += port.tx;
    sum.tx_bytes += port.tx_bytes;
    sum.tx_lost += port.tx_lost;
    sum.tx_copies += port.tx_copies;
    sum.trimmed += port.trimmed;
    sum.ecn_marked += port.ecn_marked;
    for (size_t cause = 0; cause < kDropCauses; ++cause) sum.drops[cause] += port.drops[cause];
    sum.data_depth += port.data_depth;
    sum.control_depth += port.control_depth;
    sum.trimmed_depth += port.trimmed_depth;
    sum.lossless_depth += port.lossless_depth;
    sum.lossless_depth_max = std::max(sum.lossless_depth_max, port.lossless_depth_max);
    sum.xoff_sent += port.xoff_sent;
    sum.xon_sent += port.xon_sent;
    sum.xoff_received += port.xoff_received;
    sum.xon_received += port.xon_received;
    sum.data_depth_max = std::max(sum.data_depth_max, port.data_depth_max);
    sum.control_depth_max = std::max(sum.control_depth_max, port.control_depth_max);
    sum.trimmed_depth_max = std::max(sum.trimmed_depth_max, port.trimmed_depth_max);
    sum.queued += port.queued;
    sum.carrier = sum.carrier && port.carrier;
  }
  return sum;
}

NamedCounters named(const SwitchCounters& counters, const std::vector<std::string>& port_names) {
  NamedCounters out;
  add_named("total.", counters.total(), out);
  for (size_t i = 0; i < counters.ports.size() && i < port_names.size(); ++i) {
    add_named(port_names[i] + ".", counters.ports[i], out);
  }
  return out;
}

}  // namespace mrclab::switchd
