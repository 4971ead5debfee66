#include "scenario/import/line_format.h"

#include <algorithm>
#include <array>

#include "scenario/import/text_scanner.h"

namespace mrclab::lab {
namespace {

constexpr size_t npos = std::string_view::npos;
constexpr size_t kSearched = 120;  // a time stands within so many characters
constexpr int kNested = 3;         // formats within each other

constexpr std::array kFormats{
    // The kernel's log and the journal.
    LineFormat{"[{boot}] {device} {tag}", "journalctl -o short-monotonic", "journalctl(1)"},
    LineFormat{"[{boot} <{any}>] {device} {tag}", "journalctl -o short-delta", "journalctl(1)"},
    LineFormat{"[{boot} <{any}>] ", "dmesg --show-delta", "dmesg(1)"},
    LineFormat{"[{after}] ", "dmesg --human", "dmesg(1)"},
    LineFormat{"[{boot}]", "dmesg", "dmesg(1); printk-basics, CONFIG_PRINTK_CALLER"},
    LineFormat{"[{time}] {device} {tag}", "a bracketed time before a line of syslog", "RFC 3164"},
    LineFormat{"[{time} <{any}>] ", "dmesg --ctime --show-delta", "dmesg(1)"},
    LineFormat{"[{time}] ", "dmesg --ctime", "dmesg(1)"},
    LineFormat{"[{epoch}] ", "a bracketed time in seconds since 1970", "date(1)"},
    LineFormat{"{number},{number},{kmsg},{any};", "/dev/kmsg",
               "Linux, Documentation/ABI/testing/dev-kmsg"},
    LineFormat{"{time,} ", "dmesg --time-format iso", "dmesg(1)"},
    // What collectors put in front of others' lines.
    LineFormat{"{time} stdout {word} ", "containerd, CRI-O", "Kubernetes CRI logging format"},
    LineFormat{"{time} stderr {word} ", "containerd, CRI-O", "Kubernetes CRI logging format"},
    LineFormat{"[pod/{device}/{any}] ", "kubectl logs --prefix", "kubectl reference"},
    LineFormat{"{device} | ", "docker compose logs", "docker compose reference"},
    // Syslog, and systems that stand between it and their own.
    LineFormat{"1 {time} {device} ", "syslog of RFC 5424", "RFC 5424 section 6"},
    LineFormat{"{time} {facility} ", "OpenWrt's logread", "OpenWrt, ubox log/logread.c"},
    LineFormat{"{time} <{any}> {device} {tag}", "syslogd -v", "FreeBSD syslogd(8)"},
    LineFormat{"{location}:{time}: ", "Cisco IOS XR", "IOS XR system monitoring guide"},
    LineFormat{"{device} {location}:{time}: ", "Cisco IOS XR", "IOS XR system monitoring guide"},
    LineFormat{"{device}: {location}:{time}: ", "Cisco IOS XR", "IOS XR system monitoring guide"},
    LineFormat{"{device}: {time}: ", "Cisco IOS with origin-id", "IOS logging origin-id"},
    LineFormat{"{time}|{number}|", "Open vSwitch", "ovs-vswitchd(8), vlog"},
    LineFormat{"{time}: {device} : ", "IP Infusion OcNOS",
               "OcNOS system configuration guide, logging"},
    LineFormat{"{time}: ", "Cisco IOS, NX-OS, Ruijie: a device's own log",
               "IOS service timestamps; NX-OS system messages"},
    LineFormat{"{time} {word} {device} {tag}", "aws logs tail", "AWS CLI, logs tail --format"},
    LineFormat{"{epoch} {device} ", "journalctl -o short-unix", "journalctl(1)"},
    LineFormat{"{time} {device} ", "syslog of RFC 3164 and most others", "RFC 3164 section 4.1"},
    LineFormat{"{number} {time} ", "SR OS, event logs", "SR OS system management guide"},
    LineFormat{"{epoch} ", "seconds since 1970", "date(1)"},
    LineFormat{"{time} ", "a device's own log", "RFC 3164 section 4.3"},
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view next_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && !is_blank(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

bool is_level(std::string_view word) {
  constexpr std::array<std::string_view, 22> kLevels{
      "emerg",  "alert", "crit",  "critical",      "err",       "error",  "warn",   "warning",
      "notice", "info",  "debug", "informational", "fatal",     "trace",  "kernel", "none",
      "notif",  "major", "minor", "cleared",       "emergency", "verbose"};
  return std::any_of(kLevels.begin(), kLevels.end(), [&](std::string_view level) {
    return std::equal(level.begin(), level.end(), word.begin(), word.end(),
                      [](char a, char b) { return a == to_lower(b); });
  });
}

/// "kern.info", "user.notice".
bool is_facility(std::string_view word) {
  const size_t dot = word.find('.');
  return dot != npos && dot > 0 && is_level(word.substr(dot + 1)) &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(dot),
                     [](char c) { return is_letter(c) || is_digit(c); });
}

/// A driver's line goes on with where its device is on the bus: "0000:5e:00.0".
bool is_bus_address(std::string_view word) {
  TextScanner in(word);
  size_t digits = 0, colons = 0;
  while (in.peek() != '\0') {
    const char c = to_lower(in.take());
    if (c == ':')
      ++colons;
    else if (is_digit(c) || (c >= 'a' && c <= 'f'))
      ++digits;
    else if (c != '.')
      return false;
  }
  return colons >= 2 && word.find('.') != npos && digits >= 7;
}

/// May this word, with `rest` behind it, be the device that wrote the line?
bool is_device(std::string_view word, std::string_view rest) {
  if (word == "-") return true;  // RFC 5424: none
  constexpr std::array<std::string_view, 7> kOthers{"port", "interface", "link", "intf",
                                                    "nic",  "unit",      "line"};
  const auto same = [&](std::string_view other) {
    return std::equal(other.begin(), other.end(), word.begin(), word.end(),
                      [](char a, char b) { return a == to_lower(b); });
  };
  if (std::any_of(kOthers.begin(), kOthers.end(), same)) return false;
  if (word.empty() || !(is_letter(word.front()) || is_digit(word.front()))) return false;
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("._-:/@").find(c) != npos;
  });
  if (std::all_of(word.begin(), word.end(), is_digit)) return false;  // a process, a sequence
  if (!plain || word.back() == ':' || is_level(word) || is_facility(word)) return false;
  return !is_bus_address(next_word(without_blanks(rest)));
}

/// A text against a row's pattern.
class FormatMatch {
 public:
  FormatMatch(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  std::optional<LineHeader> run() {
    while (!pattern_.empty()) {
      if (pattern_.front() == '{') {
        const size_t close = pattern_.find('}');
        const std::string_view token = pattern_.substr(1, close - 1);
        pattern_.remove_prefix(close + 1);
        if (!take(token)) return std::nullopt;
      } else if (pattern_.front() == ' ') {
        pattern_.remove_prefix(1);
        if (!take_blanks()) return std::nullopt;
      } else {
        const bool colon = pattern_.front() == ':';
        if (colon) skip_blanks();  // "10:11:12.834 : ifmgr"
        if (at_ >= text_.size() || text_[at_] != pattern_.front()) return std::nullopt;
        pattern_.remove_prefix(1);
        ++at_;
        if (had_time_) header_.after_time = at_;
      }
    }
    header_.message = at_;
    return header_;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  /// The end of a line is as good as a blank.
  bool take_blanks() {
    const size_t from = at_;
    skip_blanks();
    return at_ > from || at_ == text_.size();
  }
  /// Up to what stands next in the pattern.
  std::string_view up_to_next() {
    const char stop = pattern_.empty() ? ' ' : pattern_.front();
    size_t end = at_;
    while (end < text_.size() && (stop == ' ' ? !is_blank(text_[end]) : text_[end] != stop)) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take_time(const std::optional<ReadLogTime>& time) {
    if (!time) return false;
    header_.clock = LineClock::kTime;
    header_.time = time->time;
    at_ += time->length;
    header_.after_time = at_;
    had_time_ = true;
    return true;
  }
  bool take_word(std::string_view word) {
    at_ += word.size();
    return !word.empty();
  }
  bool take_kmsg() {
    size_t digits = 0;
    LogTime time;
    time.counted = true;
    time.resolution = 1000;
    for (; at_ + digits < text_.size() && is_digit(text_[at_ + digits]); ++digits) {
      if (digits >= 15) return false;
      time.ns = time.ns * 10 + (text_[at_ + digits] - '0');
    }
    time.ns *= time.resolution;
    return digits > 0 && take_time(ReadLogTime{time, digits});
  }

  bool take(std::string_view token) {
    const std::string_view rest = text_.substr(at_);
    if (token == "time") {
      while (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '.'))
        ++at_;  // IOS: clock not synchronized
      return take_time(read_log_time(text_.substr(at_)));
    }
    if (token == "time,") {
      const auto time = read_log_time(rest);
      return time && time->time.resolution == 1000 &&
             rest.substr(0, time->length).find(',') != npos && take_time(time);
    }
    if (token == "epoch") return take_time(read_epoch(rest));
    if (token == "boot")
      return without_blanks(rest).substr(0, 1) != "+" && take_time(read_counted_seconds(rest));
    if (token == "kmsg") return take_kmsg();
    if (token == "after") {
      if (without_blanks(rest).substr(0, 1) != "+" || !take_time(read_counted_seconds(rest)))
        return false;
      header_.clock = LineClock::kAfter;
      return true;
    }
    const std::string_view word = up_to_next();
    if (token == "any") return take_word(word) || true;
    if (word.find_first_of(" \t") != npos) return false;
    if (token == "tag") return is_tag(rest);
    if (token == "device") {
      if (!is_device(word, rest.substr(word.size()))) return false;
      if (word != "-") header_.device = word;
      return take_word(word);
    }
    if (token == "number")
      return word.size() <= 10 && std::all_of(word.begin(), word.end(), is_digit) &&
             take_word(word);
    if (token == "facility") return is_facility(word) && take_word(word);
    if (token == "location") return word.find("/CPU") != npos && take_word(word);
    return take_word(word);
  }

  std::string_view pattern_, text_;
  size_t at_ = 0;
  bool had_time_ = false;
  LineHeader header_;
};

/// Behind "kern  :info  : ", as dmesg -x decodes a priority; the whole text, if it is not there.
std::string_view behind_decoded(std::string_view line) {
  TextScanner in(line);
  const auto word = [&] {
    const std::string_view from = in.rest();
    size_t size = 0;
    for (; is_letter(in.peek()) || is_digit(in.peek()); ++size) in.take();
    while (in.skip(' ')) {
    }
    in.expect(':');
    return from.substr(0, size);
  };
  const std::string_view facility = word();
  const std::string_view level = word();
  const std::string_view rest = without_blanks(in.rest());
  const bool found = in.ok() && facility.size() <= 8 && is_level(level) && rest.starts_with('[');
  return found ? rest : line;
}

std::string_view behind_priority(std::string_view line) {
  const size_t end = line.find('>');
  if (!line.starts_with('<') || end == npos || end < 2 || end > 4) return line;
  const std::string_view number = line.substr(1, end - 1);
  return std::all_of(number.begin(), number.end(), is_digit) ? line.substr(end + 1) : line;
}

/// A sequence number, "94307: ", or a lone colon.
std::string_view behind_number(std::string_view line) {
  constexpr size_t kMost = 10;
  size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  const bool found = digits <= kMost && digits + 1 < line.size() && line[digits] == ':' &&
                     is_blank(line[digits + 1]);
  return found ? line.substr(digits + 1) : line;
}

/// What stands in front of any format: a priority, "<187>" (RFC 3164 and 5424, dmesg -r), the same in words, a sequence
/// number, the mark in front of Comware's time.
std::string_view without_prefixes(std::string_view line) {
  constexpr int kMost = 4;
  for (int i = 0; i < kMost; ++i) {
    const std::string_view before = line;
    line = behind_decoded(behind_number(behind_priority(without_blanks(line))));
    const bool comware = line.starts_with('%') && read_log_time(line.substr(1));
    if (comware) line.remove_prefix(1);
    if (line == before) break;
  }
  return line;
}

LineHeader moved(LineHeader header, size_t by) {
  header.after_time += by;
  header.message += by;
  return header;
}

std::optional<LineHeader> match_rows(std::string_view line) {
  const std::string_view text = without_prefixes(line);
  for (const LineFormat& format : kFormats) {
    if (auto header = FormatMatch(format.pattern, text).run()) {
      header->format = &format;
      return moved(*header, line.size() - text.size());
    }
  }
  return std::nullopt;
}

/// A time behind other words, as in what grep writes, "messages-1:Nov 28 ...".
std::optional<LineHeader> search_time(std::string_view line) {
  constexpr std::string_view kBefore = " \t.:|\"=([*";
  for (size_t at = 1; at < std::min(line.size(), kSearched); ++at) {
    if (kBefore.find(line[at - 1]) == npos || kBefore.find(line[at]) != npos) continue;
    const std::string_view text = line.substr(at);
    if (!read_log_time(text)) continue;
    for (const LineFormat& format : kFormats) {
      if (!format.pattern.starts_with("{time}")) continue;
      if (auto header = FormatMatch(format.pattern, text).run()) return moved(*header, at);
    }
    if (auto header = FormatMatch("{time}", text).run()) return moved(*header, at);
  }
  return std::nullopt;
}

/// The line within a collector's: its device, if it has one, and where its message begins.
void read_nested(std::string_view line, LineHeader& header, int depth) {
  if (depth == kNested) return;
  const std::string_view rest = line.substr(header.message);
  const std::optional<LineHeader> within = match_rows(rest);
  if (within && (within->clock != LineClock::kNone || !within->device.empty())) {
    if (header.clock == LineClock::kNone) {
      header.clock = within->clock;
      header.time = within->time;
    }
    if (!within->device.empty()) header.device = within->device;
    header.after_time = header.message + within->after_time;
    header.message += within->message;
    read_nested(line, header, depth + 1);
    return;
  }
  if (!header.device.empty()) return;
  const auto tagged = FormatMatch("{device} {tag}", without_blanks(rest)).run();
  if (!tagged) return;
  header.device = tagged->device;
  header.message = line.size() - without_blanks(rest).size() + tagged->message;
}

}  // namespace

std::span<const LineFormat> line_formats() { return kFormats; }

bool is_tag(std::string_view text) {
  const std::string_view word = next_word(text);
  if (word == "kernel:") return true;
  if (word.size() < 4 || !word.ends_with("]:")) return false;
  const size_t open = word.rfind('[');
  return open != npos && open > 0 && open + 3 < word.size() &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(open) + 1, word.end() - 2,
                     is_digit);
}

LineHeader read_line_header(std::string_view line) {
  std::optional<LineHeader> header = match_rows(line);
  if (!header) header = search_time(line);
  if (!header) header = FormatMatch("{device} {tag}", line).run();  // CloudWatch's messages
  if (!header) return {};
  read_nested(line, *header, 0);
  return *header;
}

}  // namespace mrclab::lab
