#include "lab/persistent/lab_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fabric/text/name_pattern.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {

std::optional<std::string> named_lab(const std::optional<std::string>& word,
                                     const std::optional<std::string>& option) {
  if (word && option && *word != *option) {
    throw InputError(fmt::format("--lab: found {} beside {}: expected one lab", in_quotes(*option),
                                 in_quotes(*word)));
  }
  return option ? option : word;
}

std::string lab_word(const std::string& lab, const LabPaths& paths) {
  return recorded_labs(paths).size() > 1 ? " " + lab : "";
}

std::string lab_option(const std::string& lab, const LabPaths& paths) {
  return recorded_labs(paths).size() > 1 ? " --lab " + lab : "";
}

LabRecord choose_lab(const std::optional<std::string>& name, std::string_view how,
                     const LabPaths& paths) {
  const std::vector<std::string> labs = recorded_labs(paths);
  if (labs.empty()) throw InputError("no lab is up; start one with 'sudo mrclab up octet'");
  if (!name && labs.size() > 1) {
    throw InputError(fmt::format("several labs are up ({}); choose one ", fmt::join(labs, ", ")) +
                     std::string(how));
  }
  const std::string& chosen = name ? *name : labs.front();
  require_lab_name(chosen);
  const std::optional<LabRecord> record = read_record(paths, chosen);
  if (!record) {
    throw InputError(
        fmt::format("there is no lab '{}'; there is: {}", chosen, fmt::join(labs, ", ")));
  }
  return *record;
}

bool names_port(std::string_view pattern, std::string_view port) {
  return matches_pattern(pattern, port) || matches_pattern(pattern, port.substr(0, port.find(':')));
}

void check_only(const std::string& pattern, const std::vector<std::string>& names,
                std::string_view kind) {
  std::set<std::string> known;
  for (const std::string& name : names) {
    known.insert(name);
    for (size_t at = 0; at <= name.size();) {
      const size_t dashes = std::min(name.find("--", at), name.size());
      const std::string port = name.substr(at, dashes - at);
      known.insert(port);
      known.insert(port.substr(0, port.find(':')));
      at = dashes + 2;
    }
  }
  const std::vector<std::string> list(known.begin(), known.end());
  const auto mistake =
      mistake_in(find_named(pattern, list), pattern, kind, "a pattern such as p2.* or h3:p2");
  if (mistake) {
    throw InputError("--only: found " + mistake->found + ": expected " + mistake->expected);
  }
}

}  // namespace mrclab::lab
