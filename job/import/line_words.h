#pragma once
// A text as lines of words, for readers that name the line of what is wrong.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/input_error.h"
#include "fabric/text/words.h"

namespace mrclab::job {

/// What blanks separate in `line`, into `words`; "\r" is a blank.
inline void split_words(std::string_view line, std::vector<std::string_view>& words) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  words.clear();
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
}

class LineWords {
 public:
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;

  /// Both outlive it. `name` stands in messages.
  LineWords(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  /// Goes to the next line that has words; false behind the last. Words are those of split_words().
  bool next() {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      if (line.size() > kMaxLineBytes) fail("a line of more than 64 KiB");
      split_words(line, words_);
      if (!words_.empty()) return true;
    }
    words_.clear();
    return false;
  }
  uint32_t number() const { return number_; }
  const std::vector<std::string_view>& words() const { return words_; }
  /// The word at `place`, or "" behind the last.
  std::string_view word(size_t place) const {
    return place < words_.size() ? words_[place] : std::string_view{};
  }

  /// A whole number from `least` to `most` at `place`; `what` says which.
  uint64_t count(size_t place, std::string_view what, uint64_t most, uint64_t least = 0) const {
    const std::string_view text = word(place);
    const auto value = whole_number(text);
    if (!value || *value < least || *value > most) {
      fail("found \"" + std::string(text.substr(0, 40)) + "\": expected " + std::string(what) +
           ", " + std::to_string(least) + " to " + std::to_string(most));
    }
    return *value;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ":" + std::to_string(number_) + ": " + what);
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  uint32_t number_ = 0;
  std::vector<std::string_view> words_;
};

}  // namespace mrclab::job
