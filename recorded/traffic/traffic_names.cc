#include "recorded/traffic/traffic_names.h"

#include <fmt/format.h>

#include "fabric/topology/path.h"

namespace mrclab::lab {

std::string host_name(const Topology* topology, const Ipv6Address& address) {
  if (topology != nullptr) {
    if (const auto host = host_of_address(*topology, address)) {
      return fmt::format("h{}", *host);
    }
  }
  // An address of IPv4 as people write it (RFC 4291 section 2.5.5.2 has how it is held).
  const std::string text = to_string(address);
  constexpr std::string_view kMapped = "::ffff:";
  const bool ipv4 = text.starts_with(kMapped) && text.find('.') != std::string::npos;
  return ipv4 ? text.substr(kMapped.size()) : text;
}

std::string flow_name(const Topology* topology, const analysis::Conversation& c) {
  return fmt::format("{}>{} {:#x}", host_name(topology, c.source),
                     host_name(topology, c.destination), c.qp.value);
}

namespace {

const analysis::ForeignPath* foreign_path(const analysis::Traffic& traffic, EntropyValue ev) {
  const size_t index = ev.value - analysis::ForeignPaths::kFirst;
  return ev.value >= analysis::ForeignPaths::kFirst && index < traffic.foreign_paths.size()
             ? &traffic.foreign_paths[index]
             : nullptr;
}

}  // namespace

std::string path_name(const analysis::Traffic& traffic, EntropyValue ev) {
  if (const analysis::ForeignPath* path = foreign_path(traffic, ev)) {
    const std::string plane =
        path->plane == analysis::kNoPlane ? "" : plane_name(path->plane) + " ";
    const bool by_carrier = path->carrier != Ipv6Address{};
    return plane + (by_carrier ? to_string(path->carrier) : fmt::format("EV {:#x}", path->entropy));
  }
  const auto path = path_of(ev);
  return path ? to_string(*path) : fmt::format("EV {:#010x}", ev.value);
}

std::string entropy_text(const analysis::Traffic& traffic, EntropyValue ev) {
  const analysis::ForeignPath* path = foreign_path(traffic, ev);
  return fmt::format("{:#010x}", path != nullptr ? path->entropy : ev.value);
}

std::string plane_name(uint32_t plane) {
  if (plane == analysis::kNoPlane) return "?";
  if (plane < analysis::kFirstClass) return fmt::format("p{}", plane);
  constexpr uint32_t kLetters = 26;
  const uint32_t number = plane - analysis::kFirstClass;
  const std::string last(1, static_cast<char>('A' + number % kLetters));
  return number < kLetters ? last
                           : plane_name(analysis::kFirstClass + number / kLetters - 1) + last;
}

std::string tap_name(const analysis::Traffic& traffic, uint32_t tap) {
  const auto found = traffic.tap_names.find(tap);
  return found == traffic.tap_names.end() ? fmt::format("#{}", tap & 0xFFFF) : found->second;
}

std::string sent_place(uint8_t rank) {
  constexpr const char* kPlaces[] = {"as they leave their host",
                                     "as they reach the first T0",
                                     "as they leave the first T0",
                                     "as they reach the T1",
                                     "as they leave the T1",
                                     "as they reach the last T0",
                                     "as they leave the last T0",
                                     "as they reach their receiver",
                                     "at a place that their carrier does not show"};
  return rank < std::size(kPlaces) ? kPlaces[rank] : "nowhere";
}

std::string arrived_place(uint8_t rank) {
  constexpr const char* kPlaces[] = {"nowhere", "at a place that their carrier does not show",
                                     "as they leave the last T0", "as they reach their receiver"};
  return rank < std::size(kPlaces) ? kPlaces[rank] : "nowhere";
}

}  // namespace mrclab::lab
