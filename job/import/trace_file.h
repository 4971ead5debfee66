#pragma once
// Jobs from files of others: reads them and finds out which format they have.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/graph/op_graph.h"

namespace mrclab::job {

enum class TraceFormat : uint8_t { kCm, kSimAi, kChakra, kGoal };
std::string_view name_of(TraceFormat format);
/// "cm", "simai", "chakra" or "goal"; empty for another word.
std::optional<TraceFormat> format_named(std::string_view name);

/// Of numbers whose unit their file does not name.
enum class TimeUnit : uint8_t { kPicoseconds, kNanoseconds, kMicroseconds };

struct TraceOptions {
  std::optional<TraceFormat> format;  ///< none: found out
  std::optional<TimeUnit> time_unit;  ///< none: the format's own, where that is certain
  std::optional<uint32_t> ranks;      ///< where a file does not say how many there are
  uint32_t steps = 1;                 ///< how often what describes one step is repeated
};

/// A job, and what was made of a file beside what it literally says: "21 of 3664 operations communicate".
struct Trace {
  TraceFormat format = TraceFormat::kCm;
  OpGraph graph;
  std::vector<std::string> notes = {};
};

inline constexpr size_t kMaxTraceBytes = size_t{256} << 20;  ///< of a file as it lies there
inline constexpr size_t kMaxGzipBytes = size_t{64} << 20;    ///< of one that is compressed
inline constexpr size_t kMaxUnpackedBytes = size_t{1} << 30;

/// Reads a whole file; one that begins as gzip does comes back unpacked. Throws InputError.
std::string read_trace_bytes(const std::filesystem::path& path);
/// What gzip packed, or the text itself. Throws InputError with `name` for what is damaged or too long.
std::string unpack_gzip(std::string packed, const std::string& name);

/// The job in `path`: a file, or for Chakra the prefix of PREFIX.0.et, PREFIX.1.et ... The graph is checked
/// (graph_check.h). Throws InputError.
Trace read_trace(const std::filesystem::path& path, const TraceOptions& options);

}  // namespace mrclab::job
