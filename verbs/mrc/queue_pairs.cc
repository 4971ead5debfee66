// Queue pairs. Each is one of our libibverbs, whose context is the mrc_qp. Callers leave much out and pass what MRC does
// not have (mrc.h names PORT, TIMEOUT, RETRY_CNT, RNR_RETRY and the read depths as unsupported; every caller seen passes
// some of them): such bits are dropped, and every attribute of MRC that a transition needs has a default.

#include <cerrno>
#include <cstring>

#include "verbs/mrc/objects.h"

using mrclab::mrc::QpAttr;
using mrclab::mrc::valid;
using mrclab::mrc::verbs_error;

namespace {

using namespace mrclab::mrc;
using mrclab::verbs::QpAttributesWire;

constexpr int kNotOfMrc = IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
/// MRC's unit is 1.024 us: a quarter of that of verbs, in which NCCL and perftest ask for 14 (67 ms).
constexpr uint8_t kDefaultTimeout = 16;
constexpr uint8_t kMaxTimeout = 24;
constexpr uint8_t kMaxLinear = 7;
constexpr uint8_t kMaxExponential = 25;
constexpr uint8_t kDefaultExponential = 3;

QpAttr defaults_of(const mrclab::verbs::HelloReply& hello) {
  QpAttr attr{};
  const auto mpr = static_cast<uint8_t>(hello.max_mpr < 8 ? hello.max_mpr : 8);
  attr.mpr = attr.mpr_dest = mpr;
  const auto wimm = static_cast<uint16_t>(hello.max_wimm < 32 ? hello.max_wimm : 32);
  attr.max_wimm = attr.max_wimm_dest = wimm;
  attr.timeout = kDefaultTimeout;
  attr.linear_retries = kMaxLinear;
  attr.exponential_retries = kDefaultExponential;
  return attr;
}

/// 0, or EINVAL for a value that the device or the API does not have.
int check(const mrc_qp& qp, const QpAttr& attr, uint32_t mask) {
  const mrclab::verbs::HelloReply& hello = *qp.context->support.hello;
  const auto beyond = [](uint32_t value, uint32_t most) { return value == 0 || value > most; };
  if ((mask & kMaskMpr) && beyond(attr.mpr, hello.max_mpr)) return EINVAL;
  if ((mask & kMaskMprDest) && beyond(attr.mpr_dest, hello.max_mpr)) return EINVAL;
  if ((mask & kMaskMaxWimm) && attr.max_wimm > hello.max_wimm) return EINVAL;
  if ((mask & kMaskMaxWimmDest) && attr.max_wimm_dest > hello.max_wimm) return EINVAL;
  if ((mask & kMaskTimeout) && attr.timeout > kMaxTimeout) return EINVAL;
  if ((mask & kMaskRetry) &&
      (attr.linear_retries > kMaxLinear || attr.exponential_retries > kMaxExponential)) {
    return EINVAL;
  }
  if ((mask & kMaskHint) && attr.hint != nullptr &&
      (!valid(attr.hint) || attr.hint->context != qp.context)) {
    return EINVAL;
  }
  return 0;
}

QpAttr merged(QpAttr attr, const QpAttr& given, uint32_t mask) {
  if (mask & kMaskMpr) attr.mpr = given.mpr;
  if (mask & kMaskMprDest) attr.mpr_dest = given.mpr_dest;
  if (mask & kMaskMaxWimm) attr.max_wimm = given.max_wimm;
  if (mask & kMaskMaxWimmDest) attr.max_wimm_dest = given.max_wimm_dest;
  if (mask & kMaskTimeout) attr.timeout = given.timeout;
  if (mask & kMaskEvProfile) attr.ev_profile = given.ev_profile;
  if (mask & kMaskCcProfile) attr.cc_profile = given.cc_profile;
  if (mask & kMaskHint) attr.hint = given.hint;
  if (mask & kMaskRetry) {
    attr.linear_retries = given.linear_retries;
    attr.exponential_retries = given.exponential_retries;
  }
  if (mask & kMaskCap) attr.cap = given.cap;
  if (mask & kMaskVendor) std::memcpy(attr.vendor, given.vendor, sizeof attr.vendor);
  return attr;
}

QpAttributesWire wire_of(const QpAttr& attr) {
  QpAttributesWire wire{};
  wire.mpr = attr.mpr;
  wire.mpr_dest = attr.mpr_dest;
  wire.max_wimm = attr.max_wimm;
  wire.max_wimm_dest = attr.max_wimm_dest;
  wire.timeout = attr.timeout;
  wire.ev_profile = attr.ev_profile;
  wire.cc_profile = attr.cc_profile;
  wire.retry_cnt = attr.linear_retries;
  wire.exponential_retries = attr.exponential_retries;
  wire.dynamic_mpr = (attr.cap & kDynamicMpr) != 0;
  wire.service_time = (attr.cap & kNoServiceTimeThere) == 0;
  if (attr.hint != nullptr) {
    const mrclab::verbs::Guard lock(attr.hint->context->mutex);
    wire.hint[0] = static_cast<uint32_t>(attr.hint->attr.qps_per_peer);
    wire.hint[1] = static_cast<uint32_t>(attr.hint->attr.send_peers);
    wire.hint[2] = static_cast<uint32_t>(attr.hint->attr.remote_receive_peers);
  }
  return wire;
}

}  // namespace

mrc_qp* mrc_create_qp(mrc_context* context, mrclab::mrc::QpInitAttr* init) {
  const auto usable = [context](const mrc_cq* cq) {
    return valid(cq) && cq->context == context && cq->verbs != nullptr;
  };
  if (!valid(context) || init == nullptr || !usable(init->send_cq) || !usable(init->recv_cq) ||
      init->pd == nullptr || init->pd->context != context->verbs ||
      init->protocol_version > kProtocolVersion1) {
    errno = EINVAL;
    return nullptr;
  }
  constexpr uint64_t kOfMrc = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  if ((init->send_ops_flags & ~kOfMrc) != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* qp = make<mrc_qp>(context);
  if (qp == nullptr) return nullptr;
  ibv_qp_init_attr verbs{};
  verbs.qp_context = qp;
  verbs.send_cq = init->send_cq->verbs;
  verbs.recv_cq = init->recv_cq->verbs;
  verbs.cap = init->cap;
  verbs.qp_type = IBV_QPT_RC;
  verbs.sq_sig_all = init->sq_sig_all;
  qp->verbs = context->support.verbs.create_qp(init->pd, &verbs);
  if (qp->verbs == nullptr) {
    const int error = errno != 0 ? errno : EIO;
    forget(qp);
    errno = error;
    return nullptr;
  }
  init->cap = verbs.cap;  // As ibv_create_qp: what it has in truth.
  qp->init = *init;
  qp->attr = defaults_of(*context->support.hello);
  return qp;
}

int mrc_destroy_qp(mrc_qp* qp) {
  if (!valid(qp)) return verbs_error(EINVAL);
  if (const int error = qp->context->support.verbs.destroy_qp(qp->verbs)) return verbs_error(error);
  if (qp->attr.hint != nullptr) --qp->attr.hint->users;
  forget(qp);
  return 0;
}

int mrc_modify_qp(mrc_qp* qp, ibv_qp_attr* attr, int mask, QpAttr* mrc, int mrc_mask) {
  const auto given = static_cast<uint32_t>(mrc_mask);
  if (!valid(qp) || (attr == nullptr && mask != 0) || (mrc == nullptr && given != 0)) {
    return verbs_error(EINVAL);
  }
  const mrclab::verbs::Guard lock(qp->mutex);
  QpAttr wanted = qp->attr;
  if (mrc != nullptr) {
    if (const int error = check(*qp, *mrc, given)) return verbs_error(error);
    wanted = merged(wanted, *mrc, given);
  }
  // Everything that the host has of MRC is set each time: what was left out has its default.
  const QpAttributesWire wire = wire_of(wanted);
  constexpr uint32_t kAll = kMaskMaxWimm | kMaskMaxWimmDest | kMaskMpr | kMaskMprDest |
                            kMaskTimeout | kMaskEvProfile | kMaskCcProfile | kMaskHint |
                            kMaskRetry | kMaskCap;
  // The two have these in common; MRC's are in MRC's units, and the mask of MRC says whose they are.
  ibv_qp_attr of_verbs = attr != nullptr ? *attr : ibv_qp_attr{};
  of_verbs.timeout = wanted.timeout;
  of_verbs.retry_cnt = wanted.linear_retries;
  const int error =
      qp->context->support.client->modify_qp(qp->verbs, &of_verbs, mask & ~kNotOfMrc, &wire, kAll);
  if (error != 0) return verbs_error(error);
  if (wanted.hint != qp->attr.hint) {
    if (wanted.hint != nullptr) ++wanted.hint->users;
    if (qp->attr.hint != nullptr) --qp->attr.hint->users;
  }
  qp->attr = wanted;
  return 0;
}

int mrc_query_qp(mrc_qp* qp, ibv_qp_attr* attr, int mask, QpAttr* mrc, int mrc_mask,
                 mrclab::mrc::QpInitAttr* init) {
  if (!valid(qp) || (attr == nullptr && mask != 0) || (mrc == nullptr && mrc_mask != 0)) {
    return verbs_error(EINVAL);
  }
  if (attr != nullptr) {
    ibv_qp_init_attr verbs{};
    const int error = qp->context->support.verbs.query_qp(qp->verbs, attr, mask, &verbs);
    if (error != 0) return verbs_error(error);
  }
  const mrclab::verbs::Guard lock(qp->mutex);
  if (mrc != nullptr) *mrc = merged(*mrc, qp->attr, static_cast<uint32_t>(mrc_mask));
  if (init != nullptr) *init = qp->init;
  return 0;
}

int mrc_get_qpn(mrc_qp* qp, uint32_t* qpn) {
  if (!valid(qp) || qpn == nullptr) return plain_error(EINVAL);
  *qpn = qp->verbs->qp_num;
  return 0;
}

int mrc_post_recv(mrc_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  if (!valid(qp)) {
    if (bad != nullptr) *bad = wr;
    return verbs_error(EINVAL);
  }
  const int error = qp->verbs->context->ops.post_recv(qp->verbs, wr, bad);
  return error != 0 ? verbs_error(error) : 0;
}

int mrc_post_send(mrc_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
  if (!valid(qp)) {
    if (bad != nullptr) *bad = wr;
    return verbs_error(EINVAL);
  }
  // Emulated SENDs are a matter of verbs alone. What stands before the first other request is posted.
  ibv_send_wr* last = nullptr;
  ibv_send_wr* other = wr;
  while (other != nullptr &&
         (other->opcode == IBV_WR_RDMA_WRITE || other->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)) {
    last = other;
    other = other->next;
  }
  if (other == nullptr) {
    const int error = qp->verbs->context->ops.post_send(qp->verbs, wr, bad);
    return error != 0 ? verbs_error(error) : 0;
  }
  if (last != nullptr) {
    last->next = nullptr;
    const int error = qp->verbs->context->ops.post_send(qp->verbs, wr, bad);
    last->next = other;
    if (error != 0) return verbs_error(error);
  }
  if (bad != nullptr) *bad = other;
  return verbs_error(EOPNOTSUPP);
}
