#include "analysis/tap_evidence.h"

#include <algorithm>
#include <cstdio>

#include "fabric/random.h"

namespace mrclab::analysis {

TapEvidence::TapEvidence(const Topology& topology, FabricTime end)
    : topology_(topology), end_(end), packets_(topology), wires_(topology.wires_list.size()) {}

void TapEvidence::add_file(const std::filesystem::path& path) {
  const std::unique_ptr<CaptureReader> reader = CaptureReader::open(path);
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
  const Wire* wire = trailer->wire.value < wires_.size() ? &topology_.wire(trailer->wire) : nullptr;
  const bool leaves = wire != nullptr && wire->from == port;
  if (wire == nullptr || (!leaves && wire->to != port)) {
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
  if (t > end_) {
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
  packets_.add(port.node, record);
}

void TapEvidence::finish() {
  packets_.finish();
  const auto tapped = [&](PortRef port) {
    return std::find(tapped_.begin(), tapped_.end(), port) != tapped_.end();
  };
  for (size_t i = 0; i < wires_.size(); ++i) {
    const Wire& wire = topology_.wires_list[i];
    wires_[i].both_tapped = tapped(wire.from) && tapped(wire.to);
  }
}

namespace {

/// A transmission by what is in its packet and when it left.
struct Key {
  uint32_t source, destination, qp, psn, ev;
  FabricTime start;
  auto operator<=>(const Key&) const = default;
};
struct Entry {
  Key key;
  const Attempt* attempt;
};

std::vector<Entry> entries_of(const PacketHistory& history) {
  std::vector<Entry> entries;
  entries.reserve(history.transmissions().size());
  for (const Attempt& attempt : history.transmissions()) {
    const Packet& packet = history.packets()[attempt.packet];
    const Flow& flow = history.flows()[packet.flow];
    const Key key{flow.source,        flow.destination, flow.destination_qp.value,
                  packet.psn.value(), attempt.ev.value, attempt.start};
    entries.push_back({key, &attempt});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.attempt->ended < b.attempt->ended;
  });
  return entries;
}

std::string fate_of(const Attempt& attempt) {
  switch (attempt.fate) {
    case Fate::kInFlight: return "in flight";
    case Fate::kDelivered: return "delivered at " + to_string(attempt.ended);
    case Fate::kTrimmed: return "trimmed at " + to_string(attempt.ended);
    case Fate::kDropped: break;
  }
  return std::string(name_of(attempt.cause)) + " at " + to_string(attempt.ended);
}

bool arrived(const Attempt& attempt) {
  return attempt.fate == Fate::kDelivered || attempt.fate == Fate::kTrimmed;
}

class Comparison {
 public:
  explicit Comparison(const Topology& topology) : topology_(topology) {}

  void only(const Entry& entry, bool first) {
    ++(first ? result_.only_first : result_.only_second);
    note(entry.key, first ? "only the daemons captured it" : "only the taps saw it");
  }
  void both(const Entry& daemons, const Entry& taps) {
    ++result_.transmissions;
    const Attempt& a = *daemons.attempt;
    const Attempt& b = *taps.attempt;
    if (arrived(a) || arrived(b)) {
      const bool same = a.fate == b.fate && a.ended == b.ended;
      const bool cut = a.fate == Fate::kDropped && arrived(b) && a.ended == b.ended;
      if (cut) {
        ++result_.cut;
      } else if (same) {
        ++(a.fate == Fate::kTrimmed ? result_.trimmed : result_.delivered);
      } else {
        ++result_.differing;
        note(daemons.key, "daemons " + fate_of(a) + ", taps " + fate_of(b));
      }
      return;
    }
    ++result_.lost;
  }
  Agreement result() { return std::move(result_); }

 private:
  void note(const Key& key, std::string_view what) {
    if (!result_.first_difference.empty()) return;
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, " QP %#x PSN %#x EV %#x", key.qp, key.psn, key.ev);
    result_.first_difference = name(key.source) + " -> " + name(key.destination) + numbers +
                               " sent at " + to_string(key.start) + ": " + std::string(what);
  }
  const std::string& name(uint32_t host) const { return topology_.node(topology_.host(host)).name; }

  const Topology& topology_;
  Agreement result_;
};

}  // namespace

Agreement compare(const Topology& topology, const PacketHistory& daemons,
                  const PacketHistory& taps) {
  const std::vector<Entry> first = entries_of(daemons), second = entries_of(taps);
  Comparison comparison(topology);
  size_t i = 0, j = 0;
  while (i < first.size() || j < second.size()) {
    if (j == second.size() || (i < first.size() && first[i].key < second[j].key)) {
      comparison.only(first[i++], true);
    } else if (i == first.size() || second[j].key < first[i].key) {
      comparison.only(second[j++], false);
    } else {
      comparison.both(first[i++], second[j++]);
    }
  }
  return comparison.result();
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
  check.note = std::to_string(a.transmissions) +
               " transmissions in both: " + std::to_string(a.delivered) + " delivered, " +
               std::to_string(a.trimmed) + " trimmed, " + std::to_string(a.lost) + " lost, " +
               std::to_string(a.cut) + " cut in flight; " + std::to_string(taps.counters().voids) +
               " void frames";
  if (wires > 0) {
    check.note += "; " + std::to_string(frames) + " frames at both ends of " +
                  std::to_string(wires) + " wires";
  }
  if (missing > 0) {
    check.result = Result::kInconclusive;
    check.note = "the taps lost " + std::to_string(missing) + " frames; " + check.note;
  } else if (a.transmissions == 0) {
    check.result = Result::kInconclusive;
    check.note = "nothing was captured by both";
  } else {
    check.result = a.differences() + unequal == 0 ? Result::kPass : Result::kFail;
  }
  if (unequal > 0) check.note += "; " + std::to_string(unequal) + " wires whose ends differ";
  if (!a.first_difference.empty()) check.note += "; " + a.first_difference;
  return check;
}

}  // namespace mrclab::analysis
