// The text of a containerlab file before it is YAML: variables of the environment, and templates.

#include <cstdlib>

#include "fabric/text/foreign_yaml.h"
#include "live/translate/containerlab_import.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr int kDeepest = 8;  // a default may hold variables

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool goes_on(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

using Variable = std::function<const char*(const std::string&)>;

/// The place of the brace that closes what begins at `at`.
size_t closing_brace(std::string_view text, size_t at) {
  for (size_t open = 1; at < text.size(); ++at) {
    if (text[at] == '\n') break;
    if (text[at] == '{') ++open;
    if (text[at] == '}' && --open == 0) return at;
  }
  return std::string_view::npos;
}

std::string expanded(std::string_view text, const Variable& variable, int depth);

/// What stands between the braces of "${...}"; empty: it is no variable, or one without a value.
std::optional<std::string> value_of(std::string_view inside, const Variable& variable, int depth) {
  size_t end = 0;
  while (end < inside.size() && goes_on(inside[end])) ++end;
  if (end == 0 || !begins_name(inside[0])) return std::nullopt;
  const char* set = variable(std::string(inside.substr(0, end)));
  std::string_view rest = inside.substr(end);
  const bool colon = rest.starts_with(':');
  if (colon) rest.remove_prefix(1);
  const bool has = set != nullptr && (!colon || *set != '\0');
  if (rest.empty()) return set == nullptr ? std::nullopt : std::optional<std::string>(set);
  const char operation = rest.front();
  const std::string word = expanded(rest.substr(1), variable, depth + 1);
  switch (operation) {
    case '-':
    case '=': return has ? std::string(set) : word;
    case '+': return has ? word : std::string();
    case '?': return has ? std::optional<std::string>(set) : std::nullopt;
    default: return std::nullopt;
  }
}

std::string expanded(std::string_view text, const Variable& variable, int depth) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$' || at + 1 >= text.size() || depth > kDeepest) {
      result += text[at];
      continue;
    }
    if (text[at + 1] == '$') {  // "$$" is a dollar
      result += text[++at];
      continue;
    }
    size_t end = at + 1;
    std::optional<std::string> value;
    if (text[end] == '{') {
      const size_t close = closing_brace(text, end + 1);
      if (close != std::string_view::npos) {
        value = value_of(text.substr(end + 1, close - end - 1), variable, depth);
        end = close + 1;
      }
    } else if (begins_name(text[end])) {
      while (end < text.size() && goes_on(text[end])) ++end;
      value = value_of(text.substr(at + 1, end - at - 1), variable, depth);
    }
    if (value) {
      result += *value;
      at = end - 1;
    } else {
      result += text[at];  // without a value it stays as it is, as containerlab has it
    }
    if (result.size() > kMostBytes) break;
  }
  return result;
}

bool is_template(const std::string& text) {
  return text.find("{{") != std::string::npos && text.find("}}") != std::string::npos;
}

}  // namespace

std::string with_variables(std::string_view text, const Variable& variable) {
  return expanded(text, variable, 0);
}

YamlValue read_containerlab_document(const std::filesystem::path& path) {
  const std::string text = read_yaml_bytes(path);
  const auto refuse_template = [&] {
    const std::string stem = path.filename().string();
    throw InputError(
        path.string() +
        ": found a Go template: expected the topology that it makes with its variables, as by "
        "gomplate -f " +
        stem + " -c .=" + stem.substr(0, stem.rfind(".gotmpl")) + "_vars.yaml");
  };
  if (path.extension() == ".gotmpl" && is_template(text)) refuse_template();
  try {
    YamlValue document = read_foreign_yaml_text(
        with_variables(text, [](const std::string& name) { return std::getenv(name.c_str()); }),
        path.string());
    if (is_template(text) && (!document.is_map() || !document.get("topology"))) refuse_template();
    return document;
  } catch (const InputError&) {
    if (is_template(text)) refuse_template();
    throw;
  }
}

}  // namespace mrclab::lab
