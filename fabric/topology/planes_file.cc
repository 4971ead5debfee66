#include "fabric/topology/planes_file.h"

#include <algorithm>

namespace mrclab {
namespace {

using RoomIn = uint32_t (*)(const UsidLayout& usids);

/// A count that the address plan bounds. If it fits the other address plan only, the error says so.
KeyRow<FabricShape> numbered_row(const char* name, uint32_t FabricShape::*member, int64_t min,
                                 RoomIn room_in, const char* about) {
  const UsidLayout lab = UsidLayout::of(AddressPlan::kLab),
                   full = UsidLayout::of(AddressPlan::kFull);
  const int64_t most = std::max(room_in(lab), room_in(full));
  const auto read = [=](const YamlValue& value, FabricShape& shape) {
    const bool is_lab = shape.address_plan == AddressPlan::kLab;
    const UsidLayout &usids = is_lab ? lab : full, &other = is_lab ? full : lab;
    const uint32_t room = room_in(usids);
    const int64_t count = value.as_integer(min, most);
    if (count > room) {
      value.fail_expecting("at most " + std::to_string(room) + " with address_plan: " +
                           std::string(usids.name()) + " (" + std::to_string(room_in(other)) +
                           " with address_plan: " + std::string(other.name()) + ")");
    }
    shape.*member = static_cast<uint32_t>(count);
  };
  return {name,
          ValueForm::integer(min, most),
          about,
          read,
          [=](const FabricShape& shape) { return std::to_string(shape.*member); },
          kRequiredKey};
}

}  // namespace

const KeyTable<FabricShape>& regular_keys() {
  using U = const UsidLayout&;
  using S = FabricShape;
  static const KeyTable<S> kKeys(
      {numbered_row(
           "planes", &S::planes, 1, [](U usids) { return usids.planes(); },
           "independent leaf-spine fabrics"),
       numbered_row(
           "t0", &S::t0, 1, [](U usids) { return usids.count(UsidRole::kT0); },
           "leaf switches of a plane"),
       numbered_row(
           "t1", &S::t1, 0, [](U usids) { return usids.count(UsidRole::kT1); },
           "spine switches of a plane"),
       numbered_row(
           "hosts_per_t0", &S::hosts_per_t0, 1,
           [](U usids) { return usids.count(UsidRole::kNicPort); }, "hosts on each T0"),
       KeyRow<S>::of("address_plan", &S::address_plan, word_kind<AddressPlan>({"lab", "full"}),
                     "what a uSID's bits mean; full: up to 131,072 hosts", {.read_pass = 0})});
  return kKeys;
}

void read_regular(const YamlValue& file, uint64_t max_nodes, FabricShape& shape) {
  regular_keys().read(file, shape);
  if (shape.t0 > 1 && shape.t1 == 0) {
    file.require("t1").fail_expecting("at least one T1: several T0s of a plane meet there");
  }
  const uint64_t nodes =
      uint64_t{shape.t0} * shape.hosts_per_t0 + uint64_t{shape.planes} * (shape.t0 + shape.t1);
  if (nodes > max_nodes) {
    file.require("planes").fail(std::to_string(nodes) + " nodes in all",
                                "at most " + std::to_string(max_nodes));
  }
}

}  // namespace mrclab
