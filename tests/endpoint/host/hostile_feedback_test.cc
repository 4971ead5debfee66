// Hostile feedback to a requester that has packets in flight, and hostile endpoint operations: each
// is counted under its own reason and the run goes on as without it, picosecond by picosecond.

#include "tests/support/attack_table.h"
#include "tests/support/forgery.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::test;

namespace {

using A = PacketAttack;
using F = PacketAttack::Frames;

template <class Header, class Change>
std::function<F(A&)> feedback(Opcode opcode, Change change) {
  return [=](A& a) {
    MrcFrameSpec spec = a.spec(0, opcode);
    change(a, spec, std::get<Header>(spec.extension));
    return build_frame(spec);
  };
}

template <class Change>
std::function<F(A&)> sack(Change change) {
  return feedback<Seth>(Opcode::kSack, change);
}
template <class Change>
std::function<F(A&)> ack(Change change) {
  return feedback<Aeth>(Opcode::kAcknowledge, change);
}

/// No host has sent one in this run: made from a SACK.
template <class Change>
std::function<F(A&)> invented(Opcode opcode, Change change) {
  return [=](A& a) {
    MrcFrameSpec spec = a.spec(0, Opcode::kSack);
    spec.bth.opcode = opcode;
    change(a, spec);
    return build_frame(spec);
  };
}
template <class Change>
std::function<F(A&)> nack(Change change) {
  return invented(Opcode::kNack, [=](A& a, MrcFrameSpec& spec) {
    Neth neth;
    neth.psn = a.newest_psn();
    neth.entropy = spec.ev;
    neth.tx_timestamp = 0xBEEF;  // belongs to no transmission
    change(a, neth);
    spec.bth.psn = neth.psn;
    spec.extension = neth;
  });
}

}  // namespace

TEST_CASE("feedback about packets that were never sent is refused") {
  check_attacks(
      true,
      {
          {"a SACK whose cumulative PSN is the next one", 0, Refusal::kSackOfFuture, kNobody,
           sack([](A& a, MrcFrameSpec&, Seth& s) { s.cumulative = a.newest_psn() + 1; })},
          {"a SACK far ahead", 0, Refusal::kSackOfFuture, kNobody,
           sack([](A& a, MrcFrameSpec&, Seth& s) { s.cumulative = a.newest_psn() + 100'000; })},
          {"a SACK half the PSN space ahead", 0, Refusal::kSackOfFuture, kNobody,
           sack([](A& a, MrcFrameSpec&, Seth& s) { s.cumulative = a.newest_psn() + 0x70'0000; })},
          {"a bitmap with one bit too many", 0, Refusal::kSackOfFuture, kNobody,
           sack([](A& a, MrcFrameSpec&, Seth& s) {
             s.sack_offset = static_cast<int16_t>(a.newest_psn() - s.cumulative);
             s.bitmap = 0b11;
           })},
          {"a bitmap that starts beyond everything", 0, Refusal::kSackOfFuture, kNobody,
           sack([](A&, MrcFrameSpec&, Seth& s) {
             s.sack_offset = 0x7FFF;
             s.bitmap = 1;
           })},
          {"an ACK of the next PSN", 0, Refusal::kAckOfFuture, kNobody,
           ack([](A& a, MrcFrameSpec& s, Aeth&) { s.bth.psn = a.newest_psn() + 1; })},
          {"an ACK far ahead", 0, Refusal::kAckOfFuture, kNobody,
           ack([](A& a, MrcFrameSpec& s, Aeth&) { s.bth.psn = a.newest_psn() + 0x7F'0000; })},
          {"a NAK of a PSN never sent", 0, Refusal::kAckOfFuture, kNobody,
           ack([](A& a, MrcFrameSpec& s, Aeth& aeth) {
             s.bth.psn = a.newest_psn() + 1;
             aeth.syndrome = 0x62;
           })},
          {"a NACK of the next PSN", 0, Refusal::kNackOfUnsent, kNobody,
           nack([](A& a, Neth& n) { n.psn = a.newest_psn() + 1; })},
          {"a NACK of an unexpected event about a PSN never sent", 0, Refusal::kNackOfUnsent,
           kNobody, nack([](A& a, Neth& n) {
             n.psn = a.newest_psn() + 77;
             n.reason = static_cast<uint8_t>(NackReason::kUnexpectedEvent);
           })},
      });
}

TEST_CASE("feedback about the past or about another transmission changes nothing") {
  check_attacks(
      true,
      {
          {"a replayed SACK", 0, Refusal::kNone, kNobody, sack([](A&, MrcFrameSpec&, Seth&) {})},
          {"a replayed ACK", 0, Refusal::kNone, kNobody, ack([](A&, MrcFrameSpec&, Aeth&) {})},
          {"a SACK that shrinks MPR, which was not agreed on", 0, Refusal::kNone, kNobody,
           sack([](A&, MrcFrameSpec&, Seth& s) { s.mpr = 1; })},
          {"a SACK with a port mask, which was not agreed on", 0, Refusal::kNone, kNobody,
           sack([](A&, MrcFrameSpec&, Seth& s) { s.port_mask = 0xFF; })},
          {"a SACK about an entropy value that is not in the set", 0, Refusal::kUnknownEv, kNobody,
           sack([](A&, MrcFrameSpec&, Seth& s) { s.entropy.value ^= 0x55; })},
          {"a NACK of a PSN that is acknowledged", 0, Refusal::kStaleFeedback, kNobody,
           nack([](A& a, Neth& n) { n.psn = a.newest_psn() + (-20); })},
          {"a NACK of no resource about another transmission", 0, Refusal::kStaleFeedback, kNobody,
           nack([](A&, Neth& n) { n.reason = static_cast<uint8_t>(NackReason::kNoResource); })},
          {"a NACK of an unexpected event about another transmission", 0, Refusal::kStaleFeedback,
           kNobody, nack([](A&, Neth& n) {
             n.reason = static_cast<uint8_t>(NackReason::kUnexpectedEvent);
           })},
          {"a NACK about an entropy value that is not in the set", 0, Refusal::kUnknownEv, kNobody,
           nack([](A&, Neth& n) { n.entropy.value ^= 0x55; })},
          {"a NACK with a reason that MRC does not have", 0, Refusal::kMalformed, kNobody,
           nack([](A&, Neth& n) { n.reason = 0x55; })},
          {"a NAK of a PSN that is acknowledged", 0, Refusal::kStaleFeedback, kNobody,
           ack([](A& a, MrcFrameSpec& s, Aeth& aeth) {
             s.bth.psn = a.newest_psn() + (-20);
             aeth.syndrome = 0x62;
           })},
          {"a receiver-not-ready NAK, which MRC does not have", 0, Refusal::kMalformed, kNobody,
           ack([](A& a, MrcFrameSpec& s, Aeth& aeth) {
             s.bth.psn = a.newest_psn();
             aeth.syndrome = 0x2A;
           })},
          {"an answer to a probe that was never sent", 0, Refusal::kStaleFeedback, kNobody,
           sack([](A&, MrcFrameSpec&, Seth& s) {
             s.probe_response = true;
             s.psn_offset_or_probe_id = 0x1234;
           })},
          {"an answer to a port status that was never sent", 0, Refusal::kStaleFeedback, kNobody,
           invented(Opcode::kEndpointResponse,
                    [](A&, MrcFrameSpec& s) {
                      s.bth.destination_qp = kEndpointQpn;
                      s.extension = Eeth{};
                    })},
      });
}

TEST_CASE("feedback and endpoint operations that are not the peer's, or go to the wrong number") {
  check_attacks(
      true,
      {
          {"a SACK of a stranger", 0, Refusal::kWrongPeer, kNobody,
           sack([](A&, MrcFrameSpec& s, Seth&) { s.inner_source[3] ^= 1; })},
          {"an ACK of a stranger", 0, Refusal::kWrongPeer, kNobody,
           ack([](A&, MrcFrameSpec& s, Aeth&) { s.inner_source[15] ^= 1; })},
          {"a port status of a stranger", 0, Refusal::kWrongPeer, kNobody,
           invented(Opcode::kEndpointRequest,
                    [](A&, MrcFrameSpec& s) {
                      s.bth.destination_qp = kEndpointQpn;
                      s.inner_source[3] ^= 1;
                      s.extension = Erth{};
                    })},
          {"an answer of a stranger", 0, Refusal::kWrongPeer, kNobody,
           invented(Opcode::kEndpointResponse,
                    [](A&, MrcFrameSpec& s) {
                      s.bth.destination_qp = kEndpointQpn;
                      s.inner_source[3] ^= 1;
                      s.extension = Eeth{};
                    })},
          {"an endpoint request to a queue pair", 0, Refusal::kUnexpectedOpcode, kNobody,
           invented(Opcode::kEndpointRequest, [](A&, MrcFrameSpec& s) { s.extension = Erth{}; })},
          {"an endpoint response to a queue pair", 0, Refusal::kUnexpectedOpcode, kNobody,
           invented(Opcode::kEndpointResponse, [](A&, MrcFrameSpec& s) { s.extension = Eeth{}; })},
          {"a SACK to the endpoint's number", 0, Refusal::kUnexpectedOpcode, kNobody,
           sack([](A&, MrcFrameSpec& s, Seth&) { s.bth.destination_qp = kEndpointQpn; })},
          {"a SACK to an unknown queue pair", 0, Refusal::kUnknownQp, kNobody,
           sack([](A&, MrcFrameSpec& s, Seth&) { s.bth.destination_qp.value ^= 0x777; })},
          {"a trimmed SACK", 0, Refusal::kMalformed, kNobody,
           [](A& a) {
             F frame = a.newest(0, Opcode::kSack);
             return trim(frame, frame.size() - 8);
           }},
      });
}

TEST_CASE("probes are answered once, and only to the peer") {
  const auto probe = [](A& a, MrcFrameSpec& s) {
    s = a.next_write();
    s.payload_length = 0;
    s.bth.opcode = Opcode::kProbeRequest;
    s.extension = Peth{0, 77};
  };
  check_attacks(false, {
                           {"a reliability probe",
                            1,
                            Refusal::kNone,
                            {Opcode::kSack, Opcode::kAcknowledge},
                            invented(Opcode::kProbeRequest, probe),
                            [](const MrcPacket& p, const A&) {
                              const auto* seth = std::get_if<Seth>(&p.extension);
                              return seth == nullptr ||
                                     (seth->probe_response && seth->psn_offset_or_probe_id == 77);
                            }},
                           {"a stranger's reliability probe", 1, Refusal::kWrongPeer, kNobody,
                            invented(Opcode::kProbeRequest,
                                     [probe](A& a, MrcFrameSpec& s) {
                                       probe(a, s);
                                       s.inner_source[3] ^= 1;
                                     })},
                           {"an EV probe",
                            0,
                            Refusal::kNone,
                            {Opcode::kEndpointResponse},
                            invented(Opcode::kEndpointRequest,
                                     [](A&, MrcFrameSpec& s) {
                                       s.bth.destination_qp = kEndpointQpn;
                                       s.extension = Erth{EndpointOp::kEvProbe};
                                     })},
                       });
}
