#pragma once
// Ways to take evidence away from a file, or to damage it.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::test {

enum class Cut : uint8_t {
  kAnywhere,   ///< what is behind some byte is gone
  kBetween,    ///< what is behind some record (block, line) is gone
  kLast,       ///< the last record is gone: where there is a seal, that one
  kOneRecord,  ///< some record is gone
  kSomeBytes,  ///< some bytes in the middle are gone
  kFlippedBit,
  kZeroes,  ///< a stretch reads as zeroes, as of a disk that lost a page
  kFile,    ///< the file is gone
  // Cuts of reports and events as a daemon of another version would write them: with a seal that
  // fits.
  kKeyRemoved,
  kKeyRenamed,
  kOtherType,  ///< the value of a key is of another type
};
inline constexpr std::string_view kCutNames[] = {
    "cut anywhere",   "cut between records", "last record off",  "one record out",
    "some bytes out", "one bit flipped",     "a page of zeroes", "file gone",
    "key removed",    "key renamed",         "another type"};
inline constexpr Cut kCuts[] = {Cut::kAnywhere,  Cut::kBetween,    Cut::kLast,   Cut::kOneRecord,
                                Cut::kSomeBytes, Cut::kFlippedBit, Cut::kZeroes, Cut::kFile};
inline constexpr Cut kKeyCuts[] = {Cut::kKeyRemoved, Cut::kKeyRenamed, Cut::kOtherType};
std::string cut_name(Cut cut);

enum class FileKind : uint8_t {
  kCapture,
  kRecords,
  kEvents,  ///< lines of JSON and a seal
  kReport,
  kText  ///< lines
};
/// All that can be done to such a file.
std::vector<Cut> cuts_of(FileKind kind);

/// Where each record begins, in order, and where the last one ends.
std::vector<size_t> record_bounds(FileKind kind, std::string_view bytes);

/// Pointers to every key of every object within.
std::vector<nlohmann::json::json_pointer> keys_of(const nlohmann::json& value);

/// `bytes` without what `cut` takes, at a place that `random` chooses; empty: there is no file.
/// It never hands back the very bytes.
std::optional<std::string> without(FileKind kind, const std::string& bytes, Cut cut,
                                   std::mt19937_64& random);

}  // namespace mrclab::test
