#include "analysis/judge/tap_evidence.h"

#include <algorithm>
#include <cstdio>

#include "analysis/capture/open_capture.h"
#include "analysis/history/packet_joiner.h"
#include "fabric/base/random.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {

TapEvidence::TapEvidence(const Topology& topology, FabricTime end)
    : topology_(topology), end_(end), frames_(topology), wires_(topology.all_wires().size()) {}

void TapEvidence::add_file(const std::filesystem::path& path) {
  const std::unique_ptr<CaptureReader> reader = open_capture(path);
  std::vector<std::optional<PortRef>> ports;
  CaptureRecord record;
  while (reader->next(record)) {
    while (ports.size() <= record.interface) {
      ports.push_back(topology_.find_port(reader->interfaces()[ports.size()].name));
      if (ports.back()) tapped_.push_back(*ports.back());
    }
    ++counters_.frames;
    const std::optional<PortRef> port = ports[record.interface];
    if (!port || reader->interfaces()[record.interface].link_type != kLinkTypeEthernet) {
      ++counters_.unknown_interface;
      continue;
    }
    add(*port, record.bytes);
  }
  if (!reader->seal()) {
    throw CaptureError(path.filename().string() +
                       " is not as its writer closed it: cut, damaged, or never closed");
  }
}

void TapEvidence::add(PortRef port, std::span<const uint8_t> bytes) {
  const std::optional<size_t> at =
      bytes.size() <= kFrameCapacity + kTrailerBytes ? trailer_offset(bytes) : std::nullopt;
  const std::optional<TimeTrailer> trailer =
      at ? parse_trailer(bytes.subspan(*at)) : std::optional<TimeTrailer>();
  if (!trailer) {
    ++counters_.without_trailer;
    return;
  }
  const auto wire = trailer->wire.value < wires_.size()
                        ? std::optional<Wire>(topology_.wire(trailer->wire))
                        : std::nullopt;
  const bool leaves = wire && wire->from == port;
  if (!wire || (!leaves && wire->to != port)) {
    ++counters_.wrong_wire;
    return;
  }
  WireEnds& ends = wires_[trailer->wire.value];
  const uint64_t sequence =
      mix64(trailer->sequence ^ mix64(uint64_t{trailer->incarnation} << 1 | 1));
  (leaves ? ends.sent : ends.arrived) += 1;
  (leaves ? ends.sent_sum : ends.arrived_sum) += sequence;

  const bool is_void = trailer->lost != DropCause::kNone;
  if (is_void && leaves) ++counters_.voids;
  if (is_void && !leaves) return;  // lost on the way
  const FabricTime t = leaves ? trailer->end : trailer->end + trailer->flight;
  // A node records a frame when the frame has gone through its ingress pipeline.
  const FabricTime told = leaves ? t : t + topology_.ingress_latency(port.node);
  if (told > end_) {
    ++counters_.in_flight;
    return;
  }
  Frame frame = is_void ? unwrap_void_frame(pool_, bytes.first(*at)) : pool_.copy(bytes.first(*at));
  if (!frame) return;
  frame.set_modelled_size({trailer->modelled_size});
  PacketRecord record{.t = t,
                      .port = port.port,
                      .direction = leaves ? Direction::kEgress : Direction::kIngress,
                      .frame = frame};
  frames_.add(port.node, record);
}

void TapEvidence::finish() {
  packets_ = join_sightings(topology_, frames_.take());
  const auto tapped = [&](PortRef port) {
    return std::find(tapped_.begin(), tapped_.end(), port) != tapped_.end();
  };
  for (size_t i = 0; i < wires_.size(); ++i) {
    const Wire& wire = topology_.all_wires()[i];
    wires_[i].both_tapped = tapped(wire.from) && tapped(wire.to);
  }
}

namespace {

/// A packet on a path, and when: as it left, or as it came.
struct SeenPacket {
  uint32_t source, destination, qp, psn, ev;
  FabricTime t;
  Fate fate;  ///< fate of an arrival; kInFlight for a departure
  auto operator<=>(const SeenPacket&) const = default;
};

/// What can be compared between two histories. Which of several attempts on the same path
/// arrived cannot: a tap does not see the drops between them.
struct SeenPackets {
  std::vector<SeenPacket> left, arrived, dropped;  // sorted

  explicit SeenPackets(const PacketHistory& history) {
    for (const Attempt& attempt : history.attempts()) {
      const Packet& packet = history.packets()[attempt.packet];
      const Flow& flow = history.flows()[packet.flow];
      SeenPacket seen{flow.source,        flow.destination, flow.destination_qp.value,
                      packet.psn.value(), attempt.ev.value, attempt.start,
                      Fate::kInFlight};
      left.push_back(seen);
      seen.t = attempt.ended;
      seen.fate = attempt.fate;
      if (attempt.fate == Fate::kDropped) dropped.push_back(seen);
      if (attempt.fate == Fate::kDelivered || attempt.fate == Fate::kTrimmed) {
        arrived.push_back(seen);
      }
    }
    for (auto* list : {&left, &arrived, &dropped}) std::sort(list->begin(), list->end());
  }

  /// Did its receiver drop what a tap saw arrive?
  bool dropped_on_arrival(SeenPacket seen) const {
    seen.fate = Fate::kDropped;
    return std::binary_search(dropped.begin(), dropped.end(), seen);
  }
};

std::string describe(const Topology& topology, const SeenPacket& s, std::string_view by) {
  const auto host = [&](uint32_t number) { return topology.node(topology.host(number)).name; };
  char numbers[80];
  std::snprintf(numbers, sizeof numbers, " QP %#x PSN %#x EV %#x ", s.qp, s.psn, s.ev);
  return host(s.source) + " -> " + host(s.destination) + numbers +
         (s.fate == Fate::kInFlight ? "sent at " : "arrived at ") + to_string(s.t) + ": only " +
         std::string(by);
}

/// Calls `both`, `first` or `second` for each element of two sorted lists.
void walk(const std::vector<SeenPacket>& a, const std::vector<SeenPacket>& b, const auto& both,
          const auto& first, const auto& second) {
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i] < b[j])) {
      first(a[i++]);
    } else if (i == a.size() || b[j] < a[i]) {
      second(b[j++]);
    } else {
      both(a[i]);
      ++i, ++j;
    }
  }
}

}  // namespace

Agreement compare(const Topology& topology, const PacketHistory& daemons,
                  const PacketHistory& taps) {
  Agreement result;
  const SeenPackets a(daemons), b(taps);
  const auto differ = [&](uint64_t& count, const SeenPacket& seen, std::string_view by) {
    ++count;
    if (result.first_difference.empty()) result.first_difference = describe(topology, seen, by);
  };
  const auto only_daemons = [&](const SeenPacket& seen) {
    differ(result.only_daemons, seen, "the daemons captured it");
  };
  walk(
      a.left, b.left, [&](const SeenPacket&) { ++result.attempts; }, only_daemons,
      [&](const SeenPacket& seen) { differ(result.only_taps, seen, "the taps saw it"); });
  walk(
      a.arrived, b.arrived,
      [&](const SeenPacket& seen) {
        ++(seen.fate == Fate::kTrimmed ? result.trimmed : result.delivered);
      },
      only_daemons,
      [&](const SeenPacket& seen) {
        if (a.dropped_on_arrival(seen)) {
          ++result.cut;
        } else {
          differ(result.only_taps, seen, "the taps saw it");
        }
      });
  return result;
}

CheckResult judge_taps(const Agreement& a, const TapEvidence& taps, uint64_t missing) {
  uint64_t wires = 0, unequal = 0, frames = 0;
  for (const TapEvidence::WireEnds& ends : taps.wires()) {
    if (!ends.both_tapped) continue;
    ++wires;
    frames += ends.sent;
    if (!ends.equal()) ++unequal;
  }
  CheckResult check;
  check.name = "taps_agree";
  check.about = "libpcap on the veths and the daemons' captures show the same transmissions";
  check.measured = static_cast<double>(a.differences() + unequal);
  check.bound = 0;
  check.unit = "differences";
  check.note = counted_noun(a.attempts, "transmission in both") + ": " +
               std::to_string(a.delivered) + " delivered, " + std::to_string(a.trimmed) +
               " trimmed, " + std::to_string(a.lost()) + " lost or still on their way, " +
               std::to_string(a.cut) + " cut in flight; " +
               counted_noun(taps.counters().voids, "void frame");
  if (wires > 0) {
    check.note += "; " +
                  counted_noun(frames, {"frame at both ends of ", "frames at both ends of "}) +
                  counted_noun(wires, "wire");
  }
  const Looked looked(a.attempts, "transmission in both", FabricTime::zero(), FabricTime::never(),
                      Source::kTaps);
  std::string note = check.note;
  if (missing > 0) {
    check = unjudged(check, "the taps lost " + counted_noun(missing, "frame") + "; " + note);
  } else if (a.attempts == 0) {
    check = unjudged(check, "nothing was captured by both");
  } else if (a.differences() + unequal == 0) {
    check = passed(check, looked);
  } else {
    check = failed(check, std::move(note));
  }
  check.looked = looked;
  if (check.result == Result::kFail) {
    check.where = {FabricTime::zero(), FabricTime::never(),
                   a.first_difference.empty() ? "wires whose ends differ" : a.first_difference};
  }
  if (unequal > 0)
    check.note +=
        "; " + counted_noun(unequal, {"wire whose ends differ", "wires whose ends differ"});
  if (!a.first_difference.empty()) check.note += "; " + a.first_difference;
  return check;
}

}  // namespace mrclab::analysis
