#pragma once
// What the held programs of one process share: the management network, how long somebody waits for a program, and what
// the lab is told about each of them. One thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "verbs/server/held/management_net.h"

namespace mrclab::verbs {

/// A program that the scenario has: fabric time of its host stands at `at` until it has connected.
struct DeclaredProgram {
  uint32_t number = 0;  ///< among all of the scenario, in its order
  uint32_t host = 0;
  uint32_t number_in_host = 0;
  FabricTime at;
  uint64_t seed = 0;  ///< of its random numbers
  /// The path where it connects; empty: it is given a connection (tests). Whoever has started it connects there and
  /// hangs up when it has ended: one that has not attached by then is not awaited any longer.
  std::string socket;
  std::string command;  ///< for messages
};

/// Which programs never come, for messages.
inline constexpr std::string_view kNeverAttaches =
    "a static binary, or one that asks for no time, verbs or IPv4 sockets";

/// What became of a program.
struct HeldReport {
  uint32_t number = 0;
  uint32_t host = 0;
  std::string program;                       ///< of its hello; empty: it never attached
  FabricTime started = FabricTime::never();  ///< never: likewise
  FabricTime ended = FabricTime::never();    ///< never: it had not when the run ended
  std::string not_held;  ///< why fabric time did not stand for it; empty: it did
  FabricTime not_held_at = FabricTime::never();
};

class HeldWorld {
 public:
  /// In beats: whoever waits for a program looks up after each, so that no clock is asked for.
  struct Patience {
    uint32_t request = 250;   ///< until a program that runs asks for something: five seconds
    uint32_t attach = 1'000;  ///< until a declared one has connected: twenty seconds
  };
  /// Called after each beat for which this process stands still for a program: to give a sign of life, to read the
  /// program's output. False: give all programs up.
  using WhileWaiting = std::function<bool()>;
  static constexpr int kBeatMs = 20;

  HeldWorld(uint32_t hosts, Patience patience, ManagementNet::Arrives arrives)
      : patience_(patience), net_(hosts, std::move(arrives)) {}
  HeldWorld(const HeldWorld&) = delete;
  HeldWorld& operator=(const HeldWorld&) = delete;

  ManagementNet& net() { return net_; }
  const Patience& patience() const { return patience_; }
  void set_while_waiting(WhileWaiting beat) { beat_ = std::move(beat); }
  /// False: the run is being given up; nobody waits for a program any more.
  bool go_on() {
    if (!given_up_ && beat_ && !beat_()) given_up_ = true;
    return !given_up_;
  }
  bool given_up() const { return given_up_; }
  void give_up() { given_up_ = true; }

 private:
  Patience patience_;
  ManagementNet net_;
  WhileWaiting beat_;
  bool given_up_ = false;
};

}  // namespace mrclab::verbs
