#include "tests/verbs/random/random_sides.h"

#include <arpa/inet.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace mrclab::test {

namespace {

using verbs::client_test::expect;
using verbs::client_test::Failure;
using verbs::client_test::Verbs;

constexpr uint32_t kDepth = 16;
constexpr unsigned kSeconds = 900;  ///< that no program may take, on however busy a machine
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC;

class Side {
 public:
  Side(const Verbs& verbs, ibv_context* context, Meeting& meeting, int side, const Plan& plan)
      : verbs_(verbs),
        context_(context),
        meeting_(meeting),
        side_(side),
        plan_(plan),
        memory_(new uint8_t[Plan::kMemory]) {
    for (uint32_t i = 0; i < Plan::kMemory; ++i) memory_[i] = plan.before(side, i);
    // Small numbers, so that comparisons sometimes hold.
    for (uint32_t qp = 0; qp < Plan::kQps; ++qp) put(Plan::kCells + 8 * qp, qp % 3);
    pd_ = verbs.alloc_pd(context);
    mr_ = verbs.reg_mr(pd_, memory_.get(), Plan::kMemory, kAccess);
    cq_ = verbs.create_cq(context, 128, nullptr, nullptr, 0);
    expect(mr_ != nullptr && cq_ != nullptr, "region and queue");
    Meeting::Side& mine = meeting.sides[side];
    for (uint32_t i = 0; i < plan.qps; ++i) {
      ibv_qp_init_attr init{};
      init.send_cq = init.recv_cq = cq_;
      init.cap = {kDepth, 32, 4, 4, Plan::kMaxInline};
      init.qp_type = IBV_QPT_RC;
      qp_[i] = verbs.create_qp(pd_, &init);
      expect(qp_[i] != nullptr, "create_qp");
      mine.qpn[i] = qp_[i]->qp_num;
    }
    expect(verbs.query_gid(context, 1, 0, &mine.gid) == 0, "GID");
    mine.rkey = mr_->rkey;
    mine.address = reinterpret_cast<uint64_t>(memory_.get());
  }
  void destroy() {
    for (uint32_t i = 0; i < plan_.qps; ++i) expect(verbs_.destroy_qp(qp_[i]) == 0, "destroy_qp");
    expect(verbs_.destroy_cq(cq_) == 0 && verbs_.dereg_mr(mr_) == 0 && verbs_.dealloc_pd(pd_) == 0,
           "destroy");
  }
  void connect() {
    const Meeting::Side& peer = meeting_.sides[1 - side_];
    for (uint32_t i = 0; i < plan_.qps; ++i) {
      ibv_qp_attr at{};
      at.qp_state = IBV_QPS_INIT;
      at.port_num = 1;
      at.qp_access_flags = kAccess;
      change(i, at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      at.qp_state = IBV_QPS_RTR;
      at.path_mtu = IBV_MTU_4096;
      at.dest_qp_num = peer.qpn[i];
      at.ah_attr.is_global = 1;
      at.ah_attr.port_num = 1;
      at.ah_attr.grh.dgid = peer.gid;
      at.max_dest_rd_atomic = 4;
      at.min_rnr_timer = 1;
      change(i, at,
             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      at.qp_state = IBV_QPS_RTS;
      at.timeout = 14;
      at.retry_cnt = 7;
      at.rnr_retry = 7;
      at.max_rd_atomic = 4;
      change(i, at,
             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                 IBV_QP_MAX_QP_RD_ATOMIC);
    }
  }
  /// A receive for each message of the plan that takes one; SENDs go where the plan says.
  void post_receives() {
    for (uint32_t i = 0; i < plan_.work.size(); ++i) {
      const PlannedWork& work = plan_.work[i];
      if (work.deed != Deed::kWriteImmediate && work.deed != Deed::kSend) continue;
      ibv_sge sge{address(work.remote), work.length, mr_->lkey};
      ibv_recv_wr wr{};
      wr.wr_id = i;
      if (work.deed == Deed::kSend) {
        wr.sg_list = &sge;
        wr.num_sge = 1;
      }
      ibv_recv_wr* bad = nullptr;
      expect(ibv_post_recv(qp_[work.qp], &wr, &bad) == 0, "post_recv");
    }
  }
  void receive_all() {
    std::vector<uint32_t> order[Plan::kQps];
    uint32_t left = 0;
    for (uint32_t i = 0; i < plan_.work.size(); ++i) {
      const PlannedWork& work = plan_.work[i];
      if (work.after_wrong || (work.deed != Deed::kWriteImmediate && work.deed != Deed::kSend)) {
        continue;
      }
      order[work.qp].push_back(i);
      ++left;
    }
    for (auto& one : order) std::reverse(one.begin(), one.end());
    while (left > 0) {
      const ibv_wc wc = next();
      const uint32_t qp = number_of(wc.qp_num);
      if (order[qp].empty() && wc.status != IBV_WC_SUCCESS)
        continue;  // of a queue pair that failed
      expect(!order[qp].empty() && wc.wr_id == order[qp].back(),
             "receives in the order of posting");
      const PlannedWork& work = plan_.work[wc.wr_id];
      expect(wc.status == IBV_WC_SUCCESS, "receive " + std::to_string(wc.status));
      expect(wc.byte_len == work.length, "length of a message");
      expect(wc.opcode == (work.deed == Deed::kSend ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM),
             "opcode of a receive");
      expect(work.deed == Deed::kSend || ntohl(wc.imm_data) == work.immediate, "immediate");
      order[qp].pop_back();
      --left;
    }
  }
  void post_all() {
    for (uint32_t i = 0; i < plan_.work.size(); ++i) {
      const PlannedWork& work = plan_.work[i];
      if (work.wrong_key) {
        while (!pending_.empty()) reap();
      }
      while (outstanding_[work.qp] >= kDepth || pending_.size() >= 4) reap();
      post(i, work);
      if (i % 3 == 2) poll_once();
    }
    while (!pending_.empty()) reap();
  }

  uint8_t* memory() { return memory_.get(); }

 private:
  void put(uint32_t offset, uint64_t value) { std::memcpy(&memory_[offset], &value, sizeof value); }
  uint64_t address(uint32_t offset) const {
    return reinterpret_cast<uint64_t>(memory_.get()) + offset;
  }
  void change(uint32_t qp, ibv_qp_attr& at, int mask) {
    expect(verbs_.modify_qp(qp_[qp], &at, mask) == 0, "modify_qp");
  }
  uint32_t number_of(uint32_t qpn) const {
    for (uint32_t i = 0; i < plan_.qps; ++i) {
      if (qp_[i]->qp_num == qpn) return i;
    }
    throw Failure{"a completion of no queue pair"};
  }

  void post(uint32_t id, const PlannedWork& work) {
    const Meeting::Side& peer = meeting_.sides[1 - side_];
    ibv_sge list[3];
    for (uint32_t i = 0, at = 0; i < work.pieces; ++i) {
      const uint32_t bytes = i + 1 == work.pieces ? work.length - at : work.length / work.pieces;
      list[i] = {address(work.local + at), bytes, mr_->lkey};
      at += bytes;
    }
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = list;
    wr.num_sge = work.length == 0 && id % 2 == 0 ? 0 : static_cast<int>(work.pieces);
    wr.send_flags = static_cast<unsigned>((work.signaled ? IBV_SEND_SIGNALED : 0) |
                                          (work.inlined ? IBV_SEND_INLINE : 0));
    wr.wr.rdma.remote_addr = peer.address + work.remote;
    wr.wr.rdma.rkey = work.wrong_key ? peer.rkey ^ 0x5A5A00 : peer.rkey;
    switch (work.deed) {
      case Deed::kWrite: wr.opcode = IBV_WR_RDMA_WRITE; break;
      case Deed::kWriteImmediate:
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.imm_data = htonl(work.immediate);
        break;
      case Deed::kSend: wr.opcode = IBV_WR_SEND; break;
      case Deed::kRead: wr.opcode = IBV_WR_RDMA_READ; break;
      case Deed::kFetchAdd:
      case Deed::kCompareSwap:
        wr.opcode =
            work.deed == Deed::kFetchAdd ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
        wr.wr.atomic.remote_addr = peer.address + work.remote;
        wr.wr.atomic.rkey = peer.rkey;
        wr.wr.atomic.compare_add = work.deed == Deed::kFetchAdd ? work.add : work.compare;
        wr.wr.atomic.swap = work.swap;
        break;
    }
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(qp_[work.qp], &wr, &bad);
    expect(error == 0, "post_send gave " + std::to_string(error));
    ++outstanding_[work.qp];
    if (work.signaled || work.after_wrong) pending_.push_back(id);
  }

  bool poll_once() {
    ibv_wc wc{};
    const int n = ibv_poll_cq(cq_, 1, &wc);
    expect(n >= 0, "poll_cq");
    if (n == 1) take(wc);
    return n == 1;
  }
  void reap() {
    for (uint64_t polls = 0; !poll_once(); ++polls) expect(polls < 200'000'000, "no completion");
  }
  ibv_wc next() {
    ibv_wc wc{};
    for (;;) {
      const int n = ibv_poll_cq(cq_, 1, &wc);
      expect(n >= 0, "poll_cq");
      if (n == 1) return wc;
    }
  }
  void take(const ibv_wc& wc) {
    expect(wc.wr_id < plan_.work.size(), "wr_id");
    const PlannedWork& work = plan_.work[wc.wr_id];
    expect(qp_[work.qp]->qp_num == wc.qp_num, "whose completion");
    const ibv_wc_status right = work.wrong_key     ? IBV_WC_REM_ACCESS_ERR
                                : work.after_wrong ? IBV_WC_WR_FLUSH_ERR
                                                   : IBV_WC_SUCCESS;
    expect(wc.status == right, "request " + std::to_string(wc.wr_id) + " ended with status " +
                                   std::to_string(wc.status));
    // In the order of posting; what was not signaled before it is done as well.
    const auto first = std::find_if(pending_.begin(), pending_.end(),
                                    [&](uint64_t id) { return plan_.work[id].qp == work.qp; });
    expect(first != pending_.end() && *first == wc.wr_id, "completions in the order of posting");
    pending_.erase(first);
    const auto same = [&](uint64_t id) { return plan_.work[id].qp == work.qp; };
    outstanding_[work.qp] =
        std::any_of(pending_.begin(), pending_.end(), same) ? outstanding_[work.qp] : 0;
  }

  const Verbs& verbs_;
  ibv_context* context_;
  Meeting& meeting_;
  int side_;
  const Plan& plan_;
  std::unique_ptr<uint8_t[]> memory_;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_[Plan::kQps] = {};
  std::vector<uint64_t> pending_;  ///< completions to come, in the order of posting
  uint32_t outstanding_[Plan::kQps] = {};
};

/// What both memories must be: `mine` after the plan, at `side`. Bytes that no rule fixes are left as they are there.
std::vector<uint8_t> expected(const Plan& plan, int side, const uint8_t* actual) {
  std::vector<uint8_t> memory[2];
  for (int i = 0; i < 2; ++i) {
    memory[i].resize(Plan::kMemory);
    for (uint32_t at = 0; at < Plan::kMemory; ++at) memory[i][at] = plan.before(i, at);
    for (uint64_t qp = 0; qp < Plan::kQps; ++qp) {
      const uint64_t value = qp % 3;
      std::memcpy(&memory[i][Plan::kCells + 8 * qp], &value, 8);
    }
  }
  for (const PlannedWork& work : plan.work) {
    if (work.wrong_key) continue;
    if (work.after_wrong) {
      // Flushed; it may have happened.
      const bool fetches = work.deed >= Deed::kRead;
      const uint32_t at = fetches ? work.local : work.remote;
      if ((side == 0) == fetches) std::copy_n(actual + at, work.length, &memory[side][at]);
      if (side == 1 && work.deed >= Deed::kFetchAdd) {
        std::copy_n(actual + work.remote, 8, &memory[1][work.remote]);
      }
      continue;
    }
    if (work.deed < Deed::kRead) {
      std::copy_n(&memory[0][work.local], work.length, &memory[1][work.remote]);
      continue;
    }
    std::copy_n(&memory[1][work.remote], work.length, &memory[0][work.local]);
    uint64_t cell = 0;
    std::memcpy(&cell, &memory[1][work.remote], 8);
    if (work.deed == Deed::kFetchAdd) cell += work.add;
    if (work.deed == Deed::kCompareSwap && cell == work.compare) cell = work.swap;
    if (work.deed != Deed::kRead) std::memcpy(&memory[1][work.remote], &cell, 8);
  }
  return memory[side];
}

}  // namespace

void run_random_programs(const Verbs& verbs, Meeting& meeting, int side, bool roce, uint64_t from,
                         uint64_t to) {
  ibv_device** list = verbs.get_device_list(nullptr);
  expect(list != nullptr && list[0] != nullptr, "device");
  ibv_context* context = verbs.open_device(list[0]);
  verbs.free_device_list(list);
  expect(context != nullptr, "open");
  uint32_t meetings = 0;
  const auto meet = [&] {
    meeting.sides[side].arrived.store(++meetings);
    while (meeting.sides[1 - side].arrived.load() < meetings) ::sched_yield();
  };
  for (uint64_t seed = from; seed < to; ++seed) try {
      ::alarm(kSeconds);
      meeting.sides[side].seed.store(seed);
      const Plan plan(seed, roce);
      Side mine(verbs, context, meeting, side, plan);
      meet();
      mine.connect();
      if (side == 1) mine.post_receives();
      meet();
      if (side == 0) {
        mine.post_all();
      } else {
        mine.receive_all();
      }
      meet();
      const std::vector<uint8_t> right = expected(plan, side, mine.memory());
      for (uint32_t i = 0; i < Plan::kMemory; ++i) {
        expect(mine.memory()[i] == right[i], "byte " + std::to_string(i) + " of the memory");
      }
      mine.destroy();
      meet();
    } catch (const Failure& failure) {
      throw Failure{"side " + std::to_string(side) + " of seed " + std::to_string(seed) + ": " +
                    failure.what};
    }
  expect(verbs.close_device(context) == 0, "close_device");
}

}  // namespace mrclab::test
