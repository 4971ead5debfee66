#pragma once
// The syndromes of a transport ACK (AETH; InfiniBand Architecture vol. 1, table 44). Neither transport
// gives credits: an ACK's credit field is always 0x1F. MRC has neither "receiver not ready" nor NAKs of a sequence.

#include <cstdint>
#include <string_view>

namespace mrclab::endpoint {

inline constexpr uint8_t kAckSyndrome = 0x1F;

inline constexpr uint8_t kNakSequence = 0x60;  ///< RC: a packet is missing
inline constexpr uint8_t kNakInvalidRequest = 0x61;
inline constexpr uint8_t kNakRemoteAccess = 0x62;
inline constexpr uint8_t kNakRemoteOperation = 0x63;
/// "Inflight WriteImm limit exceeded" has no public number; our choice: InfiniBand's first free
/// one.
inline constexpr uint8_t kNakWriteImmLimit = 0x65;

constexpr bool is_ack(uint8_t syndrome) { return (syndrome & 0xE0) == 0; }
/// RC's "receiver not ready"; the low five bits are the time.
constexpr bool is_not_ready(uint8_t syndrome) { return (syndrome & 0xE0) == 0x20; }
constexpr uint8_t not_ready_syndrome(uint8_t code) { return static_cast<uint8_t>(0x20 | code); }
constexpr bool is_nak(uint8_t syndrome) { return (syndrome & 0xE0) == 0x60; }

/// How the sender's queue pair fails; words as in the verbs' completion statuses.
constexpr std::string_view failure_of(uint8_t nak) {
  switch (nak) {
    case kNakInvalidRequest: return "Remote Invalid Request Error";
    case kNakRemoteAccess: return "Remote Access Error";
    case kNakWriteImmLimit: return "Inflight WriteImm Limit Exceeded";
    default: return "Remote Operation Error";
  }
}

}  // namespace mrclab::endpoint
