// Hosts for topologies of switches alone.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "live/translate/fabric_labels.h"
#include "live/translate/foreign_graph.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kMostPerLeaf = 64;

/// By node: a number that those have in common which links connect.
std::vector<size_t> parts_of(const ContainerlabFile& file) {
  std::vector<size_t> part(file.nodes.size());
  std::iota(part.begin(), part.end(), size_t{0});
  const auto root = [&](size_t node) {
    while (part[node] != node) node = part[node] = part[part[node]];
    return node;
  };
  for (const LabLink& link : file.links) {
    const size_t a = root(link.a.node), b = root(link.b.node);
    part[std::max(a, b)] = std::min(a, b);
  }
  for (size_t i = 0; i < part.size(); ++i) part[i] = root(i);
  return part;
}

/// The lowest switches of each part, in the file's order.
std::vector<std::vector<size_t>> leaves_of(const ContainerlabFile& file,
                                           const std::vector<NodeStanding>& standings) {
  // A switch alone has no links, but is one by its kind, its image or its name.
  const auto counts = [&](size_t i) {
    const bool lone =
        file.links.empty() && !standings[i].why.empty() && outside_reason(file.nodes[i]).empty();
    return !standings[i].is_host && (standings[i].linked || lone);
  };
  int lowest = INT32_MAX;
  for (size_t i = 0; i < standings.size(); ++i) {
    if (counts(i)) lowest = std::min(lowest, standings[i].height);
  }
  const std::vector<size_t> parts = parts_of(file);
  std::map<size_t, std::vector<size_t>> by_part;
  for (size_t i = 0; i < standings.size(); ++i) {
    if (counts(i) && standings[i].height == lowest) by_part[parts[i]].push_back(i);
  }
  std::vector<std::vector<size_t>> leaves;
  for (auto& [part, nodes] : by_part) leaves.push_back(std::move(nodes));
  return leaves;
}

}  // namespace

void hang_hosts(ContainerlabFile& file, uint32_t per_leaf) {
  if (per_leaf > kMostPerLeaf) {
    throw InputError(
        fmt::format("--hosts-per-leaf: found {}: expected at most {}", per_leaf, kMostPerLeaf));
  }
  const std::vector<NodeStanding> standings = node_standings(file);
  for (size_t i = 0; i < standings.size(); ++i) {
    if (!standings[i].linked || !standings[i].is_host) continue;
    file.nodes_at.fail_at_key(file.nodes[i].name, "the host " + file.nodes[i].name,
                              "--hosts-per-leaf for a file without hosts");
  }
  const std::vector<std::vector<size_t>> planes = leaves_of(file, standings);
  if (planes.empty()) file.nodes_at.fail("no switch", "switches to hang hosts on");
  for (const std::vector<size_t>& plane : planes) {
    if (plane.size() == planes[0].size()) continue;
    file.nodes_at.fail(fmt::format("{} parts that no link connects, with {} and {} leaves",
                                   planes.size(), planes[0].size(), plane.size()),
                       "as many leaves in each, as planes have");
  }
  const YamlValue host = read_yaml_text("host", "--hosts-per-leaf");
  for (size_t row = 0; row < planes[0].size(); ++row) {
    for (uint32_t n = 1; n <= per_leaf; ++n) {
      LabNode node;
      node.name = fmt::format("added-{}-{}", file.nodes[planes[0][row]].name, n);
      node.added = true;
      node.labels.emplace(std::string(kRoleLabel), host);
      for (size_t plane = 0; plane < planes.size(); ++plane) {
        file.links.push_back({{file.nodes.size(), fmt::format("eth{}", plane + 1)},
                              {planes[plane][row], fmt::format("added{}", n)},
                              file.nodes_at});
      }
      file.nodes.push_back(std::move(node));
    }
  }
}

}  // namespace mrclab::lab
