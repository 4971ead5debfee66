// The device's objects: memory, completion queues, queue pairs and their states.

#include "endpoint/host/host_device.h"

#include <algorithm>
#include <stdexcept>

#include "endpoint/roce/rnr_time.h"
#include "fabric/paths/ecmp.h"

namespace mrclab::endpoint {
namespace {

[[noreturn]] void reject(const std::string& what) { throw std::invalid_argument(what); }

std::string qpn_text(Qpn qpn) { return "queue pair " + std::to_string(qpn.value); }

void check_range(std::string_view what, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return;
  reject(std::string(what) + " is " + std::to_string(value) + ", must be " + std::to_string(low) +
         " to " + std::to_string(high));
}

}  // namespace

HostDevice::HostDevice(HostImpl& node)
    : node_(node), identities_(node.host_.environment.seed, node.host_.environment.self) {}

DeviceAttributes HostDevice::query_device() const {
  DeviceAttributes attributes;
  attributes.max_wimm = attributes.max_wimm_dest = kMaxWriteImmediates;
  attributes.max_mpr = kMaxMprUnits;
  attributes.dynamic_mpr = true;
  attributes.max_queue_pairs = attributes.max_memory_regions = kMaxPerHost;
  attributes.ports = static_cast<uint32_t>(node_.ports_.size());
  return attributes;
}

MemoryRegion HostDevice::register_memory(std::span<uint8_t> memory) {
  if (memory.empty()) reject("a memory region needs at least one byte");
  const uint32_t number = node_.memory_.regions.free_number();
  check_range("the number of memory regions", number, 1, kMaxPerHost);
  const uint32_t use = ++uses_;
  const RegionPlan plan{
      identities_.va(number, use), identities_.rkey(number, use), {memory.size()}};
  node_.memory_.regions.add_external(plan, memory);
  return {plan.va, plan.rkey, plan.size};
}

void HostDevice::deregister_memory(const MemoryRegion& region) {
  if (!node_.memory_.regions.remove(region.rkey)) reject("no memory region has this rkey");
}

CqHandle HostDevice::create_completion_queue(uint32_t depth) {
  check_range("the depth of a completion queue", depth, 1, kMaxDepth);
  const auto free = std::find(cqs_.begin(), cqs_.end(), nullptr);
  const auto place = static_cast<uint32_t>(free - cqs_.begin());
  check_range("the number of completion queues", place + 1, 1, kMaxCompletionQueues);
  if (free == cqs_.end()) cqs_.emplace_back();
  cqs_[place] = std::make_unique<CompletionQueue>(depth);
  return {place};
}

void HostDevice::destroy_completion_queue(CqHandle cq) {
  if (cq_at(cq).users != 0) reject("a queue pair still uses this completion queue");
  cqs_[cq.value].reset();
}

HostDevice::CompletionQueue& HostDevice::cq_at(CqHandle cq) {
  if (cq.value >= cqs_.size() || !cqs_[cq.value]) reject("no such completion queue");
  return *cqs_[cq.value];
}

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
  check_range("max_send_wr", attributes.max_send_wr, 1, kMaxWorkRequests);
  check_range("max_recv_wr", attributes.max_recv_wr, 0, kMaxWorkRequests);
  check_range("protocol_version", attributes.protocol_version, 0, kProtocolVersion);
  CompletionQueue& send_cq = cq_at(attributes.send_cq);
  CompletionQueue& recv_cq = cq_at(attributes.recv_cq);
  const uint32_t number = free_number();
  check_range("the number of queue pairs", number, 1, kMaxPerHost);
  auto record = std::make_unique<Record>();
  record->use = ++uses_;
  record->qpn = identities_.qpn(number, record->use);
  record->attributes.init_attributes = attributes;
  ++send_cq.users;
  ++recv_cq.users;
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
  if (record == nullptr) reject(qpn_text(qpn) + " does not exist");
  return *record;
}

HostDevice::Record& HostDevice::in_state(Qpn qpn, QpState state, std::string_view wanted) {
  Record& record = at(qpn);
  if (record.attributes.state == state) return record;
  reject(qpn_text(qpn) + " cannot go from " + std::string(name_of(record.attributes.state)) +
         " to " + std::string(wanted) + ": that needs " + std::string(name_of(state)));
}

Psn HostDevice::draw_first_psn(Qpn qpn) {
  return identities_.first_psn(HostIdentities::number_of(qpn), at(qpn).use);
}

void HostDevice::modify(Qpn qpn, const InitAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kReset, name_of(QpState::kInit));
  check_range("ev_profile_id", attributes.ev_profile_id, 0, 0);
  check_range("cc_profile_id", attributes.cc_profile_id, 0, 0);
  record.attributes.init = attributes;
  record.attributes.state = QpState::kInit;
}

void HostDevice::modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kInit, name_of(QpState::kReadyToReceive));
  const std::optional<uint32_t> peer = node_.host_.paths.host_of(attributes.remote_address);
  if (!peer || *peer == node_.host_.self) {
    reject("no path to " + to_string(attributes.remote_address) + " is known");
  }
  check_range("remote_qpn", attributes.remote_qpn.value, kEndpointQpn.value + 1, 0xFF'FFFF);
  record.handle =
      record.is_rc() ? connect_rc(record, *peer, attributes) : connect(record, *peer, attributes);
  record.attributes.receive = attributes;
  record.attributes.state = QpState::kReadyToReceive;
  for (const PostedReceive& early : record.early_receives) {
    node_.applications_.verbs_of(index_).post_receive(*record.handle, early.id, early.buffer);
  }
  record.early_receives.clear();
}

QpHandle HostDevice::connect(const Record& record, uint32_t peer,
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
  QueuePair& qp = node_.add_queue_pair(id, peer, limits);
  qp.application = index_;
  qp.responder.receives().stop_replenishing();
  return qp.id.handle;
}

QpHandle HostDevice::connect_rc(const Record& record, uint32_t peer,
                                const ReadyToReceiveAttributes& attributes) {
  if (&node_.host_.paths != &node_.host_.topology_paths ||
      node_.host_.topology.routing.underlay == Underlay::kIpv4) {
    reject("RC needs a fabric of the lab's own, over IPv6");
  }
  check_range("port", attributes.port, 0, node_.ports_.size() - 1);
  check_range("min_rnr_timer", attributes.min_rnr_timer, 0, kRnrSteps.size() - 1);
  RcQueuePair::Identity id;
  id.local = record.qpn;
  id.remote = attributes.remote_qpn;
  id.peer = peer;
  id.port = attributes.port;
  id.receive_first = attributes.rq_psn;
  RcParameters parameters = node_.roce_.parameters_of_port(id.port);
  parameters.rnr_code = attributes.min_rnr_timer;
  RcQueuePair& qp = node_.roce_.add_queue_pair(id, parameters);
  qp.application = index_;
  qp.responder.receives().stop_replenishing();
  return qp.id.handle;
}

RcQueuePair& HostDevice::rc_of(const Record& record) {
  return node_.rc_queue_pairs_[record.handle->value & ~QueueDirectory::kRcHandle];
}

void HostDevice::modify(Qpn qpn, const ReadyToSendAttributes& attributes) {
  Record& record = in_state(qpn, QpState::kReadyToReceive, name_of(QpState::kReadyToSend));
  check_range("timeout", attributes.timeout, 0, 24);
  check_range("retry.linear_cnt", attributes.retry.linear_cnt, 0, RetryPolicy::kMaxLinear);
  if (record.is_rc()) {
    start_rc(record, attributes);
  } else {
    start(record, attributes);
  }
  record.attributes.send = attributes;
  record.attributes.state = QpState::kReadyToSend;
}

void HostDevice::start(const Record& record, const ReadyToSendAttributes& attributes) {
  check_range("mpr", attributes.mpr, 1, kMaxMprUnits);
  check_range("max_wimm", attributes.max_wimm, 1, kMaxWriteImmediates);
  check_range("retry.exp_cnt", attributes.retry.exp_cnt, 0, RetryPolicy::kMaxExponential);
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

/// InfiniBand specification 9.7.6.1.3: the ACK timeout.
void HostDevice::start_rc(const Record& record, const ReadyToSendAttributes& attributes) {
  check_range("rnr_retry", attributes.rnr_retry, 0, kRnrForEver);
  RcQueuePair& qp = rc_of(record);
  RcParameters parameters = node_.roce_.parameters_of_port(qp.id.port);
  parameters.retries = attributes.retry.linear_cnt;
  parameters.rnr_retries = attributes.rnr_retry;
  if (attributes.timeout != 0) {
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
}

QpAttributes HostDevice::query_queue_pair(Qpn qpn) const {
  return const_cast<HostDevice*>(this)->at(qpn).attributes;
}

void HostDevice::destroy_queue_pair(Qpn qpn) {
  Record& record = at(qpn);
  if (record.handle && record.is_rc()) {
    node_.roce_.remove_queue_pair(rc_of(record));
  } else if (record.handle) {
    node_.remove_queue_pair(node_.queue_pairs_[record.handle->value]);
  }
  --cq_at(record.attributes.init_attributes.send_cq).users;
  --cq_at(record.attributes.init_attributes.recv_cq).users;
  records_[HostIdentities::number_of(qpn)].reset();
}

}  // namespace mrclab::endpoint
