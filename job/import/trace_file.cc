#include "job/import/trace_file.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "fabric/text/input_error.h"
#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"
#include "job/graph/graph_check.h"
#include "job/import/chakra_file.h"
#include "job/import/cm_file.h"
#include "job/import/goal_file.h"
#include "job/import/simai_file.h"

namespace mrclab::job {
namespace {

constexpr std::array<std::pair<TraceFormat, std::string_view>, 4> kFormats{
    {{TraceFormat::kCm, "cm"},
     {TraceFormat::kSimAi, "simai"},
     {TraceFormat::kChakra, "chakra"},
     {TraceFormat::kGoal, "goal"}}};

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// By how a file begins.
TraceFormat format_of(std::string_view text, const std::string& name) {
  if (is_goal_binary(text)) return TraceFormat::kGoal;
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
  throw InputError(
      fmt::format("{}: found \"{}\": expected a job of htsim (.cm), SimAI, GOAL, or the "
                  "prefix of Chakra's PREFIX.0.et",
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

std::string unpack_gzip(std::string packed, const std::string& name) {
  if (!is_gzip(packed)) return packed;
  if (packed.size() > kMaxGzipBytes) throw InputError(name + ": more than 64 MiB of gzip");
  // The last four bytes hold the length, modulo 2^32; what is longer than a job may be is refused with it.
  uint32_t length = 0;
  if (packed.size() < 18) throw InputError(name + ": a gzip file that is cut");
  std::memcpy(&length, packed.data() + packed.size() - sizeof length, sizeof length);
  if (length > kMaxUnpackedBytes) throw InputError(name + ": more than 1 GiB unpacked");
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> unpacker(
      ::libdeflate_alloc_decompressor(), ::libdeflate_free_decompressor);
  std::string text(length, '\0');
  size_t found = 0;
  if (unpacker == nullptr ||
      ::libdeflate_gzip_decompress(unpacker.get(), packed.data(), packed.size(), text.data(),
                                   text.size(), &found) != LIBDEFLATE_SUCCESS ||
      found != text.size()) {
    throw InputError(name + ": gzip that is damaged, or of several pieces");
  }
  return text;
}

std::string read_trace_bytes(const std::filesystem::path& path) {
  require_input_file(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be read", path.string()));
  std::string bytes = read_at_most(in, kMaxTraceBytes + 1);
  if (bytes.size() > kMaxTraceBytes) {
    throw InputError(fmt::format("{}: more than 256 MiB", path.string()));
  }
  return unpack_gzip(std::move(bytes), path.string());
}

Trace read_trace(const std::filesystem::path& path, const TraceOptions& options) {
  const std::string name = path.string();
  const auto checked = [](Trace trace) {
    check_graph(trace.graph);
    return trace;
  };
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
  switch (options.format ? *options.format : format_of(text, name)) {
    case TraceFormat::kCm: return checked(read_cm(text, name, options));
    case TraceFormat::kSimAi: return checked(read_simai(text, name, options));
    default: break;
  }
  return checked(is_goal_binary(text) ? read_goal_binary(text, name, options)
                                      : read_goal_text(text, name, options));
}

}  // namespace mrclab::job
