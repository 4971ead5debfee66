#include "live/translate/containerlab_import.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

#include "fabric/text/visible_text.h"
#include "fabric/text/yaml_write.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/keys/graph_file.h"
#include "live/translate/fabric_labels.h"
#include "live/translate/foreign_graph.h"
#include "live/translate/tool_names.h"

namespace mrclab::lab {
namespace {

constexpr const char* kTextName = "the imported fabric";

/// A fabric file, built line by line, with the value of the other file behind each line.
class FabricText {
 public:
  void add(const std::string& line, const YamlValue& from) {
    text_ += line + "\n";
    ++lines_;
    origins_.emplace(lines_, from);
  }
  void comment(const std::string& line) {
    text_ += line + "\n";
    ++lines_;
  }
  const std::string& text() const { return text_; }

  /// Reads the text as a fabric. An error points into the other file.
  FabricShape read() const {
    try {
      const FabricShape shape = parse_fabric(read_yaml_text(text_, kTextName));
      check_lookahead(build_topology(shape));
      return shape;
    } catch (const InputError& error) {
      refuse(error.what());
      throw;
    }
  }

 private:
  /// "the imported fabric:7:3: found ...: expected ..."
  void refuse(std::string_view what) const {
    const std::string_view name = kTextName;
    if (!what.starts_with(name)) return;
    const std::string_view rest = what.substr(name.size() + 1);
    uint32_t line = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), line);
    const size_t found = rest.find("found "), expected = rest.find(": expected ");
    const auto at = origins_.contains(line) ? origins_.find(line) : origins_.begin();
    if (at == origins_.end() || found == std::string_view::npos ||
        expected == std::string_view::npos || expected < found) {
      return;
    }
    constexpr size_t kFound = 6, kExpected = 11;
    at->second.fail(std::string(rest.substr(found + kFound, expected - found - kFound)),
                    std::string(rest.substr(expected + kExpected)));
  }

  std::string text_;
  uint32_t lines_ = 0;
  std::map<uint32_t, YamlValue> origins_;
};

/// Which node is which, where the names do not show it.
void add_origins(const ContainerlabFile& file, const ForeignFabric& fabric, FabricText& text) {
  std::vector<std::string> lines;
  for (const NodeOrigin& origin : fabric.origins) {
    const LabNode& node = file.nodes[origin.node];
    const auto label = node.labels.find(std::string(kNodeLabel));
    const bool same =
        origin.fabric_name == node.name ||
        (label != node.labels.end() && label->second.as_string() == origin.fabric_name);
    if (!same) lines.push_back(fmt::format("#   {}: {}", origin.fabric_name, node.name));
  }
  if (lines.empty()) return;
  text.comment("# Nodes here, and there:");
  for (const std::string& line : lines) text.comment(line);
}

void add_graph(const ContainerlabFile& file, const FabricShape& shape, FabricText& text) {
  const YamlValue& at = file.nodes_at;
  if (shape.graph.empty()) {
    text.add(fmt::format("planes: {}", shape.planes), at);
    text.add(fmt::format("t0: {}", shape.t0), at);
    text.add(fmt::format("t1: {}", shape.t1), at);
    text.add(fmt::format("hosts_per_t0: {}", shape.hosts_per_t0), at);
    if (shape.t2 == 0) return;
    text.add(fmt::format("pods: {}", shape.pods), at);
    text.add(fmt::format("t2: {}", shape.t2), at);
    if (shape.t2_links == T2Links::kMesh) text.add("t2_links: mesh", at);
    return;
  }
  const std::string lines = graph_keys().written_lines(shape.graph, "");
  for (size_t from = 0; from < lines.size();) {
    const size_t end = lines.find('\n', from);
    text.add(lines.substr(from, end - from), at);
    from = end + 1;
  }
}

/// Settings that our own export writes as labels of all nodes.
void add_settings(const ContainerlabFile& file, FabricText& text) {
  for (const auto& [label, value] : file.labels) {
    const std::string key = fabric_key(label);
    if (key.empty()) continue;
    const std::string said = value.as_string();
    if (said.find('\n') != std::string::npos) value.fail_expecting("a value on one line");
    try {
      read_yaml_text(said, kTextName);
    } catch (const InputError&) {
      value.fail_expecting("what a fabric's file may hold behind " + key + ":");
    }
    text.add(key + ": " + said, value);
  }
}

bool has_parallel_links(const GraphShape& graph) {
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const GraphShape::Link& link : graph.links) {
    if (!seen.insert(std::minmax(link.lower, link.upper)).second) return true;
  }
  return false;
}

}  // namespace

std::string containerlab_name(const YamlValue& document) {
  return document.is_map() ? document.require("name").as_string() : "";
}

ImportedFabric import_containerlab(const YamlValue& document, const std::string& name,
                                   std::string_view source, uint32_t hosts_per_leaf) {
  ContainerlabFile file = read_containerlab(document);
  if (hosts_per_leaf > 0) hang_hosts(file, hosts_per_leaf);
  const ForeignGraph graph = graph_of(file);
  const ForeignFabric fabric = fabric_of(file, graph);
  FabricText text;
  text.comment("# From the containerlab topology " + visible(file.name) + " (" + visible(source) +
               "). Rates and latencies without a label are the usual ones.");
  add_origins(file, fabric, text);
  text.add("name: " + yaml_word(name), document.require("name"));
  add_graph(file, fabric.shape, text);
  if (has_parallel_links(fabric.shape.graph) && !file.labels.contains("mrclab-segments")) {
    text.add("segments: adjacency", file.nodes_at);  // a carrier could not name one of such links
  }
  add_settings(file, text);
  ImportedFabric made{text.text(), text.read(), std::move(file.left_out), graph.decided};
  return made;
}

}  // namespace mrclab::lab
