#pragma once
// A device with profiles, events and probes of paths alone: what the controller's side asks of one. The rest throws.

#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "endpoint/host/verbs.h"

namespace mrclab::test {

class PathsDevice : public endpoint::Device {
 public:
  static constexpr uint32_t kPlanes = 8;
  /// Values that are paths here: those of planes 0 to 7.
  static bool is_path(EntropyValue ev) { return ev.value != 0 && (ev.value >> 16) < kPlanes; }

  std::map<uint64_t, endpoint::EvProfileAttributes> profiles;
  std::set<uint32_t> denied;
  std::deque<endpoint::EvEvent> events;
  std::deque<endpoint::PathProbe> answers;
  std::map<uint32_t, uint64_t> profile_of_qp;
  std::vector<EntropyValue> probed;
  uint64_t requests = 0;

  endpoint::EvProfileAttributes query_ev_profile(uint64_t id) const override {
    const auto found = profiles.find(id);
    return found == profiles.end() ? endpoint::EvProfileAttributes{} : found->second;
  }
  void modify_ev_profile(uint64_t id, const endpoint::EvProfileAttributes& to) override {
    if (query_ev_profile(id).users > 0) throw std::invalid_argument("in use");
    for (const EntropyValue ev : to.values) {
      if (!is_path(ev)) throw std::invalid_argument("no path");
    }
    profiles[id] = to;
  }
  endpoint::CcProfileAttributes query_cc_profile(uint64_t) const override {
    return {"uet-1.0-nscc"};
  }
  void deny_path(EntropyValue ev, std::optional<Ipv6Address>, bool deny) override {
    if (deny) {
      denied.insert(ev.value);
    } else {
      denied.erase(ev.value);
    }
  }
  std::optional<endpoint::EvEvent> poll_ev_event() override {
    if (events.empty()) return std::nullopt;
    const endpoint::EvEvent event = events.front();
    events.pop_front();
    return event;
  }
  uint64_t probe_paths(const Ipv6Address&, std::span<const EntropyValue> evs, FabricTime) override {
    for (const EntropyValue ev : evs) {
      if (!is_path(ev)) throw std::invalid_argument("no path");
    }
    probed.assign(evs.begin(), evs.end());
    return ++requests;
  }
  std::optional<endpoint::PathProbe> next_path_probe() override {
    if (answers.empty()) return std::nullopt;
    const endpoint::PathProbe answer = answers.front();
    answers.pop_front();
    return answer;
  }
  endpoint::QpAttributes query_queue_pair(Qpn qpn) const override {
    const auto found = profile_of_qp.find(qpn.value);
    if (found == profile_of_qp.end()) throw std::invalid_argument("no queue pair");
    endpoint::QpAttributes attributes;
    attributes.init.ev_profile_id = found->second;
    return attributes;
  }

  endpoint::DeviceAttributes query_device() const override { return {}; }
  void set_user(endpoint::DeviceUser*) override {}
  void wake_at(FabricTime) override { none(); }
  FabricTime now() const override { return {}; }
  endpoint::PortAttributes query_port() const override { return {}; }
  endpoint::MemoryRegion register_memory(std::span<uint8_t>, endpoint::AccessFlags,
                                         uint32_t) override {
    none();
  }
  endpoint::MemoryRegion register_memory(endpoint::RegionAccess&, uint64_t, Bytes,
                                         endpoint::AccessFlags, uint32_t) override {
    none();
  }
  void deregister_memory(const endpoint::MemoryRegion&) override { none(); }
  endpoint::CqHandle create_completion_queue(uint32_t) override { none(); }
  std::span<endpoint::WorkCompletion> poll_completions(
      endpoint::CqHandle, std::span<endpoint::WorkCompletion>) override {
    none();
  }
  void destroy_completion_queue(endpoint::CqHandle) override { none(); }
  endpoint::SrqHandle create_shared_receive_queue(const endpoint::SrqAttributes&) override {
    none();
  }
  void modify_shared_receive_queue(endpoint::SrqHandle, uint32_t) override { none(); }
  endpoint::SrqAttributes query_shared_receive_queue(endpoint::SrqHandle) const override { none(); }
  void destroy_shared_receive_queue(endpoint::SrqHandle) override { none(); }
  Qpn create_queue_pair(const endpoint::QpInitAttributes&) override { none(); }
  Psn draw_first_psn(Qpn) override { none(); }
  void modify(Qpn, const endpoint::InitAttributes&) override { none(); }
  void modify(Qpn, const endpoint::ReadyToReceiveAttributes&) override { none(); }
  void modify(Qpn, const endpoint::ReadyToSendAttributes&) override { none(); }
  void modify_access(Qpn, endpoint::AccessFlags) override { none(); }
  void modify_to_error(Qpn) override { none(); }
  void modify_to_reset(Qpn) override { none(); }
  void destroy_queue_pair(Qpn) override { none(); }
  void set_gid_moves(bool) override { none(); }
  endpoint::PostResult post(Qpn, endpoint::WorkRequest) override { none(); }
  endpoint::PostResult post_receive(Qpn, endpoint::ReceiveRequest) override { none(); }
  endpoint::PostResult post_receive(endpoint::SrqHandle, endpoint::ReceiveRequest) override {
    none();
  }
  std::optional<endpoint::AsyncEvent> next_async_event() override { return std::nullopt; }

 private:
  [[noreturn]] static void none() { throw std::logic_error("not asked of this device"); }
};

}  // namespace mrclab::test
