#pragma once
// What a transport ACK's syndrome says (AETH; InfiniBand Architecture vol. 1, table 44). MRC has no
// credits and no RNR: an ACK's credit field is always 0x1F, and "receiver not ready" does not
// exist.

#include <cstdint>
#include <string_view>

namespace mrclab::endpoint {

inline constexpr uint8_t kAckSyndrome = 0x1F;

inline constexpr uint8_t kNakInvalidRequest = 0x61;
inline constexpr uint8_t kNakRemoteAccess = 0x62;
inline constexpr uint8_t kNakRemoteOperation = 0x63;
/// "Inflight WriteImm limit exceeded" has no public number; our choice: InfiniBand's first free
/// one.
inline constexpr uint8_t kNakWriteImmLimit = 0x65;

constexpr bool is_ack(uint8_t syndrome) { return (syndrome & 0xE0) == 0; }
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
