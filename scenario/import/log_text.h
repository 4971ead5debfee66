#pragma once
// The text of a log's file: decompressed, as UTF-8, without byte order mark and colours of a terminal.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

struct LogText {
  std::string text;
  std::vector<std::string> notes;  ///< sentences: what was done to it
};

/// Throws InputError if the file cannot be read, is damaged, or holds more than `limit` bytes of text.
LogText read_log_text(const std::filesystem::path& path, size_t limit);

/// The same of bytes in memory; `file` is their name in errors.
LogText decoded_log(std::string bytes, const std::string& file);

}  // namespace mrclab::lab
