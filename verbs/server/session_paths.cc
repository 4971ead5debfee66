// What libmrc's controller asks for: profiles of entropy values, paths out of use, events of paths.

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {
namespace {

/// ProfileRequest::kind.
constexpr uint32_t kEvProfileKind = 1, kCcProfileKind = 2;
/// ProfileReply::values[0] of a profile of congestion control.
constexpr uint32_t kNscc = 1;

}  // namespace

int VerbsSession::query_profile(const ProfileRequest& request, Reply& reply) {
  ProfileReply told{};
  told.id = request.id;
  told.kind = request.kind;
  if (request.kind == kCcProfileKind) {
    const endpoint::CcProfileAttributes profile = device_.query_cc_profile(request.id);
    told.count = 1;
    told.values[0] = profile.algorithm.empty() ? 0 : kNscc;
  } else if (request.kind == kEvProfileKind) {
    const endpoint::EvProfileAttributes profile = device_.query_ev_profile(request.id);
    told.mode = static_cast<uint32_t>(profile.mode);
    told.state = static_cast<uint32_t>(profile.state);
    for (const EntropyValue& ev : profile.values) {
      if (told.count == std::size(told.values)) break;
      told.values[told.count++] = ev.value;
    }
  } else {
    return EINVAL;
  }
  reply.put(told);
  return 0;
}

int VerbsSession::modify_profile(const ProfileRequest& request) {
  if (request.kind != kEvProfileKind) return EINVAL;
  using State = endpoint::EvProfileAttributes::State;
  using EvMode = endpoint::EvProfile::Mode;
  if (request.count > std::size(request.values) ||
      request.state > static_cast<uint32_t>(State::kOnline) ||
      request.mode > static_cast<uint32_t>(EvMode::kExplicit)) {
    return EINVAL;
  }
  if (device_.query_ev_profile(request.id).users != 0) return EBUSY;
  endpoint::EvProfileAttributes profile;
  profile.state = static_cast<State>(request.state);
  profile.mode = static_cast<EvMode>(request.mode);
  for (uint32_t i = 0; i < request.count; ++i) {
    profile.values.push_back(EntropyValue{request.values[i]});
  }
  device_.modify_ev_profile(request.id, profile);
  return 0;
}

int VerbsSession::deny_path(const DenyRequest& request) {
  constexpr uint32_t kEveryHost = 0xFFFF'FFFF;
  std::optional<Ipv6Address> to;
  if (request.host != kEveryHost) {
    const std::vector<Ipv6Address>& hosts = programs_.facts().hosts;
    if (request.host >= hosts.size()) return EINVAL;
    to = hosts[request.host];
  }
  device_.deny_path(EntropyValue{request.ev}, to, request.denied != 0);
  return 0;
}

void VerbsSession::note_path_event(const endpoint::AsyncEvent& event) {
  if (path_events_.size() >= kMaxPathEvents) {
    ++path_events_lost_;
    return;
  }
  PathEventReply told{};
  told.at_ps = static_cast<uint64_t>(event.at.ps());
  told.qpn = event.qpn.value;
  told.ev = event.ev.value;
  // mrc_ctl.h: GOOD 1, ASSUMED_BAD 2, DENIED 4.
  using Kind = endpoint::AsyncEvent::Kind;
  told.state = event.kind == Kind::kEvGood ? 1 : event.kind == Kind::kEvAssumedBad ? 2 : 4;
  told.drops = path_events_lost_;
  path_events_lost_ = 0;
  path_events_.push_back(told);
}

int VerbsSession::poll_path_event(Reply& reply) {
  if (path_events_.empty()) return EAGAIN;
  reply.put(path_events_.front());
  path_events_.pop_front();
  return 0;
}

int VerbsSession::probe_paths(const RequestHeader& header, const ProbeRequest& request) {
  if (request.count == 0 || request.count > std::size(request.values) || request.timeout_ns == 0) {
    return EINVAL;
  }
  if (probing_) return EBUSY;
  Ipv6Address to{};
  std::copy_n(request.gid, to.size(), to.begin());
  std::vector<EntropyValue> evs;
  for (uint32_t i = 0; i < request.count; ++i) evs.push_back(EntropyValue{request.values[i]});
  auto probing = std::make_unique<Probing>(Probing{0, header, request.count, {}});
  probing->request = device_.probe_paths(to, evs, FabricTime::from_ns(request.timeout_ns));
  programs_.own_probe(probing->request, this);
  probing_ = std::move(probing);
  return 0;
}

void VerbsSession::note_probe(const endpoint::PathProbe& probe) {
  if (!probing_ || probing_->request != probe.request) return;
  ProbeReply& reply = probing_->reply;
  if (reply.count == probing_->wanted) return;
  auto& path = reply.paths[reply.count++];
  path.ev = probe.ev.value;
  path.answered = probe.rtt ? 1 : 0;
  path.rtt_ns = probe.rtt ? static_cast<uint64_t>(probe.rtt->ps() / 1000) : 0;
}

std::optional<VerbsSession::Answer> VerbsSession::take_late_answer() {
  if (!probing_ || probing_->reply.count < probing_->wanted) return std::nullopt;
  const std::unique_ptr<Probing> done = std::move(probing_);
  programs_.own_probe(done->request, nullptr);
  return answer(done->header, 0,
                {reinterpret_cast<const uint8_t*>(&done->reply), sizeof done->reply});
}

}  // namespace mrclab::verbs
