#include "scenario/import/log_records.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fabric/text/json_text.h"
#include "scenario/import/text_scanner.h"

namespace mrclab::lab {
// Has a name because JournalFields::Record has external linkage.
namespace record_fields {

/// Fields by column, each with the rank of its name.
class RecordColumns {
 public:
  void set(const std::string& name, const std::string& value) {
    constexpr size_t kInner =
        1000;  // "host.hostname": by its last word, after what is called so itself
    auto named = column_named(name);
    const size_t dot = name.rfind('.');
    if (!named && dot != std::string::npos) {
      named = column_named(name.substr(dot + 1));
      if (named) named->rank += kInner;
    }
    if (!named || value.empty()) return;
    Field& field = fields_[static_cast<size_t>(named->column)];
    if (field.rank <= named->rank) return;
    field = {value, named->rank};
  }
  void prefer(LogColumn column, const std::string& value) {
    fields_[static_cast<size_t>(column)] = {value, 0};
  }
  std::string get(LogColumn column) const { return fields_[static_cast<size_t>(column)].value; }
  bool is_record() const {
    const bool state = !get(LogColumn::kPort).empty() && !get(LogColumn::kEvent).empty();
    return !get(LogColumn::kMessage).empty() || (state && !get(LogColumn::kTime).empty());
  }
  ColumnResult result() const {
    return read_columns([this](LogColumn column) { return get(column); });
  }

 private:
  struct Field {
    std::string value;
    size_t rank = SIZE_MAX;
  };
  std::array<Field, kLogColumns> fields_;
};

}  // namespace record_fields

namespace {

using nlohmann::json;
using record_fields::RecordColumns;

constexpr int kDeepest = 12;
constexpr int kFlattened = 3;  // "host": {"name": ...} is the column "host.name"

/// A field as text. The journal writes a message that is no UTF-8 as a list of bytes.
std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  std::string text;
  if (!value.is_array()) return text;
  for (const json& byte : value) {
    if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255) return "";
    text += static_cast<char>(byte.get<uint64_t>());
  }
  return text;
}

void add_fields(const json& object, const std::string& prefix, int depth, RecordColumns& columns) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object() && depth < kFlattened) {
      add_fields(value, name, depth + 1, columns);
    } else {
      columns.set(name, text_of(value));
    }
  }
}

class JsonWalk {
 public:
  JsonWalk(size_t line, const TakeRecord& take) : line_(line), take_(take) {}

  /// Returns whether there was a record in it.
  bool walk(const json& value, int depth = 0) {
    if (depth > kDeepest) return false;
    if (value.is_object() && (loki(value) || record(value))) return true;
    bool any = false;
    if (value.is_object() || value.is_array()) {
      for (const json& each : value) any = walk(each, depth + 1) || any;
    }
    return any;
  }

 private:
  bool record(const json& object) {
    RecordColumns columns;
    add_fields(object, "", 0, columns);
    if (!columns.is_record()) return false;
    take_(line_, columns.result());
    return true;
  }

  /// {"stream": {labels}, "values": [["ns", "line"], ...]}
  bool loki(const json& object) {
    const auto stream = object.find("stream"), values = object.find("values");
    if (stream == object.end() || values == object.end()) return false;
    if (!stream->is_object() || !values->is_array()) return false;
    for (const json& pair : *values) {
      if (!pair.is_array() || pair.size() < 2) continue;
      RecordColumns columns;
      add_fields(*stream, "", 0, columns);
      columns.prefer(LogColumn::kTime, text_of(pair[0]));
      columns.prefer(LogColumn::kMessage, text_of(pair[1]));
      take_(line_, columns.result());
    }
    return true;
  }

  size_t line_;
  const TakeRecord& take_;
};

/// The length of the value of JSON at the front of the text: up to the brace that closes its first.
std::optional<size_t> value_length(std::string_view text) {
  size_t open = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++open;
    if ((c == '}' || c == ']') && --open == 0) return at + 1;
  }
  return std::nullopt;
}

}  // namespace

bool begins_json(std::string_view line) {
  if (line.starts_with('{')) return true;
  if (!line.starts_with('[')) return false;
  const size_t next = line.find_first_not_of(" \t\r", 1);
  return next == std::string_view::npos || line[next] == '{' || line[next] == '\n';
}

void read_json_records(std::string_view text, size_t first, const TakeRecord& take) {
  size_t line = first;
  bool by_lines =
      false;  // after damage; so that a text is not searched for a closing brace again and again
  const auto skip = [&](size_t length) {
    const std::string_view gone = text.substr(0, length);
    line += static_cast<size_t>(std::count(gone.begin(), gone.end(), '\n'));
    text.remove_prefix(length);
    return gone;
  };
  while (!text.empty()) {
    const std::string_view between = text.substr(0, text.find_first_of("{["));
    const size_t other = between.find_first_not_of(" \t\r\n,\x1e");
    const bool server_sent =
        other != std::string_view::npos && between.substr(other).starts_with("data: ");
    if (other != std::string_view::npos && !server_sent) {
      skip(other);
      take(line, UnreadReason{"no JSON"});
      skip(std::min(text.find('\n'), text.size()));
      continue;
    }
    skip(between.size());
    if (text.empty()) return;
    const std::string_view searched = by_lines ? text.substr(0, text.find('\n')) : text;
    const std::optional<size_t> length = value_length(searched);
    const json value = parse_json<json>(text.substr(0, length.value_or(0)));
    if (length && !value.is_discarded()) {
      if (!JsonWalk(line, take).walk(value)) take(line, NoLinkEvent{});
      skip(*length);
      continue;
    }
    by_lines = true;
    take(line, UnreadReason{"JSON that is damaged or cut"});
    skip(std::min(text.find('\n'), text.size()));
  }
}

namespace {

/// One key=value off the front of a line; an empty key for a word that is none.
struct Pair {
  std::string key, value;
};
Pair take_pair(std::string_view& line) {
  Pair pair;
  const auto in_key = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_.@-").find(c) != std::string_view::npos;
  };
  size_t key = 0;
  while (key < line.size() && in_key(line[key])) ++key;
  if (key > 0 && key < line.size() && line[key] == '=') {
    pair.key = line.substr(0, key);
    line.remove_prefix(key + 1);
  }
  const bool quoted = line.starts_with('"');
  if (quoted) line.remove_prefix(1);
  while (!line.empty() && line.front() != (quoted ? '"' : ' ')) {
    if (quoted && line.front() == '\\' && line.size() > 1) line.remove_prefix(1);
    pair.value += line.front();
    line.remove_prefix(1);
  }
  if (quoted && !line.empty()) line.remove_prefix(1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return pair;
}

}  // namespace

struct JournalFields::Record {
  record_fields::RecordColumns columns;
  size_t line = 0;
};

JournalFields::JournalFields() = default;
JournalFields::~JournalFields() = default;

bool JournalFields::take(std::string_view line, size_t number, const TakeRecord& finished) {
  constexpr std::string_view kExport = "__CURSOR=", kVerbose = " [s=";
  const size_t cursor = line.find(kVerbose);
  const bool verbose = cursor != std::string_view::npos && read_log_time(line).has_value();
  if (verbose || line.starts_with(kExport)) {
    finish(finished);
    record_ = std::make_unique<Record>();
    record_->line = number;
    if (verbose) record_->columns.prefer(LogColumn::kTime, std::string(line.substr(0, cursor)));
    return true;
  }
  const size_t equals = line.find('=');
  const std::string_view key = line.substr(0, equals);
  const bool field = equals != std::string_view::npos && !key.empty() &&
                     std::all_of(key.begin(), key.end(), [](char c) {
                       return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
                     });
  if (!record_ || !field) return false;
  record_->columns.set(std::string(key), std::string(line.substr(equals + 1)));
  return true;
}

void JournalFields::finish(const TakeRecord& finished) {
  if (record_ && record_->columns.is_record()) finished(record_->line, record_->columns.result());
  record_.reset();
}

std::optional<ColumnResult> read_pairs(std::string_view line) {
  RecordColumns columns;
  std::string date, time;
  for (bool first = true; !line.empty(); first = false) {
    const Pair pair = take_pair(line);
    if (first && pair.key.empty()) return std::nullopt;
    if (pair.key == "date") date = pair.value;  // FortiOS: date=2024-11-28 time=10:11:12
    if (pair.key == "time") time = pair.value;
    columns.set(pair.key, pair.value);
  }
  if (!date.empty() && !time.empty()) columns.prefer(LogColumn::kTime, date + " " + time);
  if (columns.get(LogColumn::kTime).empty() || !columns.is_record()) return std::nullopt;
  return columns.result();
}

}  // namespace mrclab::lab
