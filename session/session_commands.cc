#include "session/session_commands.h"

#include <algorithm>
#include <functional>
#include <map>

#include "console/pause_text.h"
#include "console/switch_rows.h"
#include "fabric/packet/headers.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/transport_fit.h"
#include "session/lesson_verdict.h"
#include "session/packet_look.h"
#include "session/page_messages.h"
#include "session/path_use.h"
#include "session/session_verdict.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using GoOn = FabricSession::GoOn;

struct Order {
  PlayedSession& played;
  const json& words;
  const GoOn& go_on;
  FabricSession& session() const { return played.session(); }
  int64_t whole(const char* key, int64_t min, int64_t max) const {
    const json& value = words.at(key);
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
  order.session().seek(to, order.go_on);
  const std::optional<RecordsCut> cut = order.session().future().records_cut();
  if (!cut || to < cut->from) return {};
  return {note(cut->why)};
}

/// Why a step found nothing, as far as was looked.
std::string none_found(const FabricSession& session, StepTo to, bool back) {
  const Future& future = session.future();
  const Recording& recording = future.recording();
  const bool packets = to == StepTo::kPacket || to == StepTo::kLoss;
  const bool words = to == StepTo::kPath || to == StepTo::kQueuePair;
  const FabricTime kept = packets ? recording.kept_from() : FabricTime::zero();
  const FabricTime told = words ? recording.told_until() : FabricTime::never();
  std::string text = "there is none ";
  if (back) {
    text += kept > FabricTime::zero()
                ? "from " + to_string(kept) + " on, and packets before are no longer kept"
                : "before";
  } else if (const std::optional<RecordsCut> cut = future.records_cut()) {
    text += "before " + to_string(cut->from) + ": " + cut->why;
  } else if (future.reached() < future.end()) {
    text += "until " + to_string(future.reached()) + ", and the world has come no further";
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

uint32_t future_number(const Order& order) {
  return order.words.contains("future") ? order.number("future") : order.session().number();
}

const Future& future_of(const Order& order) {
  const uint32_t number = future_number(order);
  if (number == order.session().number()) return order.session().future();
  if (order.session().other() != nullptr && number == order.session().other_number()) {
    return *order.session().other();
  }
  throw InputError("this future is gone");
}

SessionAnswer packets(const Order& order) {
  const Future& future = future_of(order);
  const FabricTime to = std::min(order.time("to_ps"), future.reached());
  const FabricTime from = std::min(order.time("from_ps"), to);
  return {
      {},
      packets_message(future.recording(), future_number(order), order.number("ticket"), from, to)};
}

SessionAnswer packet(const Order& order) {
  const auto number = [&](const char* key) { return order.number(key); };
  const uint32_t hosts = order.session().scenario().topology.host_count();
  const PacketName name{
      number("source"), number("destination"), {number("qp")}, Psn{number("psn")}};
  if (name.source >= hosts || name.destination >= hosts) throw InputError("there is no such host");
  const Future& future = future_of(order);
  (void)future.simulated(FabricTime::zero());  // throws if no simulation shows what happened
  json life = look_at_packet(future, name, order.go_on);
  life["say"] = "packet";
  life["simulated"] = future.world() != "sim";
  life["until_ps"] = future.reached().ps();
  return {std::move(life)};
}

/// Which entropy values the queue pairs of all hosts used in an interval, and which they did not use at its end.
SessionAnswer use(const Order& order) {
  const Recording& recording = future_of(order).recording();
  const Topology& topology = order.session().scenario().topology;
  const FabricTime to = std::min(order.time("to_ps"), future_of(order).reached());
  const FabricTime from = std::max(std::min(order.time("from_ps"), to), FabricTime::zero());
  if (to - from > kMaxSpanAsked) throw InputError("found too long a time: expected at most 2 ms");
  require_kept(recording, from);
  PathsUsed used = paths_used(recording, topology, from, to);
  return {{{"say", "use"},
           {"from_ps", from.ps()},
           {"to_ps", to.ps()},
           {"unknown", used.unknown},
           {"cells", std::move(used.cells)},
           {"out", paths_out(recording, topology, to)}}};
}

/// The newest SACK that a queue pair of a host had got at an instant: its bits as 0 and 1, first PSN first.
SessionAnswer sack(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const uint32_t number = order.number("host");
  if (number >= topology.host_count()) throw InputError("there is no such host");
  const Future& future = future_of(order);
  const FabricTime at = std::clamp(order.time("at_ps"), FabricTime::zero(), future.reached());
  const NodeId host = topology.host(number);
  const Recording& recording = future.simulated(at).recording();
  const SeenSack* found = recording.last_sack(host, Qpn{order.number("qp")}, at);
  json answer{{"say", "sack"}, {"found", found != nullptr}, {"simulated", future.world() != "sim"}};
  if (const auto forgotten = recording.sacks_forgotten(host))
    answer["kept_from_ps"] = forgotten->ps();
  if (found == nullptr) return {std::move(answer)};
  std::string bits;
  for (unsigned i = 0; i < 64; ++i) bits += (found->bitmap >> i & 1) != 0 ? '1' : '0';
  answer["t_ps"] = found->t.ps();
  answer["cumulative"] = found->cumulative.value();
  answer["first"] = (found->cumulative + found->offset).value();
  answer["bits"] = bits;
  return {std::move(answer)};
}

/// What a host says of itself: the host's own word, at the instant up to which it was simulated.
SessionAnswer host(const Order& order) {
  const uint32_t number = order.number("host");
  if (number >= order.session().scenario().topology.host_count()) {
    throw InputError("there is no such host");
  }
  const endpoint::HostAccount account = future_of(order).account(number);
  json queues = json::array();
  for (const endpoint::QueueCounts& q : account.queues) {
    queues.push_back({{"qp", q.local.value},
                      {"remote", q.remote.value},
                      {"posted", q.posted},
                      {"completed", q.completed},
                      {"failed", q.failed},
                      {"in_error", q.in_error}});
  }
  return {{{"say", "host"},
           {"host", number},
           {"at_ps", future_of(order).told_at().ps()},
           {"queues", std::move(queues)},
           {"retransmissions", account.stats.retransmissions},
           {"losses_detected", account.stats.losses_detected},
           {"window_bytes", account.stats.window_bytes},
           {"in_flight_bytes", account.stats.in_flight_bytes}}};
}

/// What `mrclab inspect` would print of a switch, at the instant up to which it was simulated.
SessionAnswer inspect(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const uint32_t number = order.number("node");
  if (number >= topology.nodes.size() || topology.nodes[number].role == NodeRole::kHost) {
    throw InputError("there is no such switch");
  }
  const NodeSite& site = topology.nodes[number];
  const SwitchWords words = future_of(order).words_of(site);
  std::string text = switch_table_text(table_of_switch(site, words.table));
  if (!words.pauses.is_null()) {
    text += pauses_text(
        {{"fabric_ps", future_of(order).reached().ps()}, {"nodes", {{site.name, words.pauses}}}},
        true);
  }
  json counters = json::object();
  for (const auto& [name, value] : words.counters) {
    if (value > 0) counters[name] = value;
  }
  return {{{"say", "inspect"},
           {"node", number},
           {"at_ps", future_of(order).told_at().ps()},
           {"text", std::move(text)},
           {"counters", std::move(counters)}}};
}

/// The session as a scenario. What it says of later than was recorded is what would happen, and says so.
SessionAnswer yaml(const Order& order) {
  std::string text = order.session().yaml();
  json answer{{"say", "yaml"}, {"name", order.session().scenario().name}};
  if (const std::optional<RecordsCut> cut = order.session().future().records_cut()) {
    text = "# Of the session that this was, " + cut->why + ".\n" + text;
    answer["cut"] = cut->why;
  }
  answer["text"] = std::move(text);
  return {std::move(answer)};
}

/// The digest of the history. Simulated it goes on to its end for that; what happened in another world is told
/// as far as it went, beside what the simulation of the same scenario has by then.
SessionAnswer history(const Order& order) {
  if (const Future& now = order.session().future(); now.world() != "sim") {
    return {{{"say", "history"},
             {"at_ps", now.reached().ps()},
             {"sha256", now.history_sha256()},
             {"simulated", now.simulated(now.reached()).history_sha256()}}};
  }
  order.session().look_ahead(order.session().end(), order.go_on);
  const Future& future = order.session().future();
  if (future.reached() < future.end()) throw InputError("interrupted before the end");
  return {{{"say", "history"}, {"sha256", future.history_sha256()}}};
}

/// The task of a lesson that the words name.
const LessonTask& task_of(const Order& order, const Lesson& lesson) {
  return lesson.tasks[static_cast<size_t>(
      order.whole("task", 0, static_cast<int64_t>(lesson.tasks.size()) - 1))];
}

/// By the session's own expectations, or as the task of a lesson.
SessionAnswer judge(const Order& order) {
  json verdict;
  if (order.words.contains("lesson")) {
    const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
    const LessonTask& task = task_of(order, lesson);
    if (task.expect.empty()) throw InputError("this task is done by its answer");
    const Scenario session = parse_scenario(read_yaml_text(order.session().yaml(), "session"));
    verdict = lesson_verdict(lesson, task, session,
                             [&] { return verdict_of(order.session(), task.expect, order.go_on); });
  } else {
    verdict = verdict_of(order.session(), order.words.value("expect", ""), order.go_on);
  }
  verdict["say"] = "verdict";
  return {std::move(verdict)};
}

SessionAnswer difference(const Order& order) {
  const auto found = order.session().difference(order.go_on);
  const Future &here = order.session().future(), &there = *order.session().other();
  json answer{
      {"say", "difference"},
      {"found", found.has_value()},
      {"from_ps", std::max(here.recording().kept_from(), there.recording().kept_from()).ps()},
      {"until_ps", std::min(here.reached(), there.reached()).ps()}};
  if (!found) return {std::move(answer)};
  const Topology& topology = order.session().scenario().topology;
  answer["t_ps"] = found->t.ps();
  if (found->a) answer["here"] = packet_json(topology, *found->a);
  if (found->b) answer["there"] = packet_json(topology, *found->b);
  return {std::move(answer)};
}

/// Is what was typed the answer of a lesson's task? The answer itself is told only then.
SessionAnswer answer(const Order& order) {
  const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
  const LessonTask& task = task_of(order, lesson);
  if (task.answer.empty()) throw InputError("this task is done in the session, not by an answer");
  json verdict = answer_verdict(task, order.words.at("text").get<std::string>());
  verdict["say"] = "verdict";
  return {std::move(verdict)};
}

/// A lesson's scenario, standing where the lesson begins. No other file can be named from a page.
SessionAnswer open(const Order& order) {
  const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
  const Scenario scenario = scenario_of(lesson);
  const FabricTime at = parse_instant(lesson.at, scenario.topology, FabricTime::zero(), &scenario);
  order.played.open(scenario);
  order.played.playing = false;
  order.session().seek(at, order.go_on);
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
      {"sack", {sack, false}},
      {"host", {host, false}},
      {"inspect", {inspect, false}},
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
  };
  return kCommands;
}

}  // namespace

void PlayedSession::advance(int64_t wall_ns, const FabricSession::GoOn& go_on) {
  if (!playing) return;
  constexpr int64_t kSecond = 1'000'000'000, kTenth = kSecond / 10;
  // In pieces of whole picoseconds per nanosecond and a rest, so that nothing overflows.
  wall_ns = std::clamp<int64_t>(wall_ns, 0, kTenth);
  const auto passed = static_cast<__int128>(per_second.ps()) * wall_ns / kSecond;
  session().seek(session().at() + FabricTime::from_ps(static_cast<int64_t>(passed)), go_on);
  const bool now = session().future().world() == "live";
  const int64_t ahead = now ? kAheadOfNowPerSecond : kAheadPerSecond;
  session().look_ahead(session().at() + per_second / ahead, go_on);
  const std::optional<RecordsCut> cut = session().future().records_cut();
  const FabricTime last = cut ? cut->from - FabricTime::from_ps(1) : session().end();
  if (session().at() >= last) playing = false;
}

bool needs_control(const std::string& word) {
  const auto found = commands().find(word);
  return found != commands().end() && found->second.control;
}

SessionAnswer obey(PlayedSession& played, const json& command, const GoOn& go_on) {
  const auto word = command.at("do").get<std::string>();
  const auto found = commands().find(word);
  if (found == commands().end())
    throw InputError("found the command " + in_quotes(word) + ", which is none");
  return found->second.act({played, command, go_on});
}

json state_json(const PlayedSession& played) {
  const Future& future = played.session().future();
  const Recording& recording = future.recording();
  const std::optional<RecordsCut> cut = future.records_cut();
  const bool told_all = recording.told_until() == FabricTime::never();
  return {{"say", "state"},
          {"t_ps", played.session().at().ps()},
          {"playing", played.playing},
          {"per_second_ps", played.per_second.ps()},
          {"reached_ps", future.reached().ps()},
          {"cut", cut ? json{{"from_ps", cut->from.ps()}, {"why", cut->why}} : json()},
          {"kept_from_ps", recording.kept_from().ps()},
          {"told_until_ps", told_all ? json() : json(recording.told_until().ps())},
          {"future", played.session().number()}};
}

}  // namespace mrclab::lab
