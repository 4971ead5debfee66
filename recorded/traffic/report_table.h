#pragma once
// A table of a report on traffic, as values.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mrclab::lab {

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

}  // namespace mrclab::lab
