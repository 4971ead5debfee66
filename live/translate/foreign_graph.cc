#include "live/translate/foreign_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "live/translate/fabric_labels.h"
#include "live/translate/foreign_pods.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// "eth10" as text that sorts behind that of "eth2": each number with its length before it.
std::string natural_key(const std::string& interface) {
  std::string key;
  for (size_t i = 0; i < interface.size();) {
    const auto is_digit = [&](size_t at) {
      return at < interface.size() && interface[at] >= '0' && interface[at] <= '9';
    };
    if (!is_digit(i)) {
      key += interface[i++];
      continue;
    }
    size_t end = i;
    while (is_digit(end)) ++end;
    while (i + 1 < end && interface[i] == '0') ++i;
    key += static_cast<char>('0' + std::min<size_t>(end - i, 60));
    key += interface.substr(i, end - i);
    i = end;
  }
  return key;
}

/// Regular planes in a graph: each NIC port i in plane i, hosts in rows under the same T0 of each plane, and in a
/// plane a link from each T0 to each T1, or pods below T2s.
class Planes {
 public:
  explicit Planes(const ForeignGraph& graph)
      : graph_(graph), plane_of_(graph.switches.size(), kNone) {}

  bool found() { return has_rows() && (has_uplinks() || has_pods()); }

  void describe(ForeignFabric& fabric) const {
    fabric.shape.planes = planes_;
    fabric.shape.t0 = static_cast<uint32_t>(rows_.size());
    fabric.shape.t1 = t1_;
    fabric.shape.hosts_per_t0 = static_cast<uint32_t>(rows_[0].hosts.size());
    if (pods_) {
      fabric.shape.pods = pods_->pods;
      fabric.shape.t1 = static_cast<uint32_t>(pods_->t1s[0].size());
      fabric.shape.t2 = static_cast<uint32_t>(pods_->t2s[0].size());
      fabric.shape.t2_links = pods_->links;
    }
    uint32_t host = 0;
    for (const Row& row : rows_) {
      for (const uint32_t each : row.hosts) {
        fabric.origins.push_back({fmt::format("h{}", host++), graph_.hosts[each]});
      }
    }
    for (uint32_t plane = 0; plane < planes_; ++plane) {
      for (size_t row = 0; row < rows_.size(); ++row) {
        fabric.origins.push_back(
            {fmt::format("p{}.t0-{}", plane, row), graph_.switches[rows_[row].t0[plane]]});
      }
      uint32_t t1 = 0;
      for (uint32_t s = 0; s < plane_of_.size() && !pods_; ++s) {
        if (plane_of_[s] != plane || t0_.contains(s)) continue;
        fabric.origins.push_back({fmt::format("p{}.t1-{}", plane, t1++), graph_.switches[s]});
      }
      if (!pods_) continue;
      for (const auto& [tier, list] : {std::pair{1, &pods_->t1s[plane]}, {2, &pods_->t2s[plane]}}) {
        for (size_t i = 0; i < list->size(); ++i) {
          fabric.origins.push_back(
              {fmt::format("p{}.t{}-{}", plane, tier, i), graph_.switches[(*list)[i]]});
        }
      }
    }
  }

 private:
  struct Row {
    std::vector<uint32_t> t0;  ///< by plane
    std::vector<uint32_t> hosts;
  };

  bool has_rows() {
    if (graph_.ports.empty() || graph_.ports[0].empty()) return false;
    planes_ = static_cast<uint32_t>(graph_.ports[0].size());
    for (uint32_t host = 0; host < graph_.ports.size(); ++host) {
      const std::vector<uint32_t>& t0 = graph_.ports[host];
      if (t0.size() != planes_) return false;
      for (uint32_t plane = 0; plane < planes_; ++plane) {
        uint32_t& known = plane_of_[t0[plane]];
        if (known != kNone && known != plane) return false;
        known = plane;
        t0_.insert(t0[plane]);
      }
      auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.t0 == t0; });
      if (row == rows_.end()) row = rows_.insert(rows_.end(), {t0, {}});
      row->hosts.push_back(host);
    }
    // As many T0s as rows and planes: no T0 is in two rows.
    return t0_.size() == rows_.size() * planes_ &&
           std::all_of(rows_.begin(), rows_.end(),
                       [&](const Row& row) { return row.hosts.size() == rows_[0].hosts.size(); });
  }

  bool has_uplinks() {
    std::set<std::pair<uint32_t, uint32_t>> linked;
    for (const GraphShape::Link& link : graph_.links) {
      const bool up = t0_.contains(link.lower);
      const uint32_t t0 = up ? link.lower : link.upper, t1 = up ? link.upper : link.lower;
      if (!t0_.contains(t0) || t0_.contains(t1)) return false;
      uint32_t& plane = plane_of_[t1];
      if (plane != kNone && plane != plane_of_[t0]) return false;
      plane = plane_of_[t0];
      if (!linked.emplace(t0, t1).second) return false;
    }
    std::vector<uint32_t> t1s(planes_, 0);
    for (uint32_t s = 0; s < plane_of_.size(); ++s) {
      if (plane_of_[s] == kNone) return false;
      if (!t0_.contains(s)) ++t1s[plane_of_[s]];
    }
    t1_ = t1s[0];
    return std::all_of(t1s.begin(), t1s.end(), [&](uint32_t n) { return n == t1_; }) &&
           linked.size() == rows_.size() * planes_ * t1_ && (t1_ > 0 || rows_.size() == 1);
  }

  bool has_pods() {
    std::vector<std::vector<uint32_t>> t0_by_row;
    for (const Row& row : rows_) t0_by_row.push_back(row.t0);
    pods_ = find_pods(graph_.switches.size(), graph_.links, t0_by_row);
    if (!pods_) return false;
    std::vector<Row> rows;
    for (const uint32_t row : pods_->rows) rows.push_back(rows_[row]);
    rows_ = std::move(rows);
    return true;
  }

  const ForeignGraph& graph_;
  std::optional<ForeignPods> pods_;  ///< three tiers
  std::vector<uint32_t> plane_of_;   ///< by switch
  std::set<uint32_t> t0_;
  std::vector<Row> rows_;
  uint32_t planes_ = 0, t1_ = 0;
};

/// A name that a fabric file's list takes: at most 10 of a-z, 0-9 and dash, not as a host's.
std::string switch_name(const std::string& wanted, std::set<std::string>& taken) {
  constexpr size_t kMost = 10;
  std::string base;
  for (const char c : wanted) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool plain = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
    base += plain ? small : '-';
  }
  const bool as_host = base.size() > 1 && base[0] == 'h' &&
                       base.find_first_not_of("0123456789", 1) == std::string::npos;
  if (as_host) base = "s" + base;
  std::string name = base.substr(0, kMost);
  for (unsigned n = 2; !taken.insert(name).second; ++n) {
    const std::string number = "-" + std::to_string(n);
    name = base.substr(0, kMost - number.size()) + number;
  }
  return name;
}

const YamlValue* label_named(const LabNode& node, std::string_view label) {
  const auto found = node.labels.find(std::string(label));
  return found == node.labels.end() ? nullptr : &found->second;
}

/// The uSID in a label; the fabric's reader checks it again.
Usid labelled_usid(const YamlValue& label) {
  const std::string text = label.as_string();
  Usid usid;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), usid.value, 16);
  if (text.size() != 4 || error != std::errc{} || end != text.data() + text.size()) {
    label.fail_expecting("four hex digits such as \"0100\"");
  }
  return usid;
}

void list_switches(const ContainerlabFile& file, const ForeignGraph& graph, GraphShape& shape) {
  std::set<std::string> taken;
  std::set<Usid> used;
  for (const size_t node : graph.switches) {
    const LabNode& each = file.nodes[node];
    const YamlValue* name = label_named(each, kNodeLabel);
    const YamlValue* usid = label_named(each, kUsidLabel);
    shape.switches.push_back({switch_name(name ? name->as_string() : each.name, taken),
                              usid ? labelled_usid(*usid) : Usid{}});
    if (usid) used.insert(shape.switches.back().usid);
  }
  // The first two digits count the switches of a small fabric; all four have room for kMaxSwitches.
  const uint16_t step = shape.switches.size() <= 64 ? 0x0100 : 1;
  uint16_t next = 0x0100;
  for (GraphShape::Switch& each : shape.switches) {
    if (each.usid.value != 0) continue;
    while (!used.insert(Usid{next}).second) next = static_cast<uint16_t>(next + step);
    each.usid = Usid{next};
  }
}

void require_listable(const ContainerlabFile& file, const ForeignGraph& graph) {
  const auto at_most = [&](size_t found, size_t most, const char* what) {
    if (found <= most) return;
    file.nodes_at.fail(fmt::format("{} {}, which are no regular planes", found, what),
                       fmt::format("at most {}", most));
  };
  at_most(graph.switches.size(), GraphShape::kMaxSwitches, "switches");
  at_most(graph.hosts.size(), GraphShape::kMaxHosts, "hosts");
  at_most(graph.links.size(), GraphShape::kMaxLinks, "links between switches");
  for (size_t i = 0; i < graph.ports.size(); ++i) {
    const std::string& name = file.nodes[graph.hosts[i]].name;
    const size_t ports = graph.ports[i].size();
    if (ports > GraphShape::kMaxPorts) {
      file.nodes_at.fail_at_key(name, fmt::format("{} with {} links", in_quotes(name), ports),
                                fmt::format("a host with at most {}", GraphShape::kMaxPorts));
    }
    if (ports != graph.ports[0].size()) {
      file.nodes_at.fail_at_key(name,
                                fmt::format("the host {} with {} links", in_quotes(name), ports),
                                fmt::format("{}, as the host {} has", graph.ports[0].size(),
                                            in_quotes(file.nodes[graph.hosts[0]].name)));
    }
  }
}

}  // namespace

ForeignGraph graph_of(ContainerlabFile& file) {
  const std::vector<NodeStanding> standings = node_standings(file);
  ForeignGraph graph;
  graph.decided = standing_sentences(file, standings);
  std::vector<uint32_t> number(file.nodes.size(), kNone);
  for (size_t i = 0; i < file.nodes.size(); ++i) {
    if (!standings[i].linked) {
      file.left_out.push_back("the node " + file.nodes[i].name + ": it has no links");
      continue;
    }
    std::vector<size_t>& list = standings[i].is_host ? graph.hosts : graph.switches;
    number[i] = static_cast<uint32_t>(list.size());
    list.push_back(i);
  }
  std::vector<std::vector<std::pair<std::string, uint32_t>>> ports(graph.hosts.size());
  for (const LabLink& link : file.links) {
    const bool a_host = standings[link.a.node].is_host, b_host = standings[link.b.node].is_host;
    const uint32_t a = number[link.a.node], b = number[link.b.node];
    if (a_host && b_host) {
      link.at.fail("a link between two hosts, " + file.nodes[link.a.node].name + " and " +
                       file.nodes[link.b.node].name,
                   "a switch at one end (labels: {mrclab-role: switch})");
    }
    if (a_host || b_host) {
      const LabLink::End& end = a_host ? link.a : link.b;
      ports[a_host ? a : b].emplace_back(natural_key(end.interface), a_host ? b : a);
    } else {
      const bool up = standings[link.a.node].height <= standings[link.b.node].height;
      graph.links.push_back(up ? GraphShape::Link{a, b} : GraphShape::Link{b, a});
    }
  }
  for (auto& host : ports) {
    std::sort(host.begin(), host.end());
    std::vector<uint32_t>& leads_to = graph.ports.emplace_back();
    for (const auto& [interface, at] : host) leads_to.push_back(at);
  }
  return graph;
}

ForeignFabric fabric_of(const ContainerlabFile& file, const ForeignGraph& graph) {
  if (graph.hosts.empty() && !graph.switches.empty()) {
    file.nodes_at.fail(fmt::format("0 hosts and {} switches", graph.switches.size()),
                       "hosts, marked by labels: {mrclab-role: host}, or --hosts-per-leaf 2, which "
                       "hangs two on each leaf");
  }
  if (graph.hosts.empty() || graph.switches.empty()) {
    file.nodes_at.fail(
        fmt::format("{} hosts and {} switches", graph.hosts.size(), graph.switches.size()),
        "some of both, marked by labels: {mrclab-role: host}");
  }
  ForeignFabric fabric;
  const bool listed = std::any_of(graph.switches.begin(), graph.switches.end(), [&](size_t node) {
    return label_named(file.nodes[node], kUsidLabel) != nullptr;
  });
  Planes planes(graph);
  if (!listed && planes.found()) {
    planes.describe(fabric);
    return fabric;
  }
  require_listable(file, graph);
  GraphShape& shape = fabric.shape.graph;
  list_switches(file, graph, shape);
  shape.hosts = graph.ports;
  shape.links = graph.links;
  std::stable_sort(shape.links.begin(), shape.links.end(),
                   [](const auto& a, const auto& b) { return a.lower < b.lower; });
  for (size_t i = 0; i < graph.hosts.size(); ++i) {
    fabric.origins.push_back({fmt::format("h{}", i), graph.hosts[i]});
  }
  for (size_t i = 0; i < graph.switches.size(); ++i) {
    fabric.origins.push_back({shape.switches[i].name, graph.switches[i]});
  }
  return fabric;
}

}  // namespace mrclab::lab
