#include "fabric/mapper/rtt_time_kind.h"

namespace mrclab {
namespace {

constexpr std::string_view kRtt = "rtt";
/// Our choice; a period of production is 1 ms (MRC paper section 2.4), some 90 base RTTs.
constexpr int64_t kMostRtts = 1'000'000;

}  // namespace

RttTime read_rtt_time(const YamlValue& value) {
  const std::string text = value.is_scalar() ? value.as_string() : "";
  if (!text.ends_with(kRtt)) {
    const FabricTime time = value.as_time();
    if (time == FabricTime::zero()) value.fail_expecting("a duration above 0");
    return {0, time};
  }
  const std::string digits = text.substr(0, text.size() - kRtt.size());
  const bool whole = !digits.empty() && digits.size() < 8 &&
                     digits.find_first_not_of("0123456789") == std::string::npos;
  const int64_t rtts = whole ? std::stoll(digits) : 0;
  if (rtts < 1 || rtts > kMostRtts) {
    value.fail_expecting("a whole number of base RTTs such as 10rtt, or a duration");
  }
  return {static_cast<uint32_t>(rtts), {}};
}

std::string rtt_time_text(const RttTime& in) {
  if (in.rtts > 0) return std::to_string(in.rtts) + std::string(kRtt);
  return in.time == FabricTime::zero() ? std::string() : exact(in.time);
}

}  // namespace mrclab
