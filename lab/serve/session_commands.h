#pragma once
// The words of the page: one JSON object with "do" in, an answer out. Hostile until parsed: what is wrong is
// refused with a sentence, and nothing has happened.
//
//   look     packets from_ps to_ps ticket · packet source destination qp psn · use from_ps to_ps · host node ·
//            yaml · judge · difference
//   control  play per_second_ps · pause · seek at_ps · step to back? qp? · break kind body fork? ·
//            heal what fork? · transport name fork? · options text fork? · swap · drop ·
//            open lesson
//
// The commands of the first row change nothing and are for every browser, the others for the one that holds
// the controls.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/serve/simulated_session.h"

namespace mrclab::lab {

/// A finished run whose scenario is simulated again.
struct ServedRun {
  std::string folder, world, version, history_sha256;
  bool exact = false;  ///< FAITHFUL, by carried time: its history can be had again
};

/// A session as the page has it: it plays, or stands.
struct PlayedSession {
  explicit PlayedSession(Scenario scenario) { open(std::move(scenario)); }
  /// Begins with another scenario. Throws InputError, and then this one goes on.
  void open(Scenario scenario) {
    owned = std::make_unique<SimulatedSession>(std::move(scenario));
    run.reset();
  }

  SimulatedSession& session() { return *owned; }
  const SimulatedSession& session() const { return *owned; }

  std::unique_ptr<SimulatedSession> owned;  ///< never null
  std::optional<ServedRun> run;             ///< whose scenario it is, if it is that of a run
  bool playing = false;
  FabricTime per_second = FabricTime::from_us(20);  ///< fabric time that a second shows

  static constexpr FabricTime kSlowest = FabricTime::from_ns(10),
                              kFastest = FabricTime::from_ms(10);
  /// So much of the wall's time is simulated ahead while it plays, so that browsers have what comes.
  static constexpr int64_t kAheadPerSecond = 2;  ///< half a second

  /// Lets `wall` nanoseconds of the wall's time pass. Where the simulator is slower, time is.
  void advance(int64_t wall_ns, const SimulatedSession::GoOn& go_on);
};

bool needs_control(const std::string& word);

struct SessionAnswer {
  nlohmann::json text;          ///< null: none
  std::string binary = {};      ///< else a message of page_messages.h
  bool future_changed = false;  ///< every browser must be told
  bool all_changed = false;     ///< likewise, of everything: it is another scenario
};

/// Throws InputError, nlohmann::json::exception.
SessionAnswer obey(PlayedSession& played, const nlohmann::json& command,
                   const SimulatedSession::GoOn& go_on);

/// {"say": "state", "t_ps", "playing", "per_second_ps", "reached_ps", "future"}
nlohmann::json state_json(const PlayedSession& played);

}  // namespace mrclab::lab
