#pragma once
// Tables of link events: CSV with commas, semicolons, tabs or bars, with a first line that names the columns or
// without one (time, port, up | down | errors, rate; or time, device, port, event, rate).

#include <array>
#include <string_view>

#include "scenario/import/log_columns.h"

namespace mrclab::lab {

/// Is this the first line of a table?
bool begins_table(std::string_view line);

class LogTable {
 public:
  /// Reads the first line; the reason why it begins no table, if so.
  std::optional<UnreadReason> begin(std::string_view line);
  /// Was the first line one of names, and no record?
  bool has_heading() const { return heading_; }
  ColumnResult read(std::string_view line) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  char separator_ = ',';
  bool heading_ = false;
  std::array<size_t, kLogColumns> place_{};
};

}  // namespace mrclab::lab
