#include "faults/forwarding_limits.h"

#include "fabric/topology/forwarder.h"

namespace mrclab::faults {
namespace {

std::string forwarder_words(const NodeSite& site) {
  if (site.forwarding == Forwarding::kBpf) return "a BPF program forwards";
  return site.forwarding == Forwarding::kKernel ? "the kernel forwards" : "Open vSwitch forwards";
}

/// Looks at one effect after the other; a sender or receiver of ours does all that a wire can do.
class Limits {
 public:
  explicit Limits(const Topology& topology) : topology_(topology) {}

  using Answer = std::optional<Refusal>;

  Answer operator()(const WireDelay& effect) const {
    const Wire& wire = topology_.wire(effect.wire);
    if (sender_is_ours(topology_, wire.id) && receiver_is_ours(topology_, wire.id)) return {};
    const bool at_sender = !sender_is_ours(topology_, wire.id);
    return on_wire(wire, at_sender ? wire.from.node : wire.to.node, "an extra delay",
                   "a wire between nodes of ours: it carries no fabric time, and the kernel has no "
                   "means to hold frames back");
  }
  Answer operator()(const WireDuplicates& effect) const {
    if (sender_is_ours(topology_, effect.wire)) return {};
    const Wire& wire = topology_.wire(effect.wire);
    return on_wire(wire, wire.from.node, "frames twice",
                   "a wire out of a node of ours: only those can send a frame twice");
  }
  Answer operator()(const WireLoss& effect) const {
    if (sender_is_ours(topology_, effect.wire)) return {};
    const Wire& wire = topology_.wire(effect.wire);
    if (effect.kind == LossKind::kBursty) {
      return on_wire(
          wire, wire.from.node, "a loss in bursts",
          "a loss at random or of every n-th frame: a rule of the kernel's packet filter "
          "remembers no good and bad state");
    }
    if (effect.one_ev) {
      return on_wire(wire, wire.from.node, "a loss of one entropy value",
                     "a wire out of a node of ours, or a loss of all frames alike");
    }
    return {};
  }
  Answer operator()(const WireCodewords& effect) const {
    if (sender_is_ours(topology_, effect.wire)) return {};
    const Wire& wire = topology_.wire(effect.wire);
    return on_wire(wire, wire.from.node, "errors behind a code",
                   "a wire out of a node of ours, or bit_errors without fec: a rule of the "
                   "kernel's packet filter sees no codewords");
  }
  Answer operator()(const SwitchTrim& effect) const {
    if (marks_and_trims(topology_.node(effect.node).forwarding)) return {};
    return on_switch(effect.node, "a fault of trimming",
                     "a switch of ours: this one never trims, it drops what its queue cannot take");
  }
  Answer operator()(const SwitchEcn& effect) const {
    if (marks_and_trims(topology_.node(effect.node).forwarding)) return {};
    return on_switch(effect.node, "a fault of ECN marking",
                     "a switch of ours: this one never marks");
  }
  Answer operator()(const auto&) const { return {}; }

 private:
  Refusal on_wire(const Wire& wire, NodeId node, const std::string& what,
                  const std::string& expected) const {
    const NodeSite& site = topology_.node(node);
    return {what + " on " + topology_.wire_name(wire.id) + ", where " + forwarder_words(site) +
                " in " + site.name,
            expected};
  }
  Answer on_switch(NodeId node, const std::string& what, const std::string& expected) const {
    const NodeSite& site = topology_.node(node);
    if (is_ours(site)) return {};
    return Refusal{what + " at " + site.name + ", where " + forwarder_words(site), expected};
  }

  const Topology& topology_;
};

}  // namespace

std::optional<Refusal> refusal(const Topology& topology, const Effect& effect) {
  return std::visit(Limits(topology), effect);
}

std::optional<Refusal> refusal(const Topology& topology, const Fault& fault) {
  const std::vector<Hold> holds = holds_of(fault, topology);
  if (holds.size() > kMaxHoldsPerFault) {
    return {{"a fault with too many targets", "at most " + std::to_string(kMaxHoldsPerFault)}};
  }
  for (const Hold& hold : holds) {
    if (auto why = refusal(topology, hold.effect)) return why;
  }
  return std::nullopt;
}

}  // namespace mrclab::faults
