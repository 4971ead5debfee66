#include "scenario/import/log_columns.h"

#include <algorithm>
#include <array>

#include "fabric/base/units.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "scenario/import/line_event.h"
#include "scenario/import/text_scanner.h"

namespace mrclab::lab {
namespace {

/// Small letters and digits alone.
std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) word += to_lower(c);
  }
  return word;
}

struct ColumnName {
  std::string_view name;
  LogColumn column;
};
// journald's fields, Elastic's (ECS), Splunk's, Loki's, CloudWatch's, Docker's, IF-MIB's, and what people call them.
constexpr std::array kNames{
    ColumnName{"sourcerealtimetimestamp", LogColumn::kTime},
    ColumnName{"realtimetimestamp", LogColumn::kTime},
    ColumnName{"time", LogColumn::kTime},
    ColumnName{"timestamp", LogColumn::kTime},
    ColumnName{"datetime", LogColumn::kTime},
    ColumnName{"timestamputc", LogColumn::kTime},
    ColumnName{"timeutc", LogColumn::kTime},
    ColumnName{"eventtime", LogColumn::kTime},
    ColumnName{"timecreated", LogColumn::kTime},
    ColumnName{"occurred", LogColumn::kTime},
    ColumnName{"occurredtime", LogColumn::kTime},
    ColumnName{"firstoccurrence", LogColumn::kTime},
    ColumnName{"receivedat", LogColumn::kTime},
    ColumnName{"createdat", LogColumn::kTime},
    ColumnName{"logtime", LogColumn::kTime},
    ColumnName{"when", LogColumn::kTime},
    ColumnName{"epoch", LogColumn::kTime},
    ColumnName{"ts", LogColumn::kTime},
    ColumnName{"t", LogColumn::kTime},
    ColumnName{"seconds", LogColumn::kTime},
    ColumnName{"date", LogColumn::kTime},
    ColumnName{"device", LogColumn::kDevice},
    ColumnName{"hostname", LogColumn::kDevice},
    ColumnName{"host", LogColumn::kDevice},
    ColumnName{"devicename", LogColumn::kDevice},
    ColumnName{"switch", LogColumn::kDevice},
    ColumnName{"switchname", LogColumn::kDevice},
    ColumnName{"node", LogColumn::kDevice},
    ColumnName{"nodename", LogColumn::kDevice},
    ColumnName{"sysname", LogColumn::kDevice},
    ColumnName{"router", LogColumn::kDevice},
    ColumnName{"element", LogColumn::kDevice},
    ColumnName{"networkelement", LogColumn::kDevice},
    ColumnName{"ne", LogColumn::kDevice},
    ColumnName{"nename", LogColumn::kDevice},
    ColumnName{"devname", LogColumn::kDevice},
    ColumnName{"fromhost", LogColumn::kDevice},
    ColumnName{"computer", LogColumn::kDevice},
    ColumnName{"server", LogColumn::kDevice},
    ColumnName{"agent", LogColumn::kDevice},
    ColumnName{"source", LogColumn::kDevice},
    ColumnName{"system", LogColumn::kDevice},
    ColumnName{"port", LogColumn::kPort},
    ColumnName{"interface", LogColumn::kPort},
    ColumnName{"interfacename", LogColumn::kPort},
    ColumnName{"ifname", LogColumn::kPort},
    ColumnName{"portname", LogColumn::kPort},
    ColumnName{"ifdescr", LogColumn::kPort},
    ColumnName{"intf", LogColumn::kPort},
    ColumnName{"iface", LogColumn::kPort},
    ColumnName{"nic", LogColumn::kPort},
    ColumnName{"netdev", LogColumn::kPort},
    ColumnName{"link", LogColumn::kPort},
    ColumnName{"linkname", LogColumn::kPort},
    ColumnName{"event", LogColumn::kEvent},
    ColumnName{"state", LogColumn::kEvent},
    ColumnName{"linkstatus", LogColumn::kEvent},
    ColumnName{"linkstate", LogColumn::kEvent},
    ColumnName{"operstatus", LogColumn::kEvent},
    ColumnName{"operstate", LogColumn::kEvent},
    ColumnName{"ifoperstatus", LogColumn::kEvent},
    ColumnName{"operationalstatus", LogColumn::kEvent},
    ColumnName{"operationalstate", LogColumn::kEvent},
    ColumnName{"portstatus", LogColumn::kEvent},
    ColumnName{"portstate", LogColumn::kEvent},
    ColumnName{"interfacestatus", LogColumn::kEvent},
    ColumnName{"interfacestate", LogColumn::kEvent},
    ColumnName{"newstate", LogColumn::kEvent},
    ColumnName{"newstatus", LogColumn::kEvent},
    ColumnName{"carrier", LogColumn::kEvent},
    ColumnName{"status", LogColumn::kEvent},
    ColumnName{"eventtype", LogColumn::kEvent},
    ColumnName{"action", LogColumn::kEvent},
    ColumnName{"rate", LogColumn::kRate},
    ColumnName{"errorrate", LogColumn::kRate},
    ColumnName{"loss", LogColumn::kRate},
    ColumnName{"ber", LogColumn::kRate},
    ColumnName{"message", LogColumn::kMessage},
    ColumnName{"msg", LogColumn::kMessage},
    ColumnName{"raw", LogColumn::kMessage},
    ColumnName{"log", LogColumn::kMessage},
    ColumnName{"eventoriginal", LogColumn::kMessage},
    ColumnName{"shortmessage", LogColumn::kMessage},
    ColumnName{"fullmessage", LogColumn::kMessage},
    ColumnName{"text", LogColumn::kMessage},
    ColumnName{"line", LogColumn::kMessage},
    ColumnName{"content", LogColumn::kMessage},
    ColumnName{"body", LogColumn::kMessage},
    ColumnName{"description", LogColumn::kMessage},
    ColumnName{"logline", LogColumn::kMessage},
};

constexpr uint64_t kMaxErrorRate = BitErrorRate::kOne / 1000;  // bound of the fault bit_errors

/// Why the rate cannot be read: "2%" of frames, "1e-6" of bits, "0" for none any more, or empty.
std::optional<std::string> bad_rate(const std::string& rate) {
  if (rate.empty() || rate == "0") return std::nullopt;
  try {
    const YamlValue value = read_yaml_text(in_quotes(rate), "rate");
    if (rate.back() == '%' && value.as_probability().ppb > 0) return std::nullopt;
    const bool bits = rate.find('e') != std::string::npos && is_digit(rate.front());
    if (bits && value.as_error_rate().per_quadrillion <= kMaxErrorRate) return std::nullopt;
  } catch (const InputError&) {
  }
  return "found " + in_quotes(rate) +
         ": expected \"2%\" of frames, or \"1e-6\" of bits (at most 1e-3)";
}

ColumnResult unread(const std::string& found, const std::string& expected) {
  return UnreadReason{"found " + found + ": expected " + expected};
}

/// Time, device and message, where the message is a line of syslog with or without its header.
ColumnResult read_message(const std::string& when, const std::string& device,
                          const std::string& text) {
  const std::optional<LogTime> time = read_time_column(when);
  LineEvent line = read_line_event(text);
  if (!line.message) {
    if (!looks_like_link_message(text)) return NoLinkEvent{};
    return UnreadReason{"words about a link that are not known: " + in_quotes(text.substr(0, 100))};
  }
  LinkEvent event;
  if (time) {
    event.time = *time;
  } else if (when.empty() && line.header.clock == LineClock::kTime) {
    event.time = line.header.time;
  } else {
    return unread(in_quotes(when), "a time such as 2024-03-12T10:11:12Z or 1732785010123");
  }
  event.kind = line.message->kind;
  event.port = visible(port_name(device.empty() ? std::string(line.header.device) : device,
                                 line.message->interface));
  return event;
}

}  // namespace

std::optional<NamedColumn> column_named(std::string_view name) {
  const std::string word = plain_word(name);
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const ColumnName& each) { return each.name == word; });
  if (found == kNames.end()) return std::nullopt;
  return NamedColumn{found->column, static_cast<size_t>(found - kNames.begin())};
}

std::optional<ColumnState> read_state(std::string_view text) {
  struct StateWord {
    std::string_view word;
    ColumnState state;
  };
  // IF-MIB (RFC 2863) numbers and names of ifOperStatus, and what else a link's state is called.
  constexpr std::array kWords{
      StateWord{"down", ColumnState::kDown},       StateWord{"up", ColumnState::kUp},
      StateWord{"errors", ColumnState::kErrors},   StateWord{"error", ColumnState::kErrors},
      StateWord{"clear", ColumnState::kClear},     StateWord{"cleared", ColumnState::kClear},
      StateWord{"0", ColumnState::kDown},          StateWord{"1", ColumnState::kUp},
      StateWord{"2", ColumnState::kDown},          StateWord{"6", ColumnState::kDown},
      StateWord{"7", ColumnState::kDown},          StateWord{"false", ColumnState::kDown},
      StateWord{"true", ColumnState::kUp},         StateWord{"off", ColumnState::kDown},
      StateWord{"on", ColumnState::kUp},           StateWord{"offline", ColumnState::kDown},
      StateWord{"online", ColumnState::kUp},       StateWord{"disconnected", ColumnState::kDown},
      StateWord{"connected", ColumnState::kUp},    StateWord{"notconnected", ColumnState::kDown},
      StateWord{"notconnect", ColumnState::kDown}, StateWord{"inactive", ColumnState::kDown},
      StateWord{"active", ColumnState::kUp},       StateWord{"lowerlayerdown", ColumnState::kDown},
      StateWord{"notpresent", ColumnState::kDown}, StateWord{"nocarrier", ColumnState::kDown},
      StateWord{"carrier", ColumnState::kUp},      StateWord{"failed", ColumnState::kDown},
      StateWord{"lost", ColumnState::kDown},       StateWord{"down2", ColumnState::kDown},
      StateWord{"up1", ColumnState::kUp},
  };
  // Words that may stand around it: "Link Down", "ifOperStatus changed from up to down", "PORT_DOWN".
  constexpr std::array<std::string_view, 20> kAround{
      "link",  "port",   "interface", "oper", "operational", "operstatus", "ifoperstatus",
      "state", "status", "changed",   "to",   "from",        "is",         "went",
      "gone",  "has",    "admin",     "if",   "carrier",     "physical"};
  const auto state_of = [&](const std::string& word) -> std::optional<ColumnState> {
    for (const StateWord& each : kWords) {
      if (each.word == word) return each.state;
    }
    return std::nullopt;
  };
  if (const auto whole = state_of(plain_word(text))) return whole;
  for (const std::string_view prefix : {"link", "oper", "port", "admin", "if", "interface"}) {
    const std::string word = plain_word(text);
    if (!word.starts_with(prefix)) continue;
    if (const auto rest = state_of(word.substr(prefix.size()))) return rest;
  }
  std::optional<ColumnState> last;
  for (size_t at = 0; at < text.size();) {
    std::string word;
    while (at < text.size() && (is_letter(text[at]) || is_digit(text[at])))
      word += to_lower(text[at++]);
    ++at;
    if (word.empty()) continue;
    if (const auto state = state_of(word)) {
      last = state;
    } else if (std::find(kAround.begin(), kAround.end(), word) == kAround.end()) {
      return std::nullopt;
    }
  }
  return last;
}

ColumnResult read_columns(const std::function<std::string(LogColumn)>& field) {
  const std::string port = field(LogColumn::kPort), state = field(LogColumn::kEvent);
  const std::string message = field(LogColumn::kMessage), when = field(LogColumn::kTime);
  const std::string device = field(LogColumn::kDevice);
  if (!message.empty() && (port.empty() || state.empty() || !read_state(state))) {
    return read_message(when, device, message);
  }
  LinkEvent event;
  const auto time = read_time_column(when);
  if (!time) return unread(in_quotes(when), "a time such as 2024-03-12T10:11:12Z or 12.5");
  event.time = *time;
  event.port = visible(port_name(device, port));
  if (port.empty()) return unread("no port", "a port such as leaf-07 Ethernet1/3");
  event.rate = field(LogColumn::kRate);
  const auto what = read_state(state);
  if (!what) return unread(in_quotes(state), "up, down, errors or clear");
  if (*what == ColumnState::kUp || *what == ColumnState::kDown) {
    event.kind = *what == ColumnState::kUp ? LinkEventKind::kUp : LinkEventKind::kDown;
    if (!event.rate.empty())
      return unread("a rate beside " + in_quotes(state), "a rate of errors alone");
    return event;
  }
  event.kind = LinkEventKind::kErrors;
  if (*what == ColumnState::kClear) event.rate = "0";
  if (const auto reason = bad_rate(event.rate)) return UnreadReason{*reason};
  return event;
}

}  // namespace mrclab::lab
