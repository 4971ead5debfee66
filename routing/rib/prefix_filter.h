#pragma once
// A list of prefixes that a neighbour has sent to be applied to what it is told (RFC 5292).

#include <cstdint>
#include <map>
#include <span>

#include "routing/bgp/refresh.h"

namespace mrclab::routing {

class PrefixFilter {
 public:
  explicit PrefixFilter(size_t limit = 65'536) : limit_(limit) {}

  /// False: the list would be longer than the limit, and is as far as that.
  bool apply(std::span<const OrfEntry> entries);
  /// Without any entry everything passes, else what an entry permits: the one with the lowest sequence number
  /// that matches decides, and what none matches does not pass.
  bool permits(const Prefix& prefix) const;
  size_t size() const { return entries_.size(); }
  void clear();

 private:
  void index(const OrfEntry& entry);
  void index_all();

  size_t limit_;
  std::map<uint32_t, OrfEntry> entries_;  ///< by sequence number
  /// Host routes and the like: entries that match one prefix, for lists of thousands. The lowest
  /// sequence number by prefix.
  std::map<Prefix, uint32_t> exact_;
  std::map<uint32_t, OrfEntry> ranges_;  ///< all others, by sequence number
};

}  // namespace mrclab::routing
