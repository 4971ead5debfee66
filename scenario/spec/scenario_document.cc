#include "scenario/spec/scenario_document.h"

#include <algorithm>

#include "fabric/text/name_pattern.h"
#include "fabric/text/yaml_compose.h"
#include "fabric/text/yaml_write.h"
#include "fabric/topology/pattern.h"
#include "scenario/spec/scenario_keys.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// Our choice, far more than anybody can follow.
constexpr size_t kMaxIncludeDepth = 8, kMaxIncludes = 64;

bool is_scenario_key(const std::string& word) {
  const std::vector<ValueForm::Key>& keys = scenario_keys().form().keys;
  return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.name == word; });
}

/// Lays a file over those that it includes.
class Inclusion {
 public:
  YamlValue compose(const YamlValue& document, const fs::path& path) {
    if (!document.is_map()) return document;
    const auto include = document.get("include");
    if (!include) return document;
    std::error_code none;
    open_.push_back(fs::weakly_canonical(path, none));
    std::optional<YamlValue> below;
    for (const YamlValue& name : include->is_list() ? include->items() : std::vector{*include}) {
      const YamlValue file = included(name, path);
      below = below ? laid_over(*below, file) : file;
    }
    open_.pop_back();
    const YamlValue own = without_key(document, "include");
    return below ? laid_over(*below, own) : own;
  }

 private:
  YamlValue included(const YamlValue& name, const fs::path& path) {
    const fs::path word = name.as_string();
    if (word.empty() || word.is_absolute()) {
      name.fail_expecting("the path of a file, relative to this one");
    }
    const fs::path file = path.parent_path() / word;
    std::error_code none;
    const fs::path canonical = fs::weakly_canonical(file, none);
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end()) {
      name.fail(in_quotes(name.as_string()) + ", which includes itself that way",
                "files that include others in no circle");
    }
    if (open_.size() >= kMaxIncludeDepth) {
      name.fail("deeper includes", "at most " + std::to_string(kMaxIncludeDepth) + " levels");
    }
    if (++count_ > kMaxIncludes) {
      name.fail("more includes", "at most " + std::to_string(kMaxIncludes) + " in all");
    }
    return compose(read_included(name, file), file);
  }

  /// Of a file that is no part of a scenario nothing is shown: a scenario may come from somebody who cannot read that
  /// file, and the error may go back there.
  static YamlValue read_included(const YamlValue& name, const fs::path& file) {
    std::error_code none;
    if (!fs::is_regular_file(file, none)) {
      name.fail(in_quotes(name.as_string()) + ", and no such file " + in_quotes(file.string()),
                "a file with keys of a scenario");
    }
    const std::string expected = "a map with keys of a scenario";
    std::optional<YamlValue> document;
    try {
      document = read_yaml_file(file);
    } catch (const InputError& error) {
      const std::string what = error.what();
      if (what.find("text that is not YAML") == std::string::npos) throw;
      name.fail(in_quotes(name.as_string()) + ", a file that is not YAML", expected);
    }
    const bool known = document->is_map() && [&] {
      for (const auto& [key, value] : document->members()) {
        if (is_scenario_key(key)) return true;
      }
      return false;
    }();
    if (!known) name.fail(in_quotes(name.as_string()) + ", a file that is no scenario", expected);
    return *document;
  }

  std::vector<fs::path> open_;  ///< the files that include one another, to the one that is read
  size_t count_ = 0;
};

/// Text as it stands, or YAML where it begins as a list, a map or a quoted text does.
YamlValue value_of(const SetValue& set) {
  const bool yaml =
      !set.value.empty() && std::string_view("[{\"'").find(set.value[0]) != std::string_view::npos;
  return read_yaml_text(yaml ? set.value : yaml_string(set.value), "--set " + set.key);
}

/// The whole path of a key: that of a variable has its name alone, and below a profile's name is a map.
YamlValue prepared(YamlValue document, std::vector<std::string>& path, const fs::path& file) {
  const auto vars = document.get("vars");
  const bool is_variable = vars && vars->is_map() && vars->get(path.front());
  if (is_variable && path.size() == 1 && !is_scenario_key(path.front())) {
    path.insert(path.begin(), "vars");
  }
  if (!is_scenario_key(path.front())) {
    std::vector<std::string> known;
    if (vars && vars->is_map()) {
      for (const auto& [name, value] : vars->members()) known.push_back(name);
    }
    for (const auto& key : scenario_keys().form().keys) known.push_back(key.name);
    throw InputError("--set: found " + in_quotes(path.front()) +
                     ", which is no key and no variable of the scenario: expected " +
                     one_of(path.front(), known));
  }
  if (path.size() == 1) return document;
  const auto value = document.get(path.front());
  if (path.front() == "vars" && !(vars && vars->is_map() && vars->get(path[1]))) {
    throw InputError("--set: found " + in_quotes(path[1]) + ", which is no variable of " +
                     file.string() + ": expected one of its \"vars:\"");
  }
  if (!value || !value->is_scalar()) return document;
  if (path.front() == "transport") {
    return with_value(
        document, {"transport"},
        read_yaml_text("{profile: " + yaml_string(value->as_string()) + "}", document.file()));
  }
  if (path.front() != "fabric") return document;
  try {
    return with_value(document, {"fabric"},
                      read_yaml_file(find_fabric(value->as_string(),
                                                 folder_of(*value, document, file.parent_path()))));
  } catch (const NameError& error) {
    value->fail(error.found(), error.expected());
  }
}

}  // namespace

YamlValue composed_scenario(const YamlValue& document, const fs::path& path,
                            const std::vector<SetValue>& sets) {
  YamlValue made = Inclusion().compose(document, path);
  if (!sets.empty() && !made.is_map()) made.fail_expecting("a map (key: value)");
  for (const SetValue& set : sets) {
    std::vector<std::string> parts = path_parts(set.key);
    made = prepared(made, parts, path);
    made = with_value(made, parts, value_of(set));
  }
  return made;
}

YamlValue read_scenario_document(const fs::path& path, const std::vector<SetValue>& sets) {
  return composed_scenario(read_yaml_file(path), path, sets);
}

std::vector<SetValue> read_set(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InputError("--set: found " + in_quotes(text) + ": expected KEY=VALUE or KEY=V1,V2");
  }
  const std::string key = text.substr(0, equals);
  path_parts(key);
  std::vector<SetValue> values;
  for (const std::string_view part : split_names(std::string_view(text).substr(equals + 1))) {
    if (part.empty()) throw InputError("--set " + key + ": found no value: expected KEY=V1,V2");
    values.push_back({key, std::string(part)});
  }
  if (values.empty()) throw InputError("--set " + key + ": found no value: expected KEY=VALUE");
  return values;
}

fs::path folder_of(const YamlValue& value, const YamlValue& document, const fs::path& base) {
  return value.file() == document.file() ? base : fs::path(value.file()).parent_path();
}

}  // namespace mrclab::lab
