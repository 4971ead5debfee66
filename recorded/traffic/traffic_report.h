#pragma once
// Traffic as tables, and the tables as text of 80 columns, JSON or CSV: one description of every
// column for all three.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/history/event_history.h"
#include "analysis/measure/flow_spread.h"
#include "analysis/measure/pause_tree.h"
#include "analysis/measure/rc_recovery.h"
#include "analysis/traffic/traffic.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// A fault as a run's verdict names it.
struct KnownFault {
  std::string fault;
  FabricTime at;
  std::optional<FabricTime> healed_at;
};

/// What hosts of a run said of their windows, and which of it was asked for.
struct WindowSource {
  std::vector<analysis::WindowNews> news;  ///< in order of time
  std::vector<std::string> notes;          ///< why there are none, or not all
  FabricTime complete_until = FabricTime::never();
  FabricTime from;
  FabricTime until = FabricTime::never();
  std::pair<std::optional<uint32_t>, std::optional<uint32_t>>
      between;  ///< host numbers; empty: all
};

/// Who paused whom in a run, by its packet records.
struct PauseSource {
  analysis::PauseTree tree;
  std::vector<std::string> notes;  ///< why there is none, or not all
  bool looked = false;             ///< packet records of a run whose ports pause were read
};

/// RC over RoCEv2 in the captures, which the analysis of MRC's traffic only counts.
struct RcSource {
  struct NamedFlow {
    std::string name;  ///< "h1 > h0 0x2a"
    analysis::RcRecovery recovery;
  };
  std::vector<NamedFlow> flows;
  std::optional<analysis::FlowSpread> spread;
  std::vector<std::string> notes;
  bool looked = false;  ///< the captures were read for it, with a fabric
};

/// Facts that do not come from the captures.
struct TrafficContext {
  const Topology* topology = nullptr;  ///< names of hosts; null: none
  std::vector<KnownFault> faults;
  bool faults_known = false;  ///< a run's verdict said which there were, if any
  WindowSource windows;
  PauseSource pauses;
  RcSource rc;
  std::vector<std::string> sources;  ///< what was read, as said on the command line
  std::vector<std::string> notes;    ///< what the summary says about the sources
};

/// How a column's values are shown to people; JSON and CSV have them as they are.
enum class Shown : uint8_t { kPlain, kNanoseconds, kRate, kShare, kPercent, kBytes };

struct ReportColumn {
  std::string key;      ///< key in JSON and CSV, with its unit
  std::string heading;  ///< heading in text, which shows only columns with one
  Shown shown = Shown::kPlain;
};

struct TrafficTable {
  std::string name;   ///< what --section calls it
  std::string title;  ///< one line
  std::vector<ReportColumn> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
  std::vector<std::string> notes;
  bool brief = true;                  ///< shown when no section is asked for
  std::string without_rows = "none";  ///< what stands in their place
};

/// Names of all sections, in order.
std::vector<std::string> traffic_sections();
std::vector<TrafficTable> traffic_tables(const analysis::Traffic& traffic,
                                         const TrafficContext& context);

/// `rows_max`: of each table; the rest is counted.
std::string to_text(const TrafficTable& table, size_t rows_max);
/// {"summary": {...}, "flows": [{...}], ...}
nlohmann::ordered_json to_json(const std::vector<TrafficTable>& tables);
std::string to_csv(const TrafficTable& table);

}  // namespace mrclab::lab
