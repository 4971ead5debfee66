#include "scenario/import/link_log.h"

#include <algorithm>
#include <array>

#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "scenario/import/csv_line.h"

namespace mrclab::lab {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// The device and its port as one name; either may be empty.
std::string port_name(std::string_view device, std::string_view port) {
  return std::string(device) + (device.empty() || port.empty() ? "" : " ") + std::string(port);
}

std::optional<LogTime> read_csv_time(std::string_view text) {
  if (const auto seconds = read_seconds(text)) return seconds;
  const auto time = read_log_time(text);
  if (!time || time->length != text.size()) return std::nullopt;
  return time->time;
}

/// Reads lines of "time, port, up | down | errors, rate", the columns named by a first line or not.
class CsvReader {
 public:
  explicit CsvReader(const std::string& file) : file_(file) {}

  void read(std::string_view text, size_t line, LinkLog& log) {
    const std::vector<std::string> fields = split_csv(text);
    if (log.lines++ == 0 && !read_csv_time(fields.front())) {
      read_heading(fields, line);
      return;
    }
    LinkEvent event;
    event.line = line;
    const std::string when = field(fields, kTime);
    const auto time = read_csv_time(when);
    if (!time)
      refuse_line(file_, line, in_quotes(when), "a time such as 2024-03-12T10:11:12Z or 12.5");
    event.time = *time;
    event.port = visible(port_name(field(fields, kDevice), field(fields, kPort)));
    if (event.port.empty())
      refuse_line(file_, line, "no port", "a port such as leaf-07 Ethernet1/3");
    event.rate = field(fields, kRate);
    read_event(field(fields, kEvent), event);
    log.events.push_back(std::move(event));
  }

 private:
  enum Column : uint8_t { kTime, kDevice, kPort, kEvent, kRate, kColumns };
  static constexpr size_t kNone = SIZE_MAX;
  // Bound of the fault bit_errors.
  static constexpr uint64_t kMaxErrorRate = BitErrorRate::kOne / 1000;

  std::string field(const std::vector<std::string>& fields, Column column) const {
    const size_t at = place_[column];
    return at < fields.size() ? fields[at] : "";
  }

  void read_heading(const std::vector<std::string>& fields, size_t line) {
    struct Heading {
      std::string_view name;
      Column column;
    };
    constexpr std::array kHeadings{Heading{"time", kTime},      Heading{"timestamp", kTime},
                                   Heading{"device", kDevice},  Heading{"host", kDevice},
                                   Heading{"switch", kDevice},  Heading{"port", kPort},
                                   Heading{"interface", kPort}, Heading{"event", kEvent},
                                   Heading{"state", kEvent},    Heading{"rate", kRate}};
    place_.fill(kNone);
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string name = lower(fields[i]);
      for (const Heading& heading : kHeadings) {
        if (heading.name == name && place_[heading.column] == kNone) place_[heading.column] = i;
      }
    }
    for (const Column needed : {kTime, kPort, kEvent}) {
      if (place_[needed] != kNone) continue;
      refuse_line(
          file_, line, in_quotes(fields.front()),
          "a time, or a first line with the columns' names: time, device, port, event, rate");
    }
  }

  void read_event(const std::string& text, LinkEvent& event) const {
    const std::string word = lower(text);
    if (word == "down" || word == "up") {
      event.kind = word == "up" ? LinkEventKind::kUp : LinkEventKind::kDown;
      if (event.rate.empty()) return;
      refuse_line(file_, event.line, "a rate beside " + in_quotes(text), "a rate of errors alone");
    }
    if (word != "errors" && word != "clear") {
      refuse_line(file_, event.line, in_quotes(text), "up, down, errors or clear");
    }
    event.kind = LinkEventKind::kErrors;
    if (word == "clear") event.rate = "0";
    check_rate(event);
  }

  /// "2%" of frames, "1e-6" of bits, "0" for none any more, or empty.
  void check_rate(const LinkEvent& event) const {
    const std::string& rate = event.rate;
    if (rate.empty() || rate == "0") return;
    const std::string where = file_ + ":" + std::to_string(event.line);
    if (rate.back() == '%') {
      const YamlValue share = read_yaml_text(in_quotes(rate), where);
      if (share.as_probability().ppb == 0) share.fail_expecting("a rate above 0%");
      return;
    }
    if (rate.find('e') != std::string::npos && rate.front() >= '0' && rate.front() <= '9') {
      const YamlValue bits = read_yaml_text(in_quotes(rate), where);
      if (bits.as_error_rate().per_quadrillion > kMaxErrorRate) bits.fail_expecting("at most 1e-3");
      return;
    }
    refuse_line(file_, event.line, in_quotes(rate), "\"2%\" of frames or \"1e-6\" of bits");
  }

  const std::string& file_;
  std::array<size_t, kColumns> place_{0, kNone, 1, 2, 3};
};

/// A line of syslog as it stands in a file: "<187>Mar 12 10:11:12 leaf-07 tag: message".
class SyslogReader {
 public:
  explicit SyslogReader(const std::string& file) : file_(file) {}

  void read(std::string_view text, size_t line, LinkLog& log) const {
    ++log.lines;
    const std::string_view body = without_priority(text);
    const Header header = read_header(body);
    const std::string_view message = body.substr(header.length);
    const auto said = read_syslog_message(message);
    if (!said) {
      log.other_lines.push_back(line);
      return;
    }
    if (!header.time) {
      refuse_line(file_, line, in_quotes(text),
                  "a timestamp before the report about " + in_quotes(said->interface) +
                      ": Mar 12 10:11:12 or 2024-03-12T10:11:12Z");
    }
    LinkEvent event;
    event.time = *header.time;
    event.kind = said->kind;
    event.port = visible(port_name(header.device, said->interface));
    event.line = line;
    log.events.push_back(std::move(event));
  }

 private:
  struct Header {
    std::optional<LogTime> time;
    std::string_view device;  ///< empty: a device's own log, which does not name it
    size_t length = 0;
  };

  /// The text without its priority, "<187>" (RFC 3164) or "<187>1 " (RFC 5424).
  static std::string_view without_priority(std::string_view text) {
    if (text.empty() || text.front() != '<') return text;
    const size_t end = text.find('>');
    if (end == std::string_view::npos || end > 4) return text;
    text.remove_prefix(end + 1);
    if (text.substr(0, 2) == "1 ") text.remove_prefix(2);
    return text;
  }

  static std::string_view next_word(std::string_view text, size_t& at) {
    at = std::min(text.find_first_not_of(' ', at), text.size());
    const size_t from = at;
    at = std::min(text.find(' ', at), text.size());
    return text.substr(from, at - from);
  }

  /// The word without the colon behind it.
  static std::string_view bare(std::string_view word) {
    while (!word.empty() && word.back() == ':') word.remove_suffix(1);
    return word;
  }

  /// The time is in front, or behind a sequence number and a device ("94307: gw1: *Jul  7 ...").
  static Header read_header(std::string_view text) {
    constexpr size_t kSearched = 80;
    Header header;
    for (size_t at = 0; at < std::min(text.size(), kSearched) && !header.time; ++at) {
      const bool begins = at == 0 || std::string_view(" *.:").find(text[at - 1]) != npos;
      if (!begins) continue;
      if (const auto time = read_log_time(text.substr(at))) {
        header.time = time->time;
        header.device = device_before(text.substr(0, at));
        header.length = at + time->length;
      }
    }
    if (header.time && header.device.empty()) read_device(text, header);
    return header;
  }

  static std::string_view device_before(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const std::string_view word = bare(next_word(text, at));
      if (word.find_first_not_of("0123456789*.:") != npos) return word;
    }
    return {};
  }

  static bool zone(std::string_view word) {
    return word.size() >= 3 && word.size() <= 5 &&
           bare(word).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == npos && word.back() == ':';
  }

  static void read_device(std::string_view text, Header& header) {
    size_t at = header.length;
    std::string_view word = next_word(text, at);
    while (!word.empty() && (bare(word).empty() || zone(word))) word = next_word(text, at);
    if (word.empty() || word.front() == '%' || word.front() == '[') return;
    header.device = bare(word);
    header.length = at;
  }

  static constexpr size_t npos = std::string_view::npos;
  const std::string& file_;
};

/// CSV, if the first line has commas and its first field is a time or a column's name.
bool looks_like_csv(std::string_view line) {
  const std::vector<std::string> fields = split_csv(line);
  const std::string first = lower(fields.front());
  return fields.size() >= 3 &&
         (read_csv_time(first) || read_csv_time(fields.front()) || first == "time" ||
          first == "timestamp" || first == "device" || first == "host" || first == "switch");
}

}  // namespace

LinkLog read_link_log(std::string_view text, const std::string& file, LogFormat format) {
  LinkLog log;
  CsvReader csv(file);
  const SyslogReader syslog(file);
  for_each_line(text, file, [&](std::string_view line, size_t number) {
    if (format == LogFormat::kAuto) {
      format = looks_like_csv(line) ? LogFormat::kCsv : LogFormat::kSyslog;
    }
    format == LogFormat::kCsv ? csv.read(line, number, log) : syslog.read(line, number, log);
    if (log.events.size() > kMaxLinkEvents) {
      refuse_line(file, number, "more link events", "at most " + std::to_string(kMaxLinkEvents));
    }
  });
  if (log.events.empty()) {
    throw InputError(file + ": found no link event in " + std::to_string(log.lines) +
                     " lines: expected lines such as \"12.5,leaf-07 Ethernet1/3,down\" or \"Mar 12 "
                     "10:11:12 leaf-07 kernel: swp3: Link is Down\"");
  }
  std::vector<LogTime*> times;
  for (LinkEvent& event : log.events) times.push_back(&event.time);
  assign_years(times);
  return log;
}

LinkLog read_link_log_file(const std::filesystem::path& path, LogFormat format) {
  return read_link_log(read_input(path, kMaxLogBytes), path.string(), format);
}

}  // namespace mrclab::lab
