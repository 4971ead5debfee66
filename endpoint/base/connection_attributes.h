#pragma once
// The attributes that two ends exchange before a connection starts, out of band (MRC specification
// table 10-1; there is no connection manager on the wire), and what follows for each of them.
//
// Names as in the MRC API: `x` is what an end asks for as sender, `x_dest` what it can take as
// destination. Where the two differ the smaller counts (our choice: it is what both can keep).

#include <cstdint>
#include <string>
#include <variant>

#include "endpoint/base/transport_profile.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// MRC API: mpr is given in units of 128 PSNs, in 8 bits.
inline constexpr uint32_t kMprUnit = 128;
inline constexpr uint32_t kMaxMprUnits = 255;
/// RQMSN has 16 bits, half of which must distinguish early from late.
inline constexpr uint32_t kMaxWriteImmediates = 0x7FFF;
inline constexpr uint32_t kProtocolVersion = 1;  ///< MRC specification, table 10-1

/// An optional feature that each direction has for itself.
struct DirectionalCapability {
  bool as_requester = false;
  bool as_responder = false;
  bool operator==(const DirectionalCapability&) const = default;
};

/// When a sender gives up. Local: each end chooses its own (MRC API: timeout, retry_cnt).
struct RetryPolicy {
  FabricTime ack_timeout;
  uint32_t linear_retries = 7;
  uint32_t exponential_retries = 3;

  static constexpr uint32_t kMaxLinear = 7;        ///< MRC API
  static constexpr uint32_t kMaxExponential = 25;  ///< MRC API: 25 means for ever
  bool for_ever() const { return exponential_retries >= kMaxExponential; }
  uint32_t limit() const { return linear_retries + exponential_retries; }
  bool operator==(const RetryPolicy&) const = default;
};

/// What one end offers.
struct ConnectionAttributes {
  uint32_t protocol_version = kProtocolVersion;
  uint32_t max_wimm = 32;       ///< WriteImm in flight that it sends at most
  uint32_t max_wimm_dest = 32;  ///< WriteImm in flight that it can take
  uint32_t mpr = 8;             ///< max PSN range it sends with, in units of 128 PSNs
  uint32_t mpr_dest = 8;        ///< max PSN range its bitmap holds, in units of 128 PSNs
  bool dynamic_mpr = false;     ///< counts only if both have it
  DirectionalCapability trim_nack{true, true};  ///< asks for, and sends, NACKs of trimmed packets
  DirectionalCapability service_time;           ///< asks for, and gives, service times in SACKs
  RetryPolicy retry;                            ///< for its own requester; not sent to the peer
  bool operator==(const ConnectionAttributes&) const = default;
};

/// The agreed limits in one direction of a connection.
struct DirectionLimits {
  uint32_t max_psn_range = 1024;  ///< packets
  uint32_t max_immediates = 32;
  bool dynamic_mpr = false;
  bool trim_nack = true;  ///< false: data travels in a class that switches do not trim
  bool service_time = false;
  bool operator==(const DirectionLimits&) const = default;
};

/// The limits that one end's requester and responder must keep.
struct ConnectionLimits {
  DirectionLimits sending;
  DirectionLimits receiving;
  RetryPolicy retry;
  bool operator==(const ConnectionLimits&) const = default;
};

/// The limits of this end, or why the two cannot be connected.
std::variant<ConnectionLimits, std::string> negotiate(const ConnectionAttributes& mine,
                                                      const ConnectionAttributes& theirs);

/// The offer of a host with this profile; the range is rounded down to whole units.
ConnectionAttributes offer_of(const TransportProfile& profile);
/// Limits between two hosts of this profile. Throws std::invalid_argument if such hosts cannot be
/// connected.
ConnectionLimits limits_of(const TransportProfile& profile);

}  // namespace mrclab::endpoint
