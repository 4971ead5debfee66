#pragma once
// A fire drill: a site's alert rules on what a run counted, held against the faults of the run.
//
// An alert is about a fault if it begins to fire while the fault is in force, or so long after it as the rules remember
// (the longest range and the longest `for` of the file, and two steps), and its labels name a part of the fault: a node, a
// port, or the port of a NIC as node_exporter has it. One whose labels name no part of the fabric is about all of that
// time. An alert that fires at another time is a false alarm. One that fires in time and names another part is counted by
// itself: it may be right, as the loss behind a fault is, or not.

#include <string>
#include <vector>

#include "console/interrupt.h"
#include "lab/drill/alert_times.h"
#include "recorded/diff/recorded_run.h"

namespace mrclab::lab {

struct DrillOptions {
  FabricTime every = FabricTime::from_us(15);  ///< between two samples
  uint64_t stretch = 1'000'000;                ///< seconds of the site per fabric second
  IsInterrupted interrupted = {};
};

enum class AlertTruth : uint8_t { kFault, kElsewhere, kFalse };
struct DrilledAlert {
  AlertSpan span;
  FabricTime fired, ended;  ///< `ended`: never() if it fires at the end
  AlertTruth truth = AlertTruth::kFalse;
  size_t fault = 0;  ///< unless it is a false alarm
};
struct DrilledFault {
  std::string description;
  FabricTime start, healed;
  std::vector<size_t> alerts;  ///< that are about it, in the order in which they fired
};

struct Drill {
  std::string run, rules;
  FabricTime every;
  uint64_t stretch = 0;
  size_t steps = 0, series = 0;
  FabricTime memory;  ///< how long after a fault an alert may be about it
  std::vector<DrilledAlert> alerts;
  std::vector<DrilledFault> faults;
  std::vector<std::string> silent_rules;  ///< alerts that never fired
  std::vector<std::string> unknown;       ///< metrics that the rules name and a run does not have
  bool faithful = true;

  size_t unalarmed() const;     ///< faults
  size_t false_alarms() const;  ///< alerts
  size_t elsewhere() const;
  /// 0: every fault has an alert, and no alarm is false. 1: not so. 3: the run is not faithful.
  int exit_code() const;
};

/// Throws NoPromTool; InputError for rules that promtool refuses, with its words.
Drill drill_rules(const RuleFile& rules, const RecordedRun& run, const DrillOptions& options);

std::string drill_text(const Drill& drill);
std::string drill_json(const Drill& drill);

}  // namespace mrclab::lab
