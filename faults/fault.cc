#include "faults/fault.h"

#include <algorithm>
#include <array>

#include "fabric/path_pattern.h"

namespace mrclab::faults {
namespace {

FabricTime read_duration(const YamlValue& value) {
  const FabricTime duration = value.as_time();
  if (duration == FabricTime::zero()) value.fail_expecting("a duration above 0");
  return duration;
}

FabricTime read_optional_duration(const YamlValue& fault) {
  const auto value = fault.get("for");
  return value ? read_duration(*value) : FabricTime::never();
}

FaultKind parse_link_down(const YamlValue& body, NameResolver& names) {
  body.only_keys({"link", "for"});
  return LinkDown{names.links(body.require("link")), read_optional_duration(body)};
}

/// Either `wire: "a->b"`, or `link:` with a direction: up is from the host towards the T1.
std::vector<WireId> parse_wires(const YamlValue& body, NameResolver& names) {
  const auto link = body.get("link");
  const auto wire = body.get("wire");
  if (wire && link) {
    body.fail_at_key("link", "a link and a wire", "one of them");
  }
  if (wire) {
    if (body.get("direction")) {
      body.fail_at_key("direction", "the direction of a wire", "none: a wire has its own");
    }
    return names.wires(*wire);
  }
  if (!link) body.fail("no \"wire\"", "\"wire: ...\", or \"link: ...\" with \"direction: up\"");
  const YamlValue direction = body.require("direction");
  const std::string word = direction.is_scalar() ? direction.as_string() : "";
  if (word != "up" && word != "down") {
    direction.fail_expecting("up (towards the T1) or down (towards the host)");
  }
  std::vector<WireId> wires;
  for (const LinkId id : names.links(*link)) {
    const Link& ends = names.topology().link(id);
    wires.push_back(word == "up" ? ends.a_to_b : ends.b_to_a);
  }
  return wires;
}

FaultKind parse_wire_loss(const YamlValue& body, NameResolver& names) {
  body.only_keys({"wire", "link", "direction", "loss", "carrier", "for"});
  WireLossFault fault;
  fault.wires = parse_wires(body, names);
  if (const auto carrier = body.get("carrier")) {
    const std::string word = carrier->is_scalar() ? carrier->as_string() : "";
    if (word != "keep" && word != "lost") carrier->fail_expecting("keep or lost");
    fault.carrier_lost = word == "lost";
  }
  const auto loss = body.get("loss");
  if (fault.carrier_lost) {
    fault.loss = {Probability::kOne};
    if (loss && loss->as_probability() != fault.loss) {
      loss->fail_expecting("100%, or no loss at all: nothing passes when the carrier is lost");
    }
  } else {
    fault.loss = body.require("loss").as_probability();
    if (fault.loss.ppb == 0) loss->fail_expecting("a loss above 0%");
  }
  fault.duration = read_optional_duration(body);
  return fault;
}

FaultKind parse_optic_glitch(const YamlValue& body, NameResolver& names) {
  body.only_keys({"optic", "down", "stagger"});
  OpticGlitch fault;
  fault.optics = names.optics(body.require("optic"));
  fault.down = read_duration(body.require("down"));
  if (const auto stagger = body.get("stagger")) fault.stagger = stagger->as_time();
  return fault;
}

FaultKind parse_denylist(const YamlValue& body, NameResolver& names) {
  body.only_keys({"host", "path", "toward", "for"});
  DenylistFault fault;
  fault.hosts = names.hosts(body.require("host"));
  for (const Path path : read_paths(body.require("path"), names.topology())) {
    fault.evs.push_back(ev_of(path));
  }
  if (const auto toward = body.get("toward")) fault.toward = names.hosts(*toward);
  fault.duration = read_optional_duration(body);
  return fault;
}

/// The words of fault files. A new kind needs a line here, its holds in holds.cc and its text.
struct Word {
  std::string_view name;
  FaultKind (*parse)(const YamlValue& body, NameResolver& names);
};
constexpr std::array kWords{Word{"link_down", parse_link_down}, Word{"wire_loss", parse_wire_loss},
                            Word{"optic_glitch", parse_optic_glitch},
                            Word{"denylist", parse_denylist}};

/// "a, b, c", cut after a few: a line for people.
template <class Ids, class NameOf>
std::string list_names(const Ids& ids, NameOf name_of_id, size_t at_most) {
  std::string text;
  for (size_t i = 0; i < ids.size() && i < at_most; ++i) {
    text += (i ? ", " : "") + name_of_id(ids[i]);
  }
  if (ids.size() > at_most) text += " and " + std::to_string(ids.size() - at_most) + " more";
  return text;
}

constexpr size_t kNamesInDescription = 4;

std::string path_name(EntropyValue ev) { return to_string(path_of(ev).value_or(Path{})); }

std::string for_how_long(FabricTime duration) {
  return duration == FabricTime::never() ? ", not healed" : " for " + exact(duration);
}

template <class Ids, class NameOf>
std::string yaml_list(const Ids& ids, NameOf name_of_id) {
  std::string text = "[";
  for (size_t i = 0; i < ids.size(); ++i) {
    text += (i ? ", \"" : "\"") + name_of_id(ids[i]) + "\"";
  }
  return text + "]";
}

std::string yaml_for(FabricTime duration) {
  return duration == FabricTime::never() ? "" : ", for: " + exact(duration);
}

}  // namespace

std::string_view name_of(const Fault& fault) { return kWords.at(fault.kind.index()).name; }

std::string describe(const Fault& fault, const Topology& topology) {
  const std::string head = std::string(name_of(fault)) + " ";
  const std::string at = " at " + exact(fault.at);
  if (const auto* link = std::get_if<LinkDown>(&fault.kind)) {
    const auto name = [&](LinkId id) { return topology.link_name(id); };
    return head + list_names(link->links, name, kNamesInDescription) + at +
           for_how_long(link->duration);
  }
  if (const auto* wire = std::get_if<WireLossFault>(&fault.kind)) {
    const auto name = [&](WireId id) { return topology.wire_name(id); };
    return head + list_names(wire->wires, name, kNamesInDescription) + at +
           (wire->carrier_lost ? ", carrier lost" : ": " + exact(wire->loss) + " of frames") +
           for_how_long(wire->duration);
  }
  const auto node_name = [&](NodeId id) { return topology.node(id).name; };
  if (const auto* deny = std::get_if<DenylistFault>(&fault.kind)) {
    std::string text = head + list_names(deny->evs, path_name, kNamesInDescription) + " on " +
                       list_names(deny->hosts, node_name, kNamesInDescription);
    if (!deny->toward.empty()) {
      text += " toward " + list_names(deny->toward, node_name, kNamesInDescription);
    }
    return text + at + for_how_long(deny->duration);
  }
  const auto& glitch = std::get<OpticGlitch>(fault.kind);
  const auto name = [&](OpticId id) { return topology.optic(id).name; };
  return head + list_names(glitch.optics, name, kNamesInDescription) + at + ": down " +
         exact(glitch.down) + " each, " + exact(glitch.stagger) + " apart";
}

Fault parse_fault(const YamlValue& entry, NameResolver& names) {
  const auto members = entry.members();
  std::vector<std::string> words;
  words.reserve(kWords.size());
  for (const Word& word : kWords) words.emplace_back(word.name);
  const YamlValue at = entry.require("at");
  std::optional<Fault> result;
  for (const auto& [key, body] : members) {
    if (key == "at") continue;
    const auto word = std::find(words.begin(), words.end(), key);
    if (word == words.end()) {
      entry.fail_at_key(key, "the fault " + in_quotes(key), one_of(key, words));
    }
    if (result) entry.fail_at_key(key, "a second fault " + in_quotes(key), "one fault per entry");
    const Word& kind = kWords.at(static_cast<size_t>(word - words.begin()));
    result = Fault{at.as_time(), kind.parse(body, names)};
  }
  if (!result) entry.fail("no fault beside \"at\"", one_of("", words));
  if (holds_of(*result, names.topology()).size() > kMaxTargetsPerFault) {
    entry.fail("a fault with too many targets", "at most " + std::to_string(kMaxTargetsPerFault));
  }
  return *result;
}

std::vector<Fault> parse_faults(const YamlValue& list, NameResolver& names) {
  std::vector<Fault> faults;
  for (const YamlValue& entry : list.items()) {
    if (faults.size() >= kMaxFaults) {
      entry.fail("more faults", "at most " + std::to_string(kMaxFaults));
    }
    faults.push_back(parse_fault(entry, names));
  }
  return faults;
}

std::string to_yaml(const Fault& fault, const Topology& topology) {
  std::string text = "{at: " + exact(fault.at) + ", " + std::string(name_of(fault)) + ": {";
  if (const auto* link = std::get_if<LinkDown>(&fault.kind)) {
    text += "link: " + yaml_list(link->links, [&](LinkId id) { return topology.link_name(id); }) +
            yaml_for(link->duration);
  } else if (const auto* wire = std::get_if<WireLossFault>(&fault.kind)) {
    text += "wire: " + yaml_list(wire->wires, [&](WireId id) { return topology.wire_name(id); }) +
            ", loss: " + exact(wire->loss) +
            ", carrier: " + (wire->carrier_lost ? "lost" : "keep") + yaml_for(wire->duration);
  } else if (const auto* deny = std::get_if<DenylistFault>(&fault.kind)) {
    const auto name = [&](NodeId id) { return topology.node(id).name; };
    text += "host: " + yaml_list(deny->hosts, name) + ", path: " + yaml_list(deny->evs, path_name);
    if (!deny->toward.empty()) text += ", toward: " + yaml_list(deny->toward, name);
    text += yaml_for(deny->duration);
  } else {
    const auto& glitch = std::get<OpticGlitch>(fault.kind);
    text +=
        "optic: " + yaml_list(glitch.optics, [&](OpticId id) { return topology.optic(id).name; }) +
        ", down: " + exact(glitch.down) + ", stagger: " + exact(glitch.stagger);
  }
  return text + "}}";
}

}  // namespace mrclab::faults
