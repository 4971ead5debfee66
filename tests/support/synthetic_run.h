#pragma once
// Writes the captures that a run would leave, from a script: who sends what over which path, and
// what becomes of it. No protocol in it: the test decides.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"
#include "tests/support/capture_writer.h"
#include "tests/support/mrc_frames.h"

namespace mrclab::test {

class SyntheticRun {
 public:
  static constexpr size_t kSnap = 160;
  static constexpr size_t kPayload = 4096;

  explicit SyntheticRun(const Topology& topology) : topology_(topology) {
    for (const NodeSite& site : topology.nodes) {
      drops_.push_back(writer_.interface(site.name + ":drop"));
      for (const Port& port : site.ports) {
        ports_[site.name + ":" + port.name()] = writer_.interface(site.name + ":" + port.name());
      }
    }
  }

  struct Sent {
    uint32_t source = 0, destination = 0, psn = 0;
    Path path;
    FabricTime start;
    bool retransmission = false;
    uint32_t qp = 0x100;
    size_t payload = kPayload;
    Opcode opcode = Opcode::kWriteOnly;
    std::optional<uint64_t> va = std::nullopt;  ///< default: each PSN has a slot of its own
    uint32_t rkey = 0x77;
    uint32_t message = 0;  ///< bytes of the message; 0: this packet is all of it
    uint8_t fill = 0;      ///< byte of the payload
    uint16_t sent_at = 0;  ///< the sender's timestamp
  };

  /// The frame leaves the sending host: an egress record when its last bit is out.
  FabricTime leaves(const Sent& s) {
    const std::vector<uint8_t> frame = data_frame(s);
    const FabricTime end =
        s.start + serialization_time(wire_length({frame.size()}), topology_.host_rate);
    record(host_port(s.source, s.path), kOutbound, end, frame, frame.size());
    return end;
  }
  /// ... and arrives whole.
  void delivered(const Sent& s) {
    const std::vector<uint8_t> frame = data_frame(s);
    record(host_port(s.destination, s.path), kInbound, leaves(s) + flight(), frame, frame.size());
  }
  /// It arrives once more, so much later: a wire behind the host carried it twice.
  void arrives_again(const Sent& s, FabricTime later) {
    const std::vector<uint8_t> frame = data_frame(s);
    const FabricTime sent =
        s.start + serialization_time(wire_length({frame.size()}), topology_.host_rate);
    record(host_port(s.destination, s.path), kInbound, sent + flight() + later, frame,
           frame.size());
  }
  /// ... or as a header.
  void trimmed(const Sent& s) {
    const std::vector<uint8_t> frame = trimmed_frame(s);
    record(host_port(s.destination, s.path), kInbound, leaves(s) + flight(), frame, frame.size());
  }
  /// ... or is lost at `port` of a switch (full name); what is left is the first 128 bytes.
  void lost(const Sent& s, const std::string& port, std::string_view cause) {
    std::vector<uint8_t> frame = data_frame(s);
    const FabricTime end = leaves(s);
    drop(port, kInbound, end + flight() / 2, frame, cause);
  }
  void drop(const std::string& port, uint32_t direction, FabricTime t, std::vector<uint8_t> frame,
            std::string_view cause) {
    const size_t original = frame.size();
    frame.resize(std::min<size_t>(frame.size(), 128));
    const NodeId node = *topology_.find_node(port.substr(0, port.rfind(':')));
    writer_.packet(
        drops_[node.value], direction, static_cast<uint64_t>(t.ns()), frame,
        static_cast<uint32_t>(original),
        "drop: " + std::string(cause) + " " + port + (direction == kInbound ? " in" : " out"));
  }
  /// The sender's own port has no carrier: a drop record and nothing else.
  void refused(const Sent& s) {
    drop(host_port(s.source, s.path), kOutbound, s.start, data_frame(s), "port_down");
  }
  void sack(const Sent& data, uint32_t sender_qp, Psn cumulative, uint64_t bitmap, FabricTime t,
            Path path, bool probe_response = false) {
    Seth seth;
    seth.entropy = ev_of(data.path);
    seth.cumulative = cumulative;
    seth.psn_offset_or_probe_id = static_cast<uint16_t>(Psn{data.psn} - cumulative);
    seth.probe_response = probe_response;
    seth.sack_offset = 1;
    seth.bitmap = bitmap;
    control(data.destination, data.source, sender_qp, Opcode::kSack, seth, t, path);
  }
  /// A transport ACK, which acknowledges everything up to `cumulative`.
  void ack(const Sent& data, uint32_t sender_qp, Psn cumulative, FabricTime t, Path path) {
    control(data.destination, data.source, sender_qp, Opcode::kAcknowledge, Aeth{}, t, path,
            cumulative);
  }
  void nack(const Sent& data, uint32_t sender_qp, NackReason reason, FabricTime t, Path path) {
    Neth neth;
    neth.reason = static_cast<uint8_t>(reason);
    neth.entropy = ev_of(data.path);
    neth.psn = Psn{data.psn};
    control(data.destination, data.source, sender_qp, Opcode::kNack, neth, t, path);
  }

  void record(const std::string& port, uint32_t direction, FabricTime t,
              std::span<const uint8_t> frame, size_t original, std::string_view comment = {}) {
    writer_.packet(ports_.at(port), direction, static_cast<uint64_t>(t.ns()),
                   frame.subspan(0, std::min(frame.size(), kSnap)), static_cast<uint32_t>(original),
                   comment);
  }

  std::vector<uint8_t> data_frame(const Sent& s) const {
    MrcFrameSpec spec = addressed(s.source, s.destination, s.path);
    spec.bth.opcode = s.opcode;
    spec.bth.destination_qp = Qpn{s.qp};
    spec.bth.psn = Psn{s.psn};
    spec.bth.retransmission = s.retransmission;
    const auto length = static_cast<uint32_t>(s.message > 0 ? s.message : s.payload);
    const Reth reth{s.va.value_or(uint64_t{s.psn} * kPayload), s.rkey, length};
    Tseth tseth;
    tseth.tx_timestamp = s.sent_at;
    spec.extension = WriteHeaders{{}, tseth, reth, std::nullopt};
    if (s.path.chosen == Chosen::kByFlow) {  // RC
      if (s.opcode == Opcode::kWriteOnly) spec.bth.opcode = Opcode::kRcWriteOnly;
      spec.extension = RcHeaders{reth, std::nullopt};
    }
    spec.payload_length = s.payload;
    return written(spec, s.fill);
  }
  /// As a switch trims: cut behind 128 bytes, outer length follows.
  std::vector<uint8_t> trimmed_frame(const Sent& s) const {
    std::vector<uint8_t> frame = data_frame(s);
    frame.resize(kTrimmedFrameBytes);
    const size_t outer = kTrimmedFrameBytes - kInnerOffset;
    frame[kOuterOffset + 4] = static_cast<uint8_t>(outer >> 8);
    frame[kOuterOffset + 5] = static_cast<uint8_t>(outer);
    return frame;
  }

  FabricTime flight() const { return topology_.base_rtt / 3; }
  std::string host_port(uint32_t host, Path path) const {
    return "h" + std::to_string(host) + ":p" + std::to_string(path.plane);
  }
  CaptureWriter& writer() { return writer_; }
  const Topology& topology() const { return topology_; }

 private:
  MrcFrameSpec addressed(uint32_t source, uint32_t destination, Path path) const {
    MrcFrameSpec spec;
    spec.outer_source = spec.inner_source = host_address(topology_, source);
    spec.inner_destination = host_address(topology_, destination);
    spec.carrier = make_carrier(topology_, source, destination, path);
    spec.ev = ev_of(path);
    if (path.chosen == Chosen::kByFlow) {
      spec.encapsulation = Encapsulation::kIpv6;
      spec.dscp = topology_.dscps.lossless;
    }
    return spec;
  }
  static std::vector<uint8_t> written(const MrcFrameSpec& spec, uint8_t fill = 0) {
    std::vector<uint8_t> frame(mrc_frame_size(spec), fill);
    write_mrc_headers(spec, frame);
    finish_mrc_frame(frame);
    return frame;
  }
  void control(uint32_t from, uint32_t to, uint32_t qp, Opcode opcode, Extension extension,
               FabricTime t, Path path, Psn psn = Psn{}) {
    MrcFrameSpec spec = addressed(from, to, path);
    spec.bth.psn = psn;
    spec.bth.opcode = opcode;
    spec.bth.destination_qp = Qpn{qp};
    spec.extension = std::move(extension);
    const std::vector<uint8_t> frame = written(spec);
    record(host_port(to, path), kInbound, t, frame, frame.size());
  }

  const Topology& topology_;
  CaptureWriter writer_;
  std::vector<uint32_t> drops_;
  std::map<std::string, uint32_t> ports_;
};

}  // namespace mrclab::test
