#include "netio/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "fabric/effect_text.h"
#include "fabric/evidence_seal.h"
#include "netio/file_descriptor.h"

namespace mrclab::netio {
namespace {

constexpr size_t kMaxScheduleBytes = size_t{256} << 20;

std::string last_line(size_t effects, const std::string& before) {
  return fmt::format("{} effects, crc32 {:08x}", effects, checksum(0, before));
}

}  // namespace

void write_schedule_file(const std::vector<ScheduledEffect>& schedule,
                         const std::filesystem::path& file) {
  std::string text;
  for (const ScheduledEffect& effect : schedule) text += to_text(effect) + "\n";
  text += last_line(schedule.size(), text) + "\n";
  const std::filesystem::path fresh = file.string() + ".new";
  write_file(fresh, text);
  std::filesystem::rename(fresh, file);
}

std::vector<ScheduledEffect> read_schedule_file(const Topology& topology,
                                                const std::filesystem::path& file) {
  const std::string text = read_file(file, kMaxScheduleBytes);
  const size_t last = text.empty() ? std::string::npos : text.rfind('\n', text.size() - 2);
  const size_t end = last == std::string::npos ? 0 : last + 1;
  const std::string effects = text.substr(0, end);
  const auto count = static_cast<size_t>(std::count(effects.begin(), effects.end(), '\n'));
  if (text.substr(end) != last_line(count, effects) + "\n") {
    throw std::runtime_error(file.string() + ": it was cut or changed since it was written");
  }
  std::istringstream lines(effects);
  std::vector<ScheduledEffect> schedule;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<ScheduledEffect> effect = parse_effect(topology, line);
    if (!effect) throw std::runtime_error(file.string() + ": bad schedule line: " + line);
    schedule.push_back(*effect);
  }
  return schedule;
}

}  // namespace mrclab::netio
