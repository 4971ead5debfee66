#include "scenario/import/link_log.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "scenario/import/csv_line.h"
#include "scenario/import/line_event.h"
#include "scenario/import/log_records.h"
#include "scenario/import/log_table.h"
#include "scenario/import/log_text.h"

namespace mrclab::lab {
namespace {

constexpr size_t kShown = 100;  // characters of a line in a reason

std::string shown(std::string_view line) {
  return in_quotes(visible(line.substr(0, kShown)) + (line.size() > kShown ? "..." : ""));
}

class LogReader {
 public:
  LogReader(std::string_view text, const std::string& file, LogFormat format)
      : text_(text), file_(file), format_(format) {}

  LinkLog read() {
    for_each_log_line(text_, file_, [this](std::string_view line, size_t number) {
      return read_line(line, number);
    });
    journal_.finish(take_record());
    require_events();
    leave_out_other_clock();
    std::vector<LogTime*> times;
    for (LinkEvent& event : log_.events) times.push_back(&event.time);
    assign_years(times);
    return std::move(log_);
  }

 private:
  /// False where the rest of the text is read already.
  bool read_line(std::string_view line, size_t number) {
    if (format_ == LogFormat::kAuto) format_ = format_of(line);
    const bool records = format_ == LogFormat::kJson;
    if (records && log_.lines == 0) {
      const size_t at = static_cast<size_t>(line.data() - text_.data());
      read_json_records(text_.substr(at), number, [this](size_t begins, ColumnResult result) {
        ++log_.lines;
        take(begins, std::move(result));
      });
      return false;
    }
    ++log_.lines;
    if (line.size() > kMaxLogLineBytes) {
      unread(number, "found " + std::to_string(line.size()) +
                         " characters in one line: expected at most " +
                         std::to_string(kMaxLogLineBytes));
    } else if (format_ == LogFormat::kCsv) {
      read_table(line, number);
    } else {
      read_syslog(line, number);
    }
    return true;
  }

  static LogFormat format_of(std::string_view line) {
    if (begins_json(line)) return LogFormat::kJson;
    return begins_table(line) ? LogFormat::kCsv : LogFormat::kSyslog;
  }

  void read_table(std::string_view line, size_t number) {
    if (!table_begun_) {
      table_begun_ = true;
      if (const auto reason = table_.begin(line)) {
        throw InputError(file_ + ":" + std::to_string(number) + ": " + reason->text);
      }
      if (table_.has_heading()) return;
    }
    take(number, table_.read(line));
  }

  void read_syslog(std::string_view line, size_t number) {
    constexpr std::string_view kServerSent = "data: ";  // journalctl -o json-sse
    if (line.starts_with(kServerSent)) line.remove_prefix(kServerSent.size());
    if (journal_.take(line, number, take_record())) return;
    if (begins_json(line)) {
      read_json_records(line, number, take_record());
      return;
    }
    if (auto pairs = read_pairs(line)) return take(number, std::move(*pairs));
    const LineEvent read = read_line_event(line);
    LogTime time = read.header.time;
    if (read.header.clock == LineClock::kAfter && last_time_) {
      time = *last_time_;  // dmesg -H: since the line before
      time.ns += read.header.time.ns;
      time.resolution = read.header.time.resolution;
    }
    const bool timed = read.header.clock == LineClock::kTime ||
                       (read.header.clock == LineClock::kAfter && last_time_);
    if (timed) last_time_ = time;
    if (!read.message && looks_like_link_message(line)) {
      return unread(number, "words about a link that are not known: " + shown(line));
    }
    if (!read.message) {
      ++log_.other_lines;
      return;
    }
    if (!timed) {
      return unread(number, "found " + shown(line) + ": expected a time before the report about " +
                                in_quotes(visible(read.message->interface)) +
                                ", such as Mar 12 10:11:12 or 2024-03-12T10:11:12Z");
    }
    LinkEvent event;
    event.time = time;
    event.kind = read.message->kind;
    event.port = visible(port_name(read.header.device, read.message->interface));
    take(number, std::move(event));
  }

  TakeRecord take_record() {
    return [this](size_t line, ColumnResult result) { take(line, std::move(result)); };
  }

  void take(size_t line, ColumnResult result) {
    if (const auto* reason = std::get_if<UnreadReason>(&result))
      return unread(line, visible(reason->text));
    auto* event = std::get_if<LinkEvent>(&result);
    if (event == nullptr) {
      ++log_.other_lines;
      return;
    }
    if (log_.events.size() >= kMaxLinkEvents) {
      refuse_line(file_, line, "more link events", "at most " + std::to_string(kMaxLinkEvents));
    }
    event->line = line;
    log_.events.push_back(std::move(*event));
  }

  void unread(size_t line, std::string reason) {
    ++log_.unread_lines;
    if (log_.unread.size() < kMaxUnreadNamed) log_.unread.push_back({line, std::move(reason)});
  }

  void require_events() const {
    if (!log_.events.empty()) return;
    if (!log_.unread.empty()) {
      const UnreadLine& first = log_.unread.front();
      throw InputError(file_ + ":" + std::to_string(first.line) + ": " + first.reason);
    }
    throw InputError(file_ + ": found no link event in " + std::to_string(log_.lines) +
                     " lines: expected lines such as \"12.5,leaf-07 Ethernet1/3,down\" or \"Mar 12 "
                     "10:11:12 leaf-07 kernel: swp3: Link is Down\"");
  }

  /// Times that count from a boot and dates cannot be put in one order: those of which there are fewer go.
  void leave_out_other_clock() {
    std::vector<LinkEvent>& events = log_.events;
    const auto counted = std::count_if(events.begin(), events.end(),
                                       [](const LinkEvent& event) { return event.time.counted; });
    if (counted == 0 || counted == static_cast<std::ptrdiff_t>(events.size())) return;
    const bool leave_counted = static_cast<size_t>(counted) * 2 <= events.size();
    for (const LinkEvent& event : events) {
      if (event.time.counted != leave_counted) continue;
      unread(event.line, leave_counted ? "its time counts from a boot, where others are dates"
                                       : "its time is a date, where others count from a boot");
    }
    std::erase_if(events,
                  [&](const LinkEvent& event) { return event.time.counted == leave_counted; });
  }

  std::string_view text_;
  const std::string& file_;
  LogFormat format_;
  LogTable table_;
  bool table_begun_ = false;
  JournalFields journal_;
  std::optional<LogTime> last_time_;
  LinkLog log_;
};

}  // namespace

LinkLog read_link_log(std::string_view text, const std::string& file, LogFormat format) {
  return LogReader(text, file, format).read();
}

LinkLog read_link_log_file(const std::filesystem::path& path, LogFormat format) {
  LogText text = read_log_text(path, kMaxLogBytes);
  try {
    LinkLog log = read_link_log(text.text, path.string(), format);
    log.notes = std::move(text.notes);
    return log;
  } catch (const InputError& error) {
    if (text.notes.empty()) throw;
    throw InputError(std::string(error.what()) + " (" + text.notes.back() + ")");
  }
}

}  // namespace mrclab::lab
