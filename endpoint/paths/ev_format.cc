#include "endpoint/paths/ev_format.h"

#include <utility>

#include "fabric/packet/headers.h"

namespace mrclab::endpoint {
namespace {

constexpr uint32_t kRocePorts = 0xC000;  // the range of RoCEv2's source ports

EntropyValue value_of_path(uint32_t plane, uint32_t place, bool local) {
  return ev_of({plane, local ? kT0LocalUplink : place});
}

/// The halves in the order in which we write them, if one of them is in RoCEv2's range of ports.
EntropyValue port_first(EntropyValue wire) {
  uint16_t low = source_port_of(wire);
  auto high = static_cast<uint16_t>(flow_label_of(wire));
  if (low < kRocePorts && high >= kRocePorts) std::swap(low, high);
  return entropy_from(low, high);
}

}  // namespace

EntropyValue on_wire(EvFormat format, EntropyValue ev) {
  const std::optional<Path> path = path_of(ev);
  if (!path || !path->named() || format == EvFormat::kNative) return ev;
  const uint32_t place = path->uplink == kT0LocalUplink ? 0 : path->uplink;
  if (format == EvFormat::kPort) {
    return entropy_from(static_cast<uint16_t>(path->plane << 8 | (place & 0xFF)), 0);
  }
  return entropy_from(static_cast<uint16_t>(kRocePorts | path->plane), place);
}

EntropyValue from_wire(EvFormat format, EntropyValue wire, bool local) {
  const EntropyValue known = port_first(wire);
  const uint32_t port = source_port_of(known), label = flow_label_of(known);
  switch (format) {
    case EvFormat::kNative: return known;
    case EvFormat::kPort:
      if (label != 0 || (local && (port & 0xFF) != 0)) return wire;
      return value_of_path(port >> 8, port & 0xFF, local);
    case EvFormat::kStructured:
      if (port < kRocePorts || port - kRocePorts > 0xFF || label >= kT0LocalUplink) return wire;
      if (local && label != 0) return wire;
      return value_of_path(port - kRocePorts, label, local);
  }
  return wire;
}

}  // namespace mrclab::endpoint
