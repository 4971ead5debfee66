#include "session/session_commands.h"

#include <algorithm>
#include <map>

#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/transport_fit.h"
#include "session/lesson.h"
#include "session/page_messages.h"
#include "session/session_order.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using GoOn = FabricSession::GoOn;

SessionAnswer changed(json text = {}) { return {std::move(text), {}, true}; }

StepTo step_of(const std::string& word) {
  const auto found = std::find(kStepWords.begin(), kStepWords.end(), word);
  if (found == kStepWords.end())
    throw InputError("found the step " + in_quotes(word) +
                     ": expected packet, fault, loss, path or qp");
  return static_cast<StepTo>(found - kStepWords.begin());
}

SessionAnswer play(const Order& order) {
  const FabricTime speed = order.time("per_second_ps");
  order.played.per_second = std::clamp(speed, PlayedSession::kSlowest, PlayedSession::kFastest);
  order.played.playing = order.words.value("playing", true);
  return {};
}

SessionAnswer pause(const Order& order) {
  order.played.playing = false;
  return {};
}

json note(std::string text) { return {{"say", "note"}, {"text", std::move(text)}}; }

SessionAnswer seek(const Order& order) {
  const FabricTime to = order.time("at_ps");
  order.session().aim(to, order.go_on);
  const std::optional<RecordsCut> cut = order.session().branch().records_cut();
  if (!cut || to < cut->from) return {};
  return {note(cut->why)};
}

/// Why a step found nothing, as far as was looked.
std::string none_found(const FabricSession& session, StepTo to, bool back) {
  const Branch& branch = session.branch();
  const Recording& recording = branch.recording();
  const bool packets = to == StepTo::kPacket || to == StepTo::kLoss;
  const bool words = to == StepTo::kPath || to == StepTo::kQueuePair;
  const FabricTime kept = packets ? recording.kept_from() : FabricTime::zero();
  const FabricTime told = words ? recording.told_until() : FabricTime::never();
  std::string text = "there is none ";
  if (back) {
    text += kept > FabricTime::zero()
                ? "from " + to_string(kept) + " on, and packets before are no longer kept"
                : "before";
  } else if (const std::optional<RecordsCut> cut = branch.records_cut()) {
    text += "before " + to_string(cut->from) + ": " + cut->why;
  } else if (branch.reached() < branch.end()) {
    text += "until " + to_string(branch.reached()) + ", and the world has come no further";
  } else {
    text += "until the end";
  }
  if (told == FabricTime::never()) return text;
  return text + "; what hosts report from " + to_string(told) + " on was left out for lack of room";
}

SessionAnswer step(const Order& order) {
  order.played.playing = false;
  std::optional<Qpn> qp;
  if (order.words.contains("qp")) qp = Qpn{order.number("qp")};
  const StepTo to = step_of(order.words.at("to").get<std::string>());
  const bool back = order.words.value("back", false);
  const bool found = order.session().step(to, back, qp, order.go_on);
  if (found) return {};
  return {note(none_found(order.session(), to, back))};
}

SessionAnswer break_it(const Order& order) {
  FaultOrder fault;
  order.words.at("kind").get_to(fault.kind);
  order.words.at("body").get_to(fault.body);
  const uint32_t number = order.session().break_it(fault, order.fork(), order.go_on);
  return changed({{"say", "broken"}, {"number", number}});
}

SessionAnswer heal(const Order& order) {
  const auto numbers =
      order.session().heal(order.words.at("what").get<std::string>(), order.fork(), order.go_on);
  if (numbers.empty()) return {note("nothing to heal: no fault is in force")};
  return changed({{"say", "healed"}, {"numbers", numbers}});
}

SessionAnswer transport(const Order& order) {
  order.session().use_transport(order.words.at("name").get<std::string>(), order.fork(),
                                order.go_on);
  return changed();
}

SessionAnswer options(const Order& order) {
  order.session().set_options(order.words.at("text").get<std::string>(), order.fork(), order.go_on);
  return changed();
}

/// Another workload under the same transport and faults, from the beginning on: its queue pairs are others, so
/// it is another session.
SessionAnswer workload(const Order& order) {
  if (order.session().branch().tally() != nullptr) {
    throw InputError(
        "a fabric of this size is simulated once: end it, and serve a scenario with that workload");
  }
  Scenario scenario = parse_scenario(read_yaml_text(order.session().yaml(), "session"));
  set_workload(scenario, order.words.at("text").get<std::string>());
  fit_fabric_to_transport(scenario);
  order.played.open(std::move(scenario));
  order.played.playing = false;
  return {{}, {}, false, true};
}

SessionAnswer swap(const Order& order) {
  order.session().swap();
  return changed();
}

SessionAnswer drop(const Order& order) {
  order.session().drop_other();
  return changed();
}

SessionAnswer open(const Order& order) {
  const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
  const Scenario scenario = scenario_of(lesson);
  const FabricTime at = parse_instant(lesson.at, scenario.topology, FabricTime::zero(), &scenario);
  order.played.open(scenario);
  order.played.lesson = lesson.name;
  order.played.playing = false;
  order.session().seek(at, order.go_on);
  return {{}, {}, false, true};
}

/// Another choice of racks: what the page shows has other numbers, so it is another session.
SessionAnswer follow(const Order& order) {
  order.session().follow(order.words.at("racks").get<std::vector<uint32_t>>());
  order.played.playing = false;
  return {{}, {}, false, true};
}

struct Command {
  SessionAnswer (*act)(const Order&);
  bool control;
};

const std::map<std::string, Command, std::less<>>& commands() {
  static const std::map<std::string, Command, std::less<>> kCommands{
      {"packets", {packets, false}},
      {"packet", {packet, false}},
      {"use", {use, false}},
      {"path", {path, false}},
      {"kinds", {kinds, false}},
      {"sack", {sack, false}},
      {"host", {host, false}},
      {"inspect", {inspect, false}},
      {"waits", {waits, false}},
      {"series", {series, false}},
      {"span", {span, false}},
      {"switch", {look_at_switch, false}},
      {"rack", {look_at_rack, false}},
      {"yaml", {yaml, false}},
      {"history", {history, false}},
      {"judge", {judge, false}},
      {"answer", {answer, false}},
      {"difference", {difference, false}},
      {"play", {play, true}},
      {"pause", {pause, true}},
      {"seek", {seek, true}},
      {"step", {step, true}},
      {"break", {break_it, true}},
      {"heal", {heal, true}},
      {"transport", {transport, true}},
      {"options", {options, true}},
      {"workload", {workload, true}},
      {"swap", {swap, true}},
      {"drop", {drop, true}},
      {"open", {open, true}},
      {"follow", {follow, true}},
  };
  return kCommands;
}

}  // namespace

void PlayedSession::advance(int64_t wall_ns, const FabricSession::GoOn& go_on) {
  if (!playing) {
    session().pursue(go_on);
    return;
  }
  constexpr int64_t kSecond = 1'000'000'000, kTenth = kSecond / 10;
  // In pieces of whole picoseconds per nanosecond and a rest, so that nothing overflows.
  wall_ns = std::clamp<int64_t>(wall_ns, 0, kTenth);
  const auto passed = static_cast<__int128>(per_second.ps()) * wall_ns / kSecond;
  session().seek(session().at() + FabricTime::from_ps(static_cast<int64_t>(passed)), go_on);
  const bool now = session().branch().world() == BranchWorld::kLive;
  const int64_t ahead = now ? kAheadOfNowPerSecond : kAheadPerSecond;
  session().look_ahead(session().at() + per_second / ahead, go_on);
  const std::optional<RecordsCut> cut = session().branch().records_cut();
  const FabricTime last = cut ? cut->from - FabricTime::from_ps(1) : session().end();
  if (session().at() >= last) playing = false;
}

bool needs_control(const std::string& word) {
  const auto found = commands().find(word);
  return found != commands().end() && found->second.control;
}

SessionAnswer answer_command(PlayedSession& played, const json& command, const GoOn& go_on) {
  const auto word = command.at("do").get<std::string>();
  const auto found = commands().find(word);
  if (found == commands().end())
    throw InputError("found the command " + in_quotes(word) + ", which is none");
  return found->second.act({played, command, go_on});
}

json state_json(const PlayedSession& played) {
  const Branch& branch = played.session().branch();
  const Recording& recording = branch.recording();
  const std::optional<RecordsCut> cut = branch.records_cut();
  const bool told_all = recording.told_until() == FabricTime::never();
  return {{"say", "state"},
          {"t_ps", played.session().at().ps()},
          {"playing", played.playing},
          {"per_second_ps", played.per_second.ps()},
          {"reached_ps", branch.reached().ps()},
          {"goal_ps", played.session().goal() ? json(played.session().goal()->ps()) : json()},
          {"cut", cut ? json{{"from_ps", cut->from.ps()}, {"why", cut->why}} : json()},
          {"kept_from_ps", recording.kept_from().ps()},
          {"told_until_ps", told_all ? json() : json(recording.told_until().ps())},
          {"branch", played.session().number()}};
}

}  // namespace mrclab::lab
