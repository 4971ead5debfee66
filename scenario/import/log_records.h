#pragma once
// Records whose fields have names: JSON as journalctl, dmesg, Docker, Elastic, CloudWatch and Loki write it, one record
// a line or in lists of any depth, and lines of key=value.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "scenario/import/log_columns.h"

namespace mrclab::lab {

/// Called with the number of the line on which a record begins, and what it says.
using TakeRecord = std::function<void(size_t line, ColumnResult result)>;

/// Does this line begin a value of JSON? A "[" of dmesg does not.
bool begins_json(std::string_view line);

/// Every record in the text, which holds values of JSON one behind the other. `first` is the number of its first line.
void read_json_records(std::string_view text, size_t first, const TakeRecord& take);

/// Records of the journal with a field on each line (journalctl -o export, -o verbose).
class JournalFields {
 public:
  JournalFields();
  ~JournalFields();
  /// Takes a line that is a field, or the first line of a record; false if it is neither. `finished` is called with the
  /// record before.
  bool take(std::string_view line, size_t number, const TakeRecord& finished);
  /// At the end of the file.
  void finish(const TakeRecord& finished);

 private:
  struct Record;
  std::unique_ptr<Record> record_;
};

/// Empty unless the line is of key=value pairs with a time among them.
std::optional<ColumnResult> read_pairs(std::string_view line);

}  // namespace mrclab::lab
