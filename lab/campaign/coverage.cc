#include "lab/campaign/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

constexpr size_t kChecksMost = 32, kCellsMost = 100'000;

}  // namespace

void Coverage::add(const std::string& base, const SeedResult& result) {
  const bool failed = result.result == analysis::Result::kFail;
  ++seeds_;
  failed_ += failed ? 1 : 0;
  for (const std::string& kind : result.kinds) {
    if (cells_.size() >= kCellsMost) return;
    Cell& cell = cells_[{base, result.transport, kind}];
    ++cell.seeds;
    cell.failed += failed ? 1 : 0;
    if (failed && cell.checks.size() < kChecksMost) cell.checks.insert(result.check);
  }
}

double Coverage::worth(const std::string& base, const std::string& transport,
                       const std::vector<std::string>& kinds) const {
  if (kinds.empty()) return 0.01;
  double sum = 0;
  for (const std::string& kind : kinds) {
    const auto found = cells_.find({base, transport, kind});
    const Cell cell = found == cells_.end() ? Cell{} : found->second;
    sum += (1.0 + 4.0 * static_cast<double>(cell.checks.size())) /
           std::sqrt(1.0 + static_cast<double>(cell.seeds));
  }
  return sum / static_cast<double>(kinds.size());
}

nlohmann::ordered_json Coverage::to_json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [key, cell] : cells_) {
    rows.push_back({{"base", key.base},
                    {"transport", key.transport},
                    {"kind", key.kind},
                    {"seeds", cell.seeds},
                    {"failed", cell.failed},
                    {"checks", cell.checks}});
  }
  return {{"seeds", seeds_}, {"failed", failed_}, {"rows", rows}};
}

Coverage Coverage::from_json(const nlohmann::json& json) {
  Coverage coverage;
  json.at("seeds").get_to(coverage.seeds_);
  json.at("failed").get_to(coverage.failed_);
  for (const auto& row : json.at("rows")) {
    if (coverage.cells_.size() >= kCellsMost) throw InputError("found too many rows of coverage");
    Cell cell;
    row.at("seeds").get_to(cell.seeds);
    row.at("failed").get_to(cell.failed);
    for (const auto& check : row.at("checks")) {
      if (cell.checks.size() < kChecksMost) cell.checks.insert(visible(check.get<std::string>()));
    }
    coverage.cells_[{visible(row.at("base").get<std::string>()),
                     visible(row.at("transport").get<std::string>()),
                     visible(row.at("kind").get<std::string>())}] = cell;
  }
  return coverage;
}

std::string Coverage::table() const {
  std::set<std::string> transports, kinds;
  std::map<std::pair<std::string, std::string>, Cell> sums;
  for (const auto& [key, cell] : cells_) {
    transports.insert(key.transport);
    kinds.insert(key.kind);
    Cell& sum = sums[{key.kind, key.transport}];
    sum.seeds += cell.seeds;
    sum.failed += cell.failed;
  }
  std::string text = fmt::format("{:<24}", "fault kind");
  for (const std::string& transport : transports) text += fmt::format(" {:>10.10}", transport);
  text += "\n";
  for (const std::string& kind : kinds) {
    text += fmt::format("{:<24.24}", kind);
    for (const std::string& transport : transports) {
      const auto found = sums.find({kind, transport});
      const Cell cell = found == sums.end() ? Cell{} : found->second;
      const std::string shown = cell.seeds == 0 ? "-"
                                : cell.failed == 0
                                    ? std::to_string(cell.seeds)
                                    : fmt::format("{} ({})", cell.seeds, cell.failed);
      text += fmt::format(" {:>10}", shown);
    }
    text += "\n";
  }
  return text;
}

}  // namespace mrclab::lab
