#pragma once
// One packet of RoCEv2 of any transport that IBTA defines, as far as a capture has kept it: volume 1, chapter 9 and annexes
// A14 (XRC), A17 (RoCEv2) and A19. MRC's own packets are read by seen_headers.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/ibta_opcodes.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// A message of the connection manager (volume 1, chapter 12), which stands in a datagram to QP 1.
struct CmMessage {
  uint16_t attribute = 0;
  uint32_t local_id = 0, remote_id = 0;
  std::optional<Qpn> local_qp;  ///< REQ and REP carry the sender's
};
/// "REQ", "RTU"; empty for a number that nobody has defined.
std::string_view name_of_cm(uint16_t attribute);

struct RoceFrame {
  Ipv6Address source{}, destination{};
  uint16_t source_port = 0;
  uint8_t hop_limit = 0, traffic_class = 0, opcode = 0;
  Qpn qp;
  Psn psn;
  bool asks_ack = false, whole = false;  ///< `whole`: its extended headers are in the record
  uint32_t payload = 0;                  ///< bytes, without pad, also where the record is cut
  std::optional<uint8_t> syndrome;       ///< of AETH
  std::optional<uint32_t> dma_length;    ///< of RETH
  std::optional<Qpn> source_qp;          ///< of DETH
  std::optional<CmMessage> cm;

  /// The low five bits: the same operation in every transport.
  uint8_t operation() const { return opcode & 0x1F; }
  IbtaTransport transport() const { return ibta_opcode(opcode).transport; }
  /// READ responses, acknowledgements of any kind: they count in the PSNs of who is answered.
  bool is_response() const { return operation() >= 0x0D && operation() <= 0x12; }
  bool is_read_response() const { return operation() >= 0x0D && operation() <= 0x10; }
  bool is_read_request() const { return operation() == 0x0C; }
  /// Does the next packet of the message have the next PSN for sure?
  bool goes_on() const {
    return operation() == 0x00 || operation() == 0x01 || operation() == 0x06 || operation() == 0x07;
  }
  bool marked() const { return (traffic_class & 3) == 3; }
};

/// Where the headers of a frame to the UDP ports of MRC and RoCEv2 are. Empty for other ports, and for a frame that ends
/// before its BTH does.
std::optional<FrameLayout> roce_layout_of(std::span<const uint8_t> ethernet_frame);
/// Empty for a frame that is not to RoCEv2's ports, whose opcode is none of IBTA's, or that ends before BTH does.
std::optional<RoceFrame> roce_frame_in(std::span<const uint8_t> ethernet_frame);

}  // namespace mrclab
