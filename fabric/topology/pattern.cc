#include "fabric/topology/pattern.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "fabric/base/random.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {
namespace {

/// Something that can be named. Links and wires have two ends; a NIC is one of its node and of its rail.
struct Candidate {
  std::string first;
  std::string second;
  std::vector<std::string> groups = {};  ///< names that others have as well
};

/// All things of one kind, in id order, and how their two ends are joined in a name.
struct Population {
  std::string_view kind;    // "optic"
  std::string_view joint;   // "--", "->" or empty
  bool either_end = false;  // one end alone names the thing
  std::vector<Candidate> candidates;

  std::string full_name(const Candidate& c) const {
    return joint.empty() ? c.first : c.first + std::string(joint) + c.second;
  }
  bool has_joint(std::string_view text) const {
    return !joint.empty() && text.find(joint) != std::string_view::npos;
  }
  /// By which names a text with the joint or without it can mean the thing.
  void put_names(const Candidate& c, bool joined, std::vector<std::string>& names) const {
    if (joined || joint.empty()) {
      names.push_back(full_name(c));
      names.insert(names.end(), c.groups.begin(), c.groups.end());
      if (either_end) names.push_back(c.second + std::string(joint) + c.first);
    } else if (either_end) {
      names.push_back(c.first);
      names.push_back(c.second);
    }
  }
  /// The existing name that the text was probably meant to be; the first of all for a pattern.
  std::string suggestion(std::string_view text) const {
    std::vector<std::string> names;
    for (const Candidate& c : candidates) {
      if (!joint.empty() && c.first == text) return full_name(c);
      if (!either_end || has_joint(text)) {
        names.push_back(full_name(c));
      } else {
        names.push_back(c.first);
        names.push_back(c.second);
      }
    }
    const std::string near = nearest_name(text, names);
    return near.empty() && !names.empty() ? names.front() : near;
  }
};

/// Resolves text against one population. Collects indices of candidates.
class Selection {
 public:
  Selection(const Population& population, std::function<uint64_t()> next_draw)
      : population_(population), next_draw_(std::move(next_draw)) {}

  std::vector<uint32_t> resolve(std::string_view text) {
    if (text.size() > NameResolver::kMaxTextBytes) {
      throw NameError(in_quotes(text), "at most 4096 characters");
    }
    std::vector<uint32_t> result;
    for (const std::string_view term : split_names(text)) {
      const std::vector<uint32_t> part =
          term.starts_with("random(") ? resolve_random(term) : resolve_term(term);
      result.insert(result.end(), part.begin(), part.end());
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

 private:
  std::vector<uint32_t> resolve_term(std::string_view term) const {
    const auto things = static_cast<uint32_t>(population_.candidates.size());
    std::vector<uint32_t> result;
    if (term == "all" && things > 0) {
      result.resize(things);
      std::iota(result.begin(), result.end(), 0u);
      return result;
    }
    const bool joined = population_.has_joint(term);
    const NamesAt names_at = [&](uint32_t place, std::vector<std::string>& names) {
      population_.put_names(population_.candidates[place], joined, names);
    };
    NamesFound found = find_named(term, things, names_at, population_.joint);
    if (found.malformed) throw NameError(found.malformed->found, found.malformed->expected);
    if (found.missing_count > 0) fail_no_match(term, found);
    return std::move(found.places);
  }

  [[noreturn]] void fail_no_match(std::string_view term, const NamesFound& found) const {
    const size_t arrow = term.find("->");
    if (found.places.empty() && population_.kind == "link" && arrow != std::string_view::npos) {
      const std::string both = std::string(term).replace(arrow, 2, "--");
      throw NameError(in_quotes(term) + ", which is one direction of a link",
                      "the link, " + in_quotes(both) +
                          ", or where a fault may hit one direction the key \"wire\"");
    }
    const std::string near = population_.suggestion(term);
    const auto mistake =
        mistake_in(found, term, population_.kind,
                   near.empty() ? "a fabric that has one" : "a name such as " + in_quotes(near));
    throw NameError(mistake->found, mistake->expected);
  }

  /// "random(3, p*.t0-*:u*)": three of those, each at most once.
  std::vector<uint32_t> resolve_random(std::string_view term) {
    const std::string form = "random(<count>, <names>), for instance random(3, p*.t0-*:u*)";
    const size_t open = term.find('(');
    const size_t comma = term.find(',');
    if (term.back() != ')' || comma == std::string_view::npos) {
      throw NameError(in_quotes(term), form);
    }
    const std::string_view number = without_blanks(term.substr(open + 1, comma - open - 1));
    uint32_t count = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), count);
    if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size() || count == 0) {
      throw NameError(in_quotes(term), form);
    }
    std::vector<uint32_t> pool;
    for (const std::string_view part :
         split_names(term.substr(comma + 1, term.size() - comma - 2))) {
      const std::vector<uint32_t> found = resolve_term(part);
      pool.insert(pool.end(), found.begin(), found.end());
    }
    std::sort(pool.begin(), pool.end());
    pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
    if (count > pool.size()) {
      throw NameError(in_quotes(term), "a count of at most " + std::to_string(pool.size()) +
                                           ": no more than that match");
    }
    for (uint32_t i = 0; i < count; ++i) {  // the start of a Fisher-Yates shuffle
      std::swap(pool[i], pool[i + below(next_draw_(), pool.size() - i)]);
    }
    pool.resize(count);
    return pool;
  }

  const Population& population_;
  std::function<uint64_t()> next_draw_;
};

Population node_population(const Topology& topology, std::string_view kind, bool hosts,
                           bool switches, std::vector<NodeId>& ids) {
  Population result{kind, "", false, {}};
  for (const NodeSite& site : topology.nodes) {
    if (!(site.role == NodeRole::kHost ? hosts : switches)) continue;
    result.candidates.push_back({site.name, ""});
    ids.push_back(site.id);
    if (site.role != NodeRole::kHost || topology.nics_per_node == 1) continue;
    const Topology::NicPlace at = topology.nic_place(site.index);
    result.candidates.back().groups = {node_name(at.node), rail_name(at.rail)};
  }
  return result;
}

Population port_population(const Topology& topology, std::vector<PortRef>& ids) {
  Population result{"port", "", false, {}};
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      ids.push_back({site.id, PortId{i}});
      result.candidates.push_back({topology.port_name(ids.back()), ""});
    }
  }
  return result;
}

Population link_population(const Topology& topology, std::vector<LinkId>& ids) {
  Population result{"link", "--", true, {}};
  for (const Link& link : topology.links) {
    ids.push_back(link.id);
    result.candidates.push_back({topology.port_name(link.a), topology.port_name(link.b)});
  }
  return result;
}

Population wire_population(const Topology& topology, std::vector<WireId>& ids) {
  Population result{"wire", "->", false, {}};
  for (const Wire& wire : topology.all_wires()) {
    ids.push_back(wire.id);
    result.candidates.push_back({topology.port_name(wire.from), topology.port_name(wire.to)});
  }
  return result;
}

Population optic_population(const Topology& topology, std::vector<OpticId>& ids) {
  Population result{"optic", "", false, {}};
  for (const Optic& optic : topology.optics) {
    ids.push_back(optic.id);
    result.candidates.push_back({optic.name, ""});
  }
  return result;
}

Population plane_population(const Topology& topology, std::vector<uint32_t>& ids) {
  Population result{"plane", "", false, {}};
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    ids.push_back(plane);
    result.candidates.push_back({"p" + std::to_string(plane), ""});
  }
  return result;
}

Population line_card_population(const Topology& topology, std::vector<PortRef>& ids) {
  Population result{"line card", "", false, {}};
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    for (uint32_t i = 0; i < site.ports.size(); i += topology.line_card_ports) {
      ids.push_back({site.id, PortId{i}});
      result.candidates.push_back({topology.line_card_name(ids.back()), ""});
    }
  }
  return result;
}

Population power_zone_population(const Topology& topology, std::vector<uint32_t>& ids) {
  Population result{"power zone", "", false, {}};
  for (const PowerZone& zone : topology.power_zones) {
    ids.push_back(static_cast<uint32_t>(ids.size()));
    result.candidates.push_back({zone.name, ""});
  }
  return result;
}

/// A scalar, or each scalar of a list, resolved by `resolve`, with errors where the text stands.
template <class Resolve>
auto resolve_value(const YamlValue& value, Resolve resolve) {
  const std::vector<YamlValue> parts =
      value.is_list() ? value.items() : std::vector<YamlValue>{value};
  decltype(resolve(std::string())) result;
  for (const YamlValue& part : parts) {
    try {
      const auto found = resolve(part.as_string());
      result.insert(result.end(), found.begin(), found.end());
    } catch (const NameError& error) {
      part.fail(error.found(), error.expected());
    }
  }
  if (result.empty()) value.fail("an empty list", "at least one name");
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

template <class Id>
std::vector<Id> pick(const std::vector<uint32_t>& indices, const std::vector<Id>& ids) {
  std::vector<Id> result;
  result.reserve(indices.size());
  for (const uint32_t i : indices) result.push_back(ids[i]);
  return result;
}

}  // namespace

NameError::NameError(std::string what_found, std::string what_expected)
    : InputError("found " + what_found + ": expected " + what_expected),
      found_(std::move(what_found)),
      expected_(std::move(what_expected)) {}

uint64_t NameResolver::next_draw() {
  return draw(seed_, NodeId{}, PortId{}, DrawPurpose::kFault, draws_++);
}

template <class Id, class MakePopulation>
std::vector<Id> NameResolver::select(std::string_view text, MakePopulation make_population) {
  std::vector<Id> ids;
  const Population population = make_population(ids);
  Selection selection(population, [this] { return next_draw(); });
  return pick(selection.resolve(text), ids);
}

std::vector<NodeId> NameResolver::nodes(std::string_view text) {
  return select<NodeId>(
      text, [&](auto& ids) { return node_population(topology_, "node", true, true, ids); });
}

std::vector<NodeId> NameResolver::hosts(std::string_view text) {
  return select<NodeId>(
      text, [&](auto& ids) { return node_population(topology_, "host", true, false, ids); });
}

std::vector<NodeId> NameResolver::switches(std::string_view text) {
  return select<NodeId>(
      text, [&](auto& ids) { return node_population(topology_, "switch", false, true, ids); });
}

std::vector<PortRef> NameResolver::ports(std::string_view text) {
  return select<PortRef>(text, [&](auto& ids) { return port_population(topology_, ids); });
}

std::vector<LinkId> NameResolver::links(std::string_view text) {
  return select<LinkId>(text, [&](auto& ids) { return link_population(topology_, ids); });
}

std::vector<OpticId> NameResolver::optics(std::string_view text) {
  return select<OpticId>(text, [&](auto& ids) { return optic_population(topology_, ids); });
}

std::vector<WireId> NameResolver::wires(std::string_view text) {
  return select<WireId>(text, [&](auto& ids) { return wire_population(topology_, ids); });
}

std::vector<uint32_t> NameResolver::planes(std::string_view text) {
  return select<uint32_t>(text, [&](auto& ids) { return plane_population(topology_, ids); });
}

std::vector<PortRef> NameResolver::line_cards(std::string_view text) {
  return select<PortRef>(text, [&](auto& ids) { return line_card_population(topology_, ids); });
}

std::vector<uint32_t> NameResolver::power_zones(std::string_view text) {
  return select<uint32_t>(text, [&](auto& ids) { return power_zone_population(topology_, ids); });
}

std::vector<NodeId> NameResolver::nodes(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return nodes(text); });
}
std::vector<NodeId> NameResolver::hosts(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return hosts(text); });
}
std::vector<NodeId> NameResolver::switches(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return switches(text); });
}
std::vector<PortRef> NameResolver::ports(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return ports(text); });
}
std::vector<LinkId> NameResolver::links(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return links(text); });
}
std::vector<OpticId> NameResolver::optics(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return optics(text); });
}
std::vector<WireId> NameResolver::wires(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return wires(text); });
}
std::vector<uint32_t> NameResolver::planes(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return planes(text); });
}
std::vector<PortRef> NameResolver::line_cards(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return line_cards(text); });
}
std::vector<uint32_t> NameResolver::power_zones(const YamlValue& value) {
  return resolve_value(value, [this](const std::string& text) { return power_zones(text); });
}

}  // namespace mrclab
