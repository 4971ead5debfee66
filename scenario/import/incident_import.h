#pragma once
// An incident of a real fabric as a scenario: link events of a log, paired to outages, with the log's time
// compressed into fabric time. Pure; the text of the scenario is import_text.cc.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "scenario/import/link_log.h"
#include "scenario/import/port_map.h"

namespace mrclab::lab {

/// An outage shorter than this many base RTTs may end before senders have noticed it: a loss is
/// noticed within about six (README of topologies/).
inline constexpr int64_t kShortestOutageRtts = 10;

struct ImportOptions {
  std::optional<uint64_t> compress;  ///< seconds of the log per fabric second; empty: auto
  /// Where nothing is broken for longer than this, in fabric time, the rest of it is cut out.
  std::optional<FabricTime> quiet;
  /// When the first event is; empty: after 27 RTT, which are the time to start and a baseline.
  std::optional<FabricTime> first;
  bool skip_unknown = false;  ///< ports that the map lacks are left out instead of refused
};

/// A port that does not work from one event to another, in ns of the log after its first event.
struct ImportedOutage {
  LinkEventKind kind =
      LinkEventKind::kDown;  ///< kDown: the whole link; kErrors: what the port receives
  PortRef port;              ///< the port that reported first
  std::string rate;          ///< error rate, for kErrors
  int64_t from = 0;
  std::optional<int64_t> until;  ///< empty: open when the log ends
  FabricTime at;                 ///< in fabric time, compressed
  FabricTime duration = FabricTime::never();
};

struct ImportedIncident {
  std::vector<ImportedOutage> outages;  ///< by start, then as in the log
  size_t events = 0;                    ///< that count
  int64_t first_ns = 0, last_ns = 0;    ///< times of the first and last event in the log
  bool dated = true;                    ///< the log has the year
  uint64_t compress = 1;
  std::optional<int64_t> shortest_ns;  ///< shortest outage that ends, in the log's time
  FabricTime shortest;                 ///< the same compressed
  FabricTime quiet_removed;
  FabricTime end;             ///< end of the scenario
  bool host_cut_off = false;  ///< at some instant every port of a host is down
  // Irregularities of the log.
  size_t unsorted = 0;             ///< lines with a time before that of the line above
  size_t doubled = 0;              ///< downs of what was down
  size_t ups_alone = 0;            ///< ups of what was not down
  size_t within_a_tick = 0;        ///< events of one port at the same instant of the log's clock
  size_t other_lines = 0;          ///< lines that are not about a link
  size_t unread_lines = 0;         ///< lines that seem to be, and could not be read
  std::vector<UnreadLine> unread;  ///< the first of them
  std::vector<std::string> notes;  ///< sentences about the file
  std::map<std::string, size_t> unknown;  ///< ports that the map lacks, with their events
};

/// Throws InputError: unknown ports (unless they are skipped), none left, too many outages.
ImportedIncident import_incident(const LinkLog& log, const PortMap& ports, const Topology& topology,
                                 const ImportOptions& options);

struct ImportText {
  std::string name;      ///< name of the scenario
  std::string source;    ///< the log's file name
  std::string fabric;    ///< as the scenario shall name it
  std::string workload;  ///< one entry, as in a file: "all_reduce: {hosts: all, ...}"
};
/// The scenario file.
std::string to_yaml(const ImportedIncident& incident, const Topology& topology,
                    const ImportText& text);
/// The import in words: the events read, the changes made to them, and warnings. Lines of at most
/// 80 columns.
std::string summary(const ImportedIncident& incident, const Topology& topology);
std::string summary_json(const ImportedIncident& incident, const Topology& topology);

}  // namespace mrclab::lab
