#include "fabric/topology/ev_path.h"

#include <cassert>
#include <charconv>

namespace mrclab {
namespace {

constexpr uint32_t kHashedIpv4 = 0x4000'0000, kFlow = 0x2000'0000;
constexpr uint32_t kPlaneInLowHalf = 10;  // its lowest bit

/// A decimal number as to_string writes it (no sign, no leading zero), at most `max`.
std::optional<uint32_t> parse_decimal(std::string_view text, uint32_t max) {
  uint32_t value = 0;
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

}  // namespace

EntropyValue ev_of(Path path) {
  if (path.chosen == Chosen::kByFlow) {
    assert(path.plane <= 0xFF && path.uplink < kFlowNumbers);
    return {kHashedEv | kFlow | path.plane << 16 | kEvSetBits | path.uplink};
  }
  if (!path.named()) {
    assert(path.plane < kMaxHashedPlanes && path.uplink < kHashNumbers);
    return {kHashedEv | (path.chosen == Chosen::kByHashIpv4 ? kHashedIpv4 : 0) | path.plane << 16 |
            kEvSetBits | path.plane << kPlaneInLowHalf | path.uplink};
  }
  assert(path.plane <= 0xFF && path.uplink <= kT0LocalUplink);
  return {path.plane << 16 | kEvSetBits | path.uplink};
}

std::optional<Path> path_of_hashed(EntropyValue ev) {
  if ((ev.value & kFlow) != 0) {
    const Path flow{ev.value >> 16 & 0xFF, ev.value & (kFlowNumbers - 1), Chosen::kByFlow};
    return ev_of(flow) == ev ? std::optional(flow) : std::nullopt;
  }
  const Path path{ev.value >> 16 & 0xFF, ev.value & (kHashNumbers - 1),
                  (ev.value & kHashedIpv4) != 0 ? Chosen::kByHashIpv4 : Chosen::kByHashIpv6};
  return path.plane < kMaxHashedPlanes && ev_of(path) == ev ? std::optional(path) : std::nullopt;
}

EntropyValue hashed_ev_ipv4(uint16_t source_port) {
  const uint32_t plane = source_port >> kPlaneInLowHalf & (kMaxHashedPlanes - 1);
  return {kHashedEv | kHashedIpv4 | plane << 16 | source_port};
}

EntropyValue reflected(EntropyValue ev) {
  constexpr uint32_t kBoth = kHashedEv | kHashedIpv4;
  return (ev.value & kBoth) == kBoth ? EntropyValue{ev.value & 0xFFFF} : ev;
}

std::string to_string(Path path) {
  if (!path.named()) {
    const std::string_view kind = path.chosen == Chosen::kByFlow       ? "/q"
                                  : path.chosen == Chosen::kByHashIpv4 ? "/f"
                                                                       : "/e";
    return "p" + std::to_string(path.plane) + std::string(kind) + std::to_string(path.uplink);
  }
  return "p" + std::to_string(path.plane) + "/" +
         (path.uplink == kT0LocalUplink ? "-" : "u" + std::to_string(path.uplink));
}

std::optional<Path> parse_path(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.front() != 'p') return std::nullopt;
  const std::optional<uint32_t> plane = parse_decimal(text.substr(1, slash - 1), 0xFF);
  const std::string_view rest = text.substr(slash + 1);
  if (!plane || rest.empty()) return std::nullopt;
  if (rest == "-") return Path{*plane, kT0LocalUplink};
  if (rest.front() == 'e' || rest.front() == 'f') {
    const std::optional<uint32_t> number = parse_decimal(rest.substr(1), kHashNumbers - 1);
    if (!number || *plane >= kMaxHashedPlanes) return std::nullopt;
    return Path{*plane, *number, rest.front() == 'e' ? Chosen::kByHashIpv6 : Chosen::kByHashIpv4};
  }
  if (rest.front() == 'q') {
    const std::optional<uint32_t> number = parse_decimal(rest.substr(1), kFlowNumbers - 1);
    if (!number) return std::nullopt;
    return Path{*plane, *number, Chosen::kByFlow};
  }
  const std::optional<uint32_t> uplink = parse_decimal(rest.substr(1), kT0LocalUplink - 1);
  if (rest.front() != 'u' || !uplink) return std::nullopt;
  return Path{*plane, *uplink};
}

}  // namespace mrclab
