// Scalars with units, and the text of error lines. All exact: no floating point.

#include <algorithm>
#include <array>
#include <limits>

#include "fabric/text/ratio.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab {
namespace {

constexpr size_t kMaxQuoted = 60;
constexpr size_t kMaxSuggestLength = 64;
constexpr size_t kMaxNameBytes = 32;
constexpr int64_t kMaxTimePs = 3'600'000'000'000'000;  // one hour

/// mantissa / 10^decimals, then a unit.
struct Quantity {
  uint64_t mantissa = 0;
  uint32_t decimals = 0;
  std::string_view unit;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Empty if the text does not start with a plain decimal number of at most 18 digits.
std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity q;
  size_t digits = 0;
  size_t i = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point && digits > 0) {
      point = true;
    } else if (is_digit(text[i])) {
      if (++digits > 18) return std::nullopt;
      q.mantissa = q.mantissa * 10 + static_cast<uint64_t>(text[i] - '0');
      if (point) ++q.decimals;
    } else {
      break;
    }
  }
  if (digits == 0 || text[i - 1] == '.') return std::nullopt;
  while (i < text.size() && text[i] == ' ') ++i;
  q.unit = text.substr(i);
  return q;
}

uint64_t power_of_ten(uint32_t n) {
  uint64_t result = 1;
  for (uint32_t i = 0; i < n; ++i) result *= 10;
  return result;
}

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr std::array kTimeUnits{Unit{"s", 1'000'000'000'000}, Unit{"ms", 1'000'000'000},
                                Unit{"us", 1'000'000}, Unit{"ns", 1'000}, Unit{"ps", 1}};
constexpr std::array kByteUnits{
    Unit{"GiB", 1u << 30}, Unit{"MiB", 1u << 20}, Unit{"KiB", 1u << 10}, Unit{"GB", 1'000'000'000},
    Unit{"MB", 1'000'000}, Unit{"kB", 1'000},     Unit{"B", 1}};
constexpr std::array kRateUnits{Unit{"Tb/s", 1'000'000'000'000}, Unit{"Gb/s", 1'000'000'000},
                                Unit{"Mb/s", 1'000'000}, Unit{"kb/s", 1'000}, Unit{"b/s", 1}};

/// The quantity in the smallest unit; empty if the unit is unknown, the result no whole number or
/// above `max`.
template <size_t N>
std::optional<uint64_t> in_base_units(const Quantity& q, const std::array<Unit, N>& units,
                                      uint64_t max) {
  for (const Unit& unit : units) {
    if (unit.name != q.unit) continue;
    const auto product = static_cast<unsigned __int128>(q.mantissa) * unit.factor;
    const uint64_t divisor = power_of_ten(q.decimals);
    if (product % divisor != 0 || product / divisor > max) return std::nullopt;
    return static_cast<uint64_t>(product / divisor);
  }
  return std::nullopt;
}

/// The value in the largest of `units` that keeps it whole.
template <size_t N>
std::string in_largest_unit(uint64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    const bool power_of_1000 = unit.name.size() > 1 && unit.name[1] == 'B';
    if (power_of_1000) continue;  // sizes are written in powers of 1024
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return "0" + std::string(units.back().name);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<size_t, kMaxSuggestLength + 1> row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min(std::min(row[j], row[j - 1]) + 1, replace);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string in_quotes(std::string_view text) {
  const std::string_view shown = text.substr(0, kMaxQuoted);
  return "\"" + visible(shown) + (shown.size() < text.size() ? "...\"" : "\"");
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kMaxSuggestLength) return "";
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxSuggestLength) continue;
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= best_distance) continue;  // each missing letter is one edit
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best_distance = distance;
    best = &candidate;
  }
  return best ? *best : "";
}

std::string one_of(std::string_view word, const std::vector<std::string>& known) {
  if (const std::string near = nearest_name(word, known); !near.empty()) return in_quotes(near);
  std::string result = known.size() == 1 ? "" : "one of ";
  for (size_t i = 0; i < known.size(); ++i) result += (i ? ", " : "") + known[i];
  return result;
}

std::string exact(FabricTime time) {
  if (time == FabricTime::never()) return "never";
  const auto ps = static_cast<uint64_t>(time.ps());
  constexpr uint64_t kNs = 1'000, kUs = 1'000'000, kMs = 1'000'000'000;
  const uint64_t digits = ps % kNs != 0 ? kUs : kMs;  // longer numbers of ps or ns are hard to read
  if (ps < digits || ps % kUs == 0) return in_largest_unit(ps, kTimeUnits);
  std::string decimals = std::to_string(kUs + ps % kUs).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return std::to_string(ps / kUs) + "." + decimals + "us";
}

std::string exact(Bytes size) { return in_largest_unit(size.value, kByteUnits); }

std::string exact(BitRate rate) { return in_largest_unit(rate.bps, kRateUnits); }

std::string exact(Probability probability) { return exact(Ratio{probability.ppb}); }

std::string exact(Ratio ratio) {
  constexpr uint64_t kPpbPerPercent = Ratio::kOne / 100;
  std::string result = std::to_string(ratio.ppb / kPpbPerPercent);
  if (const uint64_t rest = ratio.ppb % kPpbPerPercent; rest != 0) {
    std::string decimals = std::to_string(kPpbPerPercent + rest).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    result += "." + decimals;
  }
  return result + "%";
}

std::string exact(BitErrorRate rate) {
  uint64_t mantissa = rate.per_quadrillion;
  int exponent = -15;
  while (mantissa != 0 && mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  return std::to_string(mantissa) + "e" + std::to_string(mantissa == 0 ? 0 : exponent);
}

std::string YamlValue::as_name() const {
  std::string text = is_scalar() ? as_string() : "";
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (text.empty() || text.size() > kMaxNameBytes || !plain || text[0] == '-') {
    fail_expecting("a name of at most 32 lower-case letters, digits and dashes");
  }
  return text;
}

size_t YamlValue::as_word(const std::vector<std::string>& words) const {
  const std::string text = is_scalar() ? as_string() : "";
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) return i;
  }
  fail_expecting(one_of(text, words));
}

bool YamlValue::as_bool() const {
  const std::string text = is_scalar() ? as_string() : "";
  if (text == "on" || text == "true" || text == "yes") return true;
  if (text == "off" || text == "false" || text == "no") return false;
  fail_expecting("on or off");
}

int64_t YamlValue::as_integer(int64_t min, int64_t max) const {
  const std::string expected =
      "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  if (!is_scalar()) fail_expecting(expected);
  const std::string text = as_string();
  const bool negative = !text.empty() && text[0] == '-';
  const auto q = parse_quantity(std::string_view(text).substr(negative ? 1 : 0));
  if (!q || q->decimals != 0 || !q->unit.empty()) fail_expecting(expected);
  const auto magnitude = static_cast<int64_t>(q->mantissa);  // at most 18 digits
  const int64_t value = negative ? -magnitude : magnitude;
  if (value < min || value > max) fail_expecting(expected);
  return value;
}

FabricTime YamlValue::as_time() const {
  const std::string text = is_scalar() ? as_string() : "";
  const auto q = parse_quantity(text);
  if (q && q->unit == "rtt") {
    if (rtt() == FabricTime::zero()) {
      fail_expecting("a duration in ps, ns, us, ms or s: no RTT is known here");
    }
    const auto product =
        static_cast<unsigned __int128>(q->mantissa) * static_cast<uint64_t>(rtt().ps());
    const auto ps = product / power_of_ten(q->decimals);
    if (ps > kMaxTimePs) fail_expecting("a duration of at most 3600s");
    return FabricTime::from_ps(static_cast<int64_t>(ps));
  }
  const auto ps = q ? in_base_units(*q, kTimeUnits, kMaxTimePs) : std::nullopt;
  if (!ps) {
    const bool unit_known =
        q && std::any_of(kTimeUnits.begin(), kTimeUnits.end(),
                         [&](const Unit& unit) { return unit.name == q->unit; });
    fail_expecting(unit_known ? "a duration of whole picoseconds and at most 3600s"
                   : rtt() == FabricTime::zero()
                       ? "a duration such as 300us (ps, ns, us, ms, s)"
                       : "a duration such as 300us (ps, ns, us, ms, s, rtt)");
  }
  return FabricTime::from_ps(static_cast<int64_t>(*ps));
}

Bytes YamlValue::as_bytes() const {
  constexpr uint64_t kMax = uint64_t{1} << 40;
  const std::string text = is_scalar() ? as_string() : "";
  const auto q = parse_quantity(text);
  const auto bytes = q ? in_base_units(*q, kByteUnits, kMax) : std::nullopt;
  if (!bytes) fail_expecting("a size such as 8MiB (B, kB, MB, GB, KiB, MiB, GiB)");
  return {*bytes};
}

BitRate YamlValue::as_rate() const {
  constexpr uint64_t kMax = 10'000'000'000'000;
  const std::string text = is_scalar() ? as_string() : "";
  const auto q = parse_quantity(text);
  const auto bps = q ? in_base_units(*q, kRateUnits, kMax) : std::nullopt;
  if (!bps || *bps < 1'000'000) {
    fail_expecting("a rate such as 100Gb/s (kb/s, Mb/s, Gb/s, Tb/s), from 1Mb/s to 10Tb/s");
  }
  return {*bps};
}

Probability YamlValue::as_probability() const {
  static constexpr std::array kUnits{Unit{"", Probability::kOne},
                                     Unit{"%", Probability::kOne / 100}};
  const std::string text = is_scalar() ? as_string() : "";
  const auto q = parse_quantity(text);
  const auto ppb = q ? in_base_units(*q, kUnits, Probability::kOne) : std::nullopt;
  if (!ppb) fail_expecting("a share such as 20% or 0.2, from 0% to 100%");
  return {static_cast<uint32_t>(*ppb)};
}

Ratio as_ratio(const YamlValue& value) {
  static constexpr std::array kUnits{Unit{"", Ratio::kOne}, Unit{"%", Ratio::kOne / 100}};
  const std::string text = value.is_scalar() ? value.as_string() : "";
  const auto q = parse_quantity(text);
  const auto ppb = q ? in_base_units(*q, kUnits, Ratio::kMost) : std::nullopt;
  if (!ppb) value.fail_expecting("a multiple such as 105% or 1.05, up to 10000%");
  return {*ppb};
}

BitErrorRate YamlValue::as_error_rate() const {
  const std::string text = is_scalar() ? as_string() : "";
  const auto q = parse_quantity(text);
  // The unit is the exponent: "e-6".
  const std::string_view exponent = q ? q->unit : std::string_view();
  const bool plain = exponent.size() >= 3 && exponent.size() <= 4 && exponent[0] == 'e' &&
                     exponent[1] == '-' && is_digit(exponent[2]) && is_digit(exponent.back());
  const int power = !plain                 ? 0
                    : exponent.size() == 3 ? exponent[2] - '0'
                                           : 10 * (exponent[2] - '0') + exponent[3] - '0';
  if (plain && power <= 15 && q->decimals <= static_cast<uint32_t>(15 - power)) {
    const uint32_t shift = static_cast<uint32_t>(15 - power) - q->decimals;
    const auto value = static_cast<unsigned __int128>(q->mantissa) * power_of_ten(shift);
    if (value <= BitErrorRate::kOne) return {static_cast<uint64_t>(value)};
  }
  fail_expecting("errors per bit such as 1e-6, of at least 1e-15");
}

}  // namespace mrclab
