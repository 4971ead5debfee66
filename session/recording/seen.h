#pragma once
// What a page shows of a history: packets as they leave ports or are lost, events of hosts, and their
// windows. Small, because there may be millions of them.

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/base/ids.h"
#include "fabric/node/node.h"
#include "fabric/node/window_record.h"

namespace mrclab::lab {

/// A packet that starts over a wire, or is dropped. Fields that it does not have are zero.
struct SeenPacket {
  static constexpr uint32_t kNoHost = UINT32_MAX;
  /// Bits of `flags`.
  static constexpr uint8_t kAgain = 1;       ///< retransmitted, by its own header (MRC only)
  static constexpr uint8_t kMarkedHere = 2;  ///< ECN: this switch was the first that marked it
  static constexpr uint8_t kWaitSeen = 4;    ///< it was seen coming in: `waited_ns` is known

  FabricTime t;  ///< its last bit leaves; for a drop: when it was dropped
  WireId wire;   ///< that it leaves by; for a drop on the way in: that it came by
  Psn psn;
  Qpn qp;  ///< destination
  EntropyValue ev;
  uint32_t fingerprint = 0;   ///< of all that the history's digest takes
  uint32_t waited_ns = 0;     ///< in the queue of the port that it leaves by; switches only
  uint32_t source = kNoHost;  ///< host number
  uint32_t destination = kNoHost;
  uint16_t wire_length = 0;  ///< bytes
  PacketEvent event = PacketEvent::kPassed;
  DropCause cause = DropCause::kNone;
  QueueClass queue = QueueClass::kNone;
  uint8_t opcode = 0;  ///< 0: no packet of a queue pair
  uint8_t traffic_class = 0;
  uint8_t flags = 0;
  bool operator==(const SeenPacket&) const = default;
};

/// An event of a host (a line of events.jsonl).
struct SeenEvent {
  FabricTime t;
  NodeId node;
  std::string kind;
  std::optional<PortId> port;
  std::optional<Qpn> qp;
  std::optional<EntropyValue> ev;
  std::optional<Psn> psn;
  std::string cause;
  std::string detail;
};

/// A SACK's fields as its sender gets them, by its bytes.
struct SeenSack {
  FabricTime t;         ///< its last bit has come in at the sender's host
  Qpn qp;               ///< of the sender
  Psn cumulative;       ///< everything up to here was received
  int16_t offset = 0;   ///< of the bitmap's first PSN from it
  uint64_t bitmap = 0;  ///< bit i: PSN cumulative + offset + i was received
};

struct SeenWindow {
  NodeId host;
  WindowRecord record;
};

}  // namespace mrclab::lab
