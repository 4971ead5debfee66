#include "live/translate/foreign_pods.h"

#include <algorithm>
#include <map>
#include <set>

namespace mrclab::lab {
namespace {

using Switches = std::set<uint32_t>;

class PodFinder {
 public:
  PodFinder(size_t switches, const std::vector<GraphShape::Link>& links,
            const std::vector<std::vector<uint32_t>>& t0_by_row)
      : t0_by_row_(t0_by_row), linked_(switches), tier_(switches, 2) {
    for (const GraphShape::Link& link : links) {
      simple_ = simple_ && linked_[link.lower].insert(link.upper).second;
      linked_[link.upper].insert(link.lower);
    }
    for (const auto& row : t0_by_row) {
      for (const uint32_t t0 : row) tier_[t0] = 0;
    }
    for (uint32_t s = 0; s < tier_.size(); ++s) {
      if (tier_[s] != 0) continue;
      for (const uint32_t other : linked_[s]) {
        if (tier_[other] == 2) tier_[other] = 1;
      }
    }
  }

  std::optional<ForeignPods> find() {
    if (!simple_ || t0_by_row_.empty()) return std::nullopt;
    size_t switches = 0;
    for (uint32_t plane = 0; plane < t0_by_row_[0].size(); ++plane) {
      if (!add_plane(plane)) return std::nullopt;
      switches += t0_by_row_.size() + found_.t1s[plane].size() + found_.t2s[plane].size();
      if (found_.t2s[plane].size() != found_.t2s[0].size()) return std::nullopt;
    }
    if (switches != linked_.size()) return std::nullopt;
    return found_;
  }

 private:
  /// The neighbours of a switch in a tier; links within a tier are in none of ours.
  Switches near(uint32_t of_switch, int tier) const {
    Switches found;
    for (const uint32_t other : linked_[of_switch]) {
      if (tier_[other] == tier) found.insert(other);
    }
    return found;
  }
  bool only_between(uint32_t of_switch, size_t below, size_t above) const {
    return linked_[of_switch].size() == below + above;
  }

  bool add_plane(uint32_t plane) {
    std::map<Switches, uint32_t> pod_of;  // by the T1s that its T0s share
    std::vector<Switches> t1s, t0s;
    std::vector<uint32_t> pod_of_row;
    for (const auto& row : t0_by_row_) {
      const Switches above = near(row[plane], 1);
      const auto [at, added] = pod_of.try_emplace(above, static_cast<uint32_t>(t1s.size()));
      if (added) {
        t1s.push_back(above);
        t0s.emplace_back();
      }
      t0s[at->second].insert(row[plane]);
      pod_of_row.push_back(at->second);
      if (!only_between(row[plane], 0, above.size())) return false;
    }
    if (t1s.size() < 2 || (plane > 0 && pod_of_row != pod_of_row_)) return false;
    pod_of_row_ = pod_of_row;
    for (size_t pod = 0; pod < t1s.size(); ++pod) {
      if (t1s[pod].size() != t1s[0].size() || t0s[pod].size() != t0s[0].size()) return false;
      for (const uint32_t t1 : t1s[pod]) {
        if (near(t1, 0) != t0s[pod]) return false;
        if (!only_between(t1, t0s[pod].size(), near(t1, 2).size())) return false;
      }
    }
    if (plane == 0) order_rows(static_cast<uint32_t>(t1s.size()));
    return add_t2s(plane, t1s);
  }

  void order_rows(uint32_t pods) {
    found_.pods = pods;
    for (uint32_t pod = 0; pod < pods; ++pod) {
      for (uint32_t row = 0; row < pod_of_row_.size(); ++row) {
        if (pod_of_row_[row] == pod) found_.rows.push_back(row);
      }
    }
  }

  /// The first pod's T1s number the groups of T2s; in the others T1 k is the one above which the k-th group stands.
  bool add_t2s(uint32_t plane, const std::vector<Switches>& t1s) {
    std::vector<Switches> groups;
    for (const uint32_t t1 : t1s[0]) groups.push_back(near(t1, 2));
    const bool mesh = groups.size() > 1 && groups[0] == groups[1];
    const T2Links links = mesh ? T2Links::kMesh : T2Links::kGroup;
    if (plane > 0 && links != found_.links) return false;
    found_.links = links;
    std::vector<uint32_t> ordered, t2s;
    for (const Switches& group : groups) {
      if (group.empty() || group.size() != groups[0].size()) return false;
      if (mesh && group != groups[0]) return false;
      if (!mesh || t2s.empty()) t2s.insert(t2s.end(), group.begin(), group.end());
    }
    if (Switches(t2s.begin(), t2s.end()).size() != t2s.size()) return false;  // groups overlap
    for (const Switches& of_pod : t1s) {
      Switches left = of_pod;
      for (const Switches& group : groups) {
        const auto t1 = std::find_if(left.begin(), left.end(),
                                     [&](uint32_t each) { return near(each, 2) == group; });
        if (t1 == left.end()) return false;
        ordered.push_back(*t1);
        left.erase(t1);
      }
    }
    found_.t1s.push_back(std::move(ordered));
    found_.t2s.push_back(std::move(t2s));
    return true;
  }

  const std::vector<std::vector<uint32_t>>& t0_by_row_;
  std::vector<Switches> linked_;
  std::vector<int> tier_;
  bool simple_ = true;
  std::vector<uint32_t> pod_of_row_;
  ForeignPods found_;
};

}  // namespace

std::optional<ForeignPods> find_pods(size_t switches, const std::vector<GraphShape::Link>& links,
                                     const std::vector<std::vector<uint32_t>>& t0_by_row) {
  return PodFinder(switches, links, t0_by_row).find();
}

}  // namespace mrclab::lab
