#include "fabric/asic/red_profile.h"

#include <array>
#include <span>

namespace mrclab {
namespace {

/// The thresholds that a source has for a port of this rate.
struct Row {
  BitRate rate;
  RedThresholds at;
};

constexpr BitRate k40G{40'000'000'000}, k100G{100'000'000'000}, k200G{200'000'000'000},
    k400G{400'000'000'000};
constexpr Probability kFifth{200'000'000};

constexpr Row kAt100{k100G, {{400'000}, {1'600'000}, kFifth}};
constexpr std::array kHpccRows{kAt100};
constexpr std::array kSimaiRows{kAt100, Row{k200G, {{300'000}, {1'200'000}, {800'000'000}}},
                                Row{k400G, {{800'000}, {3'200'000}, kFifth}}};
constexpr std::array kPaperRows{Row{k40G, {{5'000}, {200'000}, {10'000'000}}}};

std::span<const Row> rows_of(RedProfile profile) {
  switch (profile) {
    case RedProfile::kHpcc: return kHpccRows;
    case RedProfile::kSimai: return kSimaiRows;
    case RedProfile::kPaper: return kPaperRows;
    case RedProfile::kFabric: break;
  }
  return {};
}

}  // namespace

std::vector<std::string> red_profile_names() { return {"fabric", "hpcc", "simai", "paper"}; }

std::optional<RedThresholds> red_thresholds(RedProfile profile, BitRate port) {
  const std::span<const Row> rows = rows_of(profile);
  if (rows.empty()) return std::nullopt;
  const Row* row = &rows.front();
  for (const Row& next : rows) {
    if (next.rate <= port) row = &next;
  }
  const auto grown = [&](Bytes threshold) {
    const auto product = static_cast<unsigned __int128>(threshold.value) * port.bps;
    return Bytes{static_cast<uint64_t>(product / row->rate.bps)};
  };
  return RedThresholds{grown(row->at.min), grown(row->at.max), row->at.most};
}

}  // namespace mrclab
