#include "session/lesson_deed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fabric/text/enum_words.h"
#include "fabric/topology/pattern.h"

namespace mrclab::lab {
namespace {

using faults::Fault;
using faults::Targets;

constexpr auto kHowMany = words_by_value<Deed::On>(
    {{Deed::On::kSome, "some"}, {Deed::On::kOne, "one"}, {Deed::On::kAll, "all"}});

FabricTime time_or(const YamlValue& entry, const char* key, FabricTime otherwise) {
  const auto value = entry.get(key);
  return value ? value->as_time() : otherwise;
}

std::string status_of(const YamlValue& value) {
  if (!value.is_list()) return value.as_string();
  std::string text;
  for (const YamlValue& item : value.items()) text += (text.empty() ? "" : ", ") + item.as_string();
  return text;
}

/// "link_down of one of p*.t0-*:u*": the kind, what it is on, and its settings as the lesson has them.
std::string asked_fault(faults::FaultKind kind, const YamlValue& body, Deed::On on) {
  const faults::FaultInfo& info = faults::info(kind);
  const auto is_setting = [&](std::string_view key) {
    return std::any_of(info.parameters.begin(), info.parameters.end(),
                       [&](const auto& use) { return faults::info(use.parameter).name == key; });
  };
  std::string targets, settings;
  for (const auto& [key, value] : body.members()) {
    if (is_setting(key)) {
      settings += ", " + key + " " + status_of(value);
    } else {
      targets += (targets.empty() ? "" : " " + key + " ") + status_of(value);
    }
  }
  const char* const many = on == Deed::On::kOne   ? "one of "
                           : on == Deed::On::kAll ? "all of "
                                                  : "some of ";
  return std::string(info.name) + " of " + many + targets + settings;
}

std::string asked_times(const Deed& deed) {
  const bool from = deed.from > FabricTime::zero(), until = deed.until != FabricTime::never();
  std::string text;
  if (from || until) text += ", beginning";
  if (from) text += " from " + exact(deed.from);
  if (until) text += (from ? " to " : " by ") + exact(deed.until);
  if (deed.lasts == FabricTime::never()) {
    text += ", to the end";
  } else if (deed.lasts > FabricTime::zero()) {
    text += ", for " + exact(deed.lasts) + " or longer";
  }
  if (deed.over != FabricTime::never()) text += ", over by " + exact(deed.over);
  return text;
}

Deed parse_deed(const YamlValue& entry, NameResolver& names) {
  constexpr std::array<std::string_view, 5> kOwn{"on", "from", "until", "lasts", "over"};
  Deed deed;
  bool any = false;
  std::string kind_word;
  for (const auto& [key, body] : entry.members()) {
    if (std::find(kOwn.begin(), kOwn.end(), key) != kOwn.end()) continue;
    const auto kind = faults::find_fault(key);
    if (!kind || any)
      entry.fail_at_key(key, in_quotes(key), "one fault, on, from, until, lasts, over");
    deed.fault = faults::parse_partial_fault(*kind, body, names);
    kind_word = key;
    any = true;
  }
  if (!any) entry.fail("no fault", "the one that the task asks for");
  if (const auto on = entry.get("on"))
    deed.on = static_cast<Deed::On>(on->as_word({kHowMany.begin(), kHowMany.end()}));
  deed.from = time_or(entry, "from", deed.from);
  deed.until = time_or(entry, "until", deed.until);
  deed.over = time_or(entry, "over", deed.over);
  if (const auto lasts = entry.get("lasts")) {
    deed.lasts = lasts->as_string() == "end" ? FabricTime::never() : lasts->as_time();
  }
  deed.asked = asked_fault(deed.fault.kind, entry.require(kind_word), deed.on) + asked_times(deed);
  return deed;
}

template <class Id>
bool all_in(const std::vector<Id>& part, const std::vector<Id>& whole) {
  return std::all_of(part.begin(), part.end(), [&](const Id& id) {
    return std::find(whole.begin(), whole.end(), id) != whole.end();
  });
}

bool all_in(const Targets& part, const Targets& whole) {
  const bool toward = part.toward.empty() == whole.toward.empty();
  return toward && all_in(part.links, whole.links) && all_in(part.wires, whole.wires) &&
         all_in(part.optics, whole.optics) && all_in(part.ports, whole.ports) &&
         all_in(part.nodes, whole.nodes) && all_in(part.planes, whole.planes) &&
         all_in(part.zones, whole.zones) && all_in(part.evs, whole.evs) &&
         all_in(part.toward, whole.toward) && part.to == whole.to;
}

template <class Id>
void add(std::vector<Id>& to, const std::vector<Id>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add(Targets& to, const Targets& from) {
  add(to.links, from.links);
  add(to.wires, from.wires);
  add(to.optics, from.optics);
  add(to.ports, from.ports);
  add(to.nodes, from.nodes);
  add(to.planes, from.planes);
  add(to.zones, from.zones);
  add(to.evs, from.evs);
  add(to.toward, from.toward);
  to.to = from.to;
}

/// How many things are hit; the two directions of a link are one.
size_t count_of(const Targets& targets, const Topology& topology) {
  std::set<uint32_t> links;
  for (const WireId wire : targets.wires) links.insert(topology.wire(wire).link.value);
  return std::max({links.size(), targets.links.size(), targets.optics.size(), targets.ports.size(),
                   targets.nodes.size(), targets.planes.size(), targets.zones.size(),
                   targets.evs.size()});
}

/// What is missing in this fault of the deed's kind; empty if it is one that the task asks for.
std::string why_not(const Deed& deed, const Fault& fault, const Scenario& session) {
  if (!all_in(fault.targets, deed.fault.targets)) return "it is on something else";
  for (const faults::ParameterUse& use : faults::info(fault.kind).parameters) {
    const auto asked = deed.fault.settings.get(use.parameter);
    if (asked && fault.settings.get(use.parameter) != asked) {
      return fmt::format("its {} is another one", faults::info(use.parameter).name);
    }
  }
  if (fault.at < deed.from) return "it begins before " + exact(deed.from);
  if (fault.at > deed.until) return "it begins after " + exact(deed.until);
  Fault whole = fault;
  whole.healed = FabricTime::never();
  const FabricTime heals = faults::interval_of(fault, session.topology).last_heal;
  const bool by_itself = heals == faults::interval_of(whole, session.topology).last_heal;
  if (deed.lasts == FabricTime::never() ? heals < session.end : heals - fault.at < deed.lasts) {
    return "it ends too early";
  }
  if (!by_itself && !faults::info(fault.kind).takes(faults::Parameter::kFor)) {
    return "it was ended by hand before it had all happened";
  }
  return heals > deed.over && deed.over != FabricTime::never()
             ? "it has not ended by " + exact(deed.over)
             : "";
}

/// The faults of a session that do a deed, and why those of its kind that do not are none of them.
struct Done {
  std::vector<size_t> faults;  ///< places in the session's list
  std::string missing;         ///< empty: the deed is done
};

Done done_of(const Deed& deed, const Scenario& session) {
  Done done;
  Targets all;
  bool one = false;
  const std::string_view kind = faults::name_of(deed.fault);
  done.missing = fmt::format("no {} is among the faults of this session", kind);
  for (size_t i = 0; i < session.faults.size(); ++i) {
    const Fault& fault = session.faults[i];
    if (fault.kind != deed.fault.kind) continue;
    const std::string why = why_not(deed, fault, session);
    if (!why.empty()) {
      done.missing = describe(fault, session.topology) + ": " + why;
      continue;
    }
    done.faults.push_back(i);
    add(all, fault.targets);
    one = one || count_of(fault.targets, session.topology) == 1;
  }
  if (done.faults.empty()) return done;
  done.missing.clear();
  const std::string last = describe(session.faults[done.faults.back()], session.topology);
  if (deed.on == Deed::On::kAll && !all_in(deed.fault.targets, all)) {
    done.missing = last + ": it is not on all that the task names";
  }
  if (deed.on == Deed::On::kOne && !one) done.missing = last + ": it is on more than one";
  return done;
}

FabricTime first_start(const Done& done, const Scenario& session) {
  FabricTime first = FabricTime::never();
  for (const size_t i : done.faults) first = std::min(first, session.faults[i].at);
  return first;
}

}  // namespace

std::vector<Deed> parse_deeds(const std::string& text, const Scenario& scenario) {
  std::vector<Deed> deeds;
  if (text.empty()) return deeds;
  NameResolver names(scenario.topology, scenario.seed);
  for (const YamlValue& entry :
       read_yaml_text(text, "deed").with_rtt(scenario.topology.base_rtt).items()) {
    deeds.push_back(parse_deed(entry, names));
  }
  return deeds;
}

std::string missing_deed(const std::vector<Deed>& deeds, const Scenario& session) {
  std::set<size_t> asked;
  FabricTime first = FabricTime::never(), before = FabricTime::zero();
  for (const Deed& deed : deeds) {
    const Done done = done_of(deed, session);
    if (!done.missing.empty()) return done.missing;
    const FabricTime start = first_start(done, session);
    if (start < before) {
      return fmt::format("{} begins before what has to be there first",
                         faults::name_of(deed.fault));
    }
    before = start;
    first = std::min(first, start);
    asked.insert(done.faults.begin(), done.faults.end());
  }
  for (size_t i = 0; i < session.faults.size(); ++i) {
    if (asked.contains(i)) continue;
    const Fault& other = session.faults[i];
    if (deeds.empty())
      return describe(other, session.topology) + ": this is to be seen without a fault";
    if (faults::interval_of(other, session.topology).last_heal > first) {
      return describe(other, session.topology) +
             ": it is not over when what the task asks for begins";
    }
  }
  return "";
}

std::vector<DeedSeen> seen_deeds(const std::vector<Deed>& deeds, const Scenario& session) {
  constexpr size_t kNamed = 3;
  std::vector<DeedSeen> seen;
  for (const Deed& deed : deeds) {
    const Done done = done_of(deed, session);
    DeedSeen& one = seen.emplace_back(DeedSeen{deed.asked, done.missing.empty(), done.missing});
    for (size_t i = 0; one.done && i < done.faults.size(); ++i) {
      if (i == kNamed) {
        one.found += fmt::format("; and {} more", done.faults.size() - kNamed);
        break;
      }
      one.found +=
          (i == 0 ? "" : "; ") + describe(session.faults[done.faults[i]], session.topology);
    }
  }
  if (deeds.empty()) {
    const bool none = session.faults.empty();
    seen.push_back({"no fault", none,
                    none
                        ? "no fault"
                        : "the session has " + describe(session.faults.front(), session.topology)});
  }
  return seen;
}

}  // namespace mrclab::lab
