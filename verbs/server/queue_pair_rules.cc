#include "verbs/server/queue_pair_rules.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mrclab::verbs {
namespace {

using endpoint::TransportKind;

struct Transition {
  IbvState from, to;
  uint32_t needed, allowed;  ///< beside kMaskState
};
constexpr uint32_t kToReceive =
    kMaskPath | kMaskMtu | kMaskDestination | kMaskRqPsn | kMaskDestinationReads | kMaskRnrTimer;
constexpr uint32_t kToSend =
    kMaskTimeout | kMaskRetries | kMaskRnrRetries | kMaskSqPsn | kMaskReads;
constexpr uint32_t kInInit = kMaskPkey | kMaskPort | kMaskAccess;
constexpr std::array<Transition, 5> kTransitions{
    {{IbvState::kReset, IbvState::kInit, kInInit, 0},
     {IbvState::kInit, IbvState::kInit, 0, kInInit},
     {IbvState::kInit, IbvState::kReadyToReceive, kToReceive,
      kMaskAlternatePath | kMaskAccess | kMaskPkey},
     {IbvState::kReadyToReceive, IbvState::kReadyToSend, kToSend,
      kMaskAlternatePath | kMaskAccess | kMaskRnrTimer | kMaskMigration},
     {IbvState::kReadyToSend, IbvState::kReadyToSend, 0,
      kMaskAlternatePath | kMaskAccess | kMaskRnrTimer | kMaskMigration}}};
/// What callers of MRC may give anywhere, or leave away.
constexpr uint32_t kOptionalOnMrc = kInInit | kMaskMtu | kMaskDestinationReads | kMaskRnrTimer |
                                    kMaskTimeout | kMaskRetries | kMaskRnrRetries | kMaskReads;
/// Bits of ibv_qp_attr_mask that exist for connected queue pairs here.
constexpr uint32_t kKnown = kMaskState | kMaskCurrent | kInInit | kToReceive | kToSend |
                            kMaskAlternatePath | kMaskMigration;

constexpr uint8_t kMostMrcTimeout = 24;
constexpr uint8_t kTimeoutOffset = 2;  // 4.096 us = 1.024 us x 2^2

}  // namespace

IbvState state_of(endpoint::QpState state) {
  switch (state) {
    case endpoint::QpState::kReset: return IbvState::kReset;
    case endpoint::QpState::kInit: return IbvState::kInit;
    case endpoint::QpState::kReadyToReceive: return IbvState::kReadyToReceive;
    case endpoint::QpState::kReadyToSend: return IbvState::kReadyToSend;
    case endpoint::QpState::kError: break;
  }
  return IbvState::kError;
}

int check_transition(TransportKind transport, IbvState from, const ModifyRequest& request) {
  const uint32_t mask = request.mask;
  if ((mask & ~kKnown) != 0) return EINVAL;
  const IbvState to =
      (mask & kMaskState) != 0 ? static_cast<IbvState>(request.attributes.state) : from;
  if (to == IbvState::kReset || to == IbvState::kError) {
    return (mask & kMaskState) != 0 && (mask & ~(kMaskState | kMaskCurrent)) == 0 ? 0 : EINVAL;
  }
  const auto* const found = std::find_if(
      kTransitions.begin(), kTransitions.end(),
      [&](const Transition& transition) { return transition.from == from && transition.to == to; });
  if (found == kTransitions.end()) return EINVAL;
  const bool mrc = transport == TransportKind::kMrc;
  const uint32_t needed = found->needed & ~(mrc ? kOptionalOnMrc : 0);
  const uint32_t allowed =
      kMaskState | kMaskCurrent | found->needed | found->allowed | (mrc ? kOptionalOnMrc : 0);
  if ((mask & needed) != needed || (mask & ~allowed) != 0) return EINVAL;
  const QpAttributesWire& a = request.attributes;
  // IBV_MTU_256 to IBV_MTU_4096.
  if ((mask & kMaskMtu) != 0 && (a.path_mtu < 1 || a.path_mtu > 5)) return EINVAL;
  if ((mask & kMaskTimeout) != 0 && a.timeout > 31) return EINVAL;
  if ((mask & kMaskRetries) != 0 && a.retry_cnt > 7) return EINVAL;
  if ((mask & kMaskRnrRetries) != 0 && a.rnr_retry > 7) return EINVAL;
  if ((mask & kMaskRnrTimer) != 0 && a.min_rnr_timer > 31) return EINVAL;
  return 0;
}

void merge(QpAttributesWire& into, const ModifyRequest& request) {
  const QpAttributesWire& from = request.attributes;
  const auto take = [](bool given, auto& to, const auto& value) {
    if (given) to = value;
  };
  const auto ibv = [&](uint32_t bit, auto& to, const auto& value) {
    take((request.mask & bit) != 0, to, value);
  };
  const auto mrc = [&](uint32_t bit, auto& to, const auto& value) {
    take((request.mrc_mask & bit) != 0, to, value);
  };
  ibv(kMaskAccess, into.access, from.access);
  if ((request.mask & kMaskPath) != 0) {
    std::memcpy(into.remote_gid, from.remote_gid, sizeof into.remote_gid);
    into.sgid_index = from.sgid_index;
  }
  ibv(kMaskDestination, into.remote_qpn, from.remote_qpn);
  ibv(kMaskRqPsn, into.rq_psn, from.rq_psn & 0xFF'FFFF);
  ibv(kMaskSqPsn, into.sq_psn, from.sq_psn & 0xFF'FFFF);
  ibv(kMaskMtu, into.path_mtu, from.path_mtu);
  ibv(kMaskTimeout, into.timeout, from.timeout);
  ibv(kMaskRetries, into.retry_cnt, from.retry_cnt);
  ibv(kMaskRnrRetries, into.rnr_retry, from.rnr_retry);
  ibv(kMaskRnrTimer, into.min_rnr_timer, from.min_rnr_timer);
  ibv(kMaskReads, into.max_rd_atomic, from.max_rd_atomic);
  ibv(kMaskDestinationReads, into.max_dest_rd_atomic, from.max_dest_rd_atomic);
  mrc(kMrcWimm, into.max_wimm, from.max_wimm);
  mrc(kMrcWimmDest, into.max_wimm_dest, from.max_wimm_dest);
  mrc(kMrcMpr, into.mpr, from.mpr);
  mrc(kMrcMprDest, into.mpr_dest, from.mpr_dest);
  mrc(kMrcTimeout, into.timeout, from.timeout);
  mrc(kMrcEvProfile, into.ev_profile, from.ev_profile);
  mrc(kMrcCcProfile, into.cc_profile, from.cc_profile);
  if ((request.mrc_mask & kMrcHint) != 0) std::memcpy(into.hint, from.hint, sizeof into.hint);
  mrc(kMrcRetries, into.retry_cnt, from.retry_cnt);
  mrc(kMrcRetries, into.exponential_retries, from.exponential_retries);
  mrc(kMrcCapabilities, into.dynamic_mpr, from.dynamic_mpr);
  mrc(kMrcCapabilities, into.service_time, from.service_time);
}

endpoint::AccessFlags access_of(uint32_t access) {
  return {(access & kLocalWrite) != 0, (access & kRemoteWrite) != 0, (access & kRemoteRead) != 0,
          (access & kRemoteAtomic) != 0};
}

endpoint::InitAttributes init_of(const QpAttributesWire& attributes) {
  endpoint::InitAttributes init;
  init.access = access_of(attributes.access);
  init.hint = {attributes.hint[0], attributes.hint[1], attributes.hint[2]};
  init.ev_profile_id = attributes.ev_profile;
  init.cc_profile_id = attributes.cc_profile;
  return init;
}

endpoint::ReadyToReceiveAttributes receive_of(const QpAttributesWire& attributes,
                                              uint32_t mrc_masks) {
  endpoint::ReadyToReceiveAttributes receive;
  std::copy_n(attributes.remote_gid, receive.remote_address.size(), receive.remote_address.begin());
  receive.remote_qpn = {attributes.remote_qpn};
  receive.rq_psn = Psn{attributes.rq_psn};
  if ((mrc_masks & kMrcWimmDest) != 0) receive.max_wimm_dest = attributes.max_wimm_dest;
  if ((mrc_masks & kMrcMprDest) != 0) receive.mpr_dest = attributes.mpr_dest;
  receive.dynamic_mpr_dest = attributes.dynamic_mpr != 0;
  receive.service_time_dest = attributes.service_time != 0;
  receive.min_rnr_timer = attributes.min_rnr_timer;
  receive.max_dest_rd_atomic =
      std::min<uint8_t>(attributes.max_dest_rd_atomic, endpoint::kMaxReads);
  return receive;
}

endpoint::ReadyToSendAttributes send_of(TransportKind transport, const QpAttributesWire& attributes,
                                        uint32_t masks, uint32_t mrc_masks) {
  endpoint::ReadyToSendAttributes send;
  send.sq_psn = Psn{attributes.sq_psn};
  if ((mrc_masks & kMrcWimm) != 0) send.max_wimm = attributes.max_wimm;
  if ((mrc_masks & kMrcMpr) != 0) send.mpr = attributes.mpr;
  send.service_time = attributes.service_time != 0;
  const bool mrc = transport == TransportKind::kMrc;
  if (mrc && (mrc_masks & kMrcTimeout) != 0) {
    send.timeout = std::min(attributes.timeout, kMostMrcTimeout);
  } else if ((masks & kMaskTimeout) != 0 && attributes.timeout != 0) {
    send.timeout = mrc ? std::min<uint8_t>(attributes.timeout + kTimeoutOffset, kMostMrcTimeout)
                       : std::min(attributes.timeout, kMostMrcTimeout);
  }
  if ((masks & kMaskRetries) != 0 || (mrc_masks & kMrcRetries) != 0) {
    send.retry.linear_cnt = attributes.retry_cnt;
  }
  if ((mrc_masks & kMrcRetries) != 0) send.retry.exp_cnt = attributes.exponential_retries;
  if ((masks & kMaskRnrRetries) != 0) send.rnr_retry = attributes.rnr_retry;
  if ((masks & kMaskReads) != 0) {
    send.max_rd_atomic = std::min<uint8_t>(attributes.max_rd_atomic, endpoint::kMaxReads);
  }
  return send;
}

}  // namespace mrclab::verbs
