#include "analysis/history/event_history.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fabric/history/event_text.h"
#include "fabric/history/window_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/json_text.h"
#include "fabric/text/line_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

/// Checks need these events of hosts, and these of switches.
constexpr std::array kKeptOfHosts{event_kind::kQpError,        event_kind::kEvState,
                                  event_kind::kCollectiveDone, event_kind::kMapperReport,
                                  event_kind::kNeighbour,      event_kind::kDenylist,
                                  event_kind::kDenylistSet};
constexpr std::array kKeptOfSwitches{event_kind::kBgpDown, event_kind::kFib, event_kind::kProtected,
                                     event_kind::kNeighbour, event_kind::kSwitchService};

bool is_one_of(std::string_view kind, std::span<const std::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// False for most lines of a file, which need not be parsed.
bool may_be_kept(std::string_view kind) {
  return is_one_of(kind, kKeptOfHosts) || is_one_of(kind, kKeptOfSwitches) ||
         kind == event_kind::kWindow || kind == event_kind::kWindowsLeftOut;
}

PathWord word_of(std::string_view cause) {
  const auto found = std::find(kPathWords.begin(), kPathWords.end(), cause);
  return found == kPathWords.end() ? PathWord::kOther
                                   : static_cast<PathWord>(found - kPathWords.begin());
}

/// "to h5": the peer's number.
std::optional<uint32_t> peer_in(const Topology& topology, std::string_view detail) {
  if (!detail.starts_with("to ")) return std::nullopt;
  const auto node = topology.find_node(detail.substr(3));
  if (!node || topology.node(*node).role != NodeRole::kHost) return std::nullopt;
  return topology.node(*node).index;
}

void sort_by_time(auto& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.t < b.t; });
}

}  // namespace

std::string_view kind_in(std::string_view line) {
  constexpr std::string_view kKey = R"("kind":")";
  const size_t at = line.find(kKey);  // within a text its quotes would be escaped
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kKey.size());
  return line.substr(0, line.find('"'));
}

void EventHistory::add(NodeId node, const EventRecord& record) {
  const bool host_says = topology_.node(node).role == NodeRole::kHost;
  if (!is_one_of(record.kind, host_says ? std::span<const std::string_view>(kKeptOfHosts)
                                        : std::span<const std::string_view>(kKeptOfSwitches))) {
    return;
  }
  if (failures_.size() + paths_.size() + collectives_.size() + routing_.size() + mapper_.size() +
          links_.size() + services_.size() + denylist_.size() >=
      kMaxEvents) {
    complete_ = std::min(complete_, record.t);
    return;
  }
  if (add_of_orchestrator(node, record)) return;
  if (!host_says) {
    routing_.push_back({record.t, node, record.kind != event_kind::kFib});
    return;
  }
  const uint32_t host = topology_.node(node).index;
  if (record.kind == event_kind::kCollectiveDone) {
    collectives_.push_back({record.t, host});
  } else if (record.kind == event_kind::kMapperReport) {
    auto report = parse_probe_report(record.detail);
    if (report) {
      mapper_.push_back({record.t, host, std::move(*report)});
    } else {
      ++malformed_;
    }
  } else if (record.kind == event_kind::kDenylist || record.kind == event_kind::kDenylistSet) {
    denylist_.push_back({record.t, host, record.kind == event_kind::kDenylistSet,
                         std::string(record.cause), record.detail});
  } else if (!record.qp || record.cause.empty()) {
    ++malformed_;
  } else if (record.kind == event_kind::kQpError) {
    failures_.push_back(
        {record.t, host, *record.qp, peer_in(topology_, record.detail), std::string(record.cause)});
  } else if (!record.port || (!record.ev && record.detail.empty())) {
    ++malformed_;  // ev_state names a path, or a plane and in `detail` whose port of it went down
  } else {
    const PathWord word = word_of(record.cause);
    const bool usable =
        word == PathWord::kGood || word == PathWord::kSkip || word == PathWord::kPortUp;
    paths_.push_back({record.t, host, *record.qp, record.port->value, record.ev, usable,
                      word == PathWord::kDenied, word, record.detail == "local",
                      record.ev ? peer_in(topology_, record.detail) : std::nullopt});
  }
}

/// False for an event of another kind.
bool EventHistory::add_of_orchestrator(NodeId node, const EventRecord& record) {
  if (record.kind == event_kind::kSwitchService) {
    services_.push_back({record.t, node, std::string(record.cause), record.detail});
    return true;
  }
  if (record.kind != event_kind::kNeighbour) return false;
  const auto kind = neighbour_kind_of(record.cause);
  if (!kind || !record.port || record.port->value >= topology_.node(node).ports.size()) {
    ++malformed_;
  } else {
    links_.push_back({record.t, {node, *record.port}, *kind, record.detail});
  }
  return true;
}

void EventHistory::add(NodeId node, const WindowRecord& record) {
  if (topology_.node(node).role != NodeRole::kHost) return;
  if (windows_.size() >= kMaxWindows) {
    windows_until_ = std::min(windows_until_, record.t);
    return;
  }
  windows_.push_back({topology_.node(node).index, record});
}

void EventHistory::add(EventHistory&& more) {
  const auto join = [](auto& all, auto& others) {
    if (all.empty()) return all.swap(others);
    all.insert(all.end(), std::make_move_iterator(others.begin()),
               std::make_move_iterator(others.end()));
  };
  join(failures_, more.failures_);
  join(paths_, more.paths_);
  join(collectives_, more.collectives_);
  join(routing_, more.routing_);
  join(mapper_, more.mapper_);
  join(links_, more.links_);
  join(services_, more.services_);
  join(denylist_, more.denylist_);
  join(windows_, more.windows_);
  windows_until_ = std::min(windows_until_, more.windows_until_);
  malformed_ += more.malformed_;
  complete_ = std::min(complete_, more.complete_);
  heard_ = heard_ || more.heard_;
}

std::optional<EvidenceSeal> EventHistory::add_file(const std::filesystem::path& path) {
  LineFile lines(path);
  listen();
  std::optional<EvidenceSeal> seal;
  uint32_t before = 0;
  std::string line;
  while (lines.next(line)) {
    seal = parse_seal_line(line, before);
    before = checksum(checksum(before, line), "\n");
    const std::string_view kind = kind_in(line);
    if (kind.empty()) ++malformed_;
    if (may_be_kept(kind)) add_line(line);
  }
  return seal;
}

void EventHistory::add_line(const std::string& line) {
  const auto json = parse_json<nlohmann::json>(line);
  try {
    if (json.is_object() && json.value("kind", std::string()) == event_kind::kWindow) {
      return add_window(json);
    }
    std::optional<ParsedEvent> event = parse_event(topology_, json);
    if (!event) {
      ++malformed_;
      return;
    }
    if (event->kind == event_kind::kWindowsLeftOut)
      windows_until_ = std::min(windows_until_, event->t);
    if (!event->node) return;  // the lab's own, or of another fabric
    event->cause = visible(event->cause);
    add(*event->node, event->record());
  } catch (const nlohmann::json::exception&) {
    ++malformed_;
  }
}

void EventHistory::add_window(const nlohmann::json& line) {
  const auto node = topology_.find_node(line.at("node").get<std::string>());
  const auto record = parse_window(topology_, line);
  if (!node || !record || topology_.node(*node).role != NodeRole::kHost) {
    ++malformed_;
    return;
  }
  add(*node, *record);
}

void EventHistory::finish() {
  sort_by_time(failures_);
  sort_by_time(paths_);
  sort_by_time(collectives_);
  sort_by_time(routing_);
  sort_by_time(mapper_);
  sort_by_time(links_);
  sort_by_time(services_);
  sort_by_time(denylist_);
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const WindowNews& a, const WindowNews& b) { return a.said.t < b.said.t; });
}

}  // namespace mrclab::analysis
