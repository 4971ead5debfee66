#pragma once
// SHA256SUMS: the hash of every file that a run left, in the format of sha256sum. Every verb that
// reads a run folder first checks the files that its answer rests on, because an answer from files
// that were altered since would be no evidence. A hash is no signature: it finds accidents and
// careless edits, but not a forger who rewrites the manifest, too.

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

inline constexpr std::string_view kManifestFile = "SHA256SUMS";

/// Hashes every regular file below `folder`; the last step of a run. Any other entry, and a file
/// larger than kHashedBytesMax, is named in a comment and counts as altered when it is read back.
/// Throws SystemError.
void write_manifest(const std::filesystem::path& folder);

/// Renews the hash of one file of the folder that a verb made from the run (its report, an export).
/// Does nothing for a file elsewhere, or where there is no manifest.
void renew_in_manifest(const std::filesystem::path& folder, const std::filesystem::path& file);

/// A file of the folder that is not as the run left it.
struct AlteredFile {
  std::string name;  ///< relative to the folder
  std::string how;   ///< "was altered", "is missing", "was added"
};

class RunManifest {
 public:
  static constexpr uint64_t kHashedBytesMax = uint64_t{64} << 30;

  /// Reads the manifest, hashes nothing yet. Throws InputError if there is none, or it is
  /// malformed.
  explicit RunManifest(std::filesystem::path folder);

  /// `parts` are names of files ("verdict.json") and of folders with all that is in them
  /// ("captures"); a part that neither the folder nor the manifest has is as it was left.
  std::vector<AlteredFile> altered(std::initializer_list<std::string_view> parts) const;
  /// Throws InputError that names what was altered.
  void require(std::initializer_list<std::string_view> parts) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> hashes_;  ///< by name; in lower-case hex
};

}  // namespace mrclab::lab
