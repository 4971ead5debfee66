#include "console/fabric_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

constexpr size_t kWidth = 78;  // A terminal has 80 columns; two stay empty.
constexpr size_t kGap = 2;     // least columns between two names

using Nodes = std::vector<NodeId>;

/// The rows of a plane, or of a whole listed fabric, from the top; hosts last.
struct Layers {
  std::vector<Nodes> rows;
};

/// The switches that a node is linked to, each once.
std::set<uint32_t> neighbours(const Topology& topology, NodeId id) {
  std::set<uint32_t> found;
  for (const Link& link : topology.links) {
    if (link.a.node == id) found.insert(link.b.node.value);
    if (link.b.node == id) found.insert(link.a.node.value);
  }
  return found;
}

/// `plane` counts only where switches belong to planes.
Layers layers_of(const Topology& topology, uint32_t plane) {
  std::map<NodeRole, Nodes, std::greater<>> by_role;  // T2s, T1s, T0s, hosts
  for (const NodeSite& node : topology.nodes) {
    const bool there =
        node.role == NodeRole::kHost || !topology.has_planes() || node.plane == plane;
    if (there) by_role[node.role].push_back(node.id);
  }
  Layers layers;
  for (auto& [role, row] : by_role) layers.rows.push_back(std::move(row));
  return layers;
}

/// Rates of the plane's links in the order of the links: what planes that are alike have in common.
std::vector<uint64_t> rates_of(const Topology& topology, uint32_t plane) {
  std::vector<uint64_t> rates;
  for (const Link& link : topology.links) {
    if (topology.node(link.b.node).plane == plane) rates.push_back(link.rate.bps);
  }
  return rates;
}

// ---- text ---------------------------------------------------------------------------------------

/// A name with the middle of its column; an empty one stands for what was left out.
struct Place {
  std::string name;
  size_t middle = 0;
  NodeId id{};
};

/// As many of a row as fit, the last of them the row's last.
std::vector<Place> placed(const Topology& topology, const Nodes& row) {
  size_t widest = 3;
  for (const NodeId id : row) widest = std::max(widest, topology.node(id).name.size());
  const size_t fit = std::max<size_t>(3, kWidth / (widest + kGap));
  std::vector<Place> places;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row.size() > fit && i >= fit - 2 && i + 1 < row.size()) {
      if (i == fit - 2) places.push_back({fmt::format("({})", row.size() - fit + 1), 0, {}});
      continue;
    }
    places.push_back({topology.node(row[i]).name, 0, row[i]});
  }
  const size_t column = kWidth / places.size();
  for (size_t i = 0; i < places.size(); ++i) places[i].middle = i * column + column / 2;
  return places;
}

void put(std::string& line, size_t at, std::string_view text) {
  if (line.size() < at + text.size()) line.resize(at + text.size(), ' ');
  line.replace(at, text.size(), text);
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string name_line(const std::vector<Place>& places) {
  std::string line;
  for (const Place& place : places) {
    const size_t half = place.name.size() / 2;
    put(line, place.middle > half ? place.middle - half : 0, place.name);
  }
  return trimmed(line);
}

/// One bar that all of them hang on: each of the upper is linked with each of the lower.
std::string bar_line(const std::vector<Place>& upper, const std::vector<Place>& lower) {
  size_t from = kWidth, to = 0;
  for (const auto* row : {&upper, &lower}) {
    for (const Place& place : *row) {
      from = std::min(from, place.middle);
      to = std::max(to, place.middle);
    }
  }
  std::string line(to + 1, ' ');
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(from), line.end(), '-');
  for (const auto* row : {&upper, &lower}) {
    for (const Place& place : *row) line[place.middle] = '+';
  }
  return trimmed(line);
}

/// Is each of the upper row linked with each of the lower?
bool is_complete(const Topology& topology, const Nodes& upper, const Nodes& lower) {
  return std::all_of(lower.begin(), lower.end(), [&](NodeId id) {
    const std::set<uint32_t> near = neighbours(topology, id);
    return std::all_of(upper.begin(), upper.end(),
                       [&](NodeId other) { return near.contains(other.value); });
  });
}

/// Hosts below their leaf, one bar for each leaf; not for hosts with several leaves in view.
std::string tree_line(const Topology& topology, const std::vector<Place>& upper,
                      const std::vector<Place>& lower) {
  std::string line;
  for (const Place& leaf : upper) {
    if (leaf.id == NodeId{} && !leaf.name.starts_with("p") && leaf.name.starts_with("(")) continue;
    std::vector<Place> below;
    const std::set<uint32_t> near = neighbours(topology, leaf.id);
    for (const Place& host : lower) {
      if (!host.name.starts_with("(") && near.contains(host.id.value)) below.push_back(host);
    }
    if (below.empty()) continue;
    const std::string bar = bar_line({leaf}, below);
    for (size_t i = 0; i + 1 < bar.size(); ++i) {
      if (bar[i] != ' ') put(line, i, std::string(1, bar[i]));
    }
  }
  return trimmed(line);
}

/// Of more lines the last one is shown, and how many are between.
constexpr size_t kMostListed = 16;

/// "  p0.t0-0 : p0.t1-0 p0.t1-2", where bars would suggest links that are not there.
std::string listed(const Topology& topology, const Nodes& upper, const Nodes& lower) {
  std::string text;
  for (size_t i = 0; i < lower.size(); ++i) {
    if (lower.size() > kMostListed && i == kMostListed - 2) {
      text += fmt::format("  ({})\n", lower.size() - kMostListed + 1);
      i = lower.size() - 1;
    }
    const NodeId id = lower[i];
    std::string line = fmt::format("  {} :", topology.node(id).name);
    const std::set<uint32_t> near = neighbours(topology, id);
    for (const NodeId other : upper) {
      const std::string& name = topology.node(other).name;
      if (!near.contains(other.value)) continue;
      if (line.size() + name.size() + 5 > kWidth) {
        line += " ...";
        break;
      }
      line += " " + name;
    }
    text += line + "\n";
  }
  return text;
}

/// Has each of the lower row one neighbour in the upper?
bool is_forest(const Topology& topology, const Nodes& upper, const Nodes& lower) {
  return std::all_of(lower.begin(), lower.end(), [&](NodeId id) {
    const std::set<uint32_t> near = neighbours(topology, id);
    return std::count_if(upper.begin(), upper.end(),
                         [&](NodeId other) { return near.contains(other.value); }) == 1;
  });
}

/// Links between nodes of one row, which have no bar; each is listed at its first end.
std::string links_within(const Topology& topology, const Nodes& row) {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    const Nodes later(row.begin() + static_cast<std::ptrdiff_t>(i) + 1, row.end());
    const std::set<uint32_t> near = neighbours(topology, row[i]);
    const bool any = std::any_of(later.begin(), later.end(),
                                 [&](NodeId other) { return near.contains(other.value); });
    if (any) text += listed(topology, later, {row[i]});
  }
  return text;
}

std::string layers_text(const Topology& topology, const Layers& layers) {
  std::string text;
  for (size_t i = 0; i < layers.rows.size(); ++i) {
    const std::vector<Place> here = placed(topology, layers.rows[i]);
    if (i > 0) {
      const Nodes& above = layers.rows[i - 1];
      const std::vector<Place> upper = placed(topology, above);
      if (is_complete(topology, above, layers.rows[i])) {
        text += bar_line(upper, here);
      } else if (is_forest(topology, above, layers.rows[i])) {
        text += tree_line(topology, upper, here);
      } else {
        text += listed(topology, above, layers.rows[i]);
      }
    }
    text += name_line(here);
    text += links_within(topology, layers.rows[i]);
  }
  return text;
}

std::string rates_text(const Topology& topology) {
  std::map<uint64_t, size_t> of_hosts, of_switches;
  for (const Link& link : topology.links) {
    const bool host = topology.node(link.a.node).role == NodeRole::kHost;
    ++(host ? of_hosts : of_switches)[link.rate.bps];
  }
  const auto text = [](const std::map<uint64_t, size_t>& rates) {
    std::string all;
    for (const auto& [bps, count] : rates) {
      all += fmt::format("{}{} of {}", all.empty() ? "" : ", ", count, exact(BitRate{bps}));
    }
    return all.empty() ? "none" : all;
  };
  return fmt::format("links of hosts: {}; between switches: {}\n", text(of_hosts),
                     text(of_switches));
}

// ---- SVG ----------------------------------------------------------------------------------------

constexpr double kNodeWidth = 64, kNodeHeight = 18, kColumn = 72, kRow = 84, kPlaneGap = 24;

struct Point {
  double x = 0, y = 0;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return out;
}

/// Rows of switches that a drawing has room for: two at least.
size_t switch_rows(const Topology& topology) { return topology.t2_per_plane > 0 ? 3 : 2; }

/// How far below the top hosts stand.
double hosts_y(const Topology& topology) {
  return (static_cast<double>(switch_rows(topology)) + 0.2) * kRow;
}

/// The middle of each node: planes side by side, hosts below all of them.
std::map<uint32_t, Point> points_of(const Topology& topology, uint32_t planes, double& width) {
  std::map<uint32_t, Point> points;
  double left = 0;
  Nodes hosts;
  for (uint32_t plane = 0; plane < planes; ++plane) {
    Layers layers = layers_of(topology, plane);
    hosts = layers.rows.back();
    layers.rows.pop_back();
    size_t longest = 1;
    for (const Nodes& row : layers.rows) longest = std::max(longest, row.size());
    const double wide = kColumn * static_cast<double>(longest);
    for (size_t r = 0; r < layers.rows.size(); ++r) {
      const Nodes& row = layers.rows[r];
      // A row of leaves alone stands where leaves stand.
      const double y = kRow * static_cast<double>(r + switch_rows(topology) - layers.rows.size());
      for (size_t i = 0; i < row.size(); ++i) {
        const double step = wide / static_cast<double>(row.size());
        points[row[i].value] = {left + step * (static_cast<double>(i) + 0.5), y + kNodeHeight};
      }
    }
    left += wide + kPlaneGap;
  }
  width = std::max(left - kPlaneGap, kColumn * static_cast<double>(hosts.size()));
  const double step = width / static_cast<double>(hosts.size());
  for (size_t i = 0; i < hosts.size(); ++i) {
    points[hosts[i].value] = {step * (static_cast<double>(i) + 0.5),
                              hosts_y(topology) + kNodeHeight};
  }
  return points;
}

}  // namespace

std::string drawn_as_text(const Topology& topology) {
  std::string text =
      fmt::format("{}: {}, {}, {}\n", topology.name, counted_noun(topology.host_count(), "host"),
                  counted_noun(topology.nodes.size() - topology.host_count(), "switch"),
                  counted_noun(topology.links.size(), "link")) +
      rates_text(topology);
  if (!topology.has_planes()) return text + "\n" + layers_text(topology, layers_of(topology, 0));
  for (uint32_t plane = 0; plane < topology.planes;) {
    uint32_t next = plane + 1;
    while (next < topology.planes && rates_of(topology, next) == rates_of(topology, plane)) ++next;
    const std::string alike = next == plane + 1 ? ""
                              : next == plane + 2
                                  ? fmt::format(", and p{} like it", plane + 1)
                                  : fmt::format(", and p{} to p{} like it", plane + 1, next - 1);
    text += fmt::format("\nplane p{}{}\n\n", plane, alike) +
            layers_text(topology, layers_of(topology, plane));
    plane = next;
  }
  return text;
}

std::string drawn_as_svg(const Topology& topology) {
  const bool all = topology.links.size() <= kMaxDrawnLinks;
  const uint32_t planes = topology.has_planes() && all ? topology.planes : 1;
  if (topology.links.size() / std::max(1u, topology.planes) > kMaxDrawnLinks) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 40\"><text x=\"8\" y=\"24\" "
        "fill=\"currentColor\">{}: {} are too many to draw</text></svg>\n",
        escaped(topology.name), counted_noun(topology.links.size(), "link"));
  }
  double width = 0;
  const std::map<uint32_t, Point> points = points_of(topology, planes, width);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 0 {:.0f} {:.0f}\" role=\"img\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"currentColor\" "
      "stroke=\"currentColor\">\n<title>{}</title>\n",
      width + 16, hosts_y(topology) + 2.5 * kNodeHeight, escaped(topology.name));
  svg += "<g stroke-width=\"0.8\" stroke-opacity=\"0.45\">\n";
  for (const Link& link : topology.links) {
    const auto a = points.find(link.a.node.value), b = points.find(link.b.node.value);
    if (a == points.end() || b == points.end()) continue;
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>{}, {}</title>"
        "</line>\n",
        a->second.x, a->second.y - kNodeHeight / 2, b->second.x, b->second.y + kNodeHeight / 2,
        escaped(topology.link_name(link.id)), exact(link.rate));
  }
  svg += "</g>\n<g text-anchor=\"middle\">\n";
  for (const auto& [id, point] : points) {
    const NodeSite& node = topology.nodes[id];
    const bool host = node.role == NodeRole::kHost;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill-opacity=\"{}\" "
        "stroke-opacity=\"0.6\"/><text x=\"{:.1f}\" y=\"{:.1f}\" stroke=\"none\">{}</text>\n",
        point.x - kNodeWidth / 2, point.y - kNodeHeight / 2, kNodeWidth, kNodeHeight, host ? 9 : 3,
        host ? "0.14" : "0.06", point.x, point.y + 4, escaped(node.name));
  }
  return svg + "</g>\n</svg>\n";
}

}  // namespace mrclab::lab
