// Any 16 bytes as a carrier or host address, any 4 as an EV, any text as a path: what is understood
// must be what is made from what was understood.

#include <algorithm>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/fuzz/must.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

namespace {

void check_address(const Topology& topology, Ipv6Address address) {
  if (const auto route = parse_carrier(topology, address)) {
    const uint32_t from = route->source_row * topology.hosts_per_t0;
    const uint32_t to = route->destination_row * topology.hosts_per_t0 + route->downlink;
    MUST(make_carrier(topology, from, to, route->path, route->role) == address);
    MUST(path_of(ev_of(route->path)) == route->path);
    MUST(in_usid_block(address));
  }
  if (const auto host = host_of_address(topology, address)) {
    MUST(host_address(topology, *host) == address || host_address_ipv4(*host) == address);
  }
  int shifts = 0;
  for (; !end_of_carrier(address); ++shifts) shift_carrier(address);
  MUST(shifts <= 5);  // six uSIDs in a container
}

void check_entropy(EntropyValue ev) {
  if (const auto path = path_of(ev)) {
    MUST(ev_of(*path) == ev);
    MUST(parse_path(to_string(*path)) == path);
  }
  const Usid usid{static_cast<uint16_t>(ev.value)};
  for (const AddressPlan plan : {AddressPlan::kLab, AddressPlan::kFull}) {
    const UsidLayout usids = UsidLayout::of(plan);
    if (const auto fields = usids.parse(usid)) {
      MUST(usids.make(fields->role, fields->plane, fields->index) == usid);
    }
  }
}

/// 131,072 hosts: every index that the full layout has.
FabricShape full_scale() {
  FabricShape shape = test::shape_of("full-scale", 8, 512, 256, 256);
  shape.address_plan = AddressPlan::kFull;
  return shape;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology topology = test::octet();
  static const Topology largest = outline_topology(full_scale());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = parse_path(text)) {
    MUST(to_string(*path) == text);
    MUST(path_of(ev_of(*path)) == path);
  }
  if (size >= 4) {
    check_entropy(
        {uint32_t{data[0]} << 24 | uint32_t{data[1]} << 16 | uint32_t{data[2]} << 8 | data[3]});
  }
  if (size >= 16) {
    Ipv6Address address;
    std::copy_n(data, address.size(), address.begin());
    check_address(topology, address);
    check_address(largest, address);
  }
  return 0;
}
