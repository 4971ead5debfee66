#pragma once
// A job as it was read from a file of others, and what its reader has to be told.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/graph/op_graph.h"

namespace mrclab::job {

enum class TraceFormat : uint8_t {
  kCm,
  kSimAi,
  kChakra,
  kGoal,
  kPyTorchEt,
  kKineto,
  kInspector,
  kNccl
};
std::string_view name_of(TraceFormat format);
/// "cm", "simai", "chakra", "goal", "et", "kineto", "inspector" or "nccl"; empty for another word.
std::optional<TraceFormat> format_named(std::string_view name);

/// Of numbers whose unit their file does not name.
enum class TimeUnit : uint8_t { kPicoseconds, kNanoseconds, kMicroseconds };

struct TraceOptions {
  std::optional<TraceFormat> format;  ///< none: found out
  std::optional<TimeUnit> time_unit;  ///< none: the format's own, where that is certain
  std::optional<uint32_t> ranks;      ///< where a file does not give their number
  uint32_t steps = 1;                 ///< how often what describes one step is repeated
};

/// A job, and what was made of a file beside what it literally says: "21 of 3664 operations communicate".
struct Trace {
  TraceFormat format = TraceFormat::kCm;
  OpGraph graph;
  std::vector<std::string> notes = {};
  /// By operation, where the file has steps of its own: in which of `steps` it is. Empty: all are one step.
  std::vector<uint32_t> step_of = {};
  uint32_t steps = 1;
};

}  // namespace mrclab::job
