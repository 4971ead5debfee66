#pragma once
// The session that the page plays, one command of the page on its way to it, and what the page is answered.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fabric/text/yaml.h"
#include "session/fabric_session.h"
#include "session/lesson_note.h"

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
    owned = std::make_unique<FabricSession>(scenario, session().branch().another(scenario));
    run.reset();
    lesson.clear();
  }

  FabricSession& session() { return *owned; }
  const FabricSession& session() const { return *owned; }

  std::unique_ptr<FabricSession> owned;  ///< never null
  std::optional<ServedRun> run;          ///< whose scenario it is, if it is that of a run
  std::string lesson;                    ///< whose scenario it is; empty: of none
  /// Of a class: whose session it is, and who is sent what was done with a task and the session that did it.
  std::optional<Student> student;
  std::function<void(const LessonNote&, const std::string& yaml)> keep_note;
  bool playing = false;
  FabricTime per_second = FabricTime::from_us(5);  ///< fabric time that a second shows

  static constexpr FabricTime kSlowest = FabricTime::from_ns(10),
                              kFastest = FabricTime::from_ms(10);
  /// How much wall time the simulation is ahead of what plays, so that browsers have the data in time. A world that
  /// happens now stays closer: a fault by hand takes effect at its newest instant.
  static constexpr int64_t kAheadPerSecond = 2;  ///< half a second
  static constexpr int64_t kAheadOfNowPerSecond = 16;

  /// Lets `wall` nanoseconds of the wall's time pass. Where the simulator is slower, time is.
  void advance(int64_t wall_ns, const FabricSession::GoOn& go_on);
};

struct SessionAnswer {
  nlohmann::json text;          ///< null: none
  std::string binary = {};      ///< else a message of page_messages.h
  bool branch_changed = false;  ///< every browser must be notified
  bool all_changed = false;     ///< likewise, of everything: it is another scenario
};

/// One command: its words, and the session that it is for.
struct Order {
  PlayedSession& played;
  const nlohmann::json& words;
  const FabricSession::GoOn& go_on;
  FabricSession& session() const { return played.session(); }
  int64_t whole(const char* key, int64_t min, int64_t max) const {
    const nlohmann::json& value = words.at(key);
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX) &&
                      value.get<int64_t>() >= min && value.get<int64_t>() <= max;
    if (fits) return value.get<int64_t>();
    throw InputError(std::string(key) + ": found " + value.dump() +
                     ": expected a whole number from " + std::to_string(min) + " to " +
                     std::to_string(max));
  }
  uint32_t number(const char* key) const {
    return static_cast<uint32_t>(whole(key, 0, UINT32_MAX));
  }
  FabricTime time(const char* key) const {
    return FabricTime::from_ps(whole(key, INT64_MIN, INT64_MAX));
  }
  bool fork() const { return words.value("fork", false); }
};

// Those that only look (session_commands.h has their words).
SessionAnswer packets(const Order& order);
SessionAnswer packet(const Order& order);
SessionAnswer use(const Order& order);
SessionAnswer path(const Order& order);
SessionAnswer kinds(const Order& order);
SessionAnswer sack(const Order& order);
SessionAnswer host(const Order& order);
SessionAnswer inspect(const Order& order);
SessionAnswer waits(const Order& order);
SessionAnswer series(const Order& order);
SessionAnswer span(const Order& order);
SessionAnswer yaml(const Order& order);
SessionAnswer history(const Order& order);
SessionAnswer judge(const Order& order);
SessionAnswer difference(const Order& order);
// Of a fabric that is summarised (whole_look.h):
SessionAnswer look_at_switch(const Order& order);
SessionAnswer look_at_rack(const Order& order);
SessionAnswer answer(const Order& order);

}  // namespace mrclab::lab
