#pragma once
// The numbers of ibverbs (its ABI) beside the names of the device.

#include <cstdint>
#include <optional>

#include "endpoint/device/verbs_types.h"

namespace mrclab::verbs {

/// ibv_send_flags.
enum SendFlag : uint32_t { kFence = 1, kSignaled = 2, kSolicited = 4, kInline = 8 };
/// ibv_wc_flags.
inline constexpr uint32_t kWithImmediate = 2;
/// ibv_wc_opcode.
inline constexpr uint32_t kReceiveCompleted = 128, kReceiveWithImmediate = 129;
/// ibv_event_type.
enum EventType : uint32_t {
  kEventCqError = 0,
  kEventQpFatal = 1,
  kEventQpRequestError = 2,
  kEventQpAccessError = 3,
  kEventCommEstablished = 4,
  kEventPortActive = 9,
  kEventPortError = 10,
  kEventSrqLimit = 15,
  kEventLastWqe = 16,
  kEventGidChange = 18,
};

/// Of an ibv_wr_opcode; empty: not one of a connected queue pair.
std::optional<endpoint::WorkRequest::Opcode> device_opcode(uint32_t opcode);
/// The ibv_wc_opcode that an ibv_wr_opcode completes with.
uint32_t completion_opcode(uint32_t opcode);
bool has_immediate(uint32_t opcode);
/// Does it send bytes of its scatter list, instead of bringing some?
bool takes_bytes(uint32_t opcode);
bool is_atomic(uint32_t opcode);
/// ibv_wc_status.
uint32_t status_code(endpoint::WorkStatus status);

}  // namespace mrclab::verbs
