#include "endpoint/base/connection_attributes.h"

#include <algorithm>
#include <stdexcept>

namespace mrclab::endpoint {
namespace {

std::string out_of_range(const char* whose, const char* what, uint32_t value, uint32_t least,
                         uint32_t most) {
  return std::string(whose) + " " + what + " is " + std::to_string(value) + ", not " +
         std::to_string(least) + " to " + std::to_string(most);
}

/// What is wrong with one end's offer; empty if nothing is.
std::string fault_of(const ConnectionAttributes& a, const char* whose) {
  if (a.protocol_version != kProtocolVersion) {
    return out_of_range(whose, "protocol version", a.protocol_version, kProtocolVersion,
                        kProtocolVersion);
  }
  if (a.mpr < 1 || a.mpr > kMaxMprUnits) {
    return out_of_range(whose, "mpr", a.mpr, 1, kMaxMprUnits);
  }
  if (a.mpr_dest < 1 || a.mpr_dest > kMaxMprUnits) {
    return out_of_range(whose, "mpr_dest", a.mpr_dest, 1, kMaxMprUnits);
  }
  if (a.max_wimm > kMaxWriteImmediates) {
    return out_of_range(whose, "max_wimm", a.max_wimm, 0, kMaxWriteImmediates);
  }
  if (a.max_wimm_dest > kMaxWriteImmediates) {
    return out_of_range(whose, "max_wimm_dest", a.max_wimm_dest, 0, kMaxWriteImmediates);
  }
  return {};
}

std::string fault_of(const RetryPolicy& retry) {
  if (retry.ack_timeout <= FabricTime::zero()) return "our ACK timeout is not above 0";
  if (retry.linear_retries > RetryPolicy::kMaxLinear) {
    return out_of_range("our", "number of linear retries", retry.linear_retries, 0,
                        RetryPolicy::kMaxLinear);
  }
  if (retry.exponential_retries > RetryPolicy::kMaxExponential) {
    return out_of_range("our", "number of exponential retries", retry.exponential_retries, 0,
                        RetryPolicy::kMaxExponential);
  }
  return {};
}

DirectionLimits agreed_limits(const ConnectionAttributes& sender,
                              const ConnectionAttributes& destination) {
  DirectionLimits limits;
  limits.max_psn_range = std::min(sender.mpr, destination.mpr_dest) * kMprUnit;
  limits.max_immediates = std::min(sender.max_wimm, destination.max_wimm_dest);
  limits.dynamic_mpr = sender.dynamic_mpr && destination.dynamic_mpr;
  limits.trim_nack = sender.trim_nack.as_requester && destination.trim_nack.as_responder;
  limits.service_time = sender.service_time.as_requester && destination.service_time.as_responder;
  return limits;
}

}  // namespace

std::variant<ConnectionLimits, std::string> negotiate(const ConnectionAttributes& mine,
                                                      const ConnectionAttributes& theirs) {
  for (const std::string& fault :
       {fault_of(mine, "our"), fault_of(theirs, "the peer's"), fault_of(mine.retry)}) {
    if (!fault.empty()) return fault;
  }
  ConnectionLimits limits;
  limits.sending = agreed_limits(mine, theirs);
  limits.receiving = agreed_limits(theirs, mine);
  limits.retry = mine.retry;
  return limits;
}

ConnectionAttributes offer_of(const TransportProfile& profile) {
  ConnectionAttributes offer;
  offer.mpr = offer.mpr_dest = profile.max_psn_range / kMprUnit;
  offer.max_wimm = offer.max_wimm_dest = profile.max_immediates;
  offer.dynamic_mpr = profile.dynamic_mpr;
  offer.trim_nack = {profile.trim_nack, profile.trim_nack};
  offer.service_time = {profile.service_time, profile.service_time};
  offer.retry = {profile.ack_timeout, profile.linear_retries, profile.exponential_retries};
  return offer;
}

ConnectionLimits limits_of(const TransportProfile& profile) {
  const ConnectionAttributes offer = offer_of(profile);
  const auto result = negotiate(offer, offer);
  if (const auto* reason = std::get_if<std::string>(&result)) throw std::invalid_argument(*reason);
  return std::get<ConnectionLimits>(result);
}

}  // namespace mrclab::endpoint
