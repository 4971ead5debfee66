#include "fabric/text/json_text.h"

#include "fabric/text/visible_text.h"

namespace mrclab {

bool nests_too_deep(std::string_view json) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '"': in_string = !in_string; break;
      case '\\': i += in_string ? 1 : 0; break;
      case '[':
      case '{':
        if (!in_string && ++depth > kMaxJsonDepth) return true;
        break;
      case ']':
      case '}': depth -= !in_string && depth > 0 ? 1 : 0; break;
      default: break;
    }
  }
  return false;
}

namespace {

/// The text between two others; empty if they are not there.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + begin.size());
  const size_t until = text.find(end);
  return until == std::string_view::npos ? std::string_view{} : text.substr(0, until);
}

}  // namespace

std::string json_problem(const std::exception& parsers) {
  const std::string_view what = parsers.what();
  if (what.find("parse_error") != std::string_view::npos) {
    const std::string_view line = between(what, "at line ", ":");
    return "found text that is no JSON" + (line.empty() ? "" : " at line " + visible(line));
  }
  if (const std::string_view key = between(what, "key '", "' not found"); !key.empty()) {
    return "found no " + in_quotes(visible(key));
  }
  if (const std::string_view should = between(what, "type must be ", ", but is ");
      !should.empty()) {
    const std::string_view is = what.substr(what.rfind(' ') + 1);
    return "found " + visible(is) + ", where " + visible(should) + " should be";
  }
  if (const size_t with = what.rfind(" with "); with != std::string_view::npos) {
    return "found " + visible(what.substr(with + 6)) + ", where an object or a list should be";
  }
  return "found a value that does not belong there";
}

}  // namespace mrclab
