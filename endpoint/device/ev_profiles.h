#pragma once
// The EV profiles of a device (mrc_ctl.h): lists of entropy values that a controller makes, and queue pairs use.

#include <cstdint>
#include <map>
#include <stdexcept>

#include "endpoint/device/verbs_types.h"

namespace mrclab::endpoint {

class EvProfiles {
 public:
  static constexpr size_t kMost = 256;

  /// Profile 0 is AUTO, in use for good. Throws if there is no such profile.
  EvProfileAttributes query(uint64_t id) const {
    if (id == 0) return {EvProfileAttributes::State::kOnline, EvProfile::Mode::kAuto, {}, 0};
    const auto found = profiles_.find(id);
    if (found == profiles_.end()) throw std::invalid_argument("no EV profile has this id");
    return found->second;
  }
  /// Throws if it is used, or the step between states is none.
  void modify(uint64_t id, const EvProfileAttributes& to) {
    using State = EvProfileAttributes::State;
    if (id == 0) throw std::invalid_argument("EV profile 0 is AUTO and cannot be changed");
    if (!profiles_.contains(id) && profiles_.size() >= kMost) {
      throw std::invalid_argument("at most 256 EV profiles");
    }
    const EvProfileAttributes now =
        profiles_.contains(id) ? profiles_.at(id) : EvProfileAttributes{};
    if (now.users > 0) throw std::invalid_argument("queue pairs use this EV profile");
    const bool step =
        to.state == now.state || to.state == State::kOffline || now.state == State::kOffline;
    if (!step) throw std::invalid_argument("an EV profile goes INIT, OFFLINE, ONLINE and back");
    const bool changes = to.mode != now.mode || to.values != now.values;
    if (changes && now.state == State::kOnline) {
      throw std::invalid_argument("an EV profile is changed OFFLINE");
    }
    const bool wrong = to.mode == EvProfile::Mode::kExplicit
                           ? to.values.empty() || to.values.size() > EvProfile::kMaxValues
                           : to.mode != EvProfile::Mode::kAuto || !to.values.empty();
    if (wrong)
      throw std::invalid_argument("an EV profile is AUTO, or EXPLICIT with 1 to 4096 values");
    profiles_[id] = to;
    profiles_[id].users = 0;
  }
  /// A queue pair begins to use it; throws unless it is ONLINE.
  void use(uint64_t id) {
    if (query(id).state != EvProfileAttributes::State::kOnline) {
      throw std::invalid_argument("the EV profile is not ONLINE");
    }
    if (id != 0) ++profiles_.at(id).users;
  }
  void release(uint64_t id) {
    if (id != 0) --profiles_.at(id).users;
  }

 private:
  std::map<uint64_t, EvProfileAttributes> profiles_;
};

}  // namespace mrclab::endpoint
