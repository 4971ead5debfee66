#pragma once
// Reads pieces off the front of a text; after the first that is missing, nothing more counts.

#include <string_view>

namespace mrclab::lab {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  void fail() { ok_ = false; }
  size_t position() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  /// The character that far ahead; '\0' behind the end.
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char take() {
    const char c = peek();
    if (at_ < text_.size()) ++at_;
    return c;
  }
  bool skip(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) { ok_ = skip(c) && ok_; }
  /// At least one.
  void blanks() {
    ok_ = ok_ && (peek() == ' ' || peek() == '\t');
    while (skip(' ') || skip('\t')) {
    }
  }
  /// `min` to `max` digits, of a value from `low` to `high`.
  int number(size_t min, size_t max, int low, int high) {
    int value = 0;
    size_t digits = 0;
    while (digits < max && is_digit(peek())) {
      value = value * 10 + (take() - '0');
      ++digits;
    }
    ok_ = ok_ && digits >= min && value >= low && value <= high;
    return value;
  }
  /// A month's English name, in any letters: 1 to 12.
  int month() {
    constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
    const char name[]{to_lower(take()), to_lower(take()), to_lower(take())};
    const size_t found = kMonths.find(std::string_view(name, 3));
    ok_ = ok_ && found != std::string_view::npos && found % 3 == 0;
    return static_cast<int>(found / 3) + 1;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace mrclab::lab
