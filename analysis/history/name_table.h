#pragma once
// A table by the names of frames, which are hashes already: what is in a switch comes and goes within microseconds, so
// entries lie side by side, and neither a new one nor one that goes asks the allocator. Lookup, and sums over all: the
// order of entries means nothing.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/base/cache_line.h"

namespace mrclab::analysis {

template <class Value>
class NameTable {
 public:
  /// Marks an empty slot. It is kLinkLocalFrame, the name of the frames that Conservation counts and puts into no table.
  static constexpr uint64_t kNoName = ~uint64_t{0};
  /// The value of this name, which is not kNoName, made if it is not there. Valid until the next call.
  Value& operator[](uint64_t name) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[place_of(name)];
    if (!slot.used()) {
      slot = {name, Value{}};
      ++size_;
    }
    return slot.value;
  }
  /// Null: the name is not there, as kNoName never is. Valid until the next call.
  Value* find(uint64_t name) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[place_of(name)];
    return name != kNoName && slot.used() ? &slot.value : nullptr;
  }
  /// The name must be there.
  void erase(uint64_t name) { erase_at(place_of(name)); }
  /// What find() or operator[] has just returned.
  void erase_found(const Value* value) {
    const auto* const slot = reinterpret_cast<const Slot*>(
        reinterpret_cast<const std::byte*>(value) - offsetof(Slot, value));
    erase_at(static_cast<size_t>(slot - slots_.data()));
  }
  size_t size() const { return size_; }
  /// Loads all of it into the cache.
  void fetch() const { fetch_lines(slots_.data(), slots_.size() * sizeof(Slot)); }
  template <class Use>
  void for_each(Use&& use) const {
    for (const Slot& slot : slots_) {
      if (slot.used()) use(slot.value);
    }
  }

 private:
  struct Slot {
    uint64_t name = kNoName;
    Value value = {};
    bool used() const { return name != kNoName; }
  };
  void erase_at(size_t hole) {
    // Whoever was put behind it for want of room moves up (Knuth, algorithm 6.4R).
    for (size_t at = next(hole); slots_[at].used(); at = next(at)) {
      const size_t wanted = slots_[at].name & (slots_.size() - 1);
      if (((at - wanted) & (slots_.size() - 1)) < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
    slots_[hole] = {};
    --size_;
  }
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }
  /// Where the name is, or where it would be put.
  size_t place_of(uint64_t name) const {
    size_t at = name & (slots_.size() - 1);
    while (slots_[at].used() && slots_[at].name != name) at = next(at);
    return at;
  }
  void grow() {
    constexpr size_t kFirst = 16;
    std::vector<Slot> before(slots_.empty() ? kFirst : slots_.size() * 2);
    before.swap(slots_);
    for (Slot& slot : before) {
      if (slot.used()) slots_[place_of(slot.name)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two, of which at most three quarters are in use
  size_t size_ = 0;
};

}  // namespace mrclab::analysis
