#include "scenario/spec/shipped_files.h"

#include <algorithm>
#include <optional>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"

#ifndef MRCLAB_SOURCE_DIR
#define MRCLAB_SOURCE_DIR "."
#endif

namespace mrclab::lab {
namespace {

std::filesystem::path folder_of(std::string_view folder) {
  return data_directory() / "topologies" / folder;
}

/// Installed programs lie in <prefix>/lib/mrclab and their data in <prefix>/share/mrclab; <prefix>/bin holds links.
std::optional<std::filesystem::path> installed_data(const std::filesystem::path& programs) {
  const std::filesystem::path parent = programs.parent_path();
  if (programs.filename() != "mrclab" || parent.filename() != "lib") return std::nullopt;
  return parent.parent_path() / "share" / "mrclab";
}

/// Where this program lies; empty in a browser.
std::filesystem::path program_folder() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
}

std::filesystem::path find_file(std::string_view name, const std::filesystem::path& base,
                                std::string_view folder, std::string_view what) {
  if (name.find('/') != std::string_view::npos || name.ends_with(".yaml")) {
    std::filesystem::path path = base / std::filesystem::path(name);
    if (std::filesystem::exists(path)) return path;
    throw NameError(
        in_quotes(name) + ", and no file " + in_quotes(path.string()),
        (what == "incident" ? "the path of an " : "the path of a ") + std::string(what) + " file");
  }
  const std::vector<std::string> names = shipped_names(folder);
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return folder_of(folder) / (std::string(name) + ".yaml");
  }
  throw NameError(in_quotes(name) + ", which names no " + std::string(what),
                  (names.empty() ? "" : one_of(name, names) + " or ") + "the path of a file");
}

}  // namespace

std::filesystem::path find_fabric(std::string_view name, const std::filesystem::path& base) {
  return find_file(name, base, "fabrics", "fabric");
}

std::filesystem::path find_incident(std::string_view name, const std::filesystem::path& base) {
  const char* folder = name.ends_with("-production")   ? "production"
                       : name.starts_with("verbs-")    ? "programs"
                       : name.starts_with("stargate-") ? "stargate"
                                                       : "incidents";
  return find_file(name, base, folder, "incident");
}

std::filesystem::path data_directory() {
  if (const auto installed = installed_data(program_folder())) return *installed;
  const std::filesystem::path built_from = MRCLAB_SOURCE_DIR;
  return std::filesystem::exists(built_from / "topologies") ? built_from
                                                            : std::filesystem::path(".");
}

std::vector<std::string> shipped_names(std::string_view folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(folder), ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mrclab::lab
