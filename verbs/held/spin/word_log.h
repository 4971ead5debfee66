#pragma once
// What memory held at an anchor, of the words that were stored to since, and how many of them hold something else now.

#include <cstdint>

#include "verbs/held/signals/guarded_read.h"

namespace mrclab::held {

class WordLog {
 public:
  static constexpr uint32_t kMostWords = 2048;

  void clear() {
    for (uint32_t i = 0; i < words_; ++i) slots_[used_[i]].present = false;
    words_ = 0;
    different_ = 0;
  }

  /// Before a store of `bytes` at `address`: notes what is there, unless that is noted. Words that cannot be read are left
  /// out, since such a store faults. False: too many words.
  bool before_store(uint64_t address, uint32_t bytes) {
    for (uint64_t word = address >> 3; word <= (address + bytes - 1) >> 3; ++word) {
      uint64_t value = 0;
      Slot* slot = find(word);
      if (slot->present || !guarded_read(&value, word << 3, sizeof(value))) continue;
      if (words_ == kMostWords) return false;
      *slot = {word, value, true, false};
      used_[words_++] = static_cast<uint16_t>(slot - slots_);
    }
    return true;
  }

  /// After it: which of the words differ from what they held at the anchor.
  void after_store(uint64_t address, uint32_t bytes) {
    for (uint64_t word = address >> 3; word <= (address + bytes - 1) >> 3; ++word) {
      uint64_t value = 0;
      Slot* slot = find(word);
      if (!slot->present || !guarded_read(&value, word << 3, sizeof(value))) continue;
      const bool differs = value != slot->value;
      if (differs != slot->differs) different_ += differs ? 1 : -1;
      slot->differs = differs;
    }
  }

  bool as_at_the_anchor() const { return different_ == 0; }

 private:
  static constexpr uint32_t kSlots = 2 * kMostWords;  // so a search ends
  struct Slot {
    uint64_t word, value;
    bool present, differs;
  };

  Slot* find(uint64_t word) {
    auto at = static_cast<uint32_t>((word * 0x9e3779b97f4a7c15) >> 52) % kSlots;
    while (slots_[at].present && slots_[at].word != word) at = (at + 1) % kSlots;
    return &slots_[at];
  }

  int32_t different_;
  uint32_t words_;
  uint16_t used_[kMostWords];
  Slot slots_[kSlots];
};

}  // namespace mrclab::held
