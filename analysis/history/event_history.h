#pragma once
// Events that nodes wrote (events.jsonl), as far as checks need them: failed queue pairs, the state
// of entropy values, finished collectives. Hosts report these; captures do not show them.

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/neighbours/neighbour_text.h"
#include "fabric/node/node.h"
#include "fabric/node/window_record.h"
#include "fabric/probes/probe_report.h"
#include "fabric/text/enum_words.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// A queue pair of a host went to the error state.
struct QpFailure {
  FabricTime t;
  uint32_t host = 0;  ///< host number
  Qpn qp;             ///< queue pair of that host
  std::optional<uint32_t> peer;
  std::string reason;
};

/// The states of a path that hosts report, by the words of events.jsonl.
enum class PathWord : uint8_t { kGood, kSkip, kAssumedBad, kDenied, kPortDown, kPortUp, kOther };
inline constexpr auto kPathWords = words_by_value<PathWord>({{PathWord::kGood, "good"},
                                                             {PathWord::kSkip, "skip"},
                                                             {PathWord::kAssumedBad, "assumed_bad"},
                                                             {PathWord::kDenied, "denied"},
                                                             {PathWord::kPortDown, "port_down"},
                                                             {PathWord::kPortUp, "port_up"},
                                                             {PathWord::kOther, "other"}});
constexpr std::string_view name_of(PathWord word) { return kPathWords[static_cast<size_t>(word)]; }

/// An entropy value of a queue pair, or a whole plane of it, changed its state.
struct PathNews {
  FabricTime t;
  uint32_t host = 0;
  Qpn qp;
  uint32_t plane = 0;
  std::optional<EntropyValue> ev;  ///< empty: all of the plane
  bool usable = false;             ///< GOOD or SKIP, or its ports, or the plane's, are up
  bool denied = false;             ///< by the operator
  PathWord word = PathWord::kOther;
  bool local = false;  ///< for a plane: by the host's own port, not by its peer's report
  std::optional<uint32_t> peer =
      std::nullopt;  ///< for an entropy value: the host to which it leads
};

/// The routing of a switch (routing: fare) lost a session with a neighbour, or its fast reroute a port, or other next
/// hops were written into its table.
struct RoutingNews {
  FabricTime t;
  NodeId node;
  bool session_lost = false;  ///< or a port; else: its table changed
};

/// A host finished an iteration of a collective.
struct CollectiveDone {
  FabricTime t;
  uint32_t host = 0;
};

/// A mapper's agent reported a period.
struct MapperNews {
  FabricTime t;
  uint32_t host = 0;
  ProbeReport report;
};

/// A host or a switch of a fabric with an orchestrator heard another neighbour at a port, or none any more.
struct LinkNews {
  FabricTime t;
  PortRef port;
  NeighbourNews::Kind kind = NeighbourNews::Kind::kFound;
  std::string who;
};

/// A switch is provisioned, checked, in service, or kept out of it.
struct ServiceNews {
  FabricTime t;
  NodeId node;
  std::string phase, why;
};

/// A collector's decision about a denylist, or a host that has a list in force.
struct DenylistNews {
  FabricTime t;
  uint32_t host = 0;
  bool is_set = false;  ///< in force at this host; else decided here
  std::string cause, detail;
};

/// A host's report of its window.
struct WindowNews {
  uint32_t host = 0;  ///< host number
  WindowRecord said;
};

/// The kind that a line of events.jsonl names, before any of it is read: most lines are of no concern to who looks for
/// some kinds. Empty if it names none.
std::string_view kind_in(std::string_view line);

/// Not thread-safe; add everything, then finish() once, then read. All lists are in order of time.
class EventHistory {
 public:
  static constexpr size_t kMaxEvents = 1u << 22;  ///< bound on the events that are kept

  static constexpr size_t kMaxWindows = 1u << 19;

  explicit EventHistory(const Topology& topology) : topology_(topology) {}
  void add(NodeId node, const EventRecord& record);
  void add(NodeId node, const WindowRecord& record);
  /// Appends the events of other nodes. It may take twice the bounds of one.
  void add(EventHistory&& more);
  /// Reads an events.jsonl; a line that cannot be read is counted. Returns its seal, if it has one
  /// that fits. Throws InputError when the file cannot be opened, or a line is too long.
  std::optional<EvidenceSeal> add_file(const std::filesystem::path& path);
  void finish();

  /// Were any events collected at all? If not, the absence of an event means nothing.
  bool heard() const { return heard_; }
  void listen() { heard_ = true; }
  const std::vector<QpFailure>& failures() const { return failures_; }
  const std::vector<PathNews>& paths() const { return paths_; }
  const std::vector<CollectiveDone>& collectives() const { return collectives_; }
  const std::vector<RoutingNews>& routing() const { return routing_; }
  const std::vector<MapperNews>& mapper() const { return mapper_; }
  const std::vector<LinkNews>& links() const { return links_; }
  const std::vector<ServiceNews>& services() const { return services_; }
  const std::vector<DenylistNews>& denylist() const { return denylist_; }
  const std::vector<WindowNews>& windows() const { return windows_; }
  /// Before this instant no reported window is missing; never(): none is. Checks do not need them.
  FabricTime windows_until() const { return windows_until_; }
  uint64_t malformed() const { return malformed_; }
  /// The earliest instant whose event found no room; never() if all events were kept.
  FabricTime complete_until() const { return complete_; }

 private:
  bool add_of_orchestrator(NodeId node, const EventRecord& record);
  void add_line(const std::string& line);
  void add_window(const nlohmann::json& line);

  const Topology& topology_;
  std::vector<QpFailure> failures_;
  std::vector<PathNews> paths_;
  std::vector<CollectiveDone> collectives_;
  std::vector<RoutingNews> routing_;
  std::vector<MapperNews> mapper_;
  std::vector<LinkNews> links_;
  std::vector<ServiceNews> services_;
  std::vector<DenylistNews> denylist_;
  std::vector<WindowNews> windows_;
  FabricTime windows_until_ = FabricTime::never();
  uint64_t malformed_ = 0;
  FabricTime complete_ = FabricTime::never();
  bool heard_ = false;
};

}  // namespace mrclab::analysis
