#include "verbs/client/qp_rules.h"

#include "verbs/client/objects.h"

namespace mrclab::verbs {
namespace {

struct Rule {
  ibv_qp_state from, to;
  int needed, allowed;
};

constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kReceive = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kSend =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kLater = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE;
constexpr int kDrained = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                         IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
                         IBV_QP_ALT_PATH | IBV_QP_CUR_STATE | IBV_QP_PKEY_INDEX |
                         IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;

/// Any state may become RESET or ERR with the state alone.
constexpr Rule kRules[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, kInit, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, kInit},
    {IBV_QPS_INIT, IBV_QPS_RTR, kReceive,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS, kSend, IBV_QP_CUR_STATE | kLater | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | kLater | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | kLater | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0, kDrained},
    {IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
};

/// On Ethernet an address is a GID. The first host's, fd00::, ends with 64 zero bits, which rdma-core's examples take for
/// no GID at all: they leave out the address of a peer there, and it is the only one that can be meant.
bool is_right_address(const ibv_ah_attr& at) {
  const ibv_gid& gid = at.grh.dgid;
  const bool is_left_out =
      at.dlid == 0 && gid.global.subnet_prefix == 0 && gid.global.interface_id == 0;
  return at.port_num == 1 && at.grh.sgid_index < kGidTable && (at.is_global != 0 || is_left_out);
}

}  // namespace

bool is_allowed(ibv_qp_state current, ibv_qp_state next, int mask) {
  const int given = mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE);
  if (next == IBV_QPS_RESET || next == IBV_QPS_ERR) {
    return given == 0;
  }
  for (const Rule& rule : kRules) {
    if (rule.from == current && rule.to == next) {
      return (given & rule.needed) == rule.needed && (given & ~(rule.needed | rule.allowed)) == 0;
    }
  }
  return false;
}

bool has_right_values(const ibv_qp_attr& at, int mask) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  return !(
      (has(IBV_QP_PORT) && at.port_num != 1) || (has(IBV_QP_PKEY_INDEX) && at.pkey_index != 0) ||
      (has(IBV_QP_AV) && !is_right_address(at.ah_attr)) ||
      (has(IBV_QP_PATH_MTU) && (at.path_mtu < IBV_MTU_256 || at.path_mtu > IBV_MTU_4096)) ||
      (has(IBV_QP_TIMEOUT) && at.timeout > 31) || (has(IBV_QP_RETRY_CNT) && at.retry_cnt > 7) ||
      (has(IBV_QP_RNR_RETRY) && at.rnr_retry > 7) ||
      (has(IBV_QP_MIN_RNR_TIMER) && at.min_rnr_timer > 31) ||
      (has(IBV_QP_DEST_QPN) && at.dest_qp_num > 0xFFFFFF));
}

void merge(ibv_qp_attr& into, const ibv_qp_attr& from, int mask) {
  const auto take = [mask](int bit, auto& field, const auto& value) {
    if ((mask & bit) != 0) {
      field = value;
    }
  };
  take(IBV_QP_STATE, into.qp_state, from.qp_state);
  take(IBV_QP_STATE, into.cur_qp_state, from.qp_state);
  take(IBV_QP_ACCESS_FLAGS, into.qp_access_flags, from.qp_access_flags);
  take(IBV_QP_PKEY_INDEX, into.pkey_index, from.pkey_index);
  take(IBV_QP_PORT, into.port_num, from.port_num);
  take(IBV_QP_QKEY, into.qkey, from.qkey);
  take(IBV_QP_AV, into.ah_attr, from.ah_attr);
  take(IBV_QP_PATH_MTU, into.path_mtu, from.path_mtu);
  take(IBV_QP_TIMEOUT, into.timeout, from.timeout);
  take(IBV_QP_RETRY_CNT, into.retry_cnt, from.retry_cnt);
  take(IBV_QP_RNR_RETRY, into.rnr_retry, from.rnr_retry);
  take(IBV_QP_RQ_PSN, into.rq_psn, from.rq_psn);
  take(IBV_QP_MAX_QP_RD_ATOMIC, into.max_rd_atomic, from.max_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, into.min_rnr_timer, from.min_rnr_timer);
  take(IBV_QP_SQ_PSN, into.sq_psn, from.sq_psn);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, into.max_dest_rd_atomic, from.max_dest_rd_atomic);
  take(IBV_QP_DEST_QPN, into.dest_qp_num, from.dest_qp_num);
}

}  // namespace mrclab::verbs
