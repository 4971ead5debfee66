#pragma once
// One copy of each set of attributes that a speaker holds: equal sets are the same object, so that routes with equal
// attributes are found by their pointers and advertised in one UPDATE.
//
// The sets are kept in their order, so that finding one among n takes some log2(n) comparisons whatever a neighbour
// sends. A hash table would take n of them for sets that were chosen to collide, unless its key were a secret, which a
// pure room has nowhere to get from.

#include <memory>
#include <set>

#include "routing/bgp/path_attributes.h"

namespace mrclab::routing {

class AttributePool {
 public:
  using Shared = std::shared_ptr<const PathAttributes>;  // by all routes with these attributes

  AttributePool() = default;
  AttributePool(const AttributePool&) = delete;  // its order refers to its count
  AttributePool& operator=(const AttributePool&) = delete;

  /// The set that is equal to `attributes`; that one from now on, if there was none.
  Shared intern(PathAttributes attributes);
  /// Sets held, among them those that no route has any more and that go with the next sweep.
  size_t size() const { return sets_.size(); }
  /// What the sets take of memory, about; up to 4 KiB each of what a neighbour sends.
  size_t octets() const { return octets_; }
  /// Do they take no more than `limit`, once those that no route has are gone? A sweep for that must free an eighth of
  /// it: sets that come and go near the limit would otherwise cost a sweep each.
  bool fits(size_t limit);
  /// Comparisons of two sets so far: the cost of all that was interned.
  uint64_t comparisons() const { return comparisons_; }

 private:
  struct Before {
    using is_transparent = void;
    bool operator()(const PathAttributes& a, const PathAttributes& b) const {
      ++*comparisons;
      return a < b;
    }
    bool operator()(const Shared& a, const Shared& b) const { return (*this)(*a, *b); }
    bool operator()(const PathAttributes& a, const Shared& b) const { return (*this)(a, *b); }
    bool operator()(const Shared& a, const PathAttributes& b) const { return (*this)(*a, b); }
    uint64_t* comparisons;
  };
  void sweep_unused();

  uint64_t comparisons_ = 0;
  size_t octets_ = 0;
  std::set<Shared, Before> sets_{Before{&comparisons_}};
  size_t sweep_at_ = kLeastBeforeSweep;
  static constexpr size_t kLeastBeforeSweep = 1024;
};

}  // namespace mrclab::routing
