#pragma once
// A list of prefixes that a neighbour has sent to be applied to what is advertised to it (RFC 5292).

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "routing/bgp/refresh.h"

namespace mrclab::routing {

class PrefixFilter {
 public:
  /// Entries that match more than one prefix are looked at one by one for each route, so they have a limit of their
  /// own (our choice).
  static constexpr size_t kMaxRanges = 1'024;

  explicit PrefixFilter(size_t limit = 65'536) : limit_(limit) {}

  /// False: the list would be longer than the limits, and is as far as that. Each entry costs the logarithm of the
  /// list.
  bool apply(std::span<const OrfEntry> entries);
  /// Without any entry everything passes, else what an entry permits: the one with the lowest sequence number
  /// that matches decides, and what none matches does not pass.
  bool permits(const Prefix& prefix) const;
  size_t size() const { return entries_.size(); }
  void clear();

 private:
  bool has_room_for(const OrfEntry& entry) const;
  void add_entry(const OrfEntry& entry);
  void remove(std::map<uint32_t, OrfEntry>::iterator at);

  size_t limit_;
  std::map<uint32_t, OrfEntry> entries_;  ///< by sequence number
  /// Host routes and the like: entries that match one prefix, for lists of thousands. By prefix, the lowest
  /// sequence number first.
  std::set<std::pair<Prefix, uint32_t>> exact_;
  std::map<uint32_t, OrfEntry> ranges_;  ///< all others, by sequence number
};

}  // namespace mrclab::routing
