#pragma once
// What `analyze` is asked for, from words: capture files and run folders, a fabric, filters.
// Whatever is wrong with a word is an InputError that says what would be right.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traffic/traffic_reader.h"
#include "recorded/traffic/traffic_report.h"

namespace mrclab::lab {

struct TrafficWords {
  std::vector<std::string> sources;  ///< capture files, run folders, "latest"
  std::string fabric;                ///< a name or a file; empty: the run's, or none
  std::string qp, ev, plane, from, until;
  std::vector<std::string> between;  ///< two hosts, or none
  /// What a person says about foreign packets (traffic_format.h).
  std::string block, usid_length, ev_format, captured_at, format_file;
  std::string dscps;  ///< "trimmed=20"; empty: those of the fabric
};

struct TrafficRequest {
  std::unique_ptr<Topology> topology;  ///< null: none is known
  analysis::TrafficInput input;
  TrafficContext context;
};

TrafficRequest traffic_request(const TrafficWords& words);

/// Reads the captures once more for what is not MRC's, if `traffic` counted any RC over RoCEv2 and the fabric is known:
/// fills `context.rc`. Filters do not count here. Throws CaptureError.
void add_rc(const analysis::Traffic& traffic, TrafficRequest& request);

}  // namespace mrclab::lab
