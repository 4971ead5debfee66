// Text of a pattern as its pieces.

#include <algorithm>
#include <charconv>
#include <optional>

#include "fabric/text/pattern_piece.h"
#include "fabric/text/yaml.h"

namespace mrclab {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The length of the run of characters of a kind from `at` on.
template <class Is>
size_t run_of(std::string_view text, size_t at, Is is) {
  size_t end = at;
  while (end < text.size() && is(text[end])) ++end;
  return end - at;
}

bool all_of(std::string_view text, bool (*is)(char)) {
  return !text.empty() && run_of(text, 0, is) == text.size();
}

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  std::variant<std::vector<PatternPiece>, PatternMistake> read() {
    while (at_ < text_.size() && !mistake_) read_piece();
    if (!mistake_) check_neighbours();
    if (mistake_) return *mistake_;
    return std::move(pieces_);
  }

 private:
  void read_piece() {
    const char c = text_[at_];
    if (c == '*' || c == '?') {
      ++at_;
      pieces_.push_back({c == '*' ? PieceKind::kAnyRun : PieceKind::kAnyOne, std::string(1, c)});
    } else if (c == '[') {
      read_brackets(']');
    } else if (c == '{') {
      read_brackets('}');
    } else if (c == '\\' && at_ + 1 < text_.size()) {
      put(text_[at_ + 1]);
      at_ += 2;
    } else if (!read_names_range()) {
      put(c);
      ++at_;
    }
  }

  void put(char c) {
    if (pieces_.empty() || pieces_.back().kind != PieceKind::kText)
      pieces_.push_back({PieceKind::kText, ""});
    pieces_.back().text += c;
  }

  void fail(std::string_view part, std::string_view expected) {
    const std::string where = part == text_ ? "" : " in " + in_quotes(text_);
    mistake_ = PatternMistake{in_quotes(part) + where, std::string(expected)};
  }

  /// "h8-h11": between two whole words of the same letters.
  bool read_names_range() {
    const auto in_word = [](char c) { return is_letter(c) || is_decimal(c); };
    if (at_ > 0 && in_word(text_[at_ - 1])) return false;
    const size_t letters = run_of(text_, at_, is_letter);
    const size_t first = run_of(text_, at_ + letters, is_decimal);
    const size_t dash = at_ + letters + first;
    if (letters == 0 || first == 0 || dash >= text_.size() || text_[dash] != '-') return false;
    const std::string_view name = text_.substr(at_, letters);
    if (text_.substr(dash + 1, letters) != name) return false;
    const size_t second = dash + 1 + letters;
    const size_t last = run_of(text_, second, is_decimal);
    const size_t end = second + last;
    if (last == 0 || (end < text_.size() && in_word(text_[end]))) return false;
    const std::string_view part = text_.substr(at_, end - at_);
    PatternPiece piece{PieceKind::kOneOf, std::string(part)};
    if (!add_numbers(part, text_.substr(at_ + letters, first), text_.substr(second, last), piece)) {
      return true;
    }
    for (const char c : name) put(c);
    pieces_.push_back(std::move(piece));
    at_ = end;
    return true;
  }

  bool add_numbers(std::string_view part, std::string_view first, std::string_view last,
                   PatternPiece& piece) {
    constexpr size_t kMostDigits = 9;
    NumberRange range;
    std::from_chars(first.data(), first.data() + first.size(), range.first);
    std::from_chars(last.data(), last.data() + last.size(), range.last);
    const bool zeros = (first.size() > 1 && first[0] == '0') || (last.size() > 1 && last[0] == '0');
    if (first.size() > kMostDigits || last.size() > kMostDigits || range.last < range.first) {
      fail(part, "numbers of at most 9 digits, the smaller first, such as 8-11");
      return false;
    }
    if (zeros && first.size() != last.size()) {
      fail(part, "as many digits in both numbers where one begins with 0, such as 08-11");
      return false;
    }
    if (zeros) range.width = first.size();
    piece.numbers.push_back(range);
    return true;
  }

  void read_brackets(char close) {
    const size_t end = text_.find(close, at_);
    if (end == std::string_view::npos) {
      fail(text_,
           close == ']' ? "a ] behind the [, as in h[8-11]" : "a } behind the {, as in h{8..11}");
      return;
    }
    const std::string_view part = text_.substr(at_, end + 1 - at_);
    std::string_view inside = part.substr(1, part.size() - 2);
    const bool others = close == ']' && (inside.starts_with('!') || inside.starts_with('^'));
    if (others) inside.remove_prefix(1);
    PatternPiece piece{others ? PieceKind::kNoneOf : PieceKind::kOneOf, std::string(part)};
    size_t begin = 0;
    while (begin <= inside.size() && !mistake_) {
      const size_t comma = std::min(inside.find(',', begin), inside.size());
      const std::string_view item = inside.substr(begin, comma - begin);
      close == ']' ? read_item(part, item, piece) : read_word(part, item, piece);
      begin = comma + 1;
    }
    if (others && !mistake_ && !piece.numbers.empty() && !piece.words.empty()) {
      fail(part, "numbers or letters behind the !, not both");
    }
    if (!mistake_ && has_repetition(piece)) fail(part, "each number, letter or word once");
    pieces_.push_back(std::move(piece));
    at_ = end + 1;
  }

  static bool has_repetition(const PatternPiece& piece) {
    std::vector<NumberRange> ranges = piece.numbers;
    std::sort(ranges.begin(), ranges.end(),
              [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
    const auto again = std::adjacent_find(ranges.begin(), ranges.end(),
                                          [](const NumberRange& a, const NumberRange& b) {
                                            return a.last >= b.first && a.width == b.width;
                                          });
    std::vector<std::string> words = piece.words;
    std::sort(words.begin(), words.end());
    return again != ranges.end() || std::adjacent_find(words.begin(), words.end()) != words.end();
  }

  /// "8-11", "4", "abc" or "a-c".
  void read_item(std::string_view part, std::string_view item, PatternPiece& piece) {
    const size_t dash = item.find('-');
    const std::string_view first = item.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : item.substr(dash + 1);
    if (all_of(first, is_decimal) && all_of(last, is_decimal)) {
      // A shell takes [89] for 8 or 9, people who count take it for 89.
      const bool alone = part.find_first_of(",-") == std::string_view::npos;
      if (alone && first.size() > 1) {
        std::string several;
        for (const char c : first) several += (several.empty() ? "" : ",") + std::string(1, c);
        return fail(part, "[" + several + "] for each of these digits, or " + std::string(first) +
                              " without brackets for the number");
      }
      add_numbers(part, first, last, piece);
    } else if (dash == std::string_view::npos && all_of(item, is_letter)) {
      for (const char c : item) piece.words.emplace_back(1, c);
    } else if (first.size() == 1 && last.size() == 1 && is_letter(first[0]) && is_letter(last[0]) &&
               first[0] <= last[0]) {
      for (char c = first[0]; c <= last[0]; ++c) {
        if (is_letter(c)) piece.words.emplace_back(1, c);
      }
    } else {
      fail(part, "numbers such as [8-11] or [1,4,8-11], or letters such as [abc]");
    }
  }

  /// "8..11", or text.
  void read_word(std::string_view part, std::string_view item, PatternPiece& piece) {
    const size_t dots = item.find("..");
    const std::string_view first = item.substr(0, dots);
    if (dots != std::string_view::npos && all_of(first, is_decimal) &&
        all_of(item.substr(dots + 2), is_decimal)) {
      add_numbers(part, first, item.substr(dots + 2), piece);
    } else if (item.empty() || dots != std::string_view::npos ||
               item.find_first_of("*?[]{}\\ ") != std::string_view::npos) {
      fail(part, "numbers such as {8..11}, or words such as {leaf,spine}");
    } else {
      piece.words.emplace_back(item);
    }
  }

  /// "[8-12]2" could be 82 or 122: where digits follow, the end of a number must be certain.
  void check_neighbours() {
    for (size_t i = 0; i + 1 < pieces_.size(); ++i) {
      const PatternPiece& piece = pieces_[i];
      const PatternPiece& next = pieces_[i + 1];
      const bool digits =
          next.kind == PieceKind::kText ? is_decimal(next.text[0]) : !next.numbers.empty();
      if (!digits) continue;
      const bool even =
          std::all_of(piece.numbers.begin(), piece.numbers.end(),
                      [&](const NumberRange& range) {
                        return range.is_even() &&
                               range.text(0).size() == piece.numbers.front().text(0).size();
                      }) &&
          (piece.kind != PieceKind::kNoneOf || piece.numbers.empty());
      if (!even) {
        return fail(piece.text,
                    "numbers with as many digits each, as a digit follows; or all of "
                    "the number in one pair of brackets");
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<PatternPiece> pieces_;
  std::optional<PatternMistake> mistake_;
};

}  // namespace

std::string NumberRange::text(uint64_t place) const {
  std::string digits = std::to_string(first + place);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

uint64_t PatternPiece::count() const {
  if (kind != PieceKind::kOneOf) return 1;
  uint64_t sum = words.size();
  for (const NumberRange& range : numbers) sum += range.count();
  return sum;
}

std::string PatternPiece::alternative(uint64_t place) const {
  if (kind != PieceKind::kOneOf) return text;
  for (const NumberRange& range : numbers) {
    if (place < range.count()) return range.text(place);
    place -= range.count();
  }
  return words.at(place);
}

std::variant<std::vector<PatternPiece>, PatternMistake> read_pattern(std::string_view text) {
  return PatternReader(text).read();
}

}  // namespace mrclab
