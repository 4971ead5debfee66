// The device's queue pairs and their states.

#include <algorithm>

#include "endpoint/host/host_device.h"
#include "endpoint/roce/rnr_time.h"
#include "fabric/paths/ecmp.h"

namespace mrclab::endpoint {
namespace {

std::string qpn_text(Qpn qpn) { return "queue pair " + std::to_string(qpn.value); }

}  // namespace

uint32_t HostDevice::free_number() const {
  std::vector<bool> used(kMaxPerHost + 2);
  for (const QueuePair& qp : node_.queue_pairs_)
    used[HostIdentities::number_of(qp.id.local)] = true;
  for (const RcQueuePair& qp : node_.rc_queue_pairs_)
    used[HostIdentities::number_of(qp.id.local)] = true;
  for (uint32_t i = 0; i < records_.size(); ++i) used[i] = used[i] || records_[i] != nullptr;
  uint32_t number = 1;
  while (used[number]) ++number;
  return number;
}

Qpn HostDevice::create_queue_pair(const QpInitAttributes& attributes) {
  check_range("max_send_wr", attributes.max_send_wr, 0, kMaxWorkRequests);
  check_range("max_recv_wr", attributes.max_recv_wr, 0, kMaxWorkRequests);
  check_range("protocol_version", attributes.protocol_version, 0, kProtocolVersion);
  CompletionQueue& send_cq = cq_at(attributes.send_cq);
  CompletionQueue& recv_cq = cq_at(attributes.recv_cq);
  if (attributes.srq) srq_at(*attributes.srq);  // or it is rejected before anything is made
  const uint32_t number = free_number();
  check_range("the number of queue pairs", number, 1, kMaxPerHost);
  auto record = std::make_unique<Record>();
  record->use = ++uses_;
  record->qpn = identities_.qpn(number, record->use);
  record->attributes.init_attributes = attributes;
  ++send_cq.users;
  ++recv_cq.users;
  if (attributes.srq) ++srq_at(*attributes.srq).users;
  if (records_.size() <= number) records_.resize(number + 1);
  records_[number] = std::move(record);
  return records_[number]->qpn;
}

HostDevice::Record* HostDevice::find(Qpn qpn) {
  const uint32_t number = HostIdentities::number_of(qpn);
  if (number >= records_.size() || !records_[number]) return nullptr;
  return records_[number]->qpn == qpn ? records_[number].get() : nullptr;
}

HostDevice::Record& HostDevice::at(Qpn qpn) {
  Record* record = find(qpn);
  if (record == nullptr) reject_call(qpn_text(qpn) + " does not exist");
  return *record;
}

HostDevice::Record& HostDevice::in_state(Qpn qpn, QpState state, std::string_view wanted) {
  Record& record = at(qpn);
  if (record.attributes.state == state) return record;
  reject_call(qpn_text(qpn) + " cannot go from " + std::string(name_of(record.attributes.state)) +
              " to " + std::string(wanted) + ": that needs " + std::string(name_of(state)));
}

HostDevice::Record* HostDevice::record_of(QpHandle handle) {
  const ApplicationQueue* const queue = node_.queues_.look_at(handle);
  return queue != nullptr ? find(queue->number()) : nullptr;
}

Psn HostDevice::draw_first_psn(Qpn qpn) {
  return identities_.first_psn(HostIdentities::number_of(qpn), at(qpn).use);
}

void HostDevice::modify(Qpn qpn, const InitAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kReset, name_of(QpState::kInit));
  check_range("cc_profile_id", attributes.cc_profile_id, 0, 0);
  profiles_.use(attributes.ev_profile_id);
  record.attributes.init = attributes;
  record.attributes.state = QpState::kInit;
}

void HostDevice::modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kInit, name_of(QpState::kReadyToReceive));
  const std::optional<uint32_t> peer = node_.host_.paths.host_of(attributes.remote_address);
  if (!peer) reject_call("no path to " + to_string(attributes.remote_address) + " is known");
  check_range("remote_qpn", attributes.remote_qpn.value, kEndpointQpn.value + 1, 0xFF'FFFF);
  record.handle = *peer == node_.host_.self ? connect_loop(record, attributes)
                  : record.is_rc()          ? connect_rc(record, *peer, attributes)
                                            : connect(record, *peer, attributes);
  record.attributes.receive = attributes;
  record.attributes.state = QpState::kReadyToReceive;
  ApplicationQueue& queue = *node_.queues_.use(*record.handle);
  queue.application = index_;
  queue.awaits_request = true;
  set_access(record);
  for (const ReceiveWork& early : record.receives) queue.post_receive(early.posted(0));
}

/// What the peer may do, and where receives come from.
void HostDevice::set_access(const Record& record) {
  const AccessFlags access = record.attributes.init.access;
  const uint32_t domain = record.attributes.init_attributes.domain;
  const auto set = [&](auto& responder) {
    responder.set_access(access, domain);
    responder.receives().stop_replenishing();
    if (record.srq()) responder.share_receives(srq_at(*record.srq()).queue);
  };
  if (is_rc_handle(*record.handle)) {
    set(rc_of(record).responder);
  } else {
    set(node_.queue_pairs_[record.handle->value].responder);
  }
}

void HostDevice::modify_access(Qpn qpn, AccessFlags access) {
  Record& record = at(qpn);
  if (record.attributes.state == QpState::kReset) {
    reject_call(qpn_text(qpn) + " gets its access flags on the way to INIT");
  }
  record.attributes.init.access = access;
  if (record.handle) set_access(record);
}

QpHandle HostDevice::connect(Record& record, uint32_t peer,
                             const ReadyToReceiveAttributes& attributes) {
  check_range("mpr_dest", attributes.mpr_dest, 1, kMaxMprUnits);
  check_range("max_wimm_dest", attributes.max_wimm_dest, 1, kMaxWriteImmediates);
  ConnectionLimits limits = limits_of(node_.host_.profile);
  limits.receiving.max_psn_range = attributes.mpr_dest * kMprUnit;
  limits.receiving.max_immediates = attributes.max_wimm_dest;
  limits.receiving.dynamic_mpr = attributes.dynamic_mpr_dest;
  limits.receiving.service_time = attributes.service_time_dest;
  QueuePair::Identity id;
  id.local = record.qpn;
  id.remote = attributes.remote_qpn;
  id.receive_first = attributes.rq_psn;
  id.chosen = chosen_by(node_.host_.topology);
  id.fleeting = true;
  const EvProfileAttributes profile = profiles_.query(record.attributes.init.ev_profile_id);
  return node_.add_queue_pair(id, peer, limits, profile.values).id.handle;
}

QpHandle HostDevice::connect_rc(const Record& record, uint32_t peer,
                                const ReadyToReceiveAttributes& attributes) {
  if (&node_.host_.paths != &node_.host_.topology_paths ||
      node_.host_.topology.routing.underlay == Underlay::kIpv4) {
    reject_call("RC needs a fabric of the lab's own, over IPv6");
  }
  check_range("port", attributes.port, 0, node_.ports_.size() - 1);
  check_range("min_rnr_timer", attributes.min_rnr_timer, 0, kRnrSteps.size() - 1);
  check_range("max_dest_rd_atomic", attributes.max_dest_rd_atomic, 0, kMaxReads);
  RcQueuePair::Identity id;
  id.local = record.qpn;
  id.remote = attributes.remote_qpn;
  id.peer = peer;
  id.port = attributes.port;
  id.receive_first = attributes.rq_psn;
  id.fleeting = true;
  RcParameters parameters = node_.roce_.parameters_of_port(id.port);
  parameters.rnr_code = attributes.min_rnr_timer;
  parameters.reads_taken = attributes.max_dest_rd_atomic;
  return node_.roce_.add_queue_pair(id, parameters).id.handle;
}

/// A queue pair to this host itself, of either transport (loop_wire.h).
QpHandle HostDevice::connect_loop(const Record& record,
                                  const ReadyToReceiveAttributes& attributes) {
  check_range("min_rnr_timer", attributes.min_rnr_timer, 0, kRnrSteps.size() - 1);
  check_range("max_dest_rd_atomic", attributes.max_dest_rd_atomic, 0, kMaxReads);
  RcQueuePair::Identity id;
  id.local = record.qpn;
  id.remote = attributes.remote_qpn;
  id.peer = node_.host_.self;
  id.looped = true;
  id.receive_first = attributes.rq_psn;
  RcParameters parameters = node_.roce_.parameters_of_port(0);
  parameters.dcqcn.reset();
  parameters.recovery = RcRecovery::kGoBackN;
  parameters.rnr_code = attributes.min_rnr_timer;
  parameters.reads_taken = attributes.max_dest_rd_atomic;
  parameters.waits_for_receives = record.is_rc();
  return node_.roce_.add_queue_pair(id, parameters).id.handle;
}

RcQueuePair& HostDevice::rc_of(const Record& record) {
  return node_.rc_queue_pairs_[record.handle->value & ~QueueDirectory::kRcHandle];
}

void HostDevice::modify(Qpn qpn, const ReadyToSendAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kReadyToReceive, name_of(QpState::kReadyToSend));
  check_range("timeout", attributes.timeout, 0, record.is_rc() ? 31 : 24);
  check_range("retry.linear_cnt", attributes.retry.linear_cnt, 0, RetryPolicy::kMaxLinear);
  check_range("retry.exp_cnt", attributes.retry.exp_cnt, 0, RetryPolicy::kMaxExponential);
  if (is_rc_handle(*record.handle)) {
    start_rc(record, attributes);
  } else {
    start(record, attributes);
  }
  node_.queues_.use(*record.handle)->awaits_request = false;
  record.attributes.send = attributes;
  record.attributes.state = QpState::kReadyToSend;
}

void HostDevice::start(const Record& record, const ReadyToSendAttributes& attributes) {
  check_range("mpr", attributes.mpr, 1, kMaxMprUnits);
  check_range("max_wimm", attributes.max_wimm, 1, kMaxWriteImmediates);
  ConnectionLimits limits = limits_of(node_.host_.profile);
  limits.sending.max_psn_range = attributes.mpr * kMprUnit;
  limits.sending.max_immediates = attributes.max_wimm;
  // It counts only if both ends have it: one answer for both directions.
  limits.sending.dynamic_mpr = record.attributes.receive.dynamic_mpr_dest;
  limits.sending.service_time = attributes.service_time;
  limits.retry.linear_retries = attributes.retry.linear_cnt;
  limits.retry.exponential_retries = attributes.retry.exp_cnt;
  if (attributes.timeout != 0) {
    limits.retry.ack_timeout = FabricTime::from_ns(1024) * (int64_t{1} << attributes.timeout);
  }
  node_.queue_pairs_[record.handle->value].requester.start(limits, attributes.sq_psn);
}

/// InfiniBand specification 9.7.6.1.3: the ACK timeout. A looped queue pair of MRC has MRC's.
void HostDevice::start_rc(const Record& record, const ReadyToSendAttributes& attributes) {
  check_range("rnr_retry", attributes.rnr_retry, 0, kRnrForEver);
  check_range("max_rd_atomic", attributes.max_rd_atomic, 0, kMaxReads);
  RcQueuePair& qp = rc_of(record);
  RcParameters parameters = node_.roce_.parameters_of_port(qp.id.port);
  if (qp.id.looped) parameters.dcqcn.reset();
  if (qp.id.looped) parameters.recovery = RcRecovery::kGoBackN;
  parameters.retries = attributes.retry.linear_cnt;
  parameters.rnr_retries = attributes.rnr_retry;
  parameters.reads = attributes.max_rd_atomic;
  if (!record.is_rc()) {
    parameters.retries += attributes.retry.exp_cnt;
    const FabricTime timeout = FabricTime::from_ns(1024) * (int64_t{1} << attributes.timeout);
    parameters.times = {
        {}, attributes.timeout != 0 ? timeout : limits_of(node_.host_.profile).retry.ack_timeout};
  } else if (attributes.timeout != 0) {
    parameters.times = rc_times(node_.host_.profile, attributes.timeout);
  }
  qp.requester.start(parameters, attributes.sq_psn);
}

void HostDevice::modify_to_error(Qpn qpn) {
  Record& record = at(qpn);
  if (record.attributes.state == QpState::kError) return;
  if (record.handle) {
    node_.queues_.use(*record.handle)->fail(kFlushed);
    node_.applications_.deliver_all();
    return;
  }
  record.attributes.state = QpState::kError;
  flush_waiting(record);
}

/// A program's queue pairs mostly end before the run does, which is judged by them all the same.
void HostDevice::keep_counts(const Record& record) {
  QueueCounts counts;
  if (!is_rc_handle(*record.handle)) {
    counts = node_.queue_pairs_[record.handle->value].counts();
  } else if (const RcQueuePair& qp = rc_of(record); !qp.id.looped) {
    counts = qp.counts();
  } else {
    return;  // no packet of it was in the fabric
  }
  counts.failed = counts.posted - counts.completed;
  ++node_.host_.stats.qps_ended;
  if (ended_.size() < kMaxEnded) ended_.push_back(counts);
}

/// The transport's queue pair ends without a report.
void HostDevice::disconnect(Record& record) {
  if (record.handle) keep_counts(record);
  if (record.handle && is_rc_handle(*record.handle)) {
    RcQueuePair& qp = rc_of(record);
    if (record.srq()) {
      if (const auto begun = qp.responder.give_up_receive()) {
        srq_at(*record.srq()).work.take(static_cast<uint32_t>(begun->id));
      }
    }
    node_.roce_.remove_queue_pair(qp);
  } else if (record.handle) {
    node_.remove_queue_pair(node_.queue_pairs_[record.handle->value]);
  }
  record.handle.reset();
  record.sends.clear();
  record.receives.clear();
  record.in_transport = 0;
  record.blamed = false;
  if (record.attributes.state != QpState::kReset) {
    profiles_.release(record.attributes.init.ev_profile_id);
  }
}

void HostDevice::modify_to_reset(Qpn qpn) {
  Record& record = at(qpn);
  disconnect(record);
  const QpInitAttributes made_with = record.attributes.init_attributes;
  record.attributes = {};
  record.attributes.init_attributes = made_with;
}

QpAttributes HostDevice::query_queue_pair(Qpn qpn) const {
  return const_cast<HostDevice*>(this)->at(qpn).attributes;
}

void HostDevice::destroy_queue_pair(Qpn qpn) {
  Record& record = at(qpn);
  disconnect(record);
  const QpInitAttributes& attributes = record.attributes.init_attributes;
  --cq_at(attributes.send_cq).users;
  --cq_at(attributes.recv_cq).users;
  if (attributes.srq) --srq_at(*attributes.srq).users;
  records_[HostIdentities::number_of(qpn)].reset();
}

}  // namespace mrclab::endpoint
