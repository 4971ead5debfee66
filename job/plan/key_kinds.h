#pragma once
// Kinds of values that several keys of a job have.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "fabric/text/key_table.h"

namespace mrclab::job {

inline constexpr uint32_t kMaxZipfThousandths = 4000;

/// "zipf 0.5"
inline auto zipf_kind() {
  const auto read = [](const YamlValue& value) {
    const std::string text = value.as_string();
    constexpr std::string_view kWord = "zipf ";
    double exponent = -1;
    const char* const end = text.data() + text.size();
    if (text.starts_with(kWord)) {
      const auto [at, error] = std::from_chars(text.data() + kWord.size(), end, exponent);
      if (error != std::errc() || at != end) exponent = -1;
    }
    if (!(exponent >= 0 && exponent * 1000 <= kMaxZipfThousandths)) {
      value.fail_expecting("zipf and an exponent from 0 to 4, such as \"zipf 0.5\"");
    }
    return static_cast<uint32_t>(std::lround(exponent * 1000));
  };
  const auto write = [](uint32_t in) {
    if (in == 0) return std::string();
    std::string digits = std::to_string(in % 1000 + 1000).substr(1);
    digits.erase(std::max<size_t>(digits.find_last_not_of('0') + 1, 1));
    return "zipf " + std::to_string(in / 1000) + "." + digits;
  };
  return ValueKind{ValueForm::of(ValueForm::Kind::kText), read, write};
}

/// A name that phases and groups have: at most 32 of a-z, 0-9, dash and underscore.
inline bool is_plain_name(std::string_view name) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  return !name.empty() && name.size() <= 32 &&
         name.find_first_not_of(kCharacters) == std::string_view::npos;
}

}  // namespace mrclab::job
