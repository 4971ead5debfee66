#pragma once
// The states that hosts last reported for the paths of their queue pairs, out of an event history.

#include <compare>
#include <map>
#include <optional>

#include "analysis/history/event_history.h"
#include "analysis/history/reports.h"
#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

class PathStates {
 public:
  /// One entropy value (or, without one, all of a plane) of one queue pair.
  struct Key {
    uint32_t host = 0;  ///< host number
    Qpn qp;
    uint32_t plane = 0;
    std::optional<EntropyValue> ev;
    std::strong_ordering operator<=>(const Key&) const = default;
  };
  struct State {
    FabricTime since;  ///< when it became usable, or unusable
    bool usable = true;
    bool denied = false;  ///< by the operator
    PathWord word = PathWord::kGood;
  };

  static Key key_of(const PathNews& news) { return {news.host, news.qp, news.plane, news.ev}; }

  /// Takes the next piece of news, in order of time. Returns the state before it.
  State take(const PathNews& news) {
    if (!news.ev && news.usable) {
      // When a plane comes back, all its values start GOOD; no host reports each of them.
      for (auto& [key, state] : states_) {
        const bool of_it =
            key.host == news.host && key.qp == news.qp && key.plane == news.plane && key.ev;
        if (!of_it || state.denied) continue;
        state.usable = true;
        state.word = PathWord::kGood;
      }
    }
    State& state = states_[key_of(news)];
    const State before = state;
    if (state.usable != news.usable) state.since = news.t;
    state.usable = news.usable;
    state.denied = news.denied;
    state.word = news.word;
    return before;
  }
  /// Is the plane of this queue pair down, so that none of its values is used?
  bool plane_down(uint32_t host, Qpn qp, uint32_t plane) const {
    const auto found = states_.find({host, qp, plane, std::nullopt});
    return found != states_.end() && !found->second.usable;
  }
  /// The state of one entropy value: its plane's while that is down, else its own; GOOD until the host reports another.
  PathWord word_of(const Key& value) const {
    if (plane_down(value.host, value.qp, value.plane)) return PathWord::kPortDown;
    const auto found = states_.find(value);
    return found == states_.end() ? PathWord::kGood : found->second.word;
  }
  const std::map<Key, State>& all() const { return states_; }

 private:
  std::map<Key, State> states_;
};

/// Removes wires from `unused` and `unjudged` that hosts count as usable: nothing has
/// crossed such a wire since its heal, but no host reports a path over it as unusable. Does
/// nothing if there are no events of hosts.
void accept_usable(const Topology& topology, const EventHistory& events, const HostReports& hosts,
                   std::vector<FaultMeasurement>& faults);

}  // namespace mrclab::analysis
