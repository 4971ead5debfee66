#include "live/translate/node_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "fabric/text/counted_noun.h"
#include "live/translate/fabric_labels.h"

namespace mrclab::lab {
namespace {

enum class Role : uint8_t { kUnknown, kHost, kSwitch };

struct RoleWord {
  std::string_view word;
  Role role;
  std::optional<int> height;  ///< of a switch
};
constexpr std::array<RoleWord, 28> kWords{{
    {"host", Role::kHost, {}},         {"hosts", Role::kHost, {}},
    {"server", Role::kHost, {}},       {"servers", Role::kHost, {}},
    {"client", Role::kHost, {}},       {"clients", Role::kHost, {}},
    {"gpu", Role::kHost, {}},          {"gpus", Role::kHost, {}},
    {"compute", Role::kHost, {}},      {"switch", Role::kSwitch, {}},
    {"switches", Role::kSwitch, {}},   {"router", Role::kSwitch, {}},
    {"routers", Role::kSwitch, {}},    {"t0", Role::kSwitch, 0},
    {"tor", Role::kSwitch, 0},         {"leaf", Role::kSwitch, 0},
    {"leafs", Role::kSwitch, 0},       {"leaves", Role::kSwitch, 0},
    {"access", Role::kSwitch, 0},      {"t1", Role::kSwitch, 1},
    {"spine", Role::kSwitch, 1},       {"spines", Role::kSwitch, 1},
    {"agg", Role::kSwitch, 1},         {"aggregation", Role::kSwitch, 1},
    {"t2", Role::kSwitch, 2},          {"superspine", Role::kSwitch, 2},
    {"superspines", Role::kSwitch, 2}, {"core", Role::kSwitch, 2},
}};
/// The words that our own label takes for a role.
const std::vector<std::string> kRoleWords{"host", "t0", "t1", "t2", "leaf", "spine", "switch"};

/// Kinds that are neither a network operating system nor plain Linux: traffic generators, virtual machines.
constexpr std::array<std::string_view, 7> kMachines{
    "linux", "k8s-kind", "keysight_ixia-c-one", "spirent_stc", "ostinato", "generic_vm", "border0"};
constexpr std::array<std::string_view, 4> kRoutingPrograms{"frr", "bird", "gobgp", "sonic"};

const RoleWord* find_word(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto* found = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const RoleWord& word) { return word.word == text; });
  return found == kWords.end() ? nullptr : found;
}

bool is_machine(const std::string& kind) {
  return kind.empty() || std::find(kMachines.begin(), kMachines.end(), kind) != kMachines.end();
}

bool runs_routing(const std::string& image) {
  const std::string name =
      image.substr(image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
  return std::any_of(
      kRoutingPrograms.begin(), kRoutingPrograms.end(),
      [&](std::string_view program) { return name.find(program) != std::string::npos; });
}

class Roles {
 public:
  explicit Roles(const ContainerlabFile& file)
      : file_(file),
        roles_(file.nodes.size()),
        heights_(file.nodes.size()),
        near_(file.nodes.size()) {
    for (const LabLink& link : file.links) {
      near_[link.a.node].push_back(link.b.node);
      near_[link.b.node].push_back(link.a.node);
    }
  }

  std::vector<NodeStanding> decide() {
    for (size_t i = 0; i < roles_.size(); ++i) read_words(i);
    read_levels();
    while (look_around()) {
    }
    require_all();
    fill_heights();
    std::vector<NodeStanding> made;
    for (size_t i = 0; i < roles_.size(); ++i) {
      made.push_back({roles_[i] == Role::kHost, !near_[i].empty(), heights_[i].value_or(0)});
    }
    return made;
  }

 private:
  void read_words(size_t i) {
    const LabNode& node = file_.nodes[i];
    const RoleWord* word = find_word(node.group);
    if (const auto label = node.labels.find(std::string(kRoleLabel)); label != node.labels.end()) {
      word = find_word(kRoleWords[label->second.as_word(kRoleWords)]);
    }
    if (word != nullptr) {
      roles_[i] = word->role;
      heights_[i] = word->height;
    } else if (!is_machine(node.kind)) {
      roles_[i] = Role::kSwitch;
      has_systems_ = true;
    } else if (runs_routing(node.image)) {
      roles_[i] = Role::kSwitch;
    }
  }

  std::optional<int> level_of(size_t i) const {
    const auto label = file_.nodes[i].labels.find(std::string(kLevelLabel));
    if (label == file_.nodes[i].labels.end()) return std::nullopt;
    return static_cast<int>(label->second.as_integer(0, 1'000'000));
  }

  /// graph-level: rows from above.
  void read_levels() {
    std::vector<std::optional<int>> levels;
    int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    bool all = true;
    for (size_t i = 0; i < roles_.size(); ++i) {
      levels.push_back(level_of(i));
      if (near_[i].empty()) continue;
      all = all && levels[i];
      if (!levels[i]) continue;
      lowest = std::max(lowest, *levels[i]);
      highest = std::min(highest, *levels[i]);
    }
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (near_[i].empty()) continue;
      if (all && lowest > highest && roles_[i] == Role::kUnknown && levels[i]) {
        roles_[i] = *levels[i] == lowest ? Role::kHost : Role::kSwitch;
      }
      if (levels[i] && !heights_[i]) heights_[i] = lowest - 1 - *levels[i];
    }
  }

  /// One round of conclusions from neighbours; true if there was any.
  bool look_around() {
    std::vector<Role> next = roles_;
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] != Role::kUnknown || near_[i].empty()) continue;
      const auto count = [&](Role role) {
        return static_cast<size_t>(std::count_if(near_[i].begin(), near_[i].end(),
                                                 [&](size_t n) { return roles_[n] == role; }));
      };
      if (count(Role::kHost) > 0) {
        next[i] = Role::kSwitch;
      } else if (near_[i].size() == 1 ||
                 (has_systems_ && count(Role::kSwitch) == near_[i].size())) {
        next[i] = Role::kHost;
      }
    }
    if (next == roles_) return false;
    roles_ = std::move(next);
    return true;
  }

  void require_all() const {
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] != Role::kUnknown || near_[i].empty()) continue;
      const LabNode& node = file_.nodes[i];
      file_.nodes_at.fail_at_key(
          node.name,
          fmt::format("{}, with {}, which may be a host or a switch", in_quotes(node.name),
                      counted_noun(near_[i].size(), "link")),
          "labels: {mrclab-role: host}, or t0, t1, leaf, spine, switch");
    }
  }

  /// Switches of unknown height: their distance from the hosts.
  void fill_heights() {
    std::vector<std::optional<int>> distance(roles_.size());
    std::vector<size_t> row;
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] == Role::kHost) row.push_back(i);
    }
    for (int steps = 0; !row.empty(); ++steps) {
      std::vector<size_t> next;
      for (const size_t i : row) {
        for (const size_t n : near_[i]) {
          if (roles_[n] == Role::kHost || distance[n]) continue;
          distance[n] = steps;
          next.push_back(n);
        }
      }
      row = std::move(next);
    }
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (!heights_[i]) heights_[i] = distance[i];
    }
  }

  const ContainerlabFile& file_;
  std::vector<Role> roles_;
  std::vector<std::optional<int>> heights_;
  std::vector<std::vector<size_t>> near_;
  bool has_systems_ = false;  ///< is there a network operating system?
};

}  // namespace

std::vector<NodeStanding> node_standings(const ContainerlabFile& file) {
  return Roles(file).decide();
}

}  // namespace mrclab::lab
