#include "routing/rib/prefix_filter.h"

#include <algorithm>
#include <limits>

namespace mrclab::routing {

namespace {

bool is_exact(const OrfEntry& entry) { return entry.min_length == 0 && entry.max_length == 0; }

/// RFC 5292 section 2: a length that is not given is the prefix's own, or the longest, by the other one.
bool matches(const OrfEntry& entry, const Prefix& prefix) {
  if (!entry.prefix.covers(prefix)) return false;
  if (is_exact(entry)) return prefix.length() == entry.prefix.length();
  const uint8_t least = entry.min_length != 0 ? entry.min_length : entry.prefix.length();
  const uint8_t most = entry.max_length != 0 ? entry.max_length : Prefix::kMaxLength;
  return prefix.length() >= least && prefix.length() <= most;
}

}  // namespace

void PrefixFilter::clear() {
  entries_.clear();
  exact_.clear();
  ranges_.clear();
}

bool PrefixFilter::has_room_for(const OrfEntry& entry) const {
  return entries_.size() < limit_ && (is_exact(entry) || ranges_.size() < kMaxRanges);
}

void PrefixFilter::add_entry(const OrfEntry& entry) {
  entries_.emplace(entry.sequence, entry);
  if (is_exact(entry)) {
    exact_.emplace(entry.prefix, entry.sequence);
  } else {
    ranges_.emplace(entry.sequence, entry);
  }
}

void PrefixFilter::remove(std::map<uint32_t, OrfEntry>::iterator at) {
  exact_.erase({at->second.prefix, at->first});
  ranges_.erase(at->first);
  entries_.erase(at);
}

bool PrefixFilter::apply(std::span<const OrfEntry> entries) {
  bool all = true;
  for (const OrfEntry& entry : entries) {
    const auto found = entries_.find(entry.sequence);
    switch (entry.action) {
      case OrfEntry::Action::kRemoveAll: clear(); break;
      case OrfEntry::Action::kRemove: {
        OrfEntry added = entry;
        added.action = OrfEntry::Action::kAdd;
        if (found != entries_.end() && found->second == added) remove(found);
        break;
      }
      case OrfEntry::Action::kAdd:
        if (found != entries_.end()) remove(found);
        if (has_room_for(entry)) {
          add_entry(entry);
        } else {
          all = false;
        }
        break;
    }
  }
  return all;
}

bool PrefixFilter::permits(const Prefix& prefix) const {
  if (entries_.empty()) return true;
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  bool permit = false;
  if (const auto found = exact_.lower_bound({prefix, 0});
      found != exact_.end() && found->first == prefix) {
    lowest = found->second;
    permit = entries_.at(found->second).permit;
  }
  for (const auto& [sequence, entry] : ranges_) {
    if (sequence >= lowest) break;
    if (matches(entry, prefix)) return entry.permit;
  }
  return permit;
}

}  // namespace mrclab::routing
