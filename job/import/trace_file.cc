#include "job/import/trace_file.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"
#include "job/graph/graph_check.h"
#include "job/import/chakra_file.h"
#include "job/import/cm_file.h"
#include "job/import/goal_file.h"
#include "job/import/measured_folder.h"
#include "job/import/simai_file.h"

namespace mrclab::job {
namespace {

constexpr std::array<std::pair<TraceFormat, std::string_view>, 8> kFormats{
    {{TraceFormat::kCm, "cm"},
     {TraceFormat::kSimAi, "simai"},
     {TraceFormat::kChakra, "chakra"},
     {TraceFormat::kGoal, "goal"},
     {TraceFormat::kPyTorchEt, "et"},
     {TraceFormat::kKineto, "kineto"},
     {TraceFormat::kInspector, "inspector"},
     {TraceFormat::kNccl, "nccl"}}};

/// By how a file begins.
TraceFormat format_of(std::string_view text, const std::string& name) {
  if (is_goal_binary(text)) return TraceFormat::kGoal;
  if (const auto format = measured_format(text)) return *format;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const size_t word = line.find_first_not_of(" \t\r");
    if (word == std::string_view::npos) continue;
    line.remove_prefix(word);
    if (line.starts_with('#') || line.starts_with("//")) continue;
    if (line.starts_with("num_ranks")) return TraceFormat::kGoal;
    if (line.starts_with("Nodes") || line.starts_with("Connections") ||
        line.starts_with("Triggers")) {
      return TraceFormat::kCm;
    }
    if (line.starts_with("HYBRID_") || line.starts_with("DATA") || line.starts_with("MODEL")) {
      return TraceFormat::kSimAi;
    }
    break;
  }
  throw InputError(fmt::format(
      "{}: found \"{}\": expected a job of htsim (.cm), SimAI, GOAL, PyTorch (JSON), NCCL's "
      "Inspector, a log of NCCL_DEBUG=INFO, or the prefix of Chakra's PREFIX.0.et",
      name, visible(text.substr(0, 24))));
}

}  // namespace

std::string_view name_of(TraceFormat format) {
  for (const auto& [known, name] : kFormats) {
    if (known == format) return name;
  }
  return "unknown";
}

std::optional<TraceFormat> format_named(std::string_view wanted) {
  for (const auto& [format, name] : kFormats) {
    if (name == wanted) return format;
  }
  return std::nullopt;
}

Trace read_trace(const std::filesystem::path& path, const TraceOptions& options) {
  const std::string name = path.string();
  const auto checked = [](Trace trace) {
    check_graph(trace.graph);
    return trace;
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return checked(read_measured_folder(path, options));
  }
  const std::vector<std::filesystem::path> ranks = chakra_files(path);
  if (options.format == TraceFormat::kChakra || (!options.format && !ranks.empty())) {
    if (ranks.empty()) throw InputError(name + ".0.et does not exist: expected a file a rank");
    std::vector<std::string> files, names;
    size_t total = 0;
    for (const std::filesystem::path& file : ranks) {
      files.push_back(read_trace_bytes(file));
      names.push_back(file.string());
      total += files.back().size();
      if (total > kMaxUnpackedBytes) throw InputError(name + ": more than 1 GiB in all ranks");
    }
    return checked(read_chakra(files, names, options));
  }
  const std::string text = read_trace_bytes(path);
  const TraceFormat format = options.format ? *options.format : format_of(text, name);
  switch (format) {
    case TraceFormat::kCm: return checked(read_cm(text, name, options));
    case TraceFormat::kSimAi: return checked(read_simai(text, name, options));
    case TraceFormat::kPyTorchEt:
    case TraceFormat::kKineto:
    case TraceFormat::kInspector:
    case TraceFormat::kNccl: return checked(read_measured_file(format, text, name, options));
    default: break;
  }
  return checked(is_goal_binary(text) ? read_goal_binary(text, name, options)
                                      : read_goal_text(text, name, options));
}

}  // namespace mrclab::job
