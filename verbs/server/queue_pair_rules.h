#pragma once
// The rules by which a queue pair goes from state to state, as programs of ibverbs and libmrc see them, and what becomes
// of their attributes on the device.
//
// RC: the attributes that each transition needs and may have stand in a table like the InfiniBand specification's
// (table 91, "QP State Transition Properties"). MRC: its API (mrc.h 1.0) calls PORT, TIMEOUT, RETRY_CNT, RNR and
// RD_ATOMIC unsupported, yet callers pass some of them: they are taken, needed nowhere, and what MRC lacks means
// nothing. An ibverbs timeout t (4.096 us x 2^t) becomes MRC's t + 2 (1.024 us x 2^(t + 2)), at most 24.

#include <cstdint>

#include "endpoint/device/verbs_types.h"
#include "verbs/protocol/messages.h"

namespace mrclab::verbs {

/// ibv_qp_state.
enum class IbvState : uint32_t {
  kReset,
  kInit,
  kReadyToReceive,
  kReadyToSend,
  kDrained,
  kSendError,
  kError
};

/// ibv_qp_attr_mask, the bits that are looked at.
enum IbvMask : uint32_t {
  kMaskState = 1 << 0,
  kMaskCurrent = 1 << 1,
  kMaskAccess = 1 << 3,
  kMaskPkey = 1 << 4,
  kMaskPort = 1 << 5,
  kMaskPath = 1 << 7,
  kMaskMtu = 1 << 8,
  kMaskTimeout = 1 << 9,
  kMaskRetries = 1 << 10,
  kMaskRnrRetries = 1 << 11,
  kMaskRqPsn = 1 << 12,
  kMaskReads = 1 << 13,
  kMaskAlternatePath = 1 << 14,
  kMaskRnrTimer = 1 << 15,
  kMaskSqPsn = 1 << 16,
  kMaskDestinationReads = 1 << 17,
  kMaskMigration = 1 << 18,
  kMaskDestination = 1 << 20,
};
/// mrc_qp_attr_mask.
enum MrcMask : uint32_t {
  kMrcWimm = 1 << 0,
  kMrcWimmDest = 1 << 1,
  kMrcMpr = 1 << 2,
  kMrcMprDest = 1 << 3,
  kMrcTimeout = 1 << 4,
  kMrcEvProfile = 1 << 5,
  kMrcCcProfile = 1 << 6,
  kMrcHint = 1 << 7,
  kMrcRetries = 1 << 8,
  kMrcCapabilities = 1 << 9,
};

IbvState state_of(endpoint::QpState state);
/// Where a request that names no state leaves it, it is `from`. 0, or EINVAL: no such transition, or not with these
/// attributes.
int check_transition(endpoint::TransportKind transport, IbvState from,
                     const ModifyRequest& request);
/// Takes over what the masks of `request` name.
void merge(QpAttributesWire& into, const ModifyRequest& request);

endpoint::AccessFlags access_of(uint32_t access);
endpoint::InitAttributes init_of(const QpAttributesWire& attributes);
/// `masks`: all mask bits of MRC that were ever given; the rest is the device's default.
endpoint::ReadyToReceiveAttributes receive_of(const QpAttributesWire& attributes,
                                              uint32_t mrc_masks);
/// `masks` likewise, of ibverbs and of MRC.
endpoint::ReadyToSendAttributes send_of(endpoint::TransportKind transport,
                                        const QpAttributesWire& attributes, uint32_t masks,
                                        uint32_t mrc_masks);

}  // namespace mrclab::verbs
