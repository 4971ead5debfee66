#include "recorded/folder/run_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "fabric/base/sha256.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using netio::check_system_call;
using Hashes = std::map<std::string, std::string>;

constexpr size_t kHexDigits = 64;
constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kManifestBytesMax = size_t{64} << 20;
constexpr size_t kFilesMax = size_t{1} << 18;
constexpr size_t kNamed = 4;  // in an error; the others are counted
constexpr std::string_view kAbout =
    "# What the run left. To check it: sha256sum -c SHA256SUMS\n# not hashed: ";

/// The hash of a file; empty for what is not hashed: a link, a pipe, a
/// device, a file beyond the bound.
std::optional<std::string> hash_of(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0 && (errno == ELOOP || errno == ENXIO)) return std::nullopt;
  const netio::FileDescriptor file(check_system_call("open " + path.string(), descriptor));
  struct stat status {};
  check_system_call("stat " + path.string(), ::fstat(file.get(), &status));
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<uint64_t>(status.st_size) > RunManifest::kHashedBytesMax) return std::nullopt;
  Sha256 sum;
  std::vector<uint8_t> chunk(kChunkBytes);
  for (uint64_t bytes = 0; bytes <= RunManifest::kHashedBytesMax;) {
    const ssize_t n = ::read(file.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    check_system_call("read " + path.string(), n);
    if (n == 0) return hex_of(sum.finish());
    sum.update(std::span(chunk).first(static_cast<size_t>(n)));
    bytes += static_cast<uint64_t>(n);
  }
  return std::nullopt;  // it has grown beyond the bound while it was read
}

/// All that lies below `folder / part` and is no folder, by names relative to `folder`, sorted.
std::set<std::string> names_below(const fs::path& folder, const fs::path& part) {
  std::set<std::string> names;
  const fs::path root = part.empty() ? folder : folder / part;
  const fs::file_status status = fs::symlink_status(root);
  if (!fs::exists(status)) return names;
  if (!fs::is_directory(status) && !part.empty()) return {part.string()};
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (fs::is_directory(entry.symlink_status())) continue;
    names.insert(entry.path().lexically_relative(folder).string());
    if (names.size() > kFilesMax) {
      throw InputError(fmt::format("{}: found more than {} files: expected a run folder",
                                   folder.string(), kFilesMax));
    }
  }
  names.erase(std::string(kManifestFile));
  names.erase(kUnjudgedFile);  // goes away when all else is there
  return names;
}

/// The name as sha256sum writes it, on one line. If that takes escapes, its
/// line begins with a backslash.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else if (c == '\r')
      text += "\\r";
    else
      text += c;
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const size_t which = std::string_view("\\nr").find(text[i]);
    if (which == std::string_view::npos) return std::nullopt;
    name += "\\\n\r"[which];
  }
  return name;
}

std::string line_of(const std::string& name, const std::string& hash) {
  const std::string text = escaped(name);
  return fmt::format("{}{}  {}\n", text == name ? "" : "\\", hash, text);
}

bool is_hash(std::string_view text) {
  return text.size() == kHexDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// False for a line that sha256sum would not write, or for a name that is there already.
bool add_line(std::string_view line, Hashes& hashes) {
  const bool is_escaped = line.starts_with('\\');
  if (is_escaped) line.remove_prefix(1);
  if (line.size() < kHexDigits + 3 || line[kHexDigits] != ' ') return false;
  const char mode = line[kHexDigits + 1];  // '*' is that of sha256sum --binary, and means the same
  const std::string_view text = line.substr(kHexDigits + 2);
  const auto name = is_escaped ? unescaped(text) : std::string(text);
  if (!is_hash(line.substr(0, kHexDigits)) || (mode != ' ' && mode != '*') || !name) return false;
  return hashes.emplace(*name, line.substr(0, kHexDigits)).second;
}

Hashes hashes_in(const fs::path& file, const std::string& text) {
  Hashes hashes;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.starts_with('#') || add_line(line, hashes)) continue;
    throw InputError(fmt::format("{}:{}: found {}: expected a line of sha256sum, each name once",
                                 file.string(), number, in_quotes(line)));
  }
  return hashes;
}

void write_lines(const fs::path& folder, const Hashes& hashes,
                 const std::vector<std::string>& not_hashed) {
  std::string text(kAbout);
  text += not_hashed.empty() ? "nothing" : escaped(fmt::format("{}", fmt::join(not_hashed, ", ")));
  text += '\n';
  for (const auto& [name, hash] : hashes) text += line_of(name, hash);
  netio::write_file(folder / kManifestFile, text);
}

bool is_part(std::string_view name, std::string_view part) {
  return name == part || (name.starts_with(part) && name.substr(part.size()).starts_with('/'));
}

}  // namespace

void write_manifest(const fs::path& folder) {
  Hashes hashes;
  std::vector<std::string> not_hashed;
  for (const std::string& name : names_below(folder, {})) {
    if (const auto hash = hash_of(folder / name)) {
      hashes[name] = *hash;
    } else {
      not_hashed.push_back(name);
    }
  }
  write_lines(folder, hashes, not_hashed);
}

void renew_in_manifest(const fs::path& folder, const fs::path& file) {
  const fs::path manifest = folder / kManifestFile;
  const fs::path name = fs::weakly_canonical(file).lexically_relative(fs::canonical(folder));
  if (name.empty() || *name.begin() == ".." || !fs::exists(manifest)) return;
  const auto hash = hash_of(folder / name);
  if (!hash) return;
  std::string text = netio::read_file(manifest, kManifestBytesMax);
  Hashes hashes = hashes_in(manifest, text);
  const auto known = hashes.find(name.string());
  if (known == hashes.end()) {
    text += line_of(name.string(), *hash);
  } else {
    const std::string before = line_of(known->first, known->second);
    const size_t at = ("\n" + text).find("\n" + before);
    if (at == std::string::npos) return;  // sha256sum --binary wrote it: the user keeps it by hand
    text.replace(at, before.size(), line_of(known->first, *hash));
  }
  netio::write_file(manifest, text);
}

RunManifest::RunManifest(fs::path folder) : folder_(std::move(folder)) {
  const fs::path file = folder_ / kManifestFile;
  try {
    hashes_ = hashes_in(file, netio::read_file(file, kManifestBytesMax));
  } catch (const netio::SystemError& error) {
    if (error.error_number() != ENOENT) throw InputError(error.what());
    throw InputError(fmt::format(
        "{}: found no {}: expected the folder of a run that ended, of this version; to take its "
        "files as they are: cd {} && find . -type f ! -name {} -printf '%P\\n' | xargs -d '\\n' "
        "sha256sum > {}",
        folder_.string(), kManifestFile, folder_.string(), kManifestFile, kManifestFile));
  }
}

std::vector<AlteredFile> RunManifest::altered(std::initializer_list<std::string_view> parts) const {
  std::vector<AlteredFile> list;
  for (const std::string_view part : parts) {
    std::set<std::string> names = names_below(folder_, part);
    const std::set<std::string> there = names;
    for (const auto& [name, hash] : hashes_) {
      if (is_part(name, part)) names.insert(name);
    }
    for (const std::string& name : names) {
      const auto known = hashes_.find(name);
      if (!there.contains(name)) {
        list.push_back({name, "is missing"});
      } else if (known == hashes_.end()) {
        list.push_back({name, "was added"});
      } else if (hash_of(folder_ / name) != known->second) {
        list.push_back({name, "was altered"});
      }
    }
  }
  return list;
}

void RunManifest::require(std::initializer_list<std::string_view> parts) const {
  const std::vector<AlteredFile> list = altered(parts);
  if (list.empty()) return;
  std::string named;
  for (size_t i = 0; i < std::min(list.size(), kNamed); ++i) {
    named += fmt::format("{}{} {}", i == 0 ? "" : ", ", in_quotes(list[i].name), list[i].how);
  }
  if (list.size() > kNamed) named += fmt::format(" and {} more", list.size() - kNamed);
  throw InputError(
      fmt::format("{}: {} since the run ended (see {}): expected the files as the run left them",
                  folder_.string(), named, kManifestFile));
}

}  // namespace mrclab::lab
