#pragma once
// Kinds of values that several keys of a job have.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
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

/// A file, from the folder of the one that names it.
inline auto path_kind() {
  const auto read = [](const YamlValue& value) {
    const std::string text = value.as_string();
    if (text.empty()) value.fail_expecting("a path");
    const std::filesystem::path folder = std::filesystem::path(value.file()).parent_path();
    return std::filesystem::absolute(folder / text).lexically_normal().string();
  };
  return ValueKind{ValueForm::of(ValueForm::Kind::kText), read,
                   [](const std::string& in) { return yaml_string(in); }};
}

/// Kind `kind`, and not its zero.
inline auto above_zero(auto kind, const char* expected) {
  const auto read = [=](const YamlValue& value) {
    auto quantity = std::invoke(kind.read, value);
    if (quantity == decltype(quantity){}) value.fail_expecting(expected);
    return quantity;
  };
  return ValueKind{kind.form, read, kind.write};
}

/// "1/1000", at most 1/`most`; 1 is left out.
inline auto scale_kind(uint32_t most) {
  const auto read = [most](const YamlValue& value) {
    const std::string text = value.as_string();
    const std::string digits = text.starts_with("1/") ? text.substr(2) : text == "1" ? "1" : "";
    const bool number = !digits.empty() && digits.size() <= 7 && digits[0] != '0' &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
    const uint32_t scale = number ? static_cast<uint32_t>(std::stoul(digits)) : 0;
    if (scale == 0 || scale > most) {
      value.fail_expecting("1/1 to 1/" + std::to_string(most) + ", such as 1/1000");
    }
    return scale;
  };
  return ValueKind{ValueForm::of(ValueForm::Kind::kText), read,
                   [](uint32_t in) { return in == 1 ? "" : "1/" + std::to_string(in); }};
}

/// A name that phases and groups have: at most 32 of a-z, 0-9, dash and underscore.
inline bool is_plain_name(std::string_view name) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  return !name.empty() && name.size() <= 32 &&
         name.find_first_not_of(kCharacters) == std::string_view::npos;
}

}  // namespace mrclab::job
