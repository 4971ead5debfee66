#pragma once
// Sizes of the extension headers behind BTH, shared by the parser and the writer.

#include <cstddef>

#include "fabric/headers.h"

namespace mrclab {

inline constexpr size_t kMethBytes = 4, kTsethBytes = 4, kRethBytes = 16, kImmediateBytes = 4;
inline constexpr size_t kAethBytes = 4, kSethBytes = 36, kNethBytes = 20, kPethBytes = 16;
inline constexpr size_t kErthBytes = 16, kEethBytes = 36;  // kSethBytes includes CC_STATE

/// Size of the one extension header of a packet that is no write; 0 for an unknown opcode.
constexpr size_t control_extension_bytes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcknowledge: return kAethBytes;
    case Opcode::kSack: return kSethBytes;
    case Opcode::kNack: return kNethBytes;
    case Opcode::kProbeRequest: return kPethBytes;
    case Opcode::kEndpointRequest: return kErthBytes;
    case Opcode::kEndpointResponse: return kEethBytes;
    default: return 0;
  }
}

}  // namespace mrclab
