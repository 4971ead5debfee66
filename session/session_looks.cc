// What the commands of the page answer that change nothing.

#include "session/session_order.h"

#include <algorithm>

#include "analysis/incident/wait_history.h"
#include "console/pause_text.h"
#include "console/switch_rows.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/ev_path.h"
#include "faults/fault_choice.h"
#include "scenario/spec/queue_pairs.h"
#include "session/lesson_verdict.h"
#include "session/looks/path_use.h"
#include "session/looks/port_series.h"
#include "session/looks/waits_look.h"
#include "session/packet_look.h"
#include "session/page_messages.h"
#include "session/recording/first_racks.h"
#include "session/session_verdict.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

uint32_t branch_number(const Order& order) {
  return order.words.contains("branch") ? order.number("branch") : order.session().number();
}

const Branch& branch_of(const Order& order) {
  const uint32_t number = branch_number(order);
  if (number == order.session().number()) return order.session().branch();
  if (order.session().other() != nullptr && number == order.session().other_number()) {
    return *order.session().other();
  }
  throw InputError("this branch is gone");
}

uint32_t host_number(const Order& order, const char* key) {
  const uint32_t number = order.number(key);
  if (number < order.session().scenario().topology.host_count()) return number;
  throw InputError("there is no such host");
}

/// The task of a lesson that the words name.
const LessonTask& task_of(const Order& order, const Lesson& lesson) {
  return lesson.tasks[static_cast<size_t>(
      order.whole("task", 0, static_cast<int64_t>(lesson.tasks.size()) - 1))];
}

/// The part of the fabric in which the page numbers nodes and links.
const FollowedPart& part_of(const Order& order) {
  return order.session().branch().recording().part();
}

NodeId node_of(const Order& order, const char* key) {
  const uint32_t number = order.number(key);
  if (number < part_of(order).nodes()) return part_of(order).node(number);
  throw InputError("there is no such node");
}

/// Of a fabric that is summarised there is one world only, and what would simulate it a second time is refused.
void require_small(const Order& order, const char* what) {
  if (order.session().branch().tally() == nullptr) return;
  throw InputError(std::string(what) + ", which is not done with a fabric of this size");
}

/// The packets of the rack or of the host that the page shows alone; null: all.
PacketFilter filter_of(const Order& order, const Branch& branch) {
  const Topology& topology = branch.topology();
  if (order.words.contains("host")) {
    const uint32_t host = host_number(order, "host");
    return [host](const SeenPacket& p) { return p.source == host || p.destination == host; };
  }
  if (!order.words.contains("rack") || !topology.has_planes()) return {};
  const uint32_t rack = order.number("rack");
  return [&topology, rack](const SeenPacket& p) {
    const Wire& wire = topology.wire(p.wire);
    return rack_of(topology, wire.from.node) == rack || rack_of(topology, wire.to.node) == rack;
  };
}

/// The parts of the fabric that the page names by number; all of them exist.
template <class Id>
std::vector<Id> parts(const Order& order, const char* key, size_t count) {
  std::vector<Id> list;
  for (const json& number : order.words.at(key)) {
    if (number.get<int64_t>() < 0 || number.get<uint64_t>() >= count) {
      throw InputError(std::string(key) + ": found " + number.dump() + ": the fabric has " +
                       std::to_string(count));
    }
    list.push_back(Id{number.get<uint32_t>()});
  }
  return list;
}

}  // namespace

SessionAnswer packets(const Order& order) {
  const Branch& branch = branch_of(order);
  const FabricTime to = std::min(order.time("to_ps"), branch.reached());
  const FabricTime from = std::min(order.time("from_ps"), to);
  return {{},
          packets_message(branch.recording(), branch_number(order), order.number("ticket"), from,
                          to, filter_of(order, branch))};
}

SessionAnswer packet(const Order& order) {
  require_small(order, "one packet is looked at by simulating again");
  const PacketName name{host_number(order, "source"),
                        host_number(order, "destination"),
                        {order.number("qp")},
                        Psn{order.number("psn")}};
  const Branch& branch = branch_of(order);
  (void)branch.simulated(FabricTime::zero());  // throws if no simulation shows what happened
  json life = look_at_packet(branch, name, order.go_on);
  life["say"] = "packet";
  life["simulated"] = branch.world() != BranchWorld::kSimulated;
  life["until_ps"] = branch.reached().ps();
  return {std::move(life)};
}

/// Which entropy values the queue pairs of all hosts used in an interval, and which they did not use at its end.
SessionAnswer use(const Order& order) {
  const Recording& recording = branch_of(order).recording();
  const Topology& topology = order.session().scenario().topology;
  const FabricTime to = std::min(order.time("to_ps"), branch_of(order).reached());
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

/// The links of a path between two hosts, as built.
SessionAnswer path(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const uint32_t source = host_number(order, "source");
  const uint32_t destination = host_number(order, "destination");
  const auto text = order.words.at("path").get<std::string>();
  const std::optional<Path> path = parse_path(text);
  if (!path) throw InputError("found the path " + in_quotes(text) + ", which is none");
  json links = json::array();
  for (const uint32_t link : links_of_path(topology, source, destination, *path)) {
    const uint32_t number = part_of(order).number(LinkId{link});
    if (number != FollowedPart::kOutside) links.push_back(number);
  }
  return {{{"say", "path"}, {"links", std::move(links)}}};
}

/// Which kinds of faults what is chosen can have, and what names it in each.
SessionAnswer kinds(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  faults::Choice chosen{parts<LinkId>(order, "links", part_of(order).links()),
                        parts<NodeId>(order, "nodes", part_of(order).nodes()),
                        parts<OpticId>(order, "optics", topology.optics.size()),
                        parts<uint32_t>(order, "planes", topology.planes)};
  for (LinkId& link : chosen.links) link = part_of(order).link(link.value);
  for (NodeId& node : chosen.nodes) node = part_of(order).node(node.value);
  json list = json::array();
  for (const faults::FaultInfo& kind : faults::all_faults()) {
    const auto target = faults::targets_for(kind, chosen, topology);
    if (target) list.push_back({{"name", kind.name}, {"target", body_words(*target)}});
  }
  return {{{"say", "kinds"}, {"kinds", std::move(list)}}};
}

/// The newest SACK that had arrived at a queue pair of a host by an instant: its bits as 0 and 1, first PSN first.
SessionAnswer sack(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const uint32_t number = host_number(order, "host");
  const Branch& branch = branch_of(order);
  const FabricTime at = std::clamp(order.time("at_ps"), FabricTime::zero(), branch.reached());
  const NodeId host = topology.host(number);
  const Recording& recording = branch.simulated(at).recording();
  const SeenSack* found = recording.last_sack(host, Qpn{order.number("qp")}, at);
  json answer{{"say", "sack"},
              {"found", found != nullptr},
              {"simulated", branch.world() != BranchWorld::kSimulated}};
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

/// The host's own account, at the instant up to which it was simulated.
SessionAnswer host(const Order& order) {
  const uint32_t number = host_number(order, "host");
  const endpoint::HostAccount account = branch_of(order).account(number);
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
           {"at_ps", branch_of(order).told_at().ps()},
           {"queues", std::move(queues)},
           {"retransmissions", account.stats.retransmissions},
           {"losses_detected", account.stats.losses_detected},
           {"window_bytes", account.stats.window_bytes},
           {"in_flight_bytes", account.stats.in_flight_bytes}}};
}

/// What `mrclab inspect` would print of a switch, at the instant up to which it was simulated.
SessionAnswer inspect(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const NodeSite& site = topology.node(node_of(order, "node"));
  if (site.role == NodeRole::kHost) throw InputError("there is no such switch");
  const SwitchStatus words = branch_of(order).status_of(site);
  std::string text = switch_table_text(table_of_switch(site, words.table));
  if (!words.pauses.is_null()) {
    text += pauses_text(
        {{"fabric_ps", branch_of(order).reached().ps()}, {"nodes", {{site.name, words.pauses}}}},
        true);
  }
  json counters = json::object();
  for (const auto& [name, value] : words.counters) {
    if (value > 0) counters[name] = value;
  }
  return {{{"say", "inspect"},
           {"node", order.number("node")},
           {"at_ps", branch_of(order).told_at().ps()},
           {"text", std::move(text)},
           {"counters", std::move(counters)}}};
}

/// Who waits for whom at an instant. What comes later is known where the branch was surveyed, and names whom a host
/// waits for that sends nothing.
SessionAnswer waits(const Order& order) {
  require_small(order, "who waits for whom is found from the packets of all hosts");
  const Topology& topology = order.session().scenario().topology;
  const Recording& shown = order.session().branch().recording();
  const FabricTime at =
      std::clamp(order.time("at_ps"), FabricTime::zero(), order.session().branch().reached());
  const Recording& known = order.session().known();
  const Recording& recording = known.kept_from() <= at ? known : shown;
  require_kept(recording, at);
  const WaitsSeen seen = waits_at(topology, recording, at);
  json hosts = json::array();
  for (const analysis::HostWait& wait : seen.hosts) {
    hosts.push_back({{"host", wait.host},
                     {"share", wait.share},
                     {"reason", analysis::name_of(wait.reason)},
                     {"chain", wait.chain},
                     {"stalled", analysis::is_stalled(topology, wait, at)},
                     {"text", analysis::to_string(topology, wait)}});
  }
  return {{{"say", "waits"},
           {"at_ps", at.ps()},
           {"from_ps", seen.from.ps()},
           {"until_ps", seen.until.ps()},
           {"hosts", std::move(hosts)}}};
}

/// What one port sent and received over time, and what waited and was lost at it.
SessionAnswer series(const Order& order) {
  const Topology& topology = order.session().scenario().topology;
  const NodeId node = node_of(order, "node");
  const uint32_t port = order.number("port");
  if (port >= topology.node(node).ports.size()) throw InputError("there is no such port");
  const Recording& recording = order.session().known();
  const PortRef at{node, PortId{port}};
  if (recording.part().number(topology.port(at).out) == FollowedPart::kOutside) {
    throw InputError("this port leads to a rack that is not followed");
  }
  return {{{"say", "series"},
           {"port", topology.port_name(at)},
           {"bin_ps", recording.bin().ps()},
           {"bins", recording.complete_bins()},
           {"out", wire_series(topology, recording, topology.port(at).out)},
           {"in", wire_series(topology, recording, topology.port(at).in)}}};
}

/// What hosts received in a stretch of time, and what was lost.
SessionAnswer span(const Order& order) {
  const FabricTime to = std::clamp(order.time("to_ps"), FabricTime::zero(), order.session().end());
  const FabricTime from = std::clamp(order.time("from_ps"), FabricTime::zero(), to);
  const FabricTally* tally = order.session().branch().tally();
  json sums =
      tally != nullptr ? span_sums(*tally, from, to) : span_sums(order.session().known(), from, to);
  sums["say"] = "span";
  return {std::move(sums)};
}

/// The session as a scenario. What is later than the recording is a prediction, and marked as one.
SessionAnswer yaml(const Order& order) {
  std::string text = order.session().yaml();
  json answer{{"say", "yaml"}, {"name", order.session().scenario().name}};
  if (const std::optional<RecordsCut> cut = order.session().branch().records_cut()) {
    text = "# Of the session that this was, " + cut->why + ".\n" + text;
    answer["cut"] = cut->why;
  }
  answer["text"] = std::move(text);
  return {std::move(answer)};
}

/// The digest of the history. A simulation goes on to its end for that; of another world it is computed
/// as far as it went, beside that of the simulation of the same scenario.
SessionAnswer history(const Order& order) {
  if (const Branch& now = order.session().branch(); now.world() != BranchWorld::kSimulated) {
    return {{{"say", "history"},
             {"at_ps", now.reached().ps()},
             {"sha256", now.history_sha256()},
             {"simulated", now.simulated(now.reached()).history_sha256()}}};
  }
  order.session().look_ahead(order.session().end(), order.go_on);
  const Branch& branch = order.session().branch();
  if (branch.reached() < branch.end()) throw InputError("interrupted before the end");
  return {{{"say", "history"}, {"sha256", branch.history_sha256()}}};
}

/// What a student of a class predicts is asked for before it is known.
std::string asked_prediction(const Order& order) {
  std::string prediction = prediction_of(order.words.value("prediction", ""));
  if (order.played.student && prediction.empty()) {
    throw InputError("found no prediction: write what you expect, and check then");
  }
  return prediction;
}

void keep_note(const Order& order, LessonNote note, const json& verdict) {
  if (!order.played.student) return;
  verdict.at("result").get_to(note.result);
  note.measured = prediction_of(measured_in(verdict));
  order.played.student->add(note);
  if (order.played.keep_note) order.played.keep_note(note, order.session().yaml());
}

/// By the session's own expectations, or as the task of a lesson.
SessionAnswer judge(const Order& order) {
  require_small(order, "a session is judged by simulating it again");
  json verdict;
  if (order.words.contains("lesson")) {
    const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
    const LessonTask& task = task_of(order, lesson);
    if (task.expect.empty()) throw InputError("this task is done by its answer");
    const std::string prediction = asked_prediction(order);
    const Scenario session = parse_scenario(read_yaml_text(order.session().yaml(), "session"));
    verdict = lesson_verdict(lesson, task, session,
                             [&] { return verdict_of(order.session(), task.expect, order.go_on); });
    keep_note(order, {lesson.name, order.number("task"), prediction, "", "", ""}, verdict);
  } else {
    verdict = verdict_of(order.session(), order.words.value("expect", ""), order.go_on);
  }
  verdict["say"] = "verdict";
  return {std::move(verdict)};
}

SessionAnswer difference(const Order& order) {
  const auto found = order.session().difference(order.go_on);
  const Branch &here = order.session().branch(), &there = *order.session().other();
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

/// Is what was typed the answer of a lesson's task? The answer itself is sent only then.
SessionAnswer answer(const Order& order) {
  const Lesson& lesson = find_lesson(order.words.at("lesson").get<std::string>());
  const LessonTask& task = task_of(order, lesson);
  if (task.answer.empty()) throw InputError("this task is done in the session, not by an answer");
  const std::string prediction = asked_prediction(order);
  const auto text = order.words.at("text").get<std::string>();
  json verdict = answer_verdict(task, text);
  keep_note(order, {lesson.name, order.number("task"), prediction, prediction_of(text), "", ""},
            verdict);
  verdict["say"] = "verdict";
  return {std::move(verdict)};
}

}  // namespace mrclab::lab
