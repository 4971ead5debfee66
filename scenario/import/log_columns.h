#pragma once
// Link events out of named columns, whatever a table or a record of JSON calls them: time, device, port, state, rate, or
// a message of syslog in place of port and state.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "scenario/import/link_event.h"

namespace mrclab::lab {

enum class LogColumn : uint8_t { kTime, kDevice, kPort, kEvent, kRate, kMessage };
inline constexpr size_t kLogColumns = 6;

/// The column of that name, in any letters and with any marks between its words: "Interface Name", "_HOSTNAME",
/// "@timestamp". `rank`: of two names for one column the smaller is meant.
struct NamedColumn {
  LogColumn column;
  size_t rank;
};
std::optional<NamedColumn> column_named(std::string_view name);

/// What one record says: an event, nothing about a link, or the reason why it cannot be read.
struct NoLinkEvent {};
struct UnreadReason {
  std::string text;
};
using ColumnResult = std::variant<LinkEvent, NoLinkEvent, UnreadReason>;

/// `field` gives the text of a column; empty: it has none.
ColumnResult read_columns(const std::function<std::string(LogColumn)>& field);

/// "down", "Link Up", "lowerLayerDown", "1": up or down, errors or their end; empty for any other word.
enum class ColumnState : uint8_t { kUp, kDown, kErrors, kClear };
std::optional<ColumnState> read_state(std::string_view text);

}  // namespace mrclab::lab
