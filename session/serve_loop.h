#pragma once
// Between the browsers and the session: lets time pass, hands commands to the session and answers back, and
// sends every browser what has changed. The first browser holds the controls; it may hand them over.

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "console/interrupt.h"
#include "session/page_connections.h"
#include "session/session_commands.h"

namespace mrclab::lab {

class ServeLoop {
 public:
  /// Reports to the process that started it, beside the browsers.
  using Tell = std::function<void(const std::string&)>;

  /// Both outlive it.
  ServeLoop(PageConnections& connections, PlayedSession& played, Tell tell_starter = {})
      : connections_(connections), played_(played), tell_starter_(std::move(tell_starter)) {}

  /// Until `interrupted` returns true.
  void run(const IsInterrupted& interrupted);
  /// One round of it: takes messages of browsers, for which it waits at most so long, lets time pass, and sends
  /// the changes.
  void turn(std::chrono::milliseconds at_most);
  /// What a browser did that was awaited elsewhere.
  void take(const PageInput& input);
  /// Is another round due at once, although nothing plays?
  bool surveys() const { return surveys_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Browser {
    uint32_t branch = 0;  ///< whose sums, events and windows were sent to it, up to here:
    size_t bin = 0, event = 0, window = 0, window_of_tally = 0;
  };

  void welcome(ClientId client);
  void on_text(ClientId client, const std::string& text);
  bool take_controls(ClientId client, const nlohmann::json& command);
  void send_to_client(ClientId client, const nlohmann::json& message);
  void tell_all(const nlohmann::json& message);
  void tell_controls();
  void tell_progress(ClientId client, Browser& browser);
  void tell_other_sums();
  /// How far a world has come that is simulated for minutes.
  void tell_reached();
  /// Where the records of a branch end, once.
  void tell_cut();
  /// For what may take long: goes on until a signal, or until the slice of time that `advance` has is over.
  FabricSession::GoOn go_on(std::optional<std::chrono::milliseconds> at_most);

  PageConnections& connections_;
  PlayedSession& played_;
  Tell tell_starter_;
  IsInterrupted interrupted_ = [] { return false; };
  Clock::time_point before_ = Clock::now(),
                    told_ = before_;  // the last round; when the time was sent to all
  FabricTime told_reached_ = FabricTime::zero();
  Clock::time_point told_reached_at_ = Clock::now();
  bool behind_ = false;   // the last round's slice of simulating ended before its work
  bool surveys_ = false;  // the whole is being simulated for the time line
  std::map<ClientId, Browser> browsers_;
  ClientId holder_ = 0;  // of the controls; 0: no one
  uint32_t other_branch_ = 0;
  size_t other_bin_ = 0;
  std::string told_cut_;
};

}  // namespace mrclab::lab
