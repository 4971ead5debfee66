#pragma once
// A log's lines about links: CSV (time, port, up | down | errors, rate), or syslog lines as
// switches and hosts write them. Hostile until read: bounded, and errors name the line.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/import/log_time.h"

namespace mrclab::lab {

inline constexpr size_t kMaxLogBytes = size_t{64} << 20;
inline constexpr size_t kMaxLinkEvents = 100'000;

enum class LinkEventKind : uint8_t { kUp, kDown, kErrors };

/// What one line reports about one port.
struct LinkEvent {
  LogTime time;
  LinkEventKind kind = LinkEventKind::kDown;
  std::string port;  ///< as the log has it: "leaf-07 Ethernet1/3", "eth0" if it names no device
  /// For errors, as written: "2%" of frames, "1e-6" of bits, "0" for their end; empty if the log
  /// has none.
  std::string rate;
  size_t line = 0;  ///< from 1
};

struct LinkLog {
  std::vector<LinkEvent> events;    ///< in the order of the file, with years
  size_t lines = 0;                 ///< not counting empty ones
  std::vector<size_t> other_lines;  ///< lines of a syslog that are not about a link
};

enum class LogFormat : uint8_t { kAuto, kCsv, kSyslog };

/// Throws InputError: "file:line: found ...: expected ...". `file` is its name in errors.
LinkLog read_link_log(std::string_view text, const std::string& file, LogFormat format);
LinkLog read_link_log_file(const std::filesystem::path& path, LogFormat format);

/// The state that the text of one syslog message reports for an interface; empty if it is about something else.
struct SyslogWord {
  LinkEventKind kind = LinkEventKind::kDown;
  std::string_view interface;  ///< a part of `message`
};
std::optional<SyslogWord> read_syslog_message(std::string_view message);

}  // namespace mrclab::lab
