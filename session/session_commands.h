#pragma once
// The words of the page: one JSON object with "do" in, an answer out. Hostile until parsed: what is wrong is
// refused with a sentence, and nothing has happened.
//
//   look     packets from_ps to_ps ticket · packet source destination qp psn · use from_ps to_ps · host host ·
//            sack host qp at_ps · inspect node · yaml · history · judge · answer · difference
//   control  play per_second_ps · pause · seek at_ps · step to back? qp? · break kind body fork? ·
//            heal what fork? · transport name fork? · options text fork? · swap · drop ·
//            workload text · open lesson
//
// The commands of the first row change nothing and are for every browser, the others for the one that holds
// the controls.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "session/fabric_session.h"

namespace mrclab::lab {

/// A finished run whose scenario is simulated again.
struct ServedRun {
  std::string folder, world, version, history_sha256;
  bool exact = false;  ///< FAITHFUL, by carried time: its history can be had again
};

/// A session as the page has it: it plays, or stands.
struct PlayedSession {
  explicit PlayedSession(Scenario scenario)
      : owned(std::make_unique<FabricSession>(std::move(scenario))) {}
  explicit PlayedSession(std::unique_ptr<FabricSession> session) : owned(std::move(session)) {}
  /// Begins with another scenario, in a world of the same kind. Throws InputError, and then this one goes on.
  void open(const Scenario& scenario) {
    owned = std::make_unique<FabricSession>(scenario, session().future().another(scenario));
    run.reset();
  }

  FabricSession& session() { return *owned; }
  const FabricSession& session() const { return *owned; }

  std::unique_ptr<FabricSession> owned;  ///< never null
  std::optional<ServedRun> run;          ///< whose scenario it is, if it is that of a run
  bool playing = false;
  FabricTime per_second = FabricTime::from_us(5);  ///< fabric time that a second shows

  static constexpr FabricTime kSlowest = FabricTime::from_ns(10),
                              kFastest = FabricTime::from_ms(10);
  /// So much of the wall's time is simulated ahead while it plays, so that browsers have what comes. A world that
  /// happens now stays closer: a fault by hand takes effect at its newest instant.
  static constexpr int64_t kAheadPerSecond = 2;  ///< half a second
  static constexpr int64_t kAheadOfNowPerSecond = 16;

  /// Lets `wall` nanoseconds of the wall's time pass. Where the simulator is slower, time is.
  void advance(int64_t wall_ns, const FabricSession::GoOn& go_on);
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
                   const FabricSession::GoOn& go_on);

/// {"say": "state", "t_ps", "playing", "per_second_ps", "reached_ps", "future"}
nlohmann::json state_json(const PlayedSession& played);

}  // namespace mrclab::lab
