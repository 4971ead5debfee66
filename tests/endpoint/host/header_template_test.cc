// Frames, whose headers are put into a template, against the codec that writes any frame.

#include "endpoint/nic/header_template.h"

#include <doctest/doctest.h>

#include <vector>

#include "endpoint/base/sequence.h"
#include "endpoint/nic/packet_maker.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mrc_frames.h"

namespace mrclab::endpoint {
namespace {

/// What every frame to `to` on `ev` has.
MrcFrameSpec addressed(const PathMapper& paths, EntropyValue ev, PacketMaker::Address to) {
  const PathHeaders path = paths.headers(to.host, ev);
  MrcFrameSpec spec;
  spec.encapsulation = path.encapsulation;
  spec.source_mac = path.source_mac;
  spec.destination_mac = path.destination_mac;
  spec.outer_source = path.outer_source;
  spec.carrier = path.carrier;
  spec.inner_source = paths.address_in(path.encapsulation, 0);
  spec.inner_destination = paths.address_in(path.encapsulation, to.host);
  spec.udp_port = paths.udp_port();
  spec.ev = ev;
  spec.bth.destination_qp = to.qpn;
  return spec;
}

/// The frame as the codec writes it.
std::vector<uint8_t> written_by_codec(const MrcFrameSpec& spec, ConstMemory payload) {
  std::vector<uint8_t> frame(mrc_frame_size(spec));
  const std::span<uint8_t> room = write_mrc_headers(spec, frame);
  std::copy_n(payload.data(), payload.size(), room.begin());
  finish_mrc_frame(frame);
  return frame;
}

std::vector<uint8_t> data_by_codec(const PathMapper& paths, const DataPacket& packet,
                                   PacketMaker::Address to, FabricTime now) {
  const DscpMap dscps;
  MrcFrameSpec spec = addressed(paths, packet.ev, to);
  spec.dscp = !packet.trimmable       ? dscps.no_trim
              : packet.retransmission ? dscps.trimmable_retx
                                      : dscps.trimmable;
  spec.bth.opcode = packet.opcode;
  spec.bth.psn = packet.psn;
  spec.bth.ack_request = packet.ack_request;
  spec.bth.retransmission = packet.retransmission;
  spec.extension =
      WriteHeaders{packet.meth, Tseth{tx_timestamp(now), false, 1}, packet.reth, packet.immediate};
  spec.payload_length = packet.payload.size();
  return written_by_codec(spec, packet.payload);
}

/// What makes the packets of the first host of octet.
struct Sender {
  const Topology topology = test::octet();
  const TopologyPaths paths{topology, topology.host(0)};
  FramePool pool;
  PacketMaker maker{pool, paths, 0, {}};
};

const std::vector<EntropyValue>& some_values() {
  static const std::vector<EntropyValue> kValues{ev_of({0, 0}),
                                                 ev_of({7, 3}),
                                                 ev_of({3, kT0LocalUplink}),
                                                 ev_of({2, 41, Chosen::kByHashIpv6}),
                                                 ev_of({5, 1000, Chosen::kByHashIpv4}),
                                                 ev_of({6, 77, Chosen::kByFlow}),
                                                 EntropyValue{0xFFFF'FFFF}};
  return kValues;
}

TEST_CASE("a data frame made from a template is the frame that the codec writes") {
  Sender sender;
  std::vector<uint8_t> memory(4096);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 7);
  uint32_t number = 0;
  // Every template is used for packets that differ in all that a packet has of its own.
  for (int round = 0; round < 2; ++round) {
    for (const EntropyValue ev : some_values()) {
      for (const Opcode opcode :
           {Opcode::kWriteFirst, Opcode::kWriteMiddle, Opcode::kWriteLast, Opcode::kWriteLastImm,
            Opcode::kWriteOnly, Opcode::kWriteOnlyImm}) {
        ++number;
        DataPacket packet;
        packet.opcode = opcode;
        packet.psn = Psn{0xFF'FFF0 + number * 3};
        packet.ev = ev;
        packet.payload = ConstMemory(memory).subspan(0, 4096 - number % 5);
        packet.meth = {static_cast<uint16_t>(number * 31), static_cast<uint16_t>(number * 1021)};
        packet.reth = {uint64_t{0x1122'3344'5566'7700} + number, 0xAB00'0000 + number,
                       0x0102'0304 * number};
        if (has_immediate(opcode)) packet.immediate = 0x8090'A0B0 + number;
        packet.ack_request = number % 2 == 0;
        packet.retransmission = number % 3 == 0;
        packet.trimmable = number % 4 != 0;
        const PacketMaker::Address to{1 + number % 7, Qpn{0xABC000 + number}};
        const FabricTime now = FabricTime::from_ns(1000 * number);
        INFO("EV ", ev.value, ", opcode ", static_cast<int>(opcode));
        const Frame made = sender.maker.data(packet, to, now);
        REQUIRE(made);
        const std::vector<uint8_t> expected = data_by_codec(sender.paths, packet, to, now);
        CHECK(std::vector<uint8_t>(made.bytes().begin(), made.bytes().end()) == expected);
      }
    }
  }
}

TEST_CASE("a SACK made from a template is the frame that the codec writes") {
  Sender sender;
  uint32_t number = 0;
  for (int round = 0; round < 2; ++round) {
    for (const EntropyValue ev : some_values()) {
      ++number;
      Seth seth;
      seth.mark = number % 2 == 0 ? SackMark::kSkipOnce : SackMark::kNone;
      seth.probe_response = number % 3 == 0;
      seth.psn_offset_or_probe_id = static_cast<uint16_t>(0xFFF0 + number);
      seth.entropy = {0xA5A5'0000 + number};
      seth.port_mask = static_cast<uint8_t>(number * 17);
      seth.cumulative = Psn{0xFF'FFF8 + number};
      seth.mpr = static_cast<uint8_t>(number);
      seth.sack_offset = static_cast<int16_t>(3 - number);
      seth.bitmap = 0x8000'0000'0000'0001 << number;
      seth.tx_timestamp = static_cast<uint16_t>(number * 4001);
      seth.out_of_order = static_cast<uint16_t>(number);
      seth.restore_cwnd = number % 2 == 1;
      seth.receiver_penalty = static_cast<uint8_t>(number * 5);
      seth.received_units = 0xFF'FF00 + number;
      const PacketMaker::Address to{1 + number % 7, Qpn{0xABC000 + number}};
      MrcFrameSpec spec = addressed(sender.paths, ev, to);
      spec.dscp = DscpMap{}.control;
      spec.ecn = kEcnNotEct;
      spec.bth.opcode = Opcode::kSack;
      spec.bth.psn = seth.cumulative;
      spec.extension = seth;
      INFO("EV ", ev.value);
      const Frame made = sender.maker.sack(seth, ev, to);
      REQUIRE(made);
      const std::vector<uint8_t> expected = written_by_codec(spec, {});
      CHECK(std::vector<uint8_t>(made.bytes().begin(), made.bytes().end()) == expected);
    }
  }
}

/// How such a packet goes, which the maker decides.
struct Travels {
  uint8_t dscp;
  uint8_t ecn;
};

TEST_CASE("control frames and those of RC are the frames that the codec writes") {
  Sender sender;
  std::vector<uint8_t> memory(1000, 0x5C);
  const DscpMap dscps;
  uint32_t number = 0;
  for (const EntropyValue ev : some_values()) {
    const PacketMaker::Address to{1 + number % 7, Qpn{0xABC000 + number}};
    const auto check = [&](const Frame& made, const Travels& how, const Bth& bth,
                           const Extension& extension, ConstMemory payload) {
      INFO("EV ", ev.value, ", opcode ", static_cast<int>(bth.opcode));
      MrcFrameSpec spec = addressed(sender.paths, ev, to);
      spec.dscp = how.dscp;
      spec.ecn = how.ecn;
      spec.bth = bth;
      spec.bth.destination_qp = to.qpn;
      spec.extension = extension;
      spec.payload_length = payload.size();
      REQUIRE(made);
      CHECK(std::vector<uint8_t>(made.bytes().begin(), made.bytes().end()) ==
            written_by_codec(spec, payload));
    };
    const auto bth_of = [&number](Opcode opcode) {
      Bth bth;
      bth.opcode = opcode;
      bth.psn = Psn{0xFF'FFFC + ++number};
      return bth;
    };
    const Travels in_control{dscps.control, kEcnNotEct};

    Bth bth = bth_of(Opcode::kNack);
    const Neth neth{.reason = static_cast<uint8_t>(1 + number % 3), .entropy = ev};
    check(sender.maker.control(bth.opcode, bth.psn, neth, ev, to), in_control, bth, neth, {});
    bth = bth_of(Opcode::kProbeRequest);
    const Peth peth{.probe_id = static_cast<uint16_t>(number * 771)};
    check(sender.maker.control(bth.opcode, bth.psn, peth, ev, to), {dscps.no_trim, kEcnEct0}, bth,
          peth, {});
    bth = bth_of(Opcode::kRcAcknowledge);
    const Aeth aeth{.syndrome = static_cast<uint8_t>(number), .msn = 0x00AB'CD00 + number};
    check(sender.maker.rc_control(bth.opcode, bth.psn, aeth, ev, to), in_control, bth, aeth, {});
    bth = bth_of(Opcode::kCongestionNotification);
    bth.variant_reserved = kBecn;
    check(sender.maker.rc_control(bth.opcode, bth.psn, CnpHeader{}, ev, to), {dscps.cnp, kEcnEct0},
          bth, CnpHeader{}, {});

    for (const Opcode opcode :
         {Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle, Opcode::kRcWriteOnlyImm}) {
      RcPacket packet;
      packet.opcode = opcode;
      bth = bth_of(opcode);
      packet.psn = bth.psn;
      packet.ack_request = bth.ack_request = number % 2 == 0;
      packet.payload = ConstMemory(memory).subspan(0, memory.size() - number % 4);
      RcHeaders headers;
      if (is_first(opcode)) headers.reth = {0x1122'3344'5566'7700, 0xAB00'0000 + number, 99};
      if (has_immediate(opcode)) headers.immediate = 0x8090'A0B0 + number;
      packet.extension = headers;
      check(sender.maker.rc_data(packet, ev, to), {dscps.lossless, kEcnEct0}, bth, headers,
            packet.payload);
    }
  }
}

}  // namespace
}  // namespace mrclab::endpoint
