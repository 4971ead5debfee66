// The device's objects: memory, completion queues, shared receive queues; its events, and what libmrc's controller asks.

#include "endpoint/host/host_device.h"

#include <algorithm>
#include <stdexcept>

#include "endpoint/base/sequence.h"

namespace mrclab::endpoint {
namespace {

/// The first free place; the vector grows by one if there is none.
template <class T>
uint32_t free_place(std::vector<std::unique_ptr<T>>& all, uint32_t most, std::string_view what) {
  const auto free = std::find(all.begin(), all.end(), nullptr);
  const auto place = static_cast<uint32_t>(free - all.begin());
  check_range("the number of " + std::string(what), place + 1, 1, most);
  if (free == all.end()) all.emplace_back();
  return place;
}

}  // namespace

void reject_call(const std::string& what) { throw std::invalid_argument(what); }

void check_range(std::string_view what, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return;
  reject_call(std::string(what) + " is " + std::to_string(value) + ", must be " +
              std::to_string(low) + " to " + std::to_string(high));
}

HostDevice::HostDevice(HostImpl& node)
    : node_(node),
      identities_(node.host_.environment.seed, node.host_.environment.self),
      gid_moves_(node.host_.profile.gid_moves) {}

DeviceAttributes HostDevice::query_device() const {
  DeviceAttributes attributes;
  attributes.max_wimm = attributes.max_wimm_dest = kMaxWriteImmediates;
  attributes.max_mpr = kMaxMprUnits;
  attributes.dynamic_mpr = true;
  attributes.max_queue_pairs = attributes.max_memory_regions = kMaxPerHost;
  attributes.max_completion_queues = attributes.max_shared_receive_queues = kMaxQueues;
  attributes.max_completions = kMaxDepth;
  attributes.ports = static_cast<uint32_t>(node_.ports_.size());
  return attributes;
}

PortAttributes HostDevice::query_port() const {
  const uint32_t live = node_.ports_.live();
  return {live != 0, live, gids_};
}

MemoryRegion HostDevice::register_memory(std::span<uint8_t> memory, AccessFlags access,
                                         uint32_t domain) {
  if (memory.empty()) reject_call("a memory region needs at least one byte");
  const uint32_t number = node_.memory_.regions.free_number();
  check_range("the number of memory regions", number, 1, kMaxPerHost);
  const uint32_t use = ++uses_;
  const RegionPlan plan{
      identities_.va(number, use), identities_.rkey(number, use), {memory.size()}};
  node_.memory_.regions.add_external(plan, memory, access, domain);
  return {plan.va, plan.rkey, plan.size};
}

MemoryRegion HostDevice::register_memory(RegionAccess& memory, uint64_t va, Bytes length,
                                         AccessFlags access, uint32_t domain) {
  if (length.value == 0) reject_call("a memory region needs at least one byte");
  if (va + (length.value - 1) < va) reject_call("a memory region ends before it begins");
  const uint32_t number = node_.memory_.regions.free_number();
  check_range("the number of memory regions", number, 1, kMaxPerHost);
  const RegionPlan plan{va, identities_.rkey(number, ++uses_), length};
  auto watched = std::make_unique<WatchedRegion>(memory, *this);
  node_.memory_.regions.add_external(plan, *watched, access, domain);
  regions_[plan.rkey] = std::move(watched);
  return {plan.va, plan.rkey, plan.size};
}

void HostDevice::deregister_memory(const MemoryRegion& region) {
  const bool known = node_.memory_.regions.remove(region.rkey);
  // With its power the host lost its regions, but not what its user holds.
  if (regions_.erase(region.rkey) == 0 && !known) reject_call("no memory region has this rkey");
}

void HostDevice::memory_written() {
  if (user_ != nullptr) user_->on_memory_written();
}

CqHandle HostDevice::create_completion_queue(uint32_t depth) {
  check_range("the depth of a completion queue", depth, 1, kMaxDepth);
  const uint32_t place = free_place(cqs_, kMaxQueues, "completion queues");
  cqs_[place] = std::make_unique<CompletionQueue>(depth);
  return {place};
}

void HostDevice::destroy_completion_queue(CqHandle cq) {
  if (cq_at(cq).users != 0) reject_call("a queue pair still uses this completion queue");
  cqs_[cq.value].reset();
}

CompletionQueue& HostDevice::cq_at(CqHandle cq) {
  if (cq.value >= cqs_.size() || !cqs_[cq.value]) reject_call("no such completion queue");
  return *cqs_[cq.value];
}

SrqHandle HostDevice::create_shared_receive_queue(const SrqAttributes& attributes) {
  check_range("max_wr", attributes.max_wr, 1, kMaxWorkRequests);
  check_range("limit", attributes.limit, 0, attributes.max_wr);
  const uint32_t place = free_place(srqs_, kMaxQueues, "shared receive queues");
  srqs_[place] = std::make_unique<SharedReceiveQueue>(attributes);
  return {place};
}

SharedReceiveQueue& HostDevice::srq_at(SrqHandle srq) const {
  if (srq.value >= srqs_.size() || !srqs_[srq.value]) reject_call("no such shared receive queue");
  return *srqs_[srq.value];
}

void HostDevice::modify_shared_receive_queue(SrqHandle srq, uint32_t limit) {
  SharedReceiveQueue& queue = srq_at(srq);
  check_range("limit", limit, 0, queue.attributes.max_wr);
  queue.attributes.limit = limit;
}

SrqAttributes HostDevice::query_shared_receive_queue(SrqHandle srq) const {
  return srq_at(srq).attributes;
}

void HostDevice::destroy_shared_receive_queue(SrqHandle srq) {
  if (srq_at(srq).users != 0) reject_call("a queue pair still uses this shared receive queue");
  srqs_[srq.value].reset();
}

std::optional<AsyncEvent> HostDevice::next_async_event() {
  if (events_.empty()) return std::nullopt;
  return events_.pop();
}

void HostDevice::report(AsyncEvent event) {
  event.at = node_.host_.now;
  event.drop_count = events_lost_;
  events_lost_ = events_.push(event) ? 0 : events_lost_ + 1;
  if (user_ != nullptr) user_->on_async_event();
}

void HostDevice::wake_at(FabricTime at) {
  at = std::max(at, node_.host_.now);
  if (at == FabricTime::never() || wakes_.contains(at)) return;
  if (wakes_.size() >= kMaxWakes) throw std::length_error("a program asks for too many alarms");
  wakes_.insert(at);
  node_.applications_.verbs_of(index_).wake_at(at);
}

void HostDevice::on_wake(Verbs&) {
  if (probes_.expire(node_.host_.now) && user_ != nullptr) user_->on_path_probe();
  const auto end = wakes_.upper_bound(node_.host_.now);
  if (end == wakes_.begin()) return;
  wakes_.erase(wakes_.begin(), end);
  if (user_ != nullptr) user_->on_wake();
}

void HostDevice::ev_changed(const QueuePair& qp, EntropyValue ev, EvState to) {
  if (qp.application != index_) return;
  AsyncEvent event;
  event.kind = to == EvState::kGood     ? AsyncEvent::Kind::kEvGood
               : to == EvState::kDenied ? AsyncEvent::Kind::kEvDenied
                                        : AsyncEvent::Kind::kEvAssumedBad;
  event.qpn = qp.id.local;
  event.ev = ev;
  report(event);
}

void HostDevice::port_changed(PortId port, bool up) {
  const uint32_t live = node_.ports_.live();
  AsyncEvent event;
  event.kind = up ? AsyncEvent::Kind::kPortActive : AsyncEvent::Kind::kPortError;
  event.port = port.value;
  event.whole_nic = up ? live == 1u << port.value : live == 0;
  report(event);
  if (!up || !event.whole_nic || !gid_moves_) return;
  gids_ = gids_ == kGids ? kMovedGids : kGids;
  event.kind = AsyncEvent::Kind::kGidChange;
  report(event);
}

CcProfileAttributes HostDevice::query_cc_profile(uint64_t id) const {
  check_range("cc_profile_id", id, 0, 0);
  const bool nscc = node_.host_.profile.congestion_control != CongestionAlgorithm::kFixed;
  return {nscc ? "uet-1.0-nscc" : ""};
}

void HostDevice::deny_path(EntropyValue ev, std::optional<Ipv6Address> to, bool denied) {
  EvDenial denial;
  denial.host = node_.host_.environment.self;
  denial.ev = ev;
  denial.denied = denied;
  if (to) {
    const std::optional<uint32_t> host = node_.host_.paths.host_of(*to);
    if (!host) reject_call("no path to " + to_string(*to) + " is known");
    denial.toward = node_.host_.topology.host(*host);
  }
  node_.on_denial(denial);
  node_.ring_doorbell();
}

uint64_t HostDevice::probe_paths(const Ipv6Address& to, std::span<const EntropyValue> evs,
                                 FabricTime timeout) {
  const std::optional<uint32_t> host = node_.host_.paths.host_of(to);
  if (!host || node_.peers_.table().find(*host) == nullptr) {
    reject_call("there is no queue pair to " + to_string(to) + ", whose paths are to be probed");
  }
  if (!probes_.has_room(evs.size())) reject_call("too many probes are under way");
  const uint64_t request = probes_.begin_request();
  const FabricTime now = node_.host_.now;
  for (const EntropyValue ev : evs) {
    const uint16_t id = probes_.sent(request, ev, now, timeout);
    const std::optional<Path> path = path_of(ev);
    // One by a port that is dark has no answer either.
    if (!path || path->plane >= node_.ports_.size() || !node_.ports_.is_live(path->plane)) continue;
    Erth erth;
    erth.op = EndpointOp::kEvProbe;
    erth.port_status_mask = node_.ports_.live();
    erth.tx_timestamp = tx_timestamp(now);
    node_.ports_.queue_control(
        path->plane, node_.host_.maker.control(Opcode::kEndpointRequest, Psn{id}, erth, ev,
                                               {*host, kEndpointQpn}));
  }
  node_.applications_.verbs_of(index_).wake_at(now + timeout);
  node_.ring_doorbell();
  return request;
}

bool HostDevice::probe_answered(uint16_t id) {
  if (!probes_.answered(id, node_.host_.now)) return false;
  if (user_ != nullptr) user_->on_path_probe();
  return true;
}

void HostDevice::power_off() {
  wakes_.clear();
  probes_.clear();
  ended_.clear();  // the account of what was before is gone with the rest
  node_.host_.stats.qps_ended = 0;
  for (const auto& record : records_) {
    if (!record) continue;
    if (record->attributes.state != QpState::kReset) record->attributes.state = QpState::kError;
    record->handle.reset();
    record->sends.clear();
    record->receives.clear();
    record->in_transport = 0;
  }
  if (user_ != nullptr) user_->on_power_lost();
}

}  // namespace mrclab::endpoint
