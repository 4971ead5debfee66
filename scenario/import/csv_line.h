#pragma once
// Text files from outside, line by line, and the fields of CSV. Bounded; errors name file and line.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

inline constexpr size_t kMaxLogLines = 1'000'000;
inline constexpr size_t kMaxLogLineBytes = 4096;

/// Throws InputError: "file:line: found ...: expected ...".
[[noreturn]] void refuse_line(const std::string& file, size_t line, const std::string& found,
                              const std::string& expected);

/// The whole file. Throws InputError if it cannot be read or is larger than `limit`.
std::string read_input(const std::filesystem::path& path, size_t limit);

/// Calls `each(line, number from 1)` for what is neither empty nor a comment (#), without the blanks
/// around it. Throws InputError beyond kMaxLogLines and kMaxLogLineBytes.
void for_each_line(std::string_view text, const std::string& file,
                   const std::function<void(std::string_view line, size_t number)>& each);

/// The same for a log, whose lines may be of any length; `each` ends the reading with false.
void for_each_log_line(std::string_view text, const std::string& file,
                       const std::function<bool(std::string_view line, size_t number)>& each);

/// The fields of a line: RFC 4180 without line breaks in quotes; blanks around a field do not count.
std::vector<std::string> split_csv(std::string_view line, char separator = ',');

}  // namespace mrclab::lab
