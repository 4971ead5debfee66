#include "analysis/trace/perfetto_trace.h"
#include "fabric/node/event_kind.h"

#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>

namespace mrclab::analysis {
namespace {

using protozero::pbf_writer;

// Field numbers of Perfetto's protos/perfetto/trace: trace.proto, trace_packet.proto and
// track_event/{track_event,track_descriptor,process_descriptor,counter_descriptor,
// debug_annotation}.proto.
enum TraceField : uint8_t { kPacket = 1 };
enum PacketField : uint8_t { kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kDescriptor = 60 };
enum DescriptorField : uint8_t { kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8 };
enum ProcessField : uint8_t { kPid = 1, kProcessName = 6 };
enum CounterField : uint8_t { kUnitName = 6 };
enum EventField : uint8_t {
  kAnnotations = 4,
  kType = 9,
  kTrack = 11,
  kCategories = 22,
  kEventName = 23,
  kDoubleValue = 44,
  kFlowIds = 47,
};
enum AnnotationField : uint8_t { kStringValue = 6, kAnnotationName = 10 };
enum class EventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterValue = 4 };

constexpr uint32_t kOneSequence = 1;  // trusted_packet_sequence_id: there is one writer

uint64_t in_ns(FabricTime t) { return static_cast<uint64_t>(std::max<int64_t>(t.ps(), 0) / 1000); }

struct TraceNote {
  const char* name;
  std::string text;
};

/// Names tracks, and writes descriptors and events.
class TraceFile {
 public:
  explicit TraceFile(BoundedOutput& out) : out_(out) {}

  /// The track of this name below `parent` (0: none), which is described when it is first asked for.
  uint64_t track(uint64_t parent, const std::string& name, const char* unit = nullptr) {
    return described(parent, name, [&](pbf_writer& descriptor) {
      descriptor.add_uint64(kParent, parent);
      descriptor.add_string(kName, name);
      if (unit == nullptr) return;
      pbf_writer counter(descriptor, kCounter);
      counter.add_string(kUnitName, unit);
    });
  }
  uint64_t process(const std::string& name) {
    return described(0, name, [&](pbf_writer& descriptor) {
      pbf_writer process(descriptor, kProcess);
      process.add_int32(kPid, static_cast<int32_t>(tracks_.size()));
      process.add_string(kProcessName, name);
    });
  }
  /// Another track of the same name, for what overlaps.
  uint64_t lane(uint64_t parent, const std::string& name, size_t index) {
    return described(parent, name + '\0' + std::to_string(index), [&](pbf_writer& descriptor) {
      descriptor.add_uint64(kParent, parent);
      descriptor.add_string(kName, name);
    });
  }

  void instant(FabricTime t, uint64_t track, const std::string& name, const char* category,
               const std::vector<TraceNote>& notes = {}) {
    std::string piece;
    add_event(piece, t, EventType::kInstant, track, name, category, notes, 0);
    out_.put(piece, t);
  }
  /// Begin and end, in one piece.
  void slice(FabricTime from, FabricTime to, uint64_t track, const std::string& name,
             const char* category, const std::vector<TraceNote>& notes, uint64_t flow) {
    std::string piece;
    add_event(piece, from, EventType::kSliceBegin, track, name, category, notes, flow);
    add_event(piece, to, EventType::kSliceEnd, track, {}, nullptr, {}, 0);
    out_.put(piece, from);
  }
  void counter(FabricTime t, uint64_t track, double value) {
    std::string piece;
    add_packet(piece, [&](pbf_writer& packet) {
      packet.add_uint64(kTimestamp, in_ns(t));
      packet.add_uint32(kSequence, kOneSequence);
      pbf_writer event(packet, kTrackEvent);
      event.add_enum(kType, static_cast<int32_t>(EventType::kCounterValue));
      event.add_uint64(kTrack, track);
      event.add_double(kDoubleValue, value);
    });
    out_.put(piece, t);
  }

 private:
  template <class Fill>
  static void add_packet(std::string& piece, Fill&& fill) {
    pbf_writer trace(piece);
    pbf_writer packet(trace, kPacket);
    fill(packet);
  }

  static void add_event(std::string& piece, FabricTime t, EventType type, uint64_t track,
                        const std::string& name, const char* category,
                        const std::vector<TraceNote>& notes, uint64_t flow) {
    add_packet(piece, [&](pbf_writer& packet) {
      packet.add_uint64(kTimestamp, in_ns(t));
      packet.add_uint32(kSequence, kOneSequence);
      pbf_writer event(packet, kTrackEvent);
      for (const TraceNote& note : notes) {
        pbf_writer annotation(event, kAnnotations);
        annotation.add_string(kAnnotationName, note.name);
        annotation.add_string(kStringValue, note.text);
      }
      event.add_enum(kType, static_cast<int32_t>(type));
      event.add_uint64(kTrack, track);
      if (category != nullptr) event.add_string(kCategories, category);
      if (!name.empty()) event.add_string(kEventName, name);
      if (flow != 0) event.add_fixed64(kFlowIds, flow);
    });
  }

  template <class Fill>
  uint64_t described(uint64_t parent, const std::string& key, Fill&& fill) {
    const auto [found, is_new] = tracks_.try_emplace({parent, key}, tracks_.size() + 1);
    const uint64_t uuid = found->second;
    if (!is_new) return uuid;
    std::string piece;
    add_packet(piece, [&](pbf_writer& packet) {
      packet.add_uint32(kSequence, kOneSequence);
      pbf_writer descriptor(packet, kDescriptor);
      descriptor.add_uint64(kUuid, uuid);
      fill(descriptor);
    });
    // A track costs some dozen bytes, and an event without its track is nothing.
    out_.finish(piece);
    return uuid;
  }

  BoundedOutput& out_;
  std::map<std::pair<uint64_t, std::string>, uint64_t> tracks_;
};

class Exporter {
 public:
  Exporter(const RunTrace& trace, BoundedOutput& out) : trace_(trace), file_(out) {}

  void write() {
    const uint64_t fabric = file_.process("fabric");
    write_faults(fabric);
    write_goodput(fabric);
    write_queues(fabric);
    for (const NodeSite& site : trace_.topology.nodes) {
      if (site.role == NodeRole::kHost) file_.process(site.name);
    }
    write_bars();
    for (const Moment& moment : moments_of(trace_)) {
      if (moment.kind == MomentKind::kSent) transmission(moment.index);
      if (moment.kind == MomentKind::kEnded) ended(moment);
      if (moment.kind == MomentKind::kEvent) event(moment);
    }
  }

 private:
  void write_faults(uint64_t fabric) {
    size_t index = 0;
    for (const FaultSpan& fault : trace_.faults) {
      if (fault.start > trace_.end) continue;
      file_.slice(fault.start, std::min(fault.healed_at, trace_.end),
                  file_.lane(fabric, "faults", index++), fault.kind, "fault",
                  {{"description", fault.description}}, 0);
    }
  }

  void write_bars() {
    for (const TraceBar& bar : trace_.bars) {
      std::vector<TraceNote> notes;
      if (!bar.step.empty()) notes.push_back({"step", bar.step});
      file_.slice(bar.begin, bar.end, file_.track(file_.process(bar.process), bar.lane), bar.name,
                  bar.category, notes, 0);
    }
  }

  /// First arrivals per plane, as rates over equal parts of the run.
  void write_goodput(uint64_t fabric) {
    const int64_t step =
        std::max<int64_t>(trace_.end.ps() / static_cast<int64_t>(kCounterSteps), 1);
    std::vector<std::vector<uint64_t>> bytes(trace_.topology.planes,
                                             std::vector<uint64_t>(kCounterSteps + 1));
    for (const Delivery& delivery : trace_.packets.deliveries()) {
      if (delivery.t > trace_.end || delivery.plane >= bytes.size()) continue;
      bytes[delivery.plane][static_cast<size_t>(delivery.t.ps() / step)] += delivery.bytes;
    }
    for (uint32_t plane = 0; plane < bytes.size(); ++plane) {
      const uint64_t track = file_.track(fabric, "goodput p" + std::to_string(plane), "Gb/s");
      for (size_t i = 0; i < kCounterSteps; ++i) {
        const double gbps =
            static_cast<double>(bytes[plane][i]) * 8e3 / static_cast<double>(step);  // bit per ps
        file_.counter(FabricTime::from_ps(static_cast<int64_t>(i) * step), track, gbps);
      }
    }
  }

  /// Writes the deepest queue of the switches of each plane.
  void write_queues(uint64_t fabric) {
    const QueueDepths& queues = trace_.queues;
    for (size_t plane = 0; plane < queues.deepest.size(); ++plane) {
      const std::vector<uint64_t>& bins = queues.deepest[plane];
      const uint64_t track = file_.track(fabric, "deepest queue p" + std::to_string(plane), "KiB");
      for (size_t i = 0; i < bins.size(); ++i) {
        const FabricTime t = FabricTime::from_ps(
            trace_.end.ps() / static_cast<int64_t>(bins.size()) * static_cast<int64_t>(i));
        file_.counter(t, track, static_cast<double>(bins[i]) / 1024);
      }
    }
  }

  const std::string& node_name(uint32_t host) const {
    return trace_.topology.node(trace_.topology.host(host)).name;
  }

  /// The first lane of a flow and plane that is free at this instant.
  uint64_t lane_for(uint32_t flow, uint32_t plane, FabricTime from, FabricTime to) {
    std::vector<FabricTime>& busy = lanes_[{flow, plane}];
    const auto free =
        std::find_if(busy.begin(), busy.end(), [&](FabricTime t) { return t <= from; });
    const auto index = static_cast<size_t>(free - busy.begin());
    if (free == busy.end()) {
      busy.push_back(to);
    } else {
      *free = to;
    }
    const Flow& of = trace_.packets.flows()[flow];
    const uint64_t track = file_.track(file_.process(node_name(of.source)), flow_name(trace_, of));
    return file_.lane(track, "p" + std::to_string(plane), index);
  }

  void transmission(uint32_t index) {
    const Attempt& attempt = trace_.packets.attempts()[index];
    const Packet& packet = trace_.packets.packets()[attempt.packet];
    const auto path = path_of(attempt.ev);
    const FabricTime to = std::clamp(attempt.ended, attempt.start, trace_.end);
    std::vector<TraceNote> notes{
        {"fate", std::string(name_of(attempt.fate))},
        {"path", path ? to_string(*path) : std::to_string(attempt.ev.value)},
        {"payload", std::to_string(packet.payload)}};
    if (attempt.fate == Fate::kDropped) {
      notes.push_back({"cause", std::string(mrclab::name_of(attempt.cause))});
      notes.push_back({"where", place_of(trace_, attempt)});
    }
    std::string name = "psn " + std::to_string(packet.psn.value());
    if (attempt.attempt > 0) name += " again " + std::to_string(attempt.attempt);
    file_.slice(attempt.start, to, lane_for(packet.flow, path ? path->plane : 0, attempt.start, to),
                name, attempt.attempt > 0 ? "retransmission" : "transmission", notes,
                packet.attempts > 1 ? uint64_t{attempt.packet} + 1 : 0);
  }

  /// Losses, refusals and trims once more, where they happened.
  void ended(const Moment& moment) {
    const Attempt& attempt = trace_.packets.attempts()[moment.index];
    const bool dropped = attempt.fate == Fate::kDropped;
    if ((!dropped && attempt.fate != Fate::kTrimmed) || !attempt.where.node.valid()) return;
    const Packet& packet = trace_.packets.packets()[attempt.packet];
    const NodeSite& site = trace_.topology.node(attempt.where.node);
    const uint64_t track = file_.track(file_.process(site.name), place_of(trace_, attempt));
    file_.instant(moment.t, track,
                  dropped ? std::string(mrclab::name_of(attempt.cause)) : "trimmed",
                  attempt.lost() ? "loss"
                  : dropped      ? "refusal"
                                 : "trim",
                  {{"psn", std::to_string(packet.psn.value())},
                   {"flow", flow_name(trace_, trace_.packets.flows()[packet.flow])}});
  }

  void event(const Moment& moment) {
    const RunEvent& event = trace_.events.list[moment.index];
    // Names are those of the fabric, so that a hostile file cannot make tracks without end.
    if (!trace_.topology.find_node(event.node)) return;
    const bool is_state = event.kind == event_kind::kEvState;
    std::vector<TraceNote> notes;
    const auto note = [&](const char* name, std::string text) {
      if (!text.empty()) notes.push_back({name, std::move(text)});
    };
    note("port", event.port);
    note("cause", event.cause);
    note("detail", event.detail);
    if (event.qp) note("qp", std::to_string(*event.qp));
    if (event.psn) note("psn", std::to_string(*event.psn));
    std::string name = event.kind;
    if (event.ev) {
      const auto path = path_of(EntropyValue{*event.ev});
      const std::string text = path ? to_string(*path) : std::to_string(*event.ev);
      note("path", text);
      if (is_state) name = text + " " + event.cause;
    }
    const uint64_t track =
        file_.track(file_.process(event.node), is_state ? "EV states" : "events");
    file_.instant(moment.t, track, name, is_state ? "ev" : "event", notes);
  }

  const RunTrace& trace_;
  TraceFile file_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<FabricTime>> lanes_;  // by flow and plane
};

}  // namespace

void write_perfetto(const RunTrace& trace, BoundedOutput& out) { Exporter(trace, out).write(); }

}  // namespace mrclab::analysis
