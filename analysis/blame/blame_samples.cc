#include "analysis/blame/blame_samples.h"

#include <algorithm>
#include <map>

#include "analysis/history/path_wires.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/paths/path_list.h"

namespace mrclab::analysis {
namespace {

/// A packet without any record of its end is lost when it has been away for so long, not before.
constexpr int64_t kLostAfterRtts = 8;
/// A host's report that its port is dark weighs as much as this many lost packets, because a dark
/// port is its only cause.
constexpr uint8_t kWeightOfWord = 3;
/// Words of several queue pairs about one port are one.
constexpr FabricTime kSameWord = FabricTime::from_us(1);
/// A packet that waited for less is not marked for its own queue: the time of three data packets.
constexpr int64_t kPromptPackets = 3;

class Sampler {
 public:
  Sampler(const Topology& topology, const PacketHistory& packets)
      : topology_(topology), packets_(packets), last_arrived_(packets.flows().size()) {
    for (const Attempt& attempt : packets.attempts()) {
      if (attempt.fate == Fate::kDelivered) {
        FabricTime& start = last_arrived_[packets.packets()[attempt.packet].flow];
        start = std::max(start, attempt.start);
      }
      last_ = std::max(last_, attempt.start);
      if (attempt.ended != FabricTime::never()) last_ = std::max(last_, attempt.ended);
    }
  }

  /// Its path; false if the fabric has none such.
  bool place(const Attempt& attempt, BlameSample& sample) {
    const Flow& flow = packets_.flows()[packets_.packets()[attempt.packet].flow];
    const auto path = built_path(topology_, flow.source, flow.destination, attempt.ev);
    if (!path) return false;
    sample.t = attempt.start;
    sample.source = flow.source;
    sample.destination = flow.destination;
    sample.ev = attempt.ev;
    const auto& wires = wires_between(flow.source, flow.destination, *path);
    std::copy(wires.begin(), wires.end(), sample.wires.begin());
    sample.wire_count = static_cast<uint8_t>(wires.size());
    sample.suspects = static_cast<uint8_t>((1u << wires.size()) - 1);
    return true;
  }

  void judge_loss(const Attempt& attempt, BlameSample& sample) const {
    switch (attempt.fate) {
      case Fate::kDelivered:
      case Fate::kTrimmed: return;
      case Fate::kInFlight:
        sample.bad =
            attempt.start + topology_.base_rtt * kLostAfterRtts < last_ && !may_stand(attempt);
        sample.counts = sample.bad;
        return;
      case Fate::kDropped: break;
    }
    sample.bad = true;
    const NodeId at = attempt.where.node;
    switch (attempt.cause) {
      case DropCause::kQueueFull:
      case DropCause::kPauseStorm:
      case DropCause::kControlQueueFull:
      case DropCause::kTrimmedQueueFull:
      case DropCause::kNoBuffer: sample.bad = sample.counts = false; return;
      case DropCause::kReceiveBufferFull:
      case DropCause::kNoBitmap: sample.bad = false; return;  // the path has carried it
      case DropCause::kPortDown:
        suspect_wire(sample, topology_.port(attempt.where).out, attempt.ended);
        sample.clue = Clue::kDark;
        sample.about = at;
        return;
      case DropCause::kFrameCheck:
        suspect_wire(sample, topology_.port(attempt.where).in, attempt.ended);
        sample.clue = Clue::kBitFlip;
        return;
      case DropCause::kBadIcrc: sample.clue = Clue::kInside; return;
      case DropCause::kUnknownUsid:
      case DropCause::kEndOfCarrier:
      case DropCause::kForeignCarrier:
      case DropCause::kHopLimit:
      case DropCause::kNoReceiver: return judge_astray(attempt, at, sample);
      default: return;  // the node that lost it did not know
    }
  }

 private:
  /// RoCE's data may stand before a paused port for any time. As it keeps its order, what was sent before
  /// something that has arrived is lost all the same.
  bool may_stand(const Attempt& attempt) const {
    const uint32_t flow = packets_.packets()[attempt.packet].flow;
    return packets_.flows()[flow].roce && !packets_.pauses().empty() &&
           last_arrived_[flow] < attempt.start;
  }

  const std::vector<WireId>& wires_between(uint32_t source, uint32_t destination, Path path) {
    auto& wires = wires_[{source, destination, ev_of(path).value}];
    if (wires.empty()) wires = wires_of(topology_, source, destination, path);
    return wires;
  }

  static void suspect_wire(BlameSample& sample, WireId wire, FabricTime at) {
    for (uint8_t i = 0; i < sample.wire_count; ++i) {
      if (sample.wires[i] != wire) continue;
      sample.suspects = static_cast<uint8_t>(1u << i);
      sample.t = at;
    }
  }

  /// Discarded by a node that has no route or no use for it: a switch on its way lacks the route,
  /// and if it came from elsewhere, the switch that sent it there has a wrong one.
  void judge_astray(const Attempt& attempt, NodeId at, BlameSample& sample) const {
    const WireId last = sample.wires[sample.wire_count - 1];
    if (attempt.where == topology_.wire(last).to) {
      sample.clue = Clue::kReceiver;
      sample.suspects = static_cast<uint8_t>(1u << (sample.wire_count - 1));
      return;
    }
    if (attempt.where.port.value >= topology_.node(at).ports.size()) return;
    sample.clue = Clue::kAstray;
    // It came the right way and was not sent on; else it was sent here from where it should not.
    const NodeId sender = topology_.port(attempt.where).peer.node;
    for (uint8_t i = 1; i < sample.wire_count; ++i) {
      if (topology_.wire(sample.wires[i - 1]).to == attempt.where) return suspect_route(sample, i);
    }
    for (uint8_t i = 1; i < sample.wire_count; ++i) {
      if (topology_.wire(sample.wires[i]).from.node == sender) return suspect_route(sample, i);
    }
  }

  void suspect_route(BlameSample& sample, uint8_t wire) const {
    sample.about = topology_.wire(sample.wires[wire]).from.node;
    sample.suspects = static_cast<uint8_t>(1u << wire);
  }

  const Topology& topology_;
  const PacketHistory& packets_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<WireId>> wires_;
  std::vector<FabricTime> last_arrived_;  ///< by flow: when that was sent which arrived last
  FabricTime last_;
};

/// The time that a data packet with RETH and TSETH takes on the shortest path when the fabric is
/// idle.
FabricTime flight_when_idle(const Topology& topology, const BlameSample& sample, uint32_t payload) {
  const std::vector<WireId> wires(sample.wires.begin(), sample.wires.begin() + sample.wire_count);
  const Bytes frame{kAfterBthOffset + kMethBytes + kTsethBytes + kRethBytes + payload + kIcrcBytes};
  return idle_transit(topology, wires, wire_length(frame));
}

/// Hosts that say of a port of their own that it is dark.
void add_words(const Topology& topology, const EventHistory& events,
               std::vector<BlameSample>& losses) {
  std::map<std::pair<uint32_t, uint32_t>, FabricTime> last;
  for (const PathNews& news : events.paths()) {
    if (news.ev || news.usable || !news.local || news.plane >= topology.planes) continue;
    const auto [said, first] = last.try_emplace({news.host, news.plane}, news.t);
    const bool again = !first && news.t - said->second < kSameWord;
    said->second = news.t;
    if (again) continue;
    const Port& port = topology.port({topology.host(news.host), PortId{news.plane}});
    BlameSample sample;
    sample.t = news.t;
    sample.source = sample.destination = news.host;
    sample.wires = {port.out, port.in};
    sample.wire_count = 2;
    sample.suspects = 3;
    sample.weight = kWeightOfWord;
    sample.bad = true;
    sample.clue = Clue::kDark;
    losses.push_back(sample);
  }
}

}  // namespace

BlameSamples blame_samples(const Topology& topology, const PacketHistory& packets,
                           const EventHistory& events) {
  BlameSamples samples;
  Sampler sampler(topology, packets);
  const FabricTime prompt =
      serialization_time(wire_length({topology.pmtu}), topology.host_rate) * kPromptPackets;
  for (const Attempt& attempt : packets.attempts()) {
    BlameSample sample;
    if (!attempt.start_seen || !sampler.place(attempt, sample)) continue;
    BlameSample loss = sample;
    sampler.judge_loss(attempt, loss);
    samples.losses.push_back(loss);
    if (attempt.fate != Fate::kDelivered) continue;
    BlameSample copy = sample;
    copy.bad = attempt.copies > 0;
    samples.copies.push_back(copy);
    const FabricTime flight = attempt.ended - attempt.start;
    const FabricTime waited =
        flight - flight_when_idle(topology, sample, packets.packets()[attempt.packet].payload);
    BlameSample mark = sample;
    mark.bad = attempt.marked && waited < prompt;
    mark.counts = mark.bad || !attempt.marked;
    samples.marks.push_back(mark);
  }
  add_words(topology, events, samples.losses);
  for (auto* list : {&samples.losses, &samples.copies, &samples.marks}) {
    std::stable_sort(list->begin(), list->end(),
                     [](const auto& a, const auto& b) { return a.t < b.t; });
  }
  return samples;
}

}  // namespace mrclab::analysis
