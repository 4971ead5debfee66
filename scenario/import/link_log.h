#pragma once
// A log's lines about links: a table, records of JSON, or lines of syslog as switches and hosts write them. Hostile
// until read: bounded; what cannot be read is left out and named.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/import/link_event.h"

namespace mrclab::lab {

inline constexpr size_t kMaxLogBytes = size_t{64} << 20;
inline constexpr size_t kMaxLinkEvents = 100'000;
inline constexpr size_t kMaxUnreadNamed = 100;

struct UnreadLine {
  size_t line = 0;  ///< from 1
  std::string reason;
};

struct LinkLog {
  std::vector<LinkEvent> events;   ///< in the order of the file, with years
  size_t lines = 0;                ///< not counting empty ones; records of JSON
  size_t other_lines = 0;          ///< those that are not about a link
  size_t unread_lines = 0;         ///< those that seem to be, and could not be read
  std::vector<UnreadLine> unread;  ///< the first of them
  std::vector<std::string> notes;  ///< sentences about the file
};

enum class LogFormat : uint8_t { kAuto, kCsv, kSyslog, kJson };

/// Throws InputError where no event can be read: "file:line: found ...: expected ...". `file` is its name in errors.
LinkLog read_link_log(std::string_view text, const std::string& file, LogFormat format);
LinkLog read_link_log_file(const std::filesystem::path& path, LogFormat format);

}  // namespace mrclab::lab
