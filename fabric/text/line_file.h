#pragma once
// Reads a file of lines that is not trusted: the files of a run with one JSON object per line.

#include <filesystem>
#include <fstream>
#include <string>

namespace mrclab {

class LineFile {
 public:
  /// Far more than any of our lines has: the longest is a seal with its ranges of nodes.
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;

  /// Throws InputError for what cannot be read or never ends (require_input_file).
  explicit LineFile(const std::filesystem::path& path);

  /// The next line without its end; false behind the last. Throws InputError that names file and
  /// line for a longer one.
  bool next(std::string& line);

 private:
  std::string name_;
  std::ifstream in_;
  uint64_t number_ = 0;
};

}  // namespace mrclab
