#include "session/serve_loop.h"

#include <algorithm>

#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"
#include "session/looks/event_text.h"
#include "session/page_messages.h"
#include "session/session_start.h"
#include "session/whole_messages.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kTick{16};       // while it plays: a frame of a screen
constexpr milliseconds kIdle{200};      // while it stands
constexpr milliseconds kSlice{40};      // of simulating between looks at messages of browsers
constexpr milliseconds kTellEvery{50};  // what time it is
constexpr milliseconds kTellReachedEvery{250};
constexpr size_t kBinsAtOnce = 256;  // in one message
/// Of what browsers did: one that never pauses must not keep time and the others waiting.
constexpr size_t kInputsAtOnce = 64;
/// More is not sent to a browser that has so much to read: it catches up later.
constexpr size_t kEnoughWaiting = size_t{4} << 20;
constexpr size_t kLinesAtOnce = 2'000;  // of events and windows in one message

}  // namespace

FabricSession::GoOn ServeLoop::go_on(std::optional<milliseconds> at_most) {
  const auto until = at_most ? Clock::now() + *at_most : Clock::time_point::max();
  return [this, until](FabricTime) { return !interrupted_() && Clock::now() < until; };
}

void ServeLoop::run(const IsInterrupted& interrupted) {
  interrupted_ = interrupted;
  before_ = told_ = Clock::now();
  while (!interrupted_()) {
    turn(behind_ || surveys_ ? milliseconds(0) : played_.playing ? kTick : kIdle);
  }
}

void ServeLoop::turn(milliseconds at_most) {
  PageInput input;
  size_t taken = 0;
  for (bool more = connections_.next(input, at_most); more;
       more = connections_.next(input, milliseconds(0))) {
    take(input);
    if (interrupted_()) return;
    if (++taken == kInputsAtOnce) break;
  }
  if (played_.session().look_after()) tell_all(branch_json(played_.session()));
  const auto now = Clock::now();
  const bool was_playing = played_.playing;
  played_.advance(std::chrono::duration_cast<std::chrono::nanoseconds>(now - before_).count(),
                  go_on(kSlice));
  behind_ = Clock::now() - now >= kSlice;
  before_ = now;
  // What plays needs the processor; what nobody looks at does not.
  surveys_ = !played_.playing && !browsers_.empty() && played_.session().survey(go_on(kSlice));
  for (auto& [client, browser] : browsers_) tell_progress(client, browser);
  tell_other_sums();
  tell_cut();
  tell_reached();
  if ((played_.playing && now - told_ >= kTellEvery) || was_playing != played_.playing) {
    told_ = now;
    tell_all(state_json(played_));
  }
}

void ServeLoop::send_to_client(ClientId client, const json& message) {
  connections_.send_text(client, message.dump(-1, ' ', false, json::error_handler_t::replace));
}

void ServeLoop::tell_all(const json& message) {
  for (const auto& [client, browser] : browsers_) send_to_client(client, message);
}

void ServeLoop::tell_controls() {
  for (const auto& [client, browser] : browsers_) {
    send_to_client(client, {{"say", "controls"},
                            {"mine", client == holder_},
                            {"free", holder_ == 0},
                            {"browsers", browsers_.size()}});
  }
}

/// Sends a browser everything from the beginning.
void ServeLoop::welcome(ClientId client) {
  browsers_[client] = {};
  json welcome = welcome_of(played_.session());
  if (played_.run) welcome["run"] = run_json(played_);
  if (!played_.lesson.empty()) welcome["lesson"] = played_.lesson;
  if (played_.student) welcome["student"] = played_.student->json();
  send_to_client(client, welcome);
  send_to_client(client, branch_json(played_.session()));
  send_to_client(client, state_json(played_));
}

void ServeLoop::take(const PageInput& input) {
  switch (input.what) {
    case PageInput::What::kJoined:
      if (holder_ == 0) holder_ = input.client;
      welcome(input.client);
      tell_controls();
      return;
    case PageInput::What::kLeft:
      browsers_.erase(input.client);
      if (holder_ == input.client) holder_ = browsers_.empty() ? 0 : browsers_.begin()->first;
      if (browsers_.empty()) played_.playing = false;  // nobody looks
      tell_controls();
      return;
    case PageInput::What::kText: on_text(input.client, input.text); return;
  }
}

/// "take" and "give" the controls; false for any other word.
bool ServeLoop::take_controls(ClientId client, const json& command) {
  const auto word = command.at("do").get<std::string>();
  if (word == "give" && client == holder_) {
    holder_ = 0;
  } else if (word == "take" && holder_ == 0) {
    holder_ = client;
  } else if (word == "take" || word == "give") {
    send_to_client(client, {{"say", "error"}, {"text", "another browser holds the controls"}});
    return true;
  } else {
    return false;
  }
  tell_controls();
  return true;
}

void ServeLoop::on_text(ClientId client, const std::string& text) {
  if (!browsers_.contains(client)) return;
  json command;
  try {
    command = require_json<json>(text);
    if (!command.is_object()) throw InputError("found no object: expected {\"do\": ...}");
    if (take_controls(client, command)) return;
    const auto word = command.at("do").get<std::string>();
    if (needs_control(word) && client != holder_) {
      throw InputError("another browser holds the controls: ask for them first");
    }
    SessionAnswer answer = answer_command(played_, command, go_on({}));
    if (answer.all_changed) {
      for (const auto& [other, browser] : std::map(browsers_)) welcome(other);
      other_branch_ = 0;
    }
    if (answer.branch_changed) tell_all(branch_json(played_.session()));
    const bool answered_by_text = answer.binary.empty();
    if (!answer.binary.empty()) connections_.send_binary(client, std::move(answer.binary));
    // Who asks with a ticket waits for an answer; a binary one has the ticket in it.
    if (answer.text.is_null() && answered_by_text && command.contains("ticket")) {
      answer.text = {{"say", "done"}};
    }
    if (!answer.text.is_null()) {
      if (command.contains("ticket")) answer.text["ticket"] = command["ticket"];
      send_to_client(client, answer.text);
    }
    if (needs_control(word)) tell_all(state_json(played_));
  } catch (const std::exception& error) {
    json refusal{{"say", "error"}, {"text", error.what()}};
    if (command.is_object() && command.contains("ticket")) refusal["ticket"] = command["ticket"];
    send_to_client(client, refusal);
  }
}

/// Sends what was simulated since the last message to this browser, as far as it keeps up.
void ServeLoop::tell_progress(ClientId client, Browser& browser) {
  const FabricSession& session = played_.session();
  const Recording& recording = session.branch().recording();
  const Topology& topology = session.scenario().topology;
  if (browser.branch != session.number()) browser = {session.number(), 0, 0, 0, 0};
  const Recording& known =
      session.known();  // further than what was looked at, where it was surveyed
  const size_t whole = known.complete_bins();
  const FabricTally* tally = session.branch().tally();
  // The tally's windows are the recording's bins, and are over a little earlier.
  const size_t counted = tally != nullptr ? tally->windows() : 0;
  while (browser.window_of_tally < counted && connections_.waiting_bytes(client) < kEnoughWaiting) {
    const size_t to = std::min(counted, browser.window_of_tally + kBinsAtOnce / 4);
    connections_.send_binary(
        client, tally_message(*tally, topology, browser.branch, browser.window_of_tally, to));
    browser.window_of_tally = to;
  }
  // A recording that was made again is shorter than what the browser has: it has the same history.
  while (browser.bin < whole && connections_.waiting_bytes(client) < kEnoughWaiting) {
    const size_t to = std::min(whole, browser.bin + kBinsAtOnce);
    connections_.send_binary(client,
                             sums_message(known, topology, browser.branch, browser.bin, to));
    browser.bin = to;
  }
  while (browser.event < recording.events().size() &&
         connections_.waiting_bytes(client) < kEnoughWaiting) {
    json lines = json::array();
    const auto some = recording.events().subspan(
        browser.event, std::min(kLinesAtOnce, recording.events().size() - browser.event));
    const std::vector<PeerOf> peers = peers_of(session.scenario());
    for (const SeenEvent& event : some) {
      lines.push_back(event_json(recording.part(), event));
      if (std::string text = event_text(topology, peers, event); !text.empty())
        lines.back()["text"] = std::move(text);
    }
    browser.event += some.size();
    send_to_client(client,
                   {{"say", "events"}, {"branch", browser.branch}, {"lines", std::move(lines)}});
  }
  while (browser.window < recording.windows().size() &&
         connections_.waiting_bytes(client) < kEnoughWaiting) {
    json lines = json::array();
    const auto some = recording.windows().subspan(
        browser.window, std::min(kLinesAtOnce, recording.windows().size() - browser.window));
    for (const SeenWindow& window : some) lines.push_back(window_json(topology, window));
    browser.window += some.size();
    send_to_client(client,
                   {{"say", "windows"}, {"branch", browser.branch}, {"lines", std::move(lines)}});
  }
}

void ServeLoop::tell_reached() {
  const FabricSession& session = played_.session();
  const FabricTime reached = session.branch().reached();
  const auto now = Clock::now();
  const bool is_due = now - told_reached_at_ >= kTellReachedEvery || reached >= session.end();
  if (session.branch().tally() == nullptr || reached == told_reached_ || !is_due) return;
  told_reached_ = reached;
  told_reached_at_ = now;
  json state = state_json(played_);
  state["say"] = "reached";
  tell_all(state);
}

void ServeLoop::tell_cut() {
  const std::optional<RecordsCut> cut = played_.session().branch().records_cut();
  const std::string why = cut ? cut->why : std::string();
  if (why == told_cut_) return;
  told_cut_ = why;
  tell_all(state_json(played_));
  if (!cut) return;
  tell_all({{"say", "note"}, {"text", why}});
  if (tell_starter_) tell_starter_(why);
}

/// The sums of the other branch, for the time line, to all.
void ServeLoop::tell_other_sums() {
  const Branch* other = played_.session().other();
  if (other == nullptr) return;
  if (other_branch_ != played_.session().other_number()) {
    other_branch_ = played_.session().other_number();
    other_bin_ = 0;
  }
  const Recording& recording = other->recording();
  const size_t whole = recording.complete_bins();
  while (other_bin_ < whole) {
    const size_t to = std::min(whole, other_bin_ + kBinsAtOnce);
    for (const auto& [client, browser] : browsers_) {
      connections_.send_binary(
          client, sums_message(recording, other->topology(), other_branch_, other_bin_, to));
    }
    other_bin_ = to;
  }
}

}  // namespace mrclab::lab
