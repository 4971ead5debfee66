#pragma once
// `mrclab trace --qp N CAPTURE`: every record of a queue pair, and of what answers it, in order. It needs no fabric.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::lab {

struct TracedRecord {
  FabricTime t;  ///< since the first record of the captures
  std::string place, from, to, operation, what;
  uint32_t qp = 0, psn = 0;
};

struct CaptureTrace {
  std::vector<TracedRecord> records;
  std::vector<std::string> notes;
};

/// Capture files, or "-". `psn`: only records about that packet. Throws InputError if there is none.
CaptureTrace trace_of_captures(const std::vector<std::filesystem::path>& files, Qpn qp,
                               std::optional<Psn> psn);
/// The first `rows_max`, and how many more there are.
std::string to_text(const CaptureTrace& trace, size_t rows_max);
nlohmann::ordered_json to_json(const CaptureTrace& trace);

}  // namespace mrclab::lab
