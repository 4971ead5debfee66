#include "session/looks/waits_look.h"

#include <algorithm>
#include <unordered_map>

#include "fabric/packet/headers.h"

namespace mrclab::lab {
namespace {

using analysis::AwaitedPacket;

class AwaitedReader {
 public:
  explicit AwaitedReader(const Topology& topology) : topology_(topology) {}

  void take(const SeenPacket& p) {
    if (p.qp.value == 0 || !carries_data(static_cast<Opcode>(p.opcode))) return;
    if (p.source == SeenPacket::kNoHost || p.destination == SeenPacket::kNoHost) return;
    // A queue pair has one peer, so its packets are known by its host, its number and theirs, of 24 bits each. Only fabrics
    // with fewer than 2^16 hosts are asked for it (session_looks.cc).
    const uint64_t key = uint64_t{p.destination} << 48 | uint64_t{p.qp.value & 0xFFFFFFu} << 24 |
                         (p.psn.value() & 0xFFFFFFu);
    const auto [found, is_new] = places_.try_emplace(key, list_.size());
    if (is_new) {
      list_.push_back({p.source, p.destination, p.wire_length, p.t});
      over_.emplace_back();
    }
    AwaitedPacket& awaited = list_[found->second];
    const Wire& wire = topology_.wire(p.wire);
    const NodeId sender = topology_.host(p.source), receiver = topology_.host(p.destination);
    const bool trimmed = p.queue == QueueClass::kTrimmed || p.event == PacketEvent::kTrimmed;
    if (p.event == PacketEvent::kDropped || trimmed) {
      if (awaited.lost == FabricTime::never()) {
        awaited.lost = p.t;
        // At the end of a wire that it was seen to leave by, else at the port that it was to leave by.
        awaited.where = over_[found->second] == p.wire && !trimmed ? wire.to : wire.from;
      }
      // It was on its last wire, or its host refused it.
      const bool at_end = p.event == PacketEvent::kDropped && wire.to.node == receiver;
      if (at_end && awaited.delivered != FabricTime::never() && awaited.delivered <= p.t)
        awaited.delivered = FabricTime::never();
      return;
    }
    over_[found->second] = p.wire;
    if (wire.from.node == sender && awaited.lost < p.t) {
      awaited.again = std::min(awaited.again, p.t);
    }
    if (wire.to.node == receiver) {
      awaited.delivered = std::min(awaited.delivered, p.t + wire.propagation);
    }
  }

  std::vector<AwaitedPacket> take_all() { return std::move(list_); }

 private:
  const Topology& topology_;
  std::unordered_map<uint64_t, size_t> places_;
  std::vector<AwaitedPacket> list_;
  std::vector<WireId> over_;  // that each was last seen to leave by
};

}  // namespace

WaitsSeen waits_at(const Topology& topology, const Recording& recording, FabricTime t) {
  WaitsSeen seen;
  seen.from = std::max({t - kWaitsSpan, recording.kept_from(), FabricTime::zero()});
  const FabricTime known = recording.bin() * static_cast<int64_t>(recording.complete_bins());
  seen.until = std::min(t + kWaitsSpan, std::max(known, t));
  // From the instant outwards, as far as one answer may take.
  const size_t lowest = recording.bin_of(seen.from),
               highest = std::min(recording.bin_of(seen.until) + 1, recording.bins());
  size_t first = std::min(recording.bin_of(t), highest), last = first, looked = 0;
  while (looked < kMaxPacketsLooked && (first > lowest || last < highest)) {
    if (last < highest) looked += recording.packets(last++).size();
    if (first > lowest) looked += recording.packets(--first).size();
  }
  seen.from = std::max(seen.from, recording.bin() * static_cast<int64_t>(first));
  seen.until = std::min(seen.until, recording.bin() * static_cast<int64_t>(last));
  AwaitedReader reader(topology);
  for (size_t bin = first; bin < last; ++bin) {
    for (const SeenPacket& packet : recording.packets(bin)) reader.take(packet);
  }
  const bool to_the_end = last == recording.bins() && recording.complete_bins() == last;
  const analysis::HostWaits waits(topology, reader.take_all(),
                                  to_the_end ? FabricTime::never() : seen.until);
  for (uint32_t host = 0; host < topology.host_count(); ++host)
    seen.hosts.push_back(waits.at(host, t));
  return seen;
}

}  // namespace mrclab::lab
