// The messages by which switches and hosts report that a link went down or up.

#include <algorithm>
#include <array>

#include "scenario/import/link_log.h"

namespace mrclab::lab {
namespace {

/// `before`, the interface's name, `after`: in small letters, '#' for a number. An empty `before`
/// means that the name stands first in its clause.
struct Sentence {
  std::string_view before;
  std::string_view after;
  LinkEventKind kind;
};
constexpr LinkEventKind kUp = LinkEventKind::kUp, kDown = LinkEventKind::kDown;

constexpr std::array kSentences{
    // Cisco IOS, Arista EOS: %LINEPROTO-5-UPDOWN and %LINK-3-UPDOWN.
    Sentence{"interface ", ", changed state to down", kDown},
    Sentence{"interface ", ", changed state to administratively down", kDown},
    Sentence{"interface ", ", changed state to up", kUp},
    // Cisco NX-OS: %ETHPORT-5-IF_DOWN_LINK_FAILURE, %ETHPORT-5-IF_UP. Others: "port 1/2 is down".
    Sentence{"interface ", " is down", kDown},
    Sentence{"interface ", " is up", kUp},
    Sentence{"port ", " is down", kDown},
    Sentence{"port ", " is up", kUp},
    Sentence{"port ", " link state down", kDown},
    Sentence{"port ", " link state up", kUp},
    // SONiC: orchagent's updatePortOperStatus; before it, syncd's.
    Sentence{"port ", " oper state set from up to down", kDown},
    Sentence{"port ", " oper state set from down to up", kUp},
    Sentence{"status down to host interface ", "", kDown},
    Sentence{"status up to host interface ", "", kUp},
    // FRR's zebra.
    Sentence{"intf ", "(#) has gone down", kDown},
    Sentence{"intf ", "(#) has come up", kUp},
    // The kernel's drivers, with and without a colon (Cumulus, hosts); mlx5_core, mlxsw_spectrum.
    Sentence{"", " link is down", kDown},
    Sentence{"", " link is up", kUp},
    Sentence{"", " nic link is down", kDown},
    Sentence{"", " nic link is up", kUp},
    Sentence{"", " link down", kDown},
    Sentence{"", " link up", kUp},
    // systemd-networkd, netifd.
    Sentence{"", " lost carrier", kDown},
    Sentence{"", " gained carrier", kUp},
    Sentence{"device '", "' link is down", kDown},
    Sentence{"device '", "' link is up", kUp},
    // Juniper: SNMP_TRAP_LINK_DOWN. Huawei: IF_STATE.
    Sentence{"ifoperstatus down(2), ifname ", "", kDown},
    Sentence{"ifoperstatus up(1), ifname ", "", kUp},
    Sentence{"interface ", " has turned into down state", kDown},
    Sentence{"interface ", " has turned into up state", kUp},
};

bool digit(char c) { return c >= '0' && c <= '9'; }
bool alphanumeric(char c) { return digit(c) || (c >= 'a' && c <= 'z'); }
bool in_name(char c) {
  return alphanumeric(c) || std::string_view("/.:_-").find(c) != std::string_view::npos;
}

/// Does `after` stand at `at`, with no word that goes on behind it?
bool stands_at(std::string_view text, size_t at, std::string_view after) {
  for (const char c : after) {
    if (c == '#') {
      const size_t first = at;
      while (at < text.size() && digit(text[at])) ++at;
      if (at == first) return false;
    } else if (at >= text.size() || text[at++] != c) {
      return false;
    }
  }
  return after.empty() || at >= text.size() || !alphanumeric(text[at]);
}

/// Every interface has a number; a word without one is the sentence's.
std::string_view name_or_nothing(std::string_view text, size_t from, size_t to) {
  while (to > from && (text[to - 1] == ':' || text[to - 1] == '.')) --to;
  const std::string_view name = text.substr(from, to - from);
  return std::any_of(name.begin(), name.end(), digit) ? name : std::string_view();
}

std::string_view find_name(std::string_view text, const Sentence& sentence) {
  const bool forward = !sentence.before.empty();
  const std::string_view anchor = forward ? sentence.before : sentence.after;
  for (size_t at = text.find(anchor); at != std::string_view::npos;
       at = text.find(anchor, at + 1)) {
    size_t from = at, to = at;
    if (forward) {
      from = to = at + anchor.size();
      while (to < text.size() && in_name(text[to])) ++to;
    } else {
      while (from > 0 && in_name(text[from - 1])) --from;
    }
    const std::string_view name = name_or_nothing(text, from, to);
    if (!name.empty() && stands_at(text, to, sentence.after)) return name;
  }
  return {};
}

}  // namespace

std::optional<SyslogWord> read_syslog_message(std::string_view message) {
  std::string text(message);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Sentence& sentence : kSentences) {
    const std::string_view name = find_name(text, sentence);
    if (name.empty()) continue;
    const auto offset = static_cast<size_t>(name.data() - text.data());
    return SyslogWord{sentence.kind, message.substr(offset, name.size())};
  }
  return std::nullopt;
}

}  // namespace mrclab::lab
