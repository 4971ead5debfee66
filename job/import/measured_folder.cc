#include "job/import/measured_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "fabric/text/input_error.h"
#include "job/import/inspector_file.h"
#include "job/import/nccl_log.h"
#include "job/import/pytorch_file.h"
#include "job/import/trace_bytes.h"

namespace mrclab::job {
namespace {

constexpr size_t kMaxFolderEntries = 4 * kMaxRanks;

bool is_measured_name(const std::string& name) {
  constexpr std::array<std::string_view, 6> kEndings{".json",    ".jsonl",    ".log",
                                                     ".json.gz", ".jsonl.gz", ".log.gz"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// "trace_rank12.json": 12.
std::optional<uint32_t> last_number(const std::string& name) {
  size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) == 0) --end;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
  if (begin == end || end - begin > 6) return std::nullopt;
  return static_cast<uint32_t>(std::stoul(name.substr(begin, end - begin)));
}

/// Of all processes in one text, in any order.
bool has_all_processes(TraceFormat format) {
  return format == TraceFormat::kInspector || format == TraceFormat::kNccl;
}

}  // namespace

std::vector<std::filesystem::path> measured_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  size_t entries = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++entries > kMaxFolderEntries) {
      throw InputError(fmt::format("{}: more than {} files", folder.string(), kMaxFolderEntries));
    }
    if (is_measured_name(entry->path().filename().string())) files.push_back(entry->path());
  }
  if (error) throw InputError(fmt::format("{}: {}", folder.string(), error.message()));
  if (files.empty()) {
    throw InputError(folder.string() + ": no .json, .jsonl or .log of a profiler in this folder");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<TraceFormat> measured_format(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (text[first] != '{') {
    return is_nccl_log(text) ? std::optional(TraceFormat::kNccl) : std::nullopt;
  }
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  const bool has_line = line.find("\"inspector_output_format_version\"") != std::string_view::npos;
  if (has_line && line.find("\"header\"") != std::string_view::npos) return TraceFormat::kInspector;
  if (text.find("\"traceEvents\"") != std::string_view::npos) return TraceFormat::kKineto;
  const bool has_nodes = text.find("\"nodes\"") != std::string_view::npos;
  if (has_nodes && text.find("\"schema\"") != std::string_view::npos)
    return TraceFormat::kPyTorchEt;
  return std::nullopt;
}

std::vector<MeasuredRank> read_measured(TraceFormat format, std::string_view text,
                                        const std::string& name, std::vector<std::string>* notes) {
  if (format == TraceFormat::kInspector) return read_inspector(text, name);
  if (format == TraceFormat::kNccl) {
    NcclLog log = read_nccl_log(text, name);
    if (notes != nullptr) notes->insert(notes->end(), log.notes.begin(), log.notes.end());
    return std::move(log.ranks);
  }
  return {format == TraceFormat::kKineto ? read_kineto(text, name) : read_pytorch_et(text, name)};
}

Trace read_measured_file(TraceFormat format, std::string_view text, const std::string& name,
                         const TraceOptions& options) {
  std::vector<std::string> notes;
  const std::vector<MeasuredRank> ranks = read_measured(format, text, name, &notes);
  Trace trace = measured_job(format, ranks, name, options);
  trace.notes.insert(trace.notes.begin(), notes.begin(), notes.end());
  return trace;
}

Trace read_measured_folder(const std::filesystem::path& folder, const TraceOptions& options) {
  const std::string name = folder.string();
  std::map<uint32_t, MeasuredRank> by_rank;
  std::string lines;  // of NCCL, of all processes
  std::optional<TraceFormat> format;
  size_t total = 0;
  for (const std::filesystem::path& file : measured_files(folder)) {
    const std::string text = read_trace_bytes(file), called = file.string();
    total += text.size();
    if (total > kMaxUnpackedBytes) throw InputError(name + ": more than 1 GiB in all files");
    const auto found = options.format ? options.format : measured_format(text);
    if (!found || *found < TraceFormat::kPyTorchEt) {
      throw InputError(called + ": expected what PyTorch or NCCL leaves of a rank");
    }
    if (format && *format != *found) {
      throw InputError(fmt::format("{}: of format {}, and files before it of {}", called,
                                   name_of(*found), name_of(*format)));
    }
    format = found;
    if (has_all_processes(*found)) {
      lines += text;
      if (!lines.ends_with('\n')) lines += '\n';
      continue;
    }
    auto rank = *found == TraceFormat::kKineto ? kineto_rank(text, called) : std::nullopt;
    if (!rank) rank = last_number(file.filename().string());
    if (!rank)
      throw InputError(called + ": neither the file nor its name says of which rank it is");
    MeasuredRank measured = read_measured(*found, text, called).front();
    if (!by_rank.emplace(*rank, std::move(measured)).second) {
      throw InputError(fmt::format("{}: rank {} twice", called, *rank));
    }
  }
  if (has_all_processes(*format)) return read_measured_file(*format, lines, name, options);
  std::vector<MeasuredRank> ranks;
  for (auto& [rank, measured] : by_rank) {
    if (by_rank.size() > 1 && rank != ranks.size()) {
      throw InputError(fmt::format("{}: no file of rank {}", name, ranks.size()));
    }
    ranks.push_back(std::move(measured));
  }
  return measured_job(*format, ranks, name, options);
}

}  // namespace mrclab::job
