#pragma once
// The entropy values that an EV profile comes to, and profiles as text (MRC API: EV profiles).
//
//   ev_profile: auto                                     every path of the fabric (up to `evs`)
//   ev_profile: [p0/u0, "p1/*", 0x0002c003]              explicit: these and no others
//   ev_profile: {fields: [{width: 8},                    generated: every combination of the
//     {width: 8, min: 0, max: 7, mask: 0xff},            fields' ranges, here octet's 8 planes and
//     {width: 16, init_val: 0xc000, max: 3, mask: 3}]}   their first 4 uplinks
//
// A generated value is expanded as in the MRC API (mrc_ctl.h and its ev_expansion example): each
// field starts as init_val; the set bits of its mask, from the highest, take the next bits of the
// value, from its highest; the fields together are what goes on the wire. A fixed field has mask 0.
// On the wire here is the 32-bit entropy value of fabric/topology/ev_path.h.

#include <cstdint>
#include <string>
#include <vector>

#include "endpoint/base/ev_profile.h"
#include "endpoint/paths/ev_set.h"
#include "fabric/base/ids.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// Each field's value for one packed value, whose bits are taken from the highest of `bits` bits.
std::vector<uint32_t> expand_fields(const std::vector<EvField>& fields, uint64_t packed,
                                    uint32_t bits);
/// The number of bits in all masks together.
uint32_t generated_bits(const std::vector<EvField>& fields);

/// Reads a profile and checks it against the fabric. Throws InputError with the position: a field
/// that contradicts itself, a value that is no path of the fabric, too many, or none for some pair.
EvProfile parse_ev_profile(const YamlValue& value, const Topology& topology);
/// The profile as it would stand in a file; reads back as the same profile.
std::string to_yaml(const EvProfile& profile);

/// The values of `profile` from one host to another: with `kAuto` entropy_values(), else those of
/// the profile. A pair on one T0 has one path per plane: it gets the planes that the profile names.
/// A profile that names no value of the requested kind counts as `kAuto`.
std::vector<EntropyValue> values_between(const EvProfile& profile, const Topology& topology,
                                         uint32_t source, uint32_t destination, uint32_t limit,
                                         uint64_t seed, Chosen chosen = Chosen::kByName,
                                         Qpn qp = {});

}  // namespace mrclab::endpoint
