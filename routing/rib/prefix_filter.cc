#include "routing/rib/prefix_filter.h"

#include <algorithm>
#include <limits>

namespace mrclab::routing {

namespace {

bool is_exact(const OrfEntry& entry) { return entry.min_length == 0 && entry.max_length == 0; }

/// RFC 5292 section 2: a length that is not given is the prefix's own, or the longest, as the other says.
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

bool PrefixFilter::apply(std::span<const OrfEntry> entries) {
  bool all = true;
  for (const OrfEntry& entry : entries) {
    const auto found = entries_.find(entry.sequence);
    switch (entry.action) {
      case OrfEntry::Action::kRemoveAll: clear(); break;
      case OrfEntry::Action::kRemove: {
        OrfEntry added = entry;
        added.action = OrfEntry::Action::kAdd;
        if (found == entries_.end() || found->second != added) break;
        entries_.erase(found);
        index_all();
        break;
      }
      case OrfEntry::Action::kAdd:
        if (found != entries_.end()) {
          found->second = entry;
          index_all();
        } else if (entries_.size() < limit_) {
          entries_.emplace(entry.sequence, entry);
          index(entry);
        } else {
          all = false;
        }
        break;
    }
  }
  return all;
}

void PrefixFilter::index(const OrfEntry& entry) {
  if (!is_exact(entry)) {
    ranges_.emplace(entry.sequence, entry);
    return;
  }
  const auto [at, fresh] = exact_.try_emplace(entry.prefix, entry.sequence);
  if (!fresh) at->second = std::min(at->second, entry.sequence);
}

void PrefixFilter::index_all() {
  exact_.clear();
  ranges_.clear();
  for (const auto& [sequence, entry] : entries_) index(entry);
}

bool PrefixFilter::permits(const Prefix& prefix) const {
  if (entries_.empty()) return true;
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  bool permit = false;
  if (const auto found = exact_.find(prefix); found != exact_.end()) {
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
