#include "netio/runtime/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "fabric/history/evidence_seal.h"
#include "fabric/node/effect_text.h"
#include "netio/system/file_descriptor.h"

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

std::string last_line(const std::string& before) {
  return fmt::format("{} lines, crc32 {:08x}", std::count(before.begin(), before.end(), '\n'),
                     checksum(0, before));
}

}  // namespace

void write_schedule_file(const Schedule& schedule, const std::filesystem::path& file) {
  std::string text;
  if (schedule.settled >= FabricTime::zero()) {
    text += kSettled + std::to_string(schedule.settled.ps()) + "\n";
  }
  for (const ScheduledEffect& effect : schedule.effects) text += to_text(effect) + "\n";
  text += last_line(text) + "\n";
  write_file(file, text);
}

Schedule read_schedule_file(const Topology& topology, const std::filesystem::path& file) {
  const std::string text = read_file(file, kMaxScheduleBytes);
  const size_t last = text.size() < 2 ? std::string::npos : text.rfind('\n', text.size() - 2);
  const size_t end = last == std::string::npos ? 0 : last + 1;
  const std::string before = text.substr(0, end);
  if (text.substr(end) != last_line(before) + "\n") {
    throw std::runtime_error(file.string() + ": it was cut or changed since it was written");
  }
  std::istringstream lines(before);
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
