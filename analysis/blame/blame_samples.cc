#include "analysis/blame/blame_samples.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/blame/taken_ways.h"
#include "analysis/capture/time_sort.h"
#include "analysis/history/path_wires.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/packet/headers.h"
#include "fabric/paths/path_list.h"

namespace mrclab::analysis {
namespace {

/// A packet without any record of its end, which others have overtaken, is lost when it has been away for so long,
/// not before: until then it may be delayed (our choice).
constexpr int64_t kLostAfterRtts = 8;
/// Reports of several queue pairs about one port within this time are one.
constexpr FabricTime kSameWord = FabricTime::from_us(1);
/// A packet that waited for less is not marked for its own queue: the time of three data packets.
constexpr int64_t kPromptPackets = 3;

/// What was sent last, of all that has arrived, by flow and entropy value: by path, where that is fixed.
class LastArrived {
 public:
  explicit LastArrived(const PacketHistory& packets) {
    for (const Attempt& attempt : packets.attempts()) {
      if (attempt.fate != Fate::kDelivered || !attempt.start_seen) continue;
      FabricTime& start = start_[key_of(packets, attempt)];
      start = std::max(start, attempt.start);
    }
  }
  bool later_than(const PacketHistory& packets, const Attempt& attempt) const {
    const auto last = start_.find(key_of(packets, attempt));
    return last != start_.end() && last->second > attempt.start;
  }

 private:
  static uint64_t key_of(const PacketHistory& packets, const Attempt& attempt) {
    return uint64_t{packets.packets()[attempt.packet].flow} << 32 | attempt.ev.value;
  }

  std::unordered_map<uint64_t, FabricTime> start_;  // look-up only
};

/// A data packet with RETH and TSETH.
Bytes frame_of(uint32_t payload) {
  return {kAfterBthOffset + kMethBytes + kTsethBytes + kRethBytes + payload + kIcrcBytes};
}

class Sampler {
 public:
  Sampler(const Topology& topology, const PacketHistory& packets)
      : topology_(topology), packets_(packets) {
    for (const Attempt& attempt : packets.attempts()) {
      last_ = std::max(last_, attempt.start);
      if (attempt.ended != FabricTime::never()) last_ = std::max(last_, attempt.ended);
    }
  }

  /// Puts the wires of its path into the sample; false if the fabric has none such. Where switches chose the way these
  /// are the ones that records show; without such records the first and the last, which every way has.
  bool place(const Attempt& attempt, BlameSample& sample) {
    const Flow& flow = packets_.flows()[packets_.packets()[attempt.packet].flow];
    const bool chosen = chosen_on_the_way(topology_, flow, attempt.ev);
    way_.reset();
    if (chosen) {
      if (!taken_) taken_.emplace(topology_, packets_);
      if (taken_->captured()) way_ = taken_->of(attempt);
      if (way_ && way_->wires.size() > kMaxWires) way_.reset();
    }
    sample.t = attempt.start;
    sample.source = flow.source;
    sample.destination = flow.destination;
    sample.ev = attempt.ev;
    if (way_) {
      for (const WireId wire : way_->wires) add_wire(sample, wire);
    } else if (chosen) {
      const auto path = path_of(attempt.ev);
      const PortRef first{topology_.host(flow.source), PortId{path ? path->plane : 0}};
      const PortRef last{topology_.host(flow.destination), first.port};
      if (!has_port(first) || !has_port(last)) return false;
      add_wire(sample, topology_.port(first).out);
      add_wire(sample, topology_.port(last).in);
    } else if (const auto* wires = built_wires(flow, attempt.ev)) {
      for (const WireId wire : *wires) add_wire(sample, wire);
    } else {
      return false;
    }
    set_reach(packets_.packets()[attempt.packet].payload, sample);
    sample.chosen = chosen;
    sample.way_known = !chosen || way_.has_value();
    return true;
  }

  /// Everything that a sample has is a suspect.
  static void add_wire(BlameSample& sample, WireId wire) {
    sample.wires[sample.wire_count++] = wire;
    sample.suspects = static_cast<uint8_t>((1u << sample.wire_count) - 1);
  }

  void judge_loss(const Attempt& attempt, BlameSample& sample) {
    if (attempt.fate == Fate::kInFlight) {
      sample.bad = sample.counts = never_arrives(attempt);
      return;
    }
    const bool innocent = attempt.congested() || attempt.denied();
    sample.counts = !innocent;
    if (innocent || !attempt.lost()) return;  // a path carried what was trimmed or refused
    sample.bad = true;
    const NodeId at = attempt.where.node;
    switch (attempt.cause) {
      case DropCause::kPortDown:
        suspect_wire(sample, topology_.port(attempt.where).out, attempt.ended);
        sample.clue = Clue::kDark;
        sample.about = at;
        return;
      case DropCause::kFrameCheck:
        suspect_wire(sample, topology_.port(attempt.where).in, attempt.ended);
        sample.clue = Clue::kBitFlip;
        return;
      case DropCause::kBadIcrc: sample.clue = Clue::kInside; break;
      case DropCause::kUnknownUsid:
      case DropCause::kEndOfCarrier:
      case DropCause::kForeignCarrier:
      case DropCause::kHopLimit:
      case DropCause::kNoReceiver: return judge_astray(attempt, at, sample);
      case DropCause::kNoRoute:
        // Switches that find their routes have none for a while after something else has failed.
        if (sample.chosen) sample.bad = sample.counts = false;
        return;
      default: break;  // no record by the node that lost it
    }
    // It may have been on a wire that is none of the sample's.
    if (!sample.way_known) sample.bad = sample.counts = false;
    if (sample.clue == Clue::kNone) suspect_end(sample);
  }

 private:
  bool has_port(PortRef port) const {
    return port.port.value < topology_.node(port.node).ports.size();
  }

  /// Records show by which switches it came and that the next did not send it on: it was lost behind the last one.
  void suspect_end(BlameSample& sample) const {
    if (!way_ || sample.wire_count == 0) return;
    sample.suspects = static_cast<uint8_t>(1u << (sample.wire_count - 1));
  }

  /// No node recorded the attempt's end. It may wait for any time: behind a pause, or behind what has precedence. But a
  /// path keeps the order of its data, so what was sent before something that has arrived there is lost. Attempts of RC
  /// look alike, so which of a packet's has vanished is not known: the newest must be overtaken.
  bool never_arrives(const Attempt& attempt) {
    const Packet& packet = packets_.packets()[attempt.packet];
    const Flow& flow = packets_.flows()[packet.flow];
    const bool newest = flow.roce && packet.last != Attempt::kNone;
    const Attempt& judged = newest ? packets_.attempts()[packet.last] : attempt;
    if (judged.start + topology_.base_rtt * kLostAfterRtts >= last_) return false;
    if (chosen_on_the_way(topology_, flow, judged.ev)) return false;
    if (!last_arrived_) last_arrived_.emplace(packets_);
    return last_arrived_->later_than(packets_, judged);
  }

  const std::vector<WireId>* built_wires(const Flow& flow, EntropyValue ev) {
    const auto path = built_path(topology_, flow.source, flow.destination, ev);
    if (!path) return nullptr;
    auto& wires = wires_[{flow.source, flow.destination, ev_of(*path).value}];
    if (wires.empty()) wires = wires_of(topology_, flow.source, flow.destination, *path);
    return &wires;
  }

  /// When an idle fabric has carried it over each of its wires.
  void set_reach(uint32_t payload, BlameSample& sample) const {
    const Bytes length = wire_length(frame_of(payload));
    FabricTime sum;
    for (uint8_t i = 0; i < sample.wire_count; ++i) {
      const Wire& wire = topology_.wire(sample.wires[i]);
      if (i > 0) {
        sum += topology_.pipeline_time(topology_.wire(sample.wires[i - 1u]), wire, length);
      }
      sum += serialization_time(length, wire.rate) + wire.propagation;
      sample.reach[i] =
          static_cast<uint32_t>(std::min<int64_t>(sum.ps(), std::numeric_limits<uint32_t>::max()));
    }
  }

  /// The wire of a place that a record names; added to the sample's wires if it is missing there and has room.
  static void suspect_wire(BlameSample& sample, WireId wire, FabricTime at) {
    const auto end = sample.wires.begin() + sample.wire_count;
    const auto found = std::find(sample.wires.begin(), end, wire);
    if (found == sample.wires.end()) return;
    if (found == end) sample.wires[sample.wire_count++] = wire;
    sample.suspects = static_cast<uint8_t>(1u << (found - sample.wires.begin()));
    sample.t = at;
    sample.reach = {};
  }

  /// Discarded by a node that has no route or no use for it: a switch on its way lacks the route,
  /// and if it came from elsewhere, the switch that sent it there has a wrong one.
  void judge_astray(const Attempt& attempt, NodeId at, BlameSample& sample) const {
    const WireId last = sample.wires[sample.wire_count - 1];
    const bool at_host = topology_.node(at).role == NodeRole::kHost;
    if (sample.chosen && !at_host) {  // where it should have gone on to is not known
      sample.bad = sample.counts = false;
      return;
    }
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
  std::optional<LastArrived> last_arrived_;  ///< made when it is first asked
  std::optional<TakenWays> taken_;           ///< likewise
  std::optional<TakenWay> way_;              ///< that the last attempt given to place() took
  FabricTime last_;                          ///< the newest instant in any record
};

/// Reports by hosts that a port of their own is dark.
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

uint64_t losses_without_place(const Topology& topology, const PacketHistory& packets) {
  Sampler sampler(topology, packets);
  uint64_t count = 0;
  for (const Attempt& attempt : packets.attempts()) {
    if (!attempt.start_seen || !attempt.lost() || attempt.congested() || attempt.denied()) continue;
    const Flow& flow = packets.flows()[packets.packets()[attempt.packet].flow];
    if (!chosen_on_the_way(topology, flow, attempt.ev)) continue;  // its header names the way
    BlameSample sample;
    if (!sampler.place(attempt, sample)) continue;
    sampler.judge_loss(attempt, sample);
    count += sample.bad ? 0 : 1;
  }
  return count;
}

namespace {

/// Which lists have a bad sample. The others blame nothing (SearchOptions), and a long quiet run has millions of
/// packets for them.
struct Wanted {
  bool losses = false, copies = false, marks = false;
};

Wanted wanted_of(const PacketHistory& packets, Sampler& sampler, bool any_word) {
  Wanted wanted{.losses = any_word};
  for (const Attempt& attempt : packets.attempts()) {
    if (!attempt.start_seen) continue;
    wanted.copies = wanted.copies || attempt.copies > 0;
    wanted.marks = wanted.marks || attempt.marked;
    if (wanted.losses || attempt.fate == Fate::kDelivered) continue;
    BlameSample sample;
    if (!sampler.place(attempt, sample)) continue;
    sampler.judge_loss(attempt, sample);
    wanted.losses = sample.bad;
  }
  return wanted;
}

}  // namespace

BlameSamples blame_samples(const Topology& topology, const PacketHistory& packets,
                           const EventHistory& events) {
  BlameSamples samples;
  Sampler sampler(topology, packets);
  std::vector<BlameSample> words;
  add_words(topology, events, words);
  const Wanted wanted = wanted_of(packets, sampler, !words.empty());
  if (!wanted.losses && !wanted.copies && !wanted.marks) return samples;
  const FabricTime prompt =
      serialization_time(wire_length({topology.pmtu}), topology.host_rate) * kPromptPackets;
  for (const Attempt& attempt : packets.attempts()) {
    BlameSample sample;
    if (!attempt.start_seen) continue;
    if (!sampler.place(attempt, sample)) continue;
    if (wanted.losses) {
      samples.losses.push_back(sample);
      sampler.judge_loss(attempt, samples.losses.back());
    }
    if (attempt.fate != Fate::kDelivered) continue;
    if (wanted.copies) {
      samples.copies.push_back(sample);
      samples.copies.back().bad = attempt.copies > 0;
    }
    if (!wanted.marks || !sample.way_known) continue;  // so its time without queues is not known
    const FabricTime flight = attempt.ended - attempt.start;
    const FabricTime waited = flight - FabricTime::from_ps(sample.reach[sample.wire_count - 1u]);
    BlameSample mark = sample;
    mark.bad = attempt.marked && waited < prompt;
    mark.counts = mark.bad || !attempt.marked;
    samples.marks.push_back(mark);
  }
  samples.losses.insert(samples.losses.end(), words.begin(), words.end());
  SortRoom<BlameSample> room;
  for (auto* list : {&samples.losses, &samples.copies, &samples.marks}) {
    sort_by_time(std::span(*list), room, [](const BlameSample& sample) { return sample.t.ps(); });
  }
  return samples;
}

}  // namespace mrclab::analysis
