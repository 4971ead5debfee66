#include "live/translate/containerlab_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "live/translate/fabric_labels.h"
#include "live/translate/role_words.h"

namespace mrclab::lab {
namespace {

/// What a link leads to that is no node of the file, in the short form's first words (links/link.go).
constexpr std::array<std::string_view, 6> kOutsideWords{"host",  "mgmt-net",     "macvlan",
                                                        "vxlan", "vxlan-stitch", "dummy"};
/// Nodes that are a shared medium, or no container at all.
constexpr std::array<std::string_view, 4> kNoNodes{"bridge", "ovs-bridge", "host", "ext-container"};

template <size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Is a node called the management's, by its labels, group, icon or name, as out-of-band switches are?
bool is_management(const LabNode& node) {
  if (node.labels.contains(std::string(kRoleLabel))) return false;
  const auto says = [](const RoleWord* word) {
    return word != nullptr && word->role == LabRole::kManagement;
  };
  const bool labelled = std::any_of(node.labels.begin(), node.labels.end(), [&](const auto& label) {
    return label.second.is_scalar() && says(role_word(label.second.as_string()));
  });
  return labelled || says(role_word(node.group)) || says(role_word_in(node.name));
}

bool is_plain(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [more](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

bool is_node_name(std::string_view name) {
  return is_plain(name, "-._|") && is_plain(name.substr(0, 1), "");
}

/// A map below `parent`; empty if there is none, or nothing in it.
std::optional<YamlValue> map_in(const std::optional<YamlValue>& parent, std::string_view key) {
  const auto found = parent && parent->is_map() ? parent->get(key) : std::nullopt;
  if (!found || !(found->is_map() || found->is_list() || found->is_scalar())) return std::nullopt;
  if (!found->is_map()) found->fail_expecting("a map");
  return found;
}

class LabReader {
 public:
  explicit LabReader(const YamlValue& document)
      : topology_(document.require("topology")),
        file_{document.require("name").as_string(), topology_.require("nodes"), {}, {}, {}, {}} {}

  ContainerlabFile read() {
    if (!file_.nodes_at.is_map()) file_.nodes_at.fail_expecting("a map of nodes");
    const auto defaults = map_in(topology_, "defaults");
    add_labels(defaults, file_.labels);
    for (const auto& [name, value] : file_.nodes_at.members()) read_node(name, value, defaults);
    if (const auto links = topology_.get("links")) {
      size_t number = 0;
      for (const YamlValue& link : links->items()) read_link(link, ++number);
    }
    return std::move(file_);
  }

 private:
  static void add_labels(const std::optional<YamlValue>& owner,
                         std::map<std::string, YamlValue>& labels) {
    const auto own = map_in(owner, "labels");
    if (!own) return;
    for (const auto& [label, value] : own->members()) labels.insert_or_assign(label, value);
  }

  void read_node(const std::string& name, const YamlValue& value,
                 const std::optional<YamlValue>& defaults) {
    if (!is_node_name(name)) {
      file_.nodes_at.fail_at_key(name, in_quotes(name),
                                 "a node's name: letters, digits, dashes, dots, underscores");
    }
    const std::optional<YamlValue> own = map_in(file_.nodes_at, name);
    if (value.is_list()) value.fail_expecting("a map");
    LabNode node;
    node.name = name;
    node.group = text_of("group", {own, defaults});
    const auto group = map_in(map_in(topology_, "groups"), node.group);
    node.kind = text_of("kind", {own, group, defaults});
    const auto kind = map_in(map_in(topology_, "kinds"), node.kind);
    node.image = text_of("image", {own, group, kind, defaults});
    for (const auto& layer : {defaults, kind, group, own}) add_labels(layer, node.labels);
    numbers_.emplace(name, file_.nodes.size());
    file_.nodes.push_back(std::move(node));
  }

  /// The text of the first of these keys.
  static std::string text_of(std::string_view key,
                             std::initializer_list<std::optional<YamlValue>> layers) {
    for (const auto& layer : layers) {
      if (!layer) continue;
      if (const auto found = layer->get(key); found && found->is_scalar()) {
        return found->as_string();
      }
    }
    return "";
  }

  void read_link(const YamlValue& link, size_t number) {
    if (!link.is_map()) link.fail_expecting("a link: endpoints: [\"a:eth1\", \"b:eth1\"]");
    const auto type = link.get("type");
    if (!type) return read_short(link, number);
    static const std::vector<std::string> kTypes{"veth",    "veth-stitch", "host",  "mgmt-net",
                                                 "macvlan", "dummy",       "vxlan", "vxlan-stitch"};
    const size_t which = type->as_word(kTypes);
    if (which >= 2) return leave_out(number, "of type " + kTypes[which]);
    const std::vector<YamlValue> ends = two_ends(link);
    const auto end_of = [&](const YamlValue& end) {
      if (end.is_scalar()) return short_end(end);
      if (!end.is_map()) end.fail_expecting("a map: {node: a, interface: eth1}");
      const YamlValue node = end.require("node"), interface = end.require("interface");
      return end_at(node, node.as_string(), interface.as_string());
    };
    const LabLink::End a = end_of(ends[0]), b = end_of(ends[1]);
    add_link(link, number, a, b, ends);
  }

  LabLink::End short_end(const YamlValue& end) {
    const std::string text = end.is_scalar() ? end.as_string() : "";
    const size_t colon = text.find(':');
    if (colon == std::string::npos) end.fail_expecting("a node and an interface: \"a:eth1\"");
    return end_at(end, text.substr(0, colon), text.substr(colon + 1));
  }

  /// endpoints: ["a:eth1", "b:eth1"]
  void read_short(const YamlValue& link, size_t number) {
    const std::vector<YamlValue> ends = two_ends(link);
    for (const YamlValue& end : ends) {
      const std::string text = end.is_scalar() ? end.as_string() : "";
      const std::string node = text.substr(0, text.find(':'));
      if (is_in(kOutsideWords, node) && !numbers_.contains(node)) {
        return leave_out(number, "to " + in_quotes(text));
      }
    }
    const LabLink::End a = short_end(ends[0]), b = short_end(ends[1]);
    add_link(link, number, a, b, ends);
  }

  static std::vector<YamlValue> two_ends(const YamlValue& link) {
    const YamlValue list = link.require("endpoints");
    std::vector<YamlValue> ends = list.items();
    if (ends.size() != 2) list.fail(std::to_string(ends.size()) + " endpoints", "two");
    return ends;
  }

  LabLink::End end_at(const YamlValue& at, const std::string& node, const std::string& interface) {
    if (!is_plain(interface, "-._/:")) {
      at.fail("the interface " + in_quotes(interface),
              "one interface, such as eth1: ranges and patterns are not read");
    }
    const auto number = numbers_.find(node);
    if (number == numbers_.end()) {
      std::vector<std::string> names;
      for (const LabNode& each : file_.nodes) names.push_back(each.name);
      at.fail("the node " + in_quotes(node), one_of(node, names));
    }
    return {number->second, interface};
  }

  void add_link(const YamlValue& link, size_t number, const LabLink::End& a, const LabLink::End& b,
                const std::vector<YamlValue>& ends) {
    for (const LabLink::End& end : {a, b}) {
      const LabNode& node = file_.nodes[end.node];
      const std::string reason = outside_reason(node);
      if (!reason.empty()) return leave_out(number, fmt::format("to {}, {}", node.name, reason));
    }
    if (a.node == b.node) {
      file_.left_out.push_back(
          fmt::format("link {}: it leads from {} to itself", number, file_.nodes[a.node].name));
      return;
    }
    for (size_t i = 0; i < 2; ++i) {
      const LabLink::End& end = i == 0 ? a : b;
      if (used_.emplace(end.node, end.interface).second) continue;
      ends[i].fail("a second link at " + file_.nodes[end.node].name + ":" + end.interface,
                   "an interface of its own for each link");
    }
    file_.links.push_back({a, b, link});
  }

  void leave_out(size_t number, const std::string& what) {
    file_.left_out.push_back(fmt::format("link {}, {}: it leaves the fabric", number, what));
  }

  YamlValue topology_;
  ContainerlabFile file_;
  std::map<std::string, size_t> numbers_;
  std::set<std::pair<size_t, std::string>> used_;
};

}  // namespace

std::string outside_reason(const LabNode& node) {
  if (is_in(kNoNodes, node.kind)) return "of kind " + node.kind;
  return is_management(node) ? "of the management network" : "";
}

ContainerlabFile read_containerlab(const YamlValue& document) {
  if (!document.is_map()) document.fail_expecting("a topology of containerlab: a map with a name");
  return LabReader(document).read();
}

}  // namespace mrclab::lab
