#include "lab/scenario/shipped_files.h"

#include <algorithm>

#include "fabric/fabric_file.h"
#include "fabric/pattern.h"
#include "lab/scenario/scenario.h"

namespace mrclab::lab {

std::vector<std::string> shipped_names(std::string_view folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  const std::filesystem::path directory = source_directory() / "topologies" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::filesystem::path find_fabric_or_scenario(const std::string& name_or_path) {
  const std::string& word = name_or_path;
  if (word.find('/') != std::string::npos || word.ends_with(".yaml")) {
    if (std::filesystem::exists(word)) return word;
    throw NameError(in_quotes(word) + ", and no such file", "the path of a fabric or a scenario");
  }
  const std::vector<std::string> fabrics = shipped_names("fabrics");
  if (std::find(fabrics.begin(), fabrics.end(), word) != fabrics.end()) return find_fabric(word);
  try {
    return find_scenario(word);
  } catch (const NameError&) {
    std::vector<std::string> known = shipped_names("incidents");
    known.insert(known.end(), fabrics.begin(), fabrics.end());
    throw NameError(in_quotes(word) + ", which names no fabric and no incident",
                    one_of(word, known) + " or the path of a file");
  }
}

}  // namespace mrclab::lab
