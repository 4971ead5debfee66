#pragma once
// Bits that flip in a switch's packet memory. The flip happens behind the ingress frame check, and
// the egress port computes a new frame check, so only the ICRC at the receiving host can find it.
//
// One draw decides whether a frame is hit, as on a wire of that bit error rate, one more which of its
// bits flips: a single one, any one from the Ethernet header on (our choice: at rates where two in
// a frame matter every frame is hit). It flips before the lookup. What comes of it:
//
//   under the ICRC            bad_icrc at the host; or malformed there, or no_receiver, if the host
//                             finds addresses or lengths wrong before it comes to the ICRC
//   MAC addresses             nothing: the egress port writes its own
//   Ethertype, IP version,    dropped by this switch as not_ipv6 or malformed: it compares the
//   outer length              packet's length with the frame's, as switches do
//   hop limit                 dropped as hop_limit if it is used up, at this switch or a later one
//   carrier                   another uSID: unknown_usid, foreign_carrier or end_of_carrier at a
//                             switch; or another way, to the right host, which is as good as the
//                             right way, or to a wrong one. The NIC at the end of a wrong one
//                             records no_receiver, as it does where a uSID stands behind its own
//   DSCP, ECN                 another queue, a mark no switch made. Where the DSCP is that of trimmed frames
//                             and the lengths do not: malformed at the host
//   inner traffic class, flow label and hop limit, UDP checksum, reserved BTH byte
//                             not under the ICRC. The flow label has the plane: the host reflects a
//                             value that its sender does not use and therefore counts
//
// A trimmed packet has no ICRC any more: at worst a NACK names a wrong packet.
//
// An elided payload has no bits. A bit that flips there, or in a header that the ICRC protects, is
// noted in the frame (Frame::damage), and the host takes the note in place of an ICRC error. A
// transport that checks no ICRC (icrc: off) accepts damaged data; a run without payload cannot show
// this: its hosts refuse damaged data all the same.

#include "fabric/node/effect.h"
#include "fabric/node/node.h"
#include "fabric/packet/frame.h"

namespace mrclab::switchd {

class BitFlips {
 public:
  BitFlips(uint64_t seed, NodeId self) : seed_(seed), self_(self) {}

  void set_rate(BitErrorRate rate) { rate_ = rate; }
  /// To be called for each frame. Anything but kNone: the switch itself finds the error and drops
  /// it.
  DropCause pass(Frame& frame) {
    return rate_.per_quadrillion == 0 ? DropCause::kNone : expose(frame);
  }

 private:
  [[gnu::noinline]] DropCause expose(Frame& frame);

  uint64_t seed_;
  NodeId self_;
  BitErrorRate rate_;
  uint64_t frames_ = 0;  ///< frames that passed while there were errors: numbers the draws
};

/// Flips bit `bit` of a frame (0: the highest of its first byte), in its bytes, or in Frame::damage
/// where the payload is elided. False if the switch finds that the frame's length is wrong.
bool flip(Frame& frame, uint32_t bit);

}  // namespace mrclab::switchd
