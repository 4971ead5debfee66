// The side of `up`: starts mrclab-labd and follows its report.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "fabric/text/yaml.h"
#include "lab/persistent/persistent.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/forked_process.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;
using netio::FileDescriptor;
using nlohmann::json;

constexpr int kReportFd = 3;
constexpr size_t kMaxReportLine = 1 << 16;

/// Returns true at "ready". Throws what labd reports.
bool take_report(const std::string& line, const BringUpProgress& progress) {
  const json report = json::parse(line, nullptr, false);
  if (!report.is_object()) return false;
  if (report.contains("error")) {
    const auto message = report.at("error").get<std::string>();
    if (report.value("code", 3) == 2) throw InputError(message);
    throw std::runtime_error(message);
  }
  if (report.contains("step") && progress) {
    const auto what = report.at("step").get<std::string>();
    progress({what, report.at("done").get<size_t>(), report.at("total").get<size_t>()});
  }
  return report.value("ready", false);
}

/// Until mrclab-labd has closed its end, that is: has ended. Who reads the error finds nothing
/// left.
void wait_for_end(const FileDescriptor& report) {
  std::array<char, 256> rest{};
  for (;;) {
    const ssize_t count = ::read(report.get(), rest.data(), rest.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

void follow(const FileDescriptor& report, const BringUpProgress& progress) {
  std::string pending;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t count = ::read(report.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    check_system_call("read the report of mrclab-labd", count);
    if (count == 0) throw std::runtime_error("mrclab-labd ended before the lab was up");
    pending.append(chunk.data(), static_cast<size_t>(count));
    for (size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (take_report(line, progress)) return;
    }
    if (pending.size() > kMaxReportLine) throw std::runtime_error("mrclab-labd talks nonsense");
  }
}

}  // namespace

std::filesystem::path control_socket(const LabPaths& paths, std::string_view lab) {
  return paths.lab_directory(lab) / "control.sock";
}

json to_json(const PersistentOptions& options) {
  // mrclab-labd lives in /.
  const auto absolute = [](const std::filesystem::path& path) {
    return path.empty() ? std::string() : std::filesystem::absolute(path).string();
  };
  json value{{"fabric_file", absolute(options.fabric_file)},
             {"scenario_file", absolute(options.scenario_file)},
             {"workload", options.workload},
             {"lab", options.lab},
             {"isolate", options.isolate},
             {"verbose", options.verbose},
             {"paused", options.paused}};
  if (options.dilation) value["dilation"] = *options.dilation;
  return value;
}

PersistentOptions persistent_options_from(const json& value) {
  PersistentOptions options;
  options.fabric_file = value.at("fabric_file").get<std::string>();
  options.scenario_file = value.at("scenario_file").get<std::string>();
  value.at("workload").get_to(options.workload);
  value.at("lab").get_to(options.lab);
  value.at("isolate").get_to(options.isolate);
  value.at("verbose").get_to(options.verbose);
  value.at("paused").get_to(options.paused);
  if (value.contains("dilation")) options.dilation = value.at("dilation").get<std::string>();
  return options;
}

std::optional<double> parse_dilation(const std::string& text) {
  if (text == "auto") return std::nullopt;
  uint32_t k = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), k);
  if (error != std::errc{} || end != text.data() + text.size() || k == 0 || k > kMaxDilation) {
    throw InputError("--dilation: found " + in_quotes(text) +
                     ": expected auto, or lab seconds per fabric second such as 5000");
  }
  return k;
}

void start_persistent(const PersistentOptions& options, const BringUpProgress& progress) {
  std::array<int, 2> ends{};
  check_system_call("make a pipe", ::pipe2(ends.data(), O_CLOEXEC));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  netio::start_detached(
      {programs / "mrclab-labd", to_json(options).dump(), std::to_string(kReportFd)}, write_end,
      kReportFd,
      "{\"error\":\"mrclab-labd cannot be started; is the build complete?\",\"code\":3}\n");
  write_end.reset();
  try {
    follow(read_end, progress);
  } catch (...) {
    wait_for_end(read_end);
    throw;
  }
}

}  // namespace mrclab::lab
