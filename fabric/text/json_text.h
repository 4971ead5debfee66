#pragma once
// JSON from outside. nlohmann's parser takes any depth, but to copy or to print what it made takes
// a stack frame for each level: 60,000 brackets would end the process. So the text is looked at
// before it is parsed.

#include <exception>
#include <string>
#include <string_view>

#include "fabric/text/yaml.h"

namespace mrclab {

/// No message and no file of ours nests deeper than 12.
inline constexpr size_t kMaxJsonDepth = 64;

/// Does the text open more than kMaxJsonDepth brackets one inside the other?
bool nests_too_deep(std::string_view json);

/// The parser's exception, in words for people: `found text that is no JSON at line 1, column 5`,
/// `found no "world"`, `found a number, where a string should be`. Of its own words ("[json.exception.type_error.302]")
/// none is shown.
std::string json_problem(const std::exception& parsers);

/// Parses the text; the result is_discarded() if it is no JSON or nests too deep.
template <class Json>
Json parse_json(std::string_view text) {
  if (nests_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

/// Parses the text. Throws the parser's exception, or InputError if it nests too deep.
template <class Json>
Json require_json(std::string_view text) {
  if (nests_too_deep(text)) {
    throw InputError("found JSON that nests deeper: expected at most " +
                     std::to_string(kMaxJsonDepth) + " levels");
  }
  return Json::parse(text);
}

}  // namespace mrclab
