#pragma once
// A packet of RC that a port sends when it is free.

#include "endpoint/base/memory.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// One data packet to be made into a frame. `payload` points into the sender's memory.
struct RcPacket {
  Opcode opcode = Opcode::kRcWriteOnly;
  Psn psn;
  ConstMemory payload;
  Extension extension;
  bool ack_request = false;
  bool solicited = false;
};

}  // namespace mrclab::endpoint
