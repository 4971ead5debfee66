#include "fabric/text/name_pattern.h"

#include <algorithm>
#include <charconv>

#include "fabric/text/yaml.h"

namespace mrclab {
namespace {

constexpr size_t kMostShown = 4;  // names in a message

/// The place of the number in `digits` among those of the piece.
std::optional<uint64_t> place_of_number(const PatternPiece& piece, std::string_view digits) {
  uint64_t number = 0, before = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  for (const NumberRange& range : piece.numbers) {
    const bool in_range = range.first <= number && number <= range.last;
    if (in_range && range.text(number - range.first) == digits) {
      return before + number - range.first;
    }
    before += range.count();
  }
  return std::nullopt;
}

/// One name against the pieces of one pattern, by trying every end of every piece. What was tried in vain is
/// kept, so that many stars do not take exponential time.
class NameMatch {
 public:
  NameMatch(const std::vector<PatternPiece>& pieces, std::string_view name, bool keeps_failures)
      : pieces_(pieces), name_(name) {
    if (keeps_failures) failed_.resize((pieces.size() + 1) * (name.size() + 1));
  }

  /// The number of what is named, in the mixed base of the pieces' counts.
  std::optional<uint64_t> from(size_t piece, size_t at) {
    if (piece == pieces_.size())
      return at == name_.size() ? std::optional<uint64_t>(0) : std::nullopt;
    const size_t here = piece * (name_.size() + 1) + at;
    if (!failed_.empty() && failed_[here]) return std::nullopt;
    const auto found = of(pieces_[piece], piece, at);
    if (!found && !failed_.empty()) failed_[here] = true;
    return found;
  }

 private:
  std::optional<uint64_t> of(const PatternPiece& piece, size_t number, size_t at) {
    switch (piece.kind) {
      case PieceKind::kText:
        if (name_.substr(at, piece.text.size()) != piece.text) return std::nullopt;
        return from(number + 1, at + piece.text.size());
      case PieceKind::kAnyOne: return is_one(at) ? from(number + 1, at + 1) : std::nullopt;
      case PieceKind::kAnyRun:
        for (size_t end = at;; ++end) {
          if (const auto found = from(number + 1, end)) return found;
          if (!is_one(end)) return std::nullopt;
        }
      case PieceKind::kOneOf: return of_set(piece, number, at);
      case PieceKind::kNoneOf: return of_others(piece, number, at);
    }
    return std::nullopt;
  }

  bool is_one(size_t at) const { return at < name_.size() && name_[at] != ':'; }

  std::optional<uint64_t> with(uint64_t place, size_t number, size_t end) {
    const auto rest = from(number + 1, end);
    if (!rest) return std::nullopt;
    uint64_t behind = 1;
    for (size_t i = number + 1; i < pieces_.size(); ++i) behind *= pieces_[i].count();
    return place * behind + *rest;
  }

  size_t digits_at(size_t at) const {
    size_t end = at;
    while (end < name_.size() && is_decimal(name_[end])) ++end;
    return end - at;
  }

  std::optional<uint64_t> of_set(const PatternPiece& piece, size_t number, size_t at) {
    for (size_t size = piece.numbers.empty() ? 0 : digits_at(at); size > 0; --size) {
      const auto place = place_of_number(piece, name_.substr(at, size));
      const auto found = place ? with(*place, number, at + size) : std::nullopt;
      if (found) return found;
    }
    uint64_t place = piece.count() - piece.words.size();
    for (const std::string& word : piece.words) {
      if (name_.substr(at, word.size()) == word) {
        if (const auto found = with(place, number, at + word.size())) return found;
      }
      ++place;
    }
    return std::nullopt;
  }

  /// Another number, which is taken with all of its digits, or another character.
  std::optional<uint64_t> of_others(const PatternPiece& piece, size_t number, size_t at) {
    if (piece.numbers.empty()) {
      if (!is_one(at)) return std::nullopt;
      const std::string character(1, name_[at]);
      const bool excluded =
          std::find(piece.words.begin(), piece.words.end(), character) != piece.words.end();
      return excluded ? std::nullopt : from(number + 1, at + 1);
    }
    const size_t size = digits_at(at);
    if (size == 0 || place_of_number(piece, name_.substr(at, size))) return std::nullopt;
    return from(number + 1, at + size);
  }

  const std::vector<PatternPiece>& pieces_;
  std::string_view name_;
  std::vector<bool> failed_;  // empty: not kept
};

/// Adds what is missing of a pattern whose things were seen or not.
void add_missing(const NamePattern& pattern, const std::vector<bool>& seen, NamesFound& out) {
  out.named_count += pattern.count();
  for (uint64_t which = 0; which < seen.size(); ++which) {
    if (seen[which]) continue;
    if (out.missing.empty()) out.missing = pattern.named(which);
    ++out.missing_count;
  }
}

/// The things that match, and which of those that are named they are.
std::vector<uint32_t> find_in(const NamePattern& pattern, uint32_t things, const NamesAt& names_at,
                              NamesFound& out) {
  std::vector<bool> seen(pattern.count());
  std::vector<uint32_t> places;
  std::vector<std::string> names;
  for (uint32_t place = 0; place < things; ++place) {
    names.clear();
    names_at(place, names);
    bool any = false;
    for (const std::string& name : names) {
      const auto which = pattern.match(name);
      if (!which) continue;
      seen[*which] = true;
      if (!any && out.there.size() < kMostShown) out.there.push_back(name);
      any = true;
    }
    if (any) places.push_back(place);
  }
  add_missing(pattern, seen, out);
  return places;
}

}  // namespace

NamePattern::NamePattern(std::vector<PatternPiece> pieces) : pieces_(std::move(pieces)) {
  for (const PatternPiece& piece : pieces_) {
    count_ *= std::min(piece.count(), kMaxNamed + 1);
    count_ = std::min(count_, kMaxNamed + 1);
    any_run_ = any_run_ || piece.kind == PieceKind::kAnyRun;
  }
}

std::variant<NamePattern, PatternMistake> NamePattern::read(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return PatternMistake{in_quotes(text), "at most " + std::to_string(kMaxBytes) + " characters"};
  }
  auto pieces = read_pattern(text);
  if (auto* mistake = std::get_if<PatternMistake>(&pieces)) return std::move(*mistake);
  NamePattern pattern(std::move(std::get<std::vector<PatternPiece>>(pieces)));
  if (pattern.count_ <= kMaxNamed) return pattern;
  return PatternMistake{in_quotes(text) + ", which names more than any fabric has",
                        "at most " + std::to_string(kMaxNamed) + " names, or a wildcard"};
}

std::optional<uint64_t> NamePattern::match(std::string_view name) const {
  return NameMatch(pieces_, name, any_run_).from(0, 0);
}

std::string NamePattern::named(uint64_t which) const {
  std::vector<std::string> parts;
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    parts.push_back(piece->alternative(which % piece->count()));
    which /= piece->count();
  }
  std::string text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
  return text;
}

std::optional<NamePattern> NamePattern::excluded() const {
  std::vector<PatternPiece> pieces = pieces_;
  bool any = false;
  for (PatternPiece& piece : pieces) {
    if (piece.kind != PieceKind::kNoneOf) continue;
    piece.kind = PieceKind::kOneOf;
    any = true;
  }
  if (!any) return std::nullopt;
  NamePattern pattern(std::move(pieces));
  return pattern.count_ <= kMaxNamed ? std::optional(std::move(pattern)) : std::nullopt;
}

NamesFound find_named(std::string_view text, uint32_t things, const NamesAt& names_at) {
  NamesFound out;
  const auto read = NamePattern::read(text);
  if (const auto* mistake = std::get_if<PatternMistake>(&read)) {
    out.malformed = *mistake;
    return out;
  }
  const NamePattern& pattern = std::get<NamePattern>(read);
  out.places = find_in(pattern, things, names_at, out);
  // What is excluded must be there as well, or the pattern excludes less than it names.
  const auto excluded = pattern.excluded();
  if (excluded && out.missing.empty()) {
    out.there.clear();
    find_in(*excluded, things, names_at, out);
  }
  return out;
}

NamesFound find_named(std::string_view pattern, const std::vector<std::string>& names) {
  return find_named(pattern, static_cast<uint32_t>(names.size()),
                    [&](uint32_t place, std::vector<std::string>& out) { out = {names[place]}; });
}

std::optional<PatternMistake> mistake_in(const NamesFound& found, std::string_view pattern,
                                         std::string_view kind, const std::string& expected) {
  if (found.malformed) return found.malformed;
  if (found.missing.empty()) return std::nullopt;
  std::string text = in_quotes(pattern);
  if (found.missing == pattern) {
    text += ", which names no " + std::string(kind);
  } else {
    text += ", which names " + in_quotes(found.missing) + ": no " + std::string(kind) +
            (found.missing.find_first_of("*?") == std::string::npos ? " has that name"
                                                                    : " matches that");
  }
  if (found.missing_count > 1) {
    text += " (" + std::to_string(found.missing_count) + " of the " +
            std::to_string(found.named_count) + " are missing)";
  }
  if (found.there.empty()) return PatternMistake{text, expected};
  std::string there;
  for (const std::string& name : found.there)
    there += (there.empty() ? "" : ", ") + in_quotes(name);
  const bool more = found.named_count - found.missing_count > found.there.size();
  return PatternMistake{text, "only what is there, such as " + there + (more ? " and so on" : "")};
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // The judge asks the same pattern for packet after packet.
  thread_local std::string last_text;
  thread_local std::optional<NamePattern> last;
  if (!last || last_text != pattern) {
    auto read = NamePattern::read(pattern);
    auto* good = std::get_if<NamePattern>(&read);
    if (good == nullptr) return pattern == name;
    last = std::move(*good);
    last_text = pattern;
  }
  return last->match(name).has_value();
}

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

std::vector<std::string_view> split_names(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth <= 0) {
      parts.push_back(without_blanks(list.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(without_blanks(list.substr(begin)));
  return parts;
}

}  // namespace mrclab
