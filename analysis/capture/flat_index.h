#pragma once
// A hash table from 64-bit keys to 32-bit indices: open addressing, never more than half full, no
// removal. A lookup is one cache line as a rule, which std::unordered_map's is not.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mrclab::analysis {

/// Spreads a key over all its bits (Murmur3's 64-bit finalizer, public domain).
constexpr uint64_t mixed(uint64_t key) {
  key = (key ^ key >> 33) * 0xff51'afd7'ed55'8ccdu;
  key = (key ^ key >> 33) * 0xc4ce'b9fe'1a85'ec53u;
  return key ^ key >> 33;
}

class FlatIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  /// At most `limit` entries; rounded up to a power of two.
  explicit FlatIndex(size_t limit) : limit_(limit), entries_(kSmallest) {}

  uint32_t find(uint64_t key) const { return entries_[place_of(key)].value; }

  /// The value of `key`, which is `value` if it is new. kNone if there is no room for a new one.
  uint32_t find_or_add(uint64_t key, uint32_t value) {
    size_t place = place_of(key);
    if (entries_[place].value != kNone) return entries_[place].value;
    if (used_ >= limit_) return kNone;
    if ((used_ + 1) * 2 > entries_.size()) {
      grow();
      place = place_of(key);
    }
    entries_[place] = {key, value};
    ++used_;
    return value;
  }
  size_t size() const { return used_; }

 private:
  static constexpr size_t kSmallest = 1u << 10;
  struct Entry {
    uint64_t key = 0;
    uint32_t value = kNone;
  };

  /// Where `key` is, or the free place where it belongs.
  size_t place_of(uint64_t key) const {
    const size_t mask = entries_.size() - 1;
    size_t place = mixed(key) & mask;
    while (entries_[place].value != kNone && entries_[place].key != key) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.value != kNone) entries_[place_of(entry.key)] = entry;
    }
  }

  size_t limit_;
  size_t used_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace mrclab::analysis
