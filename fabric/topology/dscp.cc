#include "fabric/topology/dscp.h"

#include <charconv>
#include <stdexcept>

namespace mrclab {
namespace {

std::string class_names() {
  std::string names;
  for (const DscpClass& each : kDscpClasses) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

}  // namespace

std::string_view class_of(const DscpMap& dscps, uint8_t dscp) {
  for (const DscpClass& each : kDscpClasses) {
    if (dscps.*each.member == dscp) return each.name;
  }
  return {};
}

std::optional<std::string> misfit_of(const DscpMap& dscps) {
  for (const DscpClass& one : kDscpClasses) {
    const uint8_t value = dscps.*one.member;
    if (value > kMaxDscp) {
      return std::string(one.name) + " is " + std::to_string(value) + ", which has over 6 bits";
    }
    for (const DscpClass& other : kDscpClasses) {
      if (one.group == other.group || dscps.*other.member != value) continue;
      return std::string(one.name) + " and " + std::string(other.name) + " are both " +
             std::to_string(value);
    }
  }
  return std::nullopt;
}

DscpMap parse_dscps(std::string_view text) {
  DscpMap dscps;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view digits = part.substr(std::min(equals + 1, part.size()));
    uint8_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bool known = false;
    for (const DscpClass& each : kDscpClasses) {
      if (each.name != part.substr(0, equals)) continue;
      known = true;
      dscps.*each.member = value;
    }
    if (!known || digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
      throw std::invalid_argument("\"" + std::string(part) + "\" is no class=DSCP; classes are " +
                                  class_names());
    }
  }
  if (const auto misfit = misfit_of(dscps)) throw std::invalid_argument("DSCPs: " + *misfit);
  return dscps;
}

}  // namespace mrclab
