#include "netio/schedule_file.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

#include "fabric/effect_text.h"
#include "netio/file_descriptor.h"

namespace mrclab::netio {
namespace {

constexpr size_t kMaxScheduleBytes = size_t{256} << 20;
const std::string kSettled = "settled ";

bool read_settled(const std::string& line, FabricTime& settled) {
  if (!line.starts_with(kSettled)) return false;
  int64_t ps = 0;
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data() + kSettled.size(), end, ps);
  if (error != std::errc{} || stop != end) return false;
  settled = FabricTime::from_ps(ps);
  return true;
}

}  // namespace

void write_schedule_file(const Schedule& schedule, const std::filesystem::path& file) {
  std::string text;
  if (schedule.settled >= FabricTime::zero()) {
    text += kSettled + std::to_string(schedule.settled.ps()) + "\n";
  }
  for (const ScheduledEffect& effect : schedule.effects) text += to_text(effect) + "\n";
  const std::filesystem::path fresh = file.string() + ".new";
  write_file(fresh, text);
  std::filesystem::rename(fresh, file);
}

Schedule read_schedule_file(const Topology& topology, const std::filesystem::path& file) {
  std::istringstream lines(read_file(file, kMaxScheduleBytes));
  Schedule schedule;
  for (std::string line; std::getline(lines, line);) {
    if (read_settled(line, schedule.settled)) continue;
    const std::optional<ScheduledEffect> effect = parse_effect(topology, line);
    if (!effect) throw std::runtime_error(file.string() + ": bad schedule line: " + line);
    schedule.effects.push_back(*effect);
  }
  return schedule;
}

}  // namespace mrclab::netio
