#include "job/plan/job_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"

namespace mrclab::job {
namespace {

std::string names_of(const std::vector<GroupKind>& kinds) {
  std::string text = "all";
  for (const GroupKind& kind : kinds) text += ", " + kind.name;
  return text;
}

}  // namespace

JobGroups::JobGroups(const JobSpec& spec) : ranks_(spec.ranks()), kinds_(spec.groups) {
  uint64_t product = 1;
  bool any = false;
  for (const GroupKind& kind : kinds_) {
    if (kind.size == 0) continue;
    any = true;
    strides_[kind.name] = static_cast<uint32_t>(product);
    product *= kind.size;
    if (product > kMaxRanks) break;
  }
  if (any && product != ranks_) {
    throw InputError(fmt::format("groups multiply to {}{}, ranks are {}",
                                 product > kMaxRanks ? "more than " : "",
                                 std::min<uint64_t>(product, kMaxRanks), ranks_));
  }
  for (const GroupKind& kind : kinds_) {
    if (kind.size == 0) named_[kind.name] = of_lists(kind);
  }
}

uint32_t JobGroups::place_in(const GroupKind& dimension, uint32_t rank) const {
  return rank / strides_.at(dimension.name) % dimension.size;
}

NamedGroups JobGroups::of_dimensions(const std::vector<const GroupKind*>& dimensions) const {
  NamedGroups made;
  made.group_of.resize(ranks_);
  made.place_of.resize(ranks_);
  std::map<uint32_t, uint32_t> group_at;  // by its first rank
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    uint32_t first = rank;
    for (const GroupKind* each : dimensions) {
      first -= place_in(*each, rank) * strides_.at(each->name);
    }
    const auto [at, is_new] = group_at.emplace(first, static_cast<uint32_t>(made.groups.size()));
    if (is_new) made.groups.emplace_back();
    std::vector<uint32_t>& ranks = made.groups[at->second];
    made.group_of[rank] = at->second;
    made.place_of[rank] = static_cast<uint32_t>(ranks.size());
    ranks.push_back(rank);
  }
  return made;
}

NamedGroups JobGroups::of_lists(const GroupKind& kind) const {
  NamedGroups made;
  made.groups = kind.lists;
  made.group_of.assign(ranks_, NamedGroups::kNone);
  made.place_of.assign(ranks_, 0);
  for (uint32_t i = 0; i < kind.lists.size(); ++i) {
    for (uint32_t place = 0; place < kind.lists[i].size(); ++place) {
      const uint32_t rank = kind.lists[i][place];
      if (rank >= ranks_) {
        throw InputError(
            fmt::format("group {} has rank {}: ranks are 0 to {}", kind.name, rank, ranks_ - 1));
      }
      if (made.group_of[rank] != NamedGroups::kNone) {
        throw InputError(fmt::format("group {} has rank {} twice", kind.name, rank));
      }
      made.group_of[rank] = i;
      made.place_of[rank] = place;
    }
  }
  return made;
}

std::vector<const GroupKind*> JobGroups::dimensions_in(const std::string& name) const {
  std::vector<const GroupKind*> dimensions;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('+', at), name.size());
    const std::string word = name.substr(at, end - at);
    const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const GroupKind& kind) {
      return kind.name == word && kind.size > 0;
    });
    if (found == kinds_.end()) {
      throw InputError(fmt::format("the group \"{}\": expected one of {}{}", name, names_of(kinds_),
                                   strides_.size() > 1 ? ", or several as ep+dp" : ""));
    }
    if (std::find(dimensions.begin(), dimensions.end(), &*found) != dimensions.end()) {
      throw InputError(fmt::format("the group \"{}\" has {} twice", name, word));
    }
    dimensions.push_back(&*found);
    at = end + 1;
  }
  return dimensions;
}

const NamedGroups& JobGroups::named(const std::string& name) {
  if (const auto known = named_.find(name); known != named_.end()) return known->second;
  if (name != "all") return named_[name] = of_dimensions(dimensions_in(name));
  NamedGroups all;
  all.group_of.assign(ranks_, 0);
  all.groups.emplace_back();
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    all.place_of.push_back(rank);
    all.groups.front().push_back(rank);
  }
  return named_[name] = std::move(all);
}

uint32_t JobGroups::size_of(const std::string& dimension) const {
  for (const GroupKind& kind : kinds_) {
    if (kind.name == dimension && kind.size > 0) return kind.size;
  }
  return 1;
}

uint32_t JobGroups::place_in(const std::string& dimension, uint32_t rank) const {
  for (const GroupKind& kind : kinds_) {
    if (kind.name == dimension && kind.size > 0) return place_in(kind, rank);
  }
  return 0;
}

bool JobGroups::crosses_stages(const std::string& name) {
  const std::vector<std::vector<uint32_t>>& groups = named(name).groups;
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<uint32_t>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t rank) {
      return place_in("pp", rank) != place_in("pp", ranks.front());
    });
  });
}

}  // namespace mrclab::job
