#include "netio/schedule_file.h"

#include <sstream>
#include <stdexcept>

#include "fabric/effect_text.h"
#include "netio/file_descriptor.h"

namespace mrclab::netio {
namespace {

constexpr size_t kMaxScheduleBytes = size_t{256} << 20;

}  // namespace

void write_schedule_file(const std::vector<ScheduledEffect>& schedule,
                         const std::filesystem::path& file) {
  std::string text;
  for (const ScheduledEffect& effect : schedule) text += to_text(effect) + "\n";
  write_file(file, text);
}

std::vector<ScheduledEffect> read_schedule_file(const Topology& topology,
                                                const std::filesystem::path& file) {
  std::istringstream lines(read_file(file, kMaxScheduleBytes));
  std::vector<ScheduledEffect> schedule;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<ScheduledEffect> effect = parse_effect(topology, line);
    if (!effect) throw std::runtime_error(file.string() + ": bad schedule line: " + line);
    schedule.push_back(*effect);
  }
  return schedule;
}

}  // namespace mrclab::netio
