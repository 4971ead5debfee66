#include "session/recording/recording_watch.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/history/history_record.h"
#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/text/input_error.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {
namespace {

/// Where the digest's record holds what is read here (fabric/history/history.h).
constexpr size_t kTrafficClass = 11, kInnerSource = 32, kInnerDestination = 48, kBth = 64;
constexpr size_t kQpAt = place_of<kBthTable>("dqp").bit / 8;

uint32_t host_at(const Topology& topology, const HistoryBytes& bytes, size_t at) {
  Ipv6Address address;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), address.size(), address.begin());
  const auto host = host_of_address(topology, address);
  return host.value_or(SeenPacket::kNoHost);
}

Recording::FrameKey key_of(const Frame& frame) {
  return reinterpret_cast<Recording::FrameKey>(frame.bytes().data());
}

}  // namespace

SeenPacket seen_packet(const CompactRecord& record) {
  SeenPacket seen;
  seen.t = record.t;
  seen.psn = record.psn;
  seen.qp = record.qpn;
  seen.ev = record.ev;
  seen.fingerprint = record.fingerprint;
  seen.wire_length = record.wire_length;
  seen.event = record.event;
  seen.cause = record.cause;
  seen.queue = record.queue;
  seen.opcode = record.opcode;
  seen.traffic_class = record.traffic_class;
  if (record.again) seen.flags |= SeenPacket::kAgain;
  return seen;
}

class RecordingWatch::Watcher : public NodeObserver {
 public:
  Watcher(Recording& recording, const Topology& topology, NodeId node, FabricTime end)
      : recording_(recording),
        topology_(topology),
        node_(node),
        end_(end),
        look_(recording.part().look(node)) {
    if (recording.part().whole()) digest_.emplace(topology, node, end);
  }

  void packet(const PacketRecord& record) override {
    if (look_ == FollowedPart::Look::kNothing || record.t > end_) return;
    const bool dropped = record.event == PacketEvent::kDropped;
    const bool arrives = record.direction == Direction::kIngress && !dropped;
    if (look_ == FollowedPart::Look::kItsWires && (arrives || !is_followed(record))) return;
    const HistoryBytes bytes = history_record(record);
    if (digest_) digest_->packet(record, bytes);
    const PortRef at{node_, record.port};
    if (arrives) {
      const auto length = std::min<uint64_t>(record.frame.wire_length().value, UINT16_MAX);
      recording_.add_arrival({.t = record.t,
                              .at = at,
                              .queue = record.queue,
                              .opcode = bytes[kBth],
                              .traffic_class = bytes[kTrafficClass],
                              .wire_length = static_cast<uint16_t>(length),
                              .qp = {load_be24(&bytes[kBth + kQpAt])},
                              .frame = key_of(record.frame)});
      if (static_cast<Opcode>(bytes[kBth]) == Opcode::kSack) keep_sack(record);
      return;
    }
    const std::optional<CompactRecord> compact = parse_compact(compact_bytes(bytes, 0), 1);
    if (!compact) return;
    SeenPacket seen = seen_packet(*compact);
    seen.source = host_at(topology_, bytes, kInnerSource);
    seen.destination = host_at(topology_, bytes, kInnerDestination);
    recording_.add_departure(seen, at, record.direction, record.frame ? key_of(record.frame) : 0);
  }

  void event(const EventRecord& record) override {
    if (look_ != FollowedPart::Look::kAll) return;
    recording_.add_event({record.t, node_, std::string(record.kind), record.port, record.qp,
                          record.ev, record.psn, std::string(record.cause), record.detail});
  }

  void window(const WindowRecord& record) override {
    if (look_ == FollowedPart::Look::kAll) recording_.add_window({node_, record});
  }

  const HistoryDigest& digest() const { return digest_.value(); }

 private:
  /// Of a switch next to a followed rack: does it go by a wire to or from that?
  bool is_followed(const PacketRecord& record) const {
    const Port& port = topology_.port({node_, record.port});
    const WireId wire = record.direction == Direction::kEgress ? port.out : port.in;
    return recording_.part().number(wire) != FollowedPart::kOutside;
  }

  void keep_sack(const PacketRecord& record) {
    if (topology_.node(node_).role != NodeRole::kHost || !record.frame) return;
    MrcPacket packet;
    if (parse_mrc_frame(record.frame.bytes(), packet) != ParseError::kNone) return;
    const auto* seth = std::get_if<Seth>(&packet.extension);
    if (seth == nullptr) return;
    recording_.add_sack(node_, {record.t, packet.bth.destination_qp, seth->cumulative,
                                seth->sack_offset, seth->bitmap});
  }

  Recording& recording_;
  const Topology& topology_;
  NodeId node_;
  FabricTime end_;
  FollowedPart::Look look_;
  std::optional<HistoryDigest> digest_;  // where all is recorded
};

RecordingWatch::RecordingWatch(Recording& recording, const Topology& topology, FabricTime end)
    : whole_(recording.part().whole()) {
  for (const NodeSite& site : topology.nodes) {
    watchers_.emplace_back(recording, topology, site.id, end);
  }
}

RecordingWatch::~RecordingWatch() = default;

NodeObserver& RecordingWatch::observer(NodeId node) { return watchers_[node.value]; }

std::string RecordingWatch::history_sha256() const {
  if (!whole_) {
    throw InputError(
        "the history of a fabric that is too large to be recorded packet by packet is not computed here: "
        "mrclab run --history digest does");
  }
  std::vector<HistoryStream> streams;
  for (const Watcher& watcher : watchers_) {
    const auto more = watcher.digest().streams();
    streams.insert(streams.end(), more.begin(), more.end());
  }
  return mrclab::history_sha256(std::move(streams));
}

}  // namespace mrclab::lab
