#include "tests/verbs/mrc/libmrc.h"

namespace mrclab::verbs::client_test {

ibv_context* open_first(const Verbs& verbs) {
  int count = 0;
  ibv_device** list = verbs.get_device_list(&count);
  expect(list != nullptr && count == 1, "one device");
  ibv_context* context = verbs.open_device(list[0]);
  verbs.free_device_list(list);
  expect(context != nullptr, "open");
  return context;
}

MrcPair::MrcPair(const Verbs& all_verbs, const Mrc& all_mrc, mrc_comp_channel* channel,
                 mrc_qp_hint* hint)
    : verbs(all_verbs), mrc(all_mrc) {
  context = channel != nullptr ? channel->context->verbs
            : hint != nullptr  ? hint->context->verbs
                               : open_first(verbs);
  mrc_context_ = channel != nullptr ? channel->context
                 : hint != nullptr  ? hint->context
                                    : mrc.create_context(context, nullptr);
  expect(mrc_context_ != nullptr, "create_context");
  pd = verbs.alloc_pd(context);
  mr = verbs.reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  cq = mrc.create_cq(mrc_context_, 64, this, channel, 0);
  expect(mr != nullptr && cq != nullptr, "region and queue");
  for (mrc_qp*& one : qp) {
    mrclab::mrc::QpInitAttr init{};
    init.user = this;
    init.send_cq = init.recv_cq = cq;
    init.cap = {16, 16, 1, 1, 0};
    init.pd = pd;
    one = mrc.create_qp(mrc_context_, &init);
    expect(one != nullptr, "create_qp");
  }
  for (int i = 0; i < 2; ++i) {
    mrclab::mrc::QpAttr attr{};
    attr.hint = hint;
    ibv_qp_attr at{};
    at.qp_state = IBV_QPS_INIT;
    at.port_num = 1;
    at.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    expect(mrc.modify_qp(
               qp[i], &at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
               &attr, hint != nullptr ? static_cast<int>(mrclab::mrc::kMaskHint) : 0) == 0,
           "INIT");
    at = {};
    at.qp_state = IBV_QPS_RTR;
    at.path_mtu = IBV_MTU_4096;
    at.ah_attr.is_global = 1;
    at.ah_attr.port_num = 1;
    expect(verbs.query_gid(context, 1, 0, &at.ah_attr.grh.dgid) == 0, "GID");
    expect(mrc.get_qpn(qp[1 - i], &at.dest_qp_num) == 0, "QPN");
    expect(
        mrc.modify_qp(qp[i], &at,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_PATH_MTU,
                      nullptr, 0) == 0,
        "RTR");
    at = {};
    at.qp_state = IBV_QPS_RTS;
    at.timeout = 7;
    at.retry_cnt = 14;  // more than verbs allow: not MRC's
    at.rnr_retry = 14;
    expect(mrc.modify_qp(
               qp[i], &at,
               IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT,
               nullptr, 0) == 0,
           "RTS");
  }
}

ibv_send_wr MrcPair::write(ibv_sge& sge, uint64_t id, uint32_t bytes, unsigned flags) const {
  sge = {reinterpret_cast<uint64_t>(memory), bytes, mr->lkey};
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = flags;
  wr.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(memory) + 4096;
  wr.wr.rdma.rkey = mr->rkey;
  return wr;
}

ibv_wc MrcPair::next() const {
  ibv_wc wc{};
  for (int i = 0; i < 100'000; ++i) {
    const int n = mrc.poll_cq(cq, 1, &wc);
    expect(n >= 0, "poll_cq");
    if (n == 1) return wc;
  }
  throw Failure{"no completion"};
}

}  // namespace mrclab::verbs::client_test
