#pragma once
// The entropy values of a queue pair, made when it first needs one. Of two ends of a connection mostly one alone sends
// data, and a set takes 4 KiB and some thousand steps: of 131,072 hosts half a gigabyte and a quarter of a minute.

#include <functional>
#include <memory>
#include <utility>

#include "endpoint/paths/ev_set.h"

namespace mrclab::endpoint {

class LazyEvSet {
 public:
  using Make = std::function<EvSet()>;
  /// `make` gives the same set whenever it is called.
  explicit LazyEvSet(Make make) : make_(std::move(make)) {}
  LazyEvSet(EvSet made)  // NOLINT: a set that is there is one, too
      : set_(std::make_unique<EvSet>(std::move(made))) {}

  bool is_made() const { return set_ != nullptr; }
  EvSet& get() const {
    if (!set_) make();
    return *set_;
  }

 private:
  [[gnu::noinline]] void make() const {
    set_ = std::make_unique<EvSet>(std::exchange(make_, nullptr)());
  }

  mutable std::unique_ptr<EvSet> set_;
  mutable Make make_;
};

}  // namespace mrclab::endpoint
