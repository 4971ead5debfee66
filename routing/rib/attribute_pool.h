#pragma once
// One copy of each set of attributes that a speaker holds: equal sets are the same object, so that routes that say
// the same can be found alike by their pointers and be told in one UPDATE.

#include <memory>
#include <unordered_set>

#include "routing/bgp/path_attributes.h"

namespace mrclab::routing {

class AttributePool {
 public:
  using Shared = std::shared_ptr<const PathAttributes>;  // by all routes with these attributes

  /// The set that is equal to `attributes`; that one from now on, if there was none.
  Shared intern(PathAttributes attributes);
  /// Sets held, among them those that no route has any more and that go with the next sweep.
  size_t size() const { return sets_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const PathAttributes& attributes) const;
    size_t operator()(const Shared& attributes) const { return (*this)(*attributes); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Shared& a, const Shared& b) const { return *a == *b; }
    bool operator()(const PathAttributes& a, const Shared& b) const { return a == *b; }
    bool operator()(const Shared& a, const PathAttributes& b) const { return *a == b; }
  };
  void sweep_unused();

  std::unordered_set<Shared, Hash, Equal> sets_;
  size_t sweep_at_ = kLeastBeforeSweep;
  static constexpr size_t kLeastBeforeSweep = 1024;
};

}  // namespace mrclab::routing
