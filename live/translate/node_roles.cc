#include "live/translate/node_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "fabric/text/counted_noun.h"
#include "live/translate/fabric_labels.h"
#include "live/translate/role_words.h"

namespace mrclab::lab {
namespace {

using Role = LabRole;

/// The words that our own label takes for a role.
const std::vector<std::string> kRoleWords{"host", "t0", "t1", "t2", "leaf", "spine", "switch"};
constexpr std::string_view kIconLabel = "graph-icon";

/// Labels that state a role are called "role", "graph-group", "tier", "node-type", ...
bool states_role(const std::string& label) {
  constexpr std::array<std::string_view, 6> kParts{"role",  "group", "tier",
                                                   "layer", "type",  "function"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return label.find(part) != std::string::npos; });
}

const RoleWord* word_of_labels(const LabNode& node) {
  if (const RoleWord* word = role_word(node.group)) return word;
  for (const auto& [label, value] : node.labels) {
    if (!states_role(label) || !value.is_scalar()) continue;
    if (const RoleWord* word = role_word(value.as_string())) return word;
  }
  return nullptr;
}

const RoleWord* word_of_icon(const LabNode& node) {
  const auto icon = node.labels.find(std::string(kIconLabel));
  return icon == node.labels.end() || !icon->second.is_scalar()
             ? nullptr
             : role_word(icon->second.as_string());
}

class Roles {
 public:
  explicit Roles(const ContainerlabFile& file)
      : file_(file),
        roles_(file.nodes.size()),
        heights_(file.nodes.size()),
        why_(file.nodes.size()),
        near_(file.nodes.size()) {
    for (const LabLink& link : file.links) {
      near_[link.a.node].push_back(link.b.node);
      near_[link.b.node].push_back(link.a.node);
    }
  }

  std::vector<NodeStanding> decide() {
    find_ambiguous();
    for (size_t i = 0; i < roles_.size(); ++i) read_words(i);
    read_levels();
    while (look_around()) {
    }
    require_all();
    fill_heights();
    std::vector<NodeStanding> made;
    for (size_t i = 0; i < roles_.size(); ++i) {
      made.push_back(
          {roles_[i] == Role::kHost, !near_[i].empty(), heights_[i].value_or(0), why_[i]});
    }
    return made;
  }

 private:
  /// What labels, icon and name say of a node, and which of them.
  static std::pair<const RoleWord*, std::string_view> said_of(const LabNode& node) {
    const std::pair<const RoleWord*, std::string_view> each[]{
        {word_of_labels(node), "label or group"},
        {word_of_icon(node), "icon"},
        {role_word_in(node.name), "name"}};
    for (const auto& [word, where] : each) {
      if (word != nullptr && word->role != Role::kManagement) return {word, where};
    }
    return {nullptr, ""};
  }

  static std::string kind_and_image(const LabNode& node) { return node.kind + " " + node.image; }

  /// What the kind and the image tell.
  static const RoleWord* word_of_image(const LabNode& node) {
    static constexpr RoleWord kSystem{"network operating system", Role::kSwitch, {}};
    return is_machine_kind(node.kind) ? role_of_image(node.image) : &kSystem;
  }

  /// Kinds and images that nodes have of which labels, icons and names say the opposite.
  void find_ambiguous() {
    for (size_t i = 0; i < file_.nodes.size(); ++i) {
      if (near_[i].empty()) continue;
      const LabNode& node = file_.nodes[i];
      const RoleWord *image = word_of_image(node), *said = said_of(node).first;
      if (image != nullptr && said != nullptr && image->role != said->role) {
        ambiguous_.insert(kind_and_image(node));
      }
    }
  }

  void set(size_t i, const RoleWord& word, std::string_view why) {
    roles_[i] = word.role;
    if (!heights_[i]) heights_[i] = word.height;
    why_[i] = why;
  }

  void read_words(size_t i) {
    const LabNode& node = file_.nodes[i];
    const auto [said, where] = said_of(node);
    const RoleWord* image = word_of_image(node);
    has_systems_ = has_systems_ || !is_machine_kind(node.kind);
    if (said != nullptr && said->role == Role::kSwitch) heights_[i] = said->height;
    if (const auto label = node.labels.find(std::string(kRoleLabel)); label != node.labels.end()) {
      heights_[i].reset();
      set(i, *role_word(kRoleWords[label->second.as_word(kRoleWords)]),
          node.added ? "--hosts-per-leaf" : "label mrclab-role");
    } else if (image != nullptr && !ambiguous_.contains(kind_and_image(node))) {
      set(i, *image, is_machine_kind(node.kind) ? "image" : "kind");
    } else if (said != nullptr) {
      set(i, *said, where);
    } else if (image != nullptr && image->role == Role::kSwitch) {
      set(i, *image, is_machine_kind(node.kind) ? "image" : "kind");
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
        why_[i] = "label graph-level";
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
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (next[i] != roles_[i]) why_[i] = "links and neighbours";
    }
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
  std::vector<std::string_view> why_;
  std::set<std::string> ambiguous_;
  std::vector<std::vector<size_t>> near_;
  bool has_systems_ = false;  ///< is there a network operating system?
};

}  // namespace

std::vector<std::string> standing_sentences(const ContainerlabFile& file,
                                            const std::vector<NodeStanding>& standings) {
  constexpr size_t kShown = 3;
  std::map<std::pair<bool, std::string_view>, std::vector<size_t>> by_reason;
  for (size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].linked) by_reason[{!standings[i].is_host, standings[i].why}].push_back(i);
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, nodes] : by_reason) {
    std::string text = fmt::format(
        "{} by {}: ", counted_noun(nodes.size(), reason.first ? "switch" : "host"), reason.second);
    for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
      text += (i > 0 ? ", " : "") + file.nodes[nodes[i]].name;
    }
    sentences.push_back(text + (nodes.size() > kShown ? ", ..." : ""));
  }
  return sentences;
}

std::vector<NodeStanding> node_standings(const ContainerlabFile& file) {
  return Roles(file).decide();
}

}  // namespace mrclab::lab
