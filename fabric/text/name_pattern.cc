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
        if (const auto found = from(number + 1, at)) return found;
        return is_one(at) ? from(number, at + 1) : std::nullopt;
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

/// A pattern of whole names, or one for each of their two ends.
class EndPatterns {
 public:
  EndPatterns(std::vector<NamePattern> ends, std::string_view joint)
      : ends_(std::move(ends)), joint_(joint) {
    for (const NamePattern& end : ends_) seen_.emplace_back(end.count());
  }

  /// Keeps which of the named things this is.
  bool match(std::string_view name) {
    if (ends_.size() == 1) {
      const auto which = ends_[0].match(name);
      if (which) seen_[0][*which] = true;
      return which.has_value();
    }
    const size_t at = name.find(joint_);
    if (at == std::string_view::npos) return false;
    const auto left = ends_[0].match(name.substr(0, at));
    const auto right = ends_[1].match(name.substr(at + joint_.size()));
    if (!left || !right) return false;
    seen_[0][*left] = seen_[1][*right] = true;
    return true;
  }

  void add_missing(NamesFound& out) const {
    for (size_t end = 0; end < ends_.size(); ++end) {
      out.named_count += ends_[end].count();
      for (uint64_t which = 0; which < seen_[end].size(); ++which) {
        if (seen_[end][which]) continue;
        if (out.missing_count++ == 0) out.missing = name_of(end, which);
      }
    }
  }

 private:
  std::string name_of(size_t end, uint64_t which) const {
    std::string text;
    for (size_t i = 0; i < ends_.size(); ++i) {
      text += (i == 0 ? "" : std::string(joint_)) +
              (i == end ? ends_[i].named(which) : ends_[i].text());
    }
    return text;
  }

  std::vector<NamePattern> ends_;
  std::string_view joint_;
  std::vector<std::vector<bool>> seen_;
};

/// The things that match.
std::vector<uint32_t> find_in(EndPatterns patterns, uint32_t things, const NamesAt& names_at,
                              NamesFound& out) {
  std::vector<uint32_t> places;
  std::vector<std::string> names;
  for (uint32_t place = 0; place < things; ++place) {
    names.clear();
    names_at(place, names);
    bool any = false;
    for (const std::string& name : names) {
      if (!patterns.match(name)) continue;
      if (!any && out.there.size() < kMostShown) out.there.push_back(name);
      any = true;
    }
    if (any) places.push_back(place);
  }
  patterns.add_missing(out);
  return places;
}

/// A name that is there, as it is written, is no pattern.
std::vector<uint32_t> called(std::string_view text, uint32_t things, const NamesAt& names_at) {
  std::vector<uint32_t> places;
  std::vector<std::string> names;
  for (uint32_t place = 0; place < things; ++place) {
    names.clear();
    names_at(place, names);
    if (std::find(names.begin(), names.end(), text) != names.end()) places.push_back(place);
  }
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

std::string NamePattern::text() const {
  std::string text;
  for (const PatternPiece& piece : pieces_) text += piece.text;
  return text;
}

NamesFound find_named(std::string_view text, uint32_t things, const NamesAt& names_at,
                      std::string_view joint) {
  NamesFound out;
  out.places = called(text, things, names_at);
  if (!out.places.empty()) return out;
  const size_t at = joint.empty() ? std::string_view::npos : text.find(joint);
  std::vector<std::string_view> parts{text.substr(0, at)};
  if (at != std::string_view::npos) parts.push_back(text.substr(at + joint.size()));
  std::vector<NamePattern> ends, excluded;
  bool excludes = false;
  for (const std::string_view part : parts) {
    auto read = NamePattern::read(part);
    if (auto* mistake = std::get_if<PatternMistake>(&read)) {
      out.malformed = std::move(*mistake);
      return out;
    }
    ends.push_back(std::get<NamePattern>(read));
    const auto others = ends.back().excluded();
    excludes = excludes || others;
    excluded.push_back(others ? *others : ends.back());
  }
  out.places = find_in(EndPatterns(std::move(ends), joint), things, names_at, out);
  // What is excluded must be there as well, or the pattern excludes less than it names.
  if (excludes && out.missing_count == 0) {
    out.there.clear();
    out.named_count = 0;
    find_in(EndPatterns(std::move(excluded), joint), things, names_at, out);
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
  if (found.missing_count == 0) return std::nullopt;
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
  const bool more = found.places.size() > found.there.size();
  return PatternMistake{text, "only what is there, such as " + there + (more ? " and so on" : "")};
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (pattern == name) return true;
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
