#pragma once
// What `analyze` is asked for, word for word.

#include <string>
#include <vector>

namespace mrclab::lab {

struct TrafficWords {
  std::vector<std::string> sources;  ///< capture files, run folders, "latest"
  std::string fabric;                ///< a name or a file; empty: the run's, or none
  std::string qp, ev, plane, from, until;
  std::vector<std::string> between;  ///< two hosts, or none
  /// What the user states about foreign packets (traffic_format.h).
  std::string block, usid_length, ev_format, captured_at, format_file;
  std::string dscps;  ///< "trimmed=20"; empty: those of the fabric
};

}  // namespace mrclab::lab
