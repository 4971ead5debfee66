#include "netio/runtime/ingress_ledger.h"

#include <algorithm>

namespace mrclab::netio {

IngressLedger::IngressLedger(GatePage& page, const Topology& topology, const ProcessMap& processes)
    : page_(page),
      topology_(topology),
      processes_(processes),
      index_(topology.all_wires().size(), kNoProcess),
      upstream_(page.process_count, false),
      done_ps_(page.process_count, 0) {}

void IngressLedger::add_node(NodeId node) {
  for (const Port& port : topology_.node(node).ports) {
    IncomingWire wire;
    wire.id = port.in;
    wire.sender = processes_.of(port.peer.node);
    wire.inside = stays_inside(topology_, processes_, port);
    wire.lookahead = topology_.lookahead(port.in);
    index_[port.in.value] = static_cast<uint32_t>(wires_.size());
    if (wire.sender != kNoProcess) upstream_[wire.sender] = true;
    shortest_lookahead_ = std::min(shortest_lookahead_, wire.lookahead);
    if (wire.inside) {
      shortest_lookahead_inside_ = std::min(shortest_lookahead_inside_, wire.lookahead);
    }
    wires_.push_back(wire);
  }
}

void IngressLedger::resume() {
  for (IncomingWire& wire : wires_) {
    wire.received = wire.next_sequence = page_.sent[wire.id.value].load(std::memory_order_acquire);
  }
  taken_ = page_.slot(processes_.self).frames_taken.load(std::memory_order_acquire);
}

void IngressLedger::read_gate() {
  const int64_t quiet = page_.quiet_ps.load(std::memory_order_acquire) - 1;
  for (uint32_t i = 0; i < upstream_.size(); ++i) {  // before the sent counts: see gate.h
    if (!upstream_[i]) continue;
    done_ps_[i] = std::max(quiet, page_.slot(i).done_ps.load(std::memory_order_acquire));
  }
  for (IncomingWire& wire : wires_) {
    wire.sent = page_.sent[wire.id.value].load(std::memory_order_acquire);
  }
}

bool IngressLedger::count_frame(WireId id, uint64_t sequence) {
  IncomingWire& wire = wires_[index_[id.value]];
  if (sequence < wire.next_sequence) {
    if (wire.missing.erase(sequence) == 0) return false;
  } else {
    for (uint64_t s = wire.next_sequence; s < sequence; ++s) {
      if (wire.missing.size() >= kMaxMissing) break;
      wire.missing.insert(s);
    }
    wire.next_sequence = sequence + 1;
  }
  ++wire.received;
  ++taken_;
  return true;
}

void IngressLedger::update_bounds(LabTime now) {
  waits_for_ = kNoProcess;
  FabricTime lowest = FabricTime::never();
  for (IncomingWire& wire : wires_) {
    update_bound(wire, now);
    if (wire.bound < lowest) {
      lowest = wire.bound;
      waits_for_ = wire.sender;
    }
  }
}

void IngressLedger::update_bound(IncomingWire& wire, LabTime now) {
  if (!is_live(wire)) {
    wire.bound = FabricTime::never();
  } else if (wire.complete()) {
    wire.bound = FabricTime::from_ps(done_ps_[wire.sender]) + wire.lookahead;
    wire.unsatisfied_since = LabTime{0};
    wire.seen_when_unsatisfied = wire.received;
  } else if (wire.unsatisfied_since.ns == 0 || wire.seen_when_unsatisfied != wire.received) {
    wire.unsatisfied_since = now;
    wire.seen_when_unsatisfied = wire.received;
  } else if (now - wire.unsatisfied_since > kGapPatienceNs) {
    give_up_missing(wire);
  }
}

void IngressLedger::give_up_missing(IncomingWire& wire) {
  const auto list_one = [&](uint64_t sequence) {
    ++gaps_.count;
    if (gaps_.listed.size() < GapList::kMaxListed) gaps_.listed.push_back({wire.id, sequence});
  };
  for (const uint64_t sequence : wire.missing) list_one(sequence);
  for (uint64_t s = wire.next_sequence; s < wire.sent; ++s) list_one(s);
  wire.missing.clear();
  wire.next_sequence = std::max(wire.next_sequence, wire.sent);
  const uint64_t forgiven = wire.sent - std::min(wire.sent, wire.received);
  taken_ += forgiven - wire.forgiven;
  wire.forgiven = forgiven;
  page_.slot(processes_.self).gaps.store(gaps_.count, std::memory_order_relaxed);
}

FabricTime IngressLedger::bound() const {
  FabricTime bound = FabricTime::never();
  for (const IncomingWire& wire : wires_) {
    if (!wire.inside) bound = std::min(bound, wire.bound);
  }
  return bound;
}

bool IngressLedger::complete_until(FabricTime end) const {
  return std::all_of(wires_.begin(), wires_.end(), [&](const IncomingWire& wire) {
    if (!is_live(wire) || wire.inside) return true;
    return done_ps_[wire.sender] >= end.ps() && wire.complete();
  });
}

}  // namespace mrclab::netio
