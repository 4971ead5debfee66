#include "live/external/switch_impairment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/topology/forwarder.h"
#include "fabric/topology/routes.h"
#include "live/bringup/bring_up.h"

namespace mrclab::lab {
namespace {

/// Frames are classified by length in steps of so many bytes: errors hit long ones more often.
constexpr uint32_t kLengthStep = 256;
/// Behind the outer IPv6 header: the inner one (40), UDP (8), and two bytes of the transport header: the
/// P_Key, which no receiver of this fabric looks at and the ICRC covers. Every MRC packet has it.
constexpr const char* kOverwrite = "@th,400,8 set 0x55";

/// What both ends of a link see decides whether it is down as a whole.
bool carrier_lost(const std::vector<Effect>& degraded, PortRef port) {
  return std::any_of(degraded.begin(), degraded.end(), [&](const Effect& effect) {
    const auto* carrier = std::get_if<PortCarrier>(&effect);
    return carrier != nullptr && carrier->port == port;
  });
}

class Collector {
 public:
  Collector(const Topology& topology, const NodeSite& site, const std::vector<Effect>& degraded)
      : topology_(topology), site_(site), degraded_(degraded) {
    impairment.ports.resize(site.ports.size());
  }

  void operator()(const WireState& e) {
    on(e.wire, [](PortImpairment& port) { port.dark = true; });
  }
  void operator()(const WireErrors& e) {
    on(e.wire, [&](PortImpairment& port) { port.errors = e.rate; });
  }
  void operator()(const WireRate& e) {
    on(e.wire, [&](PortImpairment& port) { port.rate = e.rate; });
  }
  void operator()(const WireLoss& e) {
    on(e.wire, [&](PortImpairment& port) {
      if (e.kind == LossKind::kEveryNth) port.every = e.every;
      if (e.kind == LossKind::kRandom) port.loss = e.loss;
    });
  }
  void operator()(const PortCarrier& e) {
    if (e.port.node == site_.id)
      on(topology_.port(e.port).out, [](auto& port) { port.dark = true; });
  }
  void operator()(const SwitchState& e) {
    on_all_ports(e.node, [](PortImpairment& port) { port.dark = true; });
  }
  void operator()(const SwitchErrors& e) {
    on_all_ports(e.node, [&](PortImpairment& port) { port.corruption = e.rate; });
  }
  void operator()(const SwitchBuffer& e) {
    on_all_ports(e.node, [&](PortImpairment& port) { port.buffer_lost = e.lost; });
  }
  void operator()(const SwitchTrim& e) {
    on_all_ports(e.node, [&](PortImpairment& port) { port.trim_off = e.off; });
  }
  void operator()(const SwitchEcn& e) {
    on_all_ports(e.node, [&](PortImpairment& port) { port.ecn = e.kind; });
  }
  void operator()(const SwitchRoute& e) {
    if (e.node == site_.id) impairment.routes.push_back(e);
  }
  void operator()(const auto&) {}

  SwitchImpairment impairment;

 private:
  void on_all_ports(NodeId node, auto change) {
    if (node == site_.id) std::for_each(impairment.ports.begin(), impairment.ports.end(), change);
  }
  void on(WireId id, auto change) {
    const Wire& wire = topology_.wire(id);
    if (wire.from.node != site_.id) return;
    // A link between two of them is set down. One to a node of ours is, too, but comes up a little early.
    const bool down = carrier_lost(degraded_, wire.from) && carrier_lost(degraded_, wire.to);
    if (down && !receiver_is_ours(topology_, id)) return;
    change(impairment.ports[wire.from.port.value]);
  }

  const Topology& topology_;
  const NodeSite& site_;
  const std::vector<Effect>& degraded_;
};

/// A share of all frames in the filter's language: "numgen random mod 1000000000 < 2000000 ".
std::string share_match(int64_t ppb) {
  return ppb >= Probability::kOne ? "" : fmt::format("numgen random mod 1000000000 < {} ", ppb);
}

/// One rule for each length class of frames that bit errors hit, and what is done to those.
void add_error_rules(BitErrorRate rate, const std::string& verdict,
                     std::vector<std::string>& rules) {
  if (rate.per_quadrillion == 0) return;
  const double per_bit =
      static_cast<double>(rate.per_quadrillion) / static_cast<double>(BitErrorRate::kOne);
  for (uint32_t from = 0; from <= port_mtu(); from += kLengthStep) {
    const double bits = 8.0 * (from + kLengthStep / 2);
    const double hit = per_bit >= 1 ? 1 : -std::expm1(bits * std::log1p(-per_bit));
    const auto ppb = static_cast<int64_t>(std::llround(hit * Probability::kOne));
    if (ppb == 0) continue;
    rules.push_back(fmt::format("meta length {}-{} {}{}", from, from + kLengthStep - 1,
                                share_match(ppb), verdict));
  }
}

}  // namespace

SwitchImpairment impairment_of(const Topology& topology, NodeId node,
                               const std::vector<Effect>& degraded) {
  const NodeSite& site = topology.node(node);
  Collector collector(topology, site, degraded);
  for (const Effect& effect : degraded) std::visit(collector, effect);
  std::vector<SwitchRoute>& routes = collector.impairment.routes;
  std::sort(routes.begin(), routes.end(),
            [](const SwitchRoute& a, const SwitchRoute& b) { return a.usid.value < b.usid.value; });
  return std::move(collector.impairment);
}

NodeId concerned_switch(const Topology& topology, const Effect& effect) {
  const NodeId node = std::visit(
      [&](const auto& e) -> NodeId {
        if constexpr (requires { e.wire; }) return topology.wire(e.wire).from.node;
        if constexpr (requires { e.port.node; }) return e.port.node;
        if constexpr (requires { e.node; }) return e.node;
        return NodeId{};
      },
      effect);
  return node.valid() && !is_ours(topology.node(node)) ? node : NodeId{};
}

std::vector<std::string> egress_rules(const PortImpairment& impairment, Forwarding by) {
  const std::string lose = by == Forwarding::kOvs ? "counter fwd to \"lo\"" : "counter drop";
  if (impairment.dark || impairment.buffer_lost.ppb >= Probability::kOne) return {lose};
  std::vector<std::string> rules;
  if (impairment.every > 0) {
    rules.push_back(
        fmt::format("numgen inc mod {} {} {}", impairment.every, impairment.every - 1, lose));
  }
  if (impairment.loss.ppb > 0) rules.push_back(share_match(impairment.loss.ppb) + lose);
  add_error_rules(impairment.errors, lose, rules);
  add_error_rules(impairment.corruption, std::string(kOverwrite) + " counter", rules);
  return rules;
}

netio::Shaper shaper_of(const Topology& topology, PortRef port, const PortImpairment& impairment,
                        double dilation) {
  const Link& link = topology.link(topology.port(port).link);
  const uint64_t bps =
      impairment.rate.bps == 0 ? link.rate.bps : std::min(impairment.rate.bps, link.rate.bps);
  const uint64_t kept =
      Probability::kOne - std::min<uint64_t>(impairment.buffer_lost.ppb, Probability::kOne);
  const uint64_t limit = topology.queues_of(topology.wire(topology.port(port).out)).tail_drop.value;
  const uint64_t queue = limit * kept / Probability::kOne;
  netio::Shaper shaper;
  shaper.bytes_per_second =
      std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(bps) / 8 / dilation));
  shaper.burst = port_mtu() + 64;  // one frame, whatever its headers
  shaper.queue = static_cast<uint32_t>(std::max<uint64_t>(queue, shaper.burst));
  return shaper;
}

}  // namespace mrclab::lab
