#pragma once
// What `analyze` is asked for, from words: capture files and run folders, a fabric, filters.
// A wrong word throws InputError, which names the right ones.

#include <memory>

#include "analysis/traffic/traffic_reader.h"
#include "recorded/traffic/traffic_context.h"
#include "recorded/traffic/traffic_words.h"

namespace mrclab::lab {

struct TrafficRequest {
  std::unique_ptr<Topology> topology;  ///< null: none is known
  analysis::TrafficInput input;
  TrafficContext context;
};

TrafficRequest traffic_request(const TrafficWords& words);

/// Reads the captures once more, if `traffic` counted any RC over RoCEv2 and the fabric is known, for how flows share
/// uplinks: fills `context.rc`. Filters do not count here. Throws CaptureError.
void add_rc(const analysis::Traffic& traffic, TrafficRequest& request);

}  // namespace mrclab::lab
