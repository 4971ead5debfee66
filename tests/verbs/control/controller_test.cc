// Profiles, events and probes of paths, as mrc_ctl.h says them.

#include <cerrno>
#include <cstring>

#include <doctest/doctest.h>

#include "tests/verbs/control/paths_device.h"
#include "verbs/server/control/controller.h"
#include "verbs/server/control/profile_bits.h"

namespace mrclab::verbs {
namespace {

using mrclab::test::PathsDevice;

constexpr uint64_t kFormat = 13, kProfile = 7;
constexpr uint32_t ev(uint32_t plane, uint32_t uplink) { return plane << 16 | 0xC000 | uplink; }

int set_format(ProfileTable& table, uint32_t mask, uint32_t state,
               std::initializer_list<uint32_t> widths = {}) {
  ProfileWire wire{};
  wire.id = kFormat;
  wire.kind = ProfileKind::kFormat;
  wire.mask = mask;
  wire.state = state;
  wire.mode = kFormatStev;
  for (const uint32_t width : widths) wire.fields[wire.field_count++].width = width;
  return table.modify(wire);
}

ProfileWire ev_profile(uint32_t mask, uint32_t state = 0) {
  ProfileWire wire{};
  wire.id = kProfile;
  wire.kind = ProfileKind::kEv;
  wire.mask = mask;
  wire.state = state;
  wire.format_id = kFormat;
  return wire;
}

constexpr uint32_t kWhole = kSetState | kEvSetMode | kEvSetFormat | kEvSetCount | kEvSetFields;

/// An explicit profile in OFFLINE, of `count` values that are not set.
int make_explicit(ProfileTable& table, uint32_t count) {
  REQUIRE(set_format(table, kSetState | kFormatSetMode | kFormatSetFields, kProfileOffline,
                     {16, 16}) == 0);
  REQUIRE(set_format(table, kSetState, kProfileOnline) == 0);
  ProfileWire wire = ev_profile(kWhole, kProfileOffline);
  wire.mode = kEvExplicit;
  wire.count = count;
  wire.field_count = 2;
  wire.fields[0] = {16, 0, 0, 0xFFFF, 0xFFFF};
  wire.fields[1] = {16, 0, 0, 0xFFFF, 0xFFFF};
  return table.modify(wire);
}

int put(ProfileTable& table, uint32_t op, std::initializer_list<EvEntryWire> entries) {
  ProfileWire wire = ev_profile(kEvEntries);
  wire.op = op;
  for (const EvEntryWire& entry : entries) wire.entries[wire.entry_count++] = entry;
  return table.modify(wire);
}

int move(ProfileTable& table, uint32_t state) { return table.modify(ev_profile(kSetState, state)); }

ProfileWire array_of(const ProfileTable& table) {
  ProfileWire wire = ev_profile(kEvEntries);
  wire.op = kEvGiveArray;
  REQUIRE(table.query(wire) == 0);
  return wire;
}

endpoint::EvEvent event(uint32_t qp, uint32_t value, endpoint::EvState state) {
  endpoint::EvEvent event;
  event.qp = Qpn{qp};
  event.ev = EntropyValue{value};
  event.state = state;
  event.port = (value >> 16) + 1;
  return event;
}

}  // namespace

TEST_CASE("an explicit profile goes online when its format is and all of its values are set") {
  PathsDevice device;
  ProfileTable table(device);
  REQUIRE(make_explicit(table, 2) == 0);
  CHECK(move(table, kProfileOnline) == EINVAL);
  CHECK(put(table, kEvReplace, {{0, ev(3, 1), kStateGood, 0}, {0, ev(4, 2), kStateDenied, 0}}) ==
        0);
  CHECK(put(table, kEvReplace, {{ev(1, 1), ev(2, 2), kStateGood, 0}}) == ENOENT);
  CHECK(set_format(table, kSetState, kProfileOffline) == 0);
  CHECK(move(table, kProfileOnline) == EINVAL);
  CHECK(set_format(table, kSetState, kProfileOnline) == 0);
  CHECK(move(table, kProfileInit) == 0);
  CHECK(set_format(table, kSetState, kProfileOffline) == 0);
  CHECK(set_format(table, kSetState, kProfileInit) == 0);
  REQUIRE(make_explicit(table, 2) == 0);
  REQUIRE(put(table, kEvReplace, {{0, ev(3, 1), kStateGood, kEvAllCopies}}) == 0);
  REQUIRE(move(table, kProfileOnline) == 0);
  using State = endpoint::EvProfileAttributes::State;
  CHECK(device.profiles[kProfile].state == State::kOnline);
  CHECK(device.profiles[kProfile].values == std::vector<EntropyValue>{{ev(3, 1)}});
  CHECK(set_format(table, kSetState, kProfileOffline) == EBUSY);
  CHECK(put(table, kEvReplace, {{ev(3, 1), ev(4, 1), kStateGood, 0}}) == EINVAL);
  CHECK(move(table, kProfileInit) == EINVAL);
  CHECK(table.is_online(kProfile));
  CHECK_FALSE(table.is_online(8));
}

TEST_CASE("a profile that queue pairs use stays online") {
  PathsDevice device;
  ProfileTable table(device);
  REQUIRE(make_explicit(table, 1) == 0);
  REQUIRE(put(table, kEvReplace, {{0, ev(0, 0), kStateGood, 0}}) == 0);
  REQUIRE(move(table, kProfileOnline) == 0);
  device.profiles[kProfile].users = 1;
  CHECK(move(table, kProfileOffline) == EBUSY);
  CHECK(table.is_online(kProfile));
  device.profiles[kProfile].users = 0;
  CHECK(move(table, kProfileOffline) == 0);
  CHECK_FALSE(table.is_online(kProfile));
  CHECK(device.profiles[kProfile].state == endpoint::EvProfileAttributes::State::kInit);
}

TEST_CASE("a value that is no path of the fabric keeps its profile offline") {
  PathsDevice device;
  ProfileTable table(device);
  REQUIRE(make_explicit(table, 1) == 0);
  REQUIRE(put(table, kEvReplace, {{0, ev(9, 0), kStateGood, 0}}) == 0);
  CHECK(move(table, kProfileOnline) == EINVAL);
  CHECK_FALSE(table.is_online(kProfile));
}

TEST_CASE("values that are denied go out of use with their profile, and come back with it") {
  PathsDevice device;
  ProfileTable table(device);
  REQUIRE(make_explicit(table, 2) == 0);
  REQUIRE(put(table, kEvReplace, {{0, ev(1, 0), kStateGood, 0}, {0, ev(2, 0), kStateDenied, 0}}) ==
          0);
  CHECK(device.denied.empty());
  REQUIRE(move(table, kProfileOnline) == 0);
  CHECK(device.denied == std::set<uint32_t>{ev(2, 0)});
  CHECK(put(table, kEvSetState, {{ev(1, 0), 0, kStateDenied, 0}, {ev(2, 0), 0, kStateGood, 0}}) ==
        0);
  CHECK(device.denied == std::set<uint32_t>{ev(1, 0)});
  CHECK(put(table, kEvSetState, {{ev(1, 0), 0, kStateAssumedBad, 0}}) == EINVAL);
  ProfileWire array = array_of(table);
  REQUIRE(array.entry_count == 2);
  CHECK(array.entries[0].state == kStateDenied);
  CHECK(array.entries[1].state == kStateGood);
  CHECK(move(table, kProfileOffline) == 0);
  CHECK(device.denied.empty());
}

TEST_CASE("a generated profile has the combinations of its fields, the last running fastest") {
  PathsDevice device;
  ProfileTable table(device);
  REQUIRE(set_format(table, kSetState | kFormatSetMode | kFormatSetFields, kProfileOffline,
                     {8, 8, 16}) == 0);
  REQUIRE(set_format(table, kSetState, kProfileOnline) == 0);
  ProfileWire wire = ev_profile(kWhole, kProfileOffline);
  wire.mode = kEvGenerated;
  wire.count = 100;
  wire.field_count = 3;
  wire.fields[0] = {8, 0, 0, 0, 0};
  wire.fields[1] = {8, 0, 1, 2, 0xFF};
  wire.fields[2] = {16, 0xC000, 0, 1, 1};
  REQUIRE(table.modify(wire) == 0);
  REQUIRE(move(table, kProfileOnline) == 0);
  const ProfileWire array = array_of(table);
  REQUIRE(array.entry_count == 4);
  CHECK(array.count == 4);
  CHECK(array.entries[0].ev == ev(1, 0));
  CHECK(array.entries[1].ev == ev(1, 1));
  CHECK(array.entries[3].ev == ev(2, 1));
  wire = ev_profile(kEvSetFields);
  CHECK(table.modify(wire) == EINVAL);  // not while it is online
}

TEST_CASE("requests that no program of ours would send change nothing") {
  PathsDevice device;
  ProfileTable table(device);
  ProfileWire wire = ev_profile(kWhole, kProfileOffline);
  wire.mode = kEvExplicit;
  wire.count = ProfileTable::kMaxValues + 1;
  CHECK(table.modify(wire) == EINVAL);
  wire.count = 1;
  wire.field_count = kMaxEvFields + 1;
  CHECK(table.modify(wire) == EINVAL);
  wire.field_count = 1;
  wire.fields[0] = {33, 0, 0, 0, 0};
  CHECK(table.modify(wire) == EINVAL);
  wire.fields[0] = {32, 0, 0, 0xFFFF'FFFF, 0xFFFF'FFFF};
  CHECK(table.modify(wire) == EINVAL);  // of a format that is not there
  wire.mode = 3;
  CHECK(table.modify(wire) == EINVAL);
  wire.id = 0;
  CHECK(table.modify(wire) == EINVAL);
  CHECK(move(table, kProfileOnline) == EINVAL);
  CHECK(set_format(table, kSetState | kFormatSetMode | kFormatSetFields, kProfileOffline,
                   {32, 1}) == E2BIG);
  wire = ev_profile(kEvEntries);
  wire.op = kEvGiveState;
  wire.entry_count = kMaxEvEntries + 1;
  CHECK(table.query(wire) == EINVAL);
  wire.entry_count = 1;
  CHECK(table.query(wire) == ENOENT);
  CHECK(table.limits().free_count == table.limits().max_count);
  uint32_t made = 0;
  for (uint64_t id = 1; id <= ProfileTable::kMaxProfiles + 1; ++id) {
    wire = ev_profile(kSetState | kEvSetMode, kProfileOffline);
    wire.id = id;
    wire.mode = kEvAuto;
    made += table.modify(wire) == 0;
  }
  CHECK(made == ProfileTable::kMaxProfiles);
}

TEST_CASE("events of entropy values reach each queue whose profile asks for them, losses counted") {
  PathsDevice device;
  Controller controller(device);
  REQUIRE(make_explicit(controller.profiles(), 1) == 0);
  ProfileWire wire = ev_profile(kEvSetEventMask);
  wire.event_mask = kStateAssumedBad;
  REQUIRE(controller.profiles().modify(wire) == 0);
  REQUIRE(put(controller.profiles(), kEvReplace, {{0, ev(1, 0), kStateGood, 0}}) == 0);
  device.profile_of_qp[5] = kProfile;
  const uint64_t program = controller.admit();
  HandleReply queue{}, other{};
  REQUIRE(controller.create_events(program, queue) == 0);
  device.events.push_back(event(5, ev(1, 0), endpoint::EvState::kGood));  // not asked for
  device.events.push_back(event(5, ev(1, 0), endpoint::EvState::kAssumedBad));
  PathEventReply got{};
  REQUIRE(controller.poll_event(program, queue.handle, got) == 0);
  CHECK(got.profile == kProfile);
  CHECK(got.ev == ev(1, 0));
  CHECK(got.port == 2);
  CHECK(got.state == kStateAssumedBad);
  CHECK(got.drops == 0);
  CHECK(controller.poll_event(program, queue.handle, got) == EAGAIN);
  CHECK(array_of(controller.profiles()).entries[0].state == kStateAssumedBad);
  REQUIRE(controller.create_events(program, other) == 0);
  for (uint32_t i = 0; i < Controller::kQueueLimit + 3; ++i) {
    device.events.push_back(event(6, ev(1, i), endpoint::EvState::kGood));  // of no profile: AUTO
  }
  REQUIRE(controller.poll_event(program, queue.handle, got) == 0);
  CHECK(got.profile == 0);
  device.events.push_back(event(6, ev(2, 0), endpoint::EvState::kAssumedBad));
  for (uint32_t i = 1; i < Controller::kQueueLimit; ++i) {
    REQUIRE(controller.poll_event(program, queue.handle, got) == 0);
    CHECK(got.drops == 0);
  }
  REQUIRE(controller.poll_event(program, queue.handle, got) == 0);
  CHECK(got.ev == ev(2, 0));
  CHECK(got.drops == 3);
  CHECK(controller.poll_event(program + 1, other.handle, got) == ENOENT);
  controller.forget(program);
  CHECK(controller.poll_event(program, other.handle, got) == ENOENT);
}

TEST_CASE("probes are answered by path, in the order of the answers, and to who asked") {
  PathsDevice device;
  Controller controller(device);
  const uint64_t program = controller.admit();
  ProbeRequest request{};
  ProbeStartedReply started{};
  CHECK(controller.probe(program, request, started) == EINVAL);
  request.count = 257;
  CHECK(controller.probe(program, request, started) == EINVAL);
  request.count = 2;
  request.values[0] = ev(1, 0);
  request.values[1] = ev(9, 0);
  CHECK(controller.probe(program, request, started) == EINVAL);
  request.values[1] = ev(2, 0);
  REQUIRE(controller.probe(program, request, started) == 0);
  ProbeReply reply{};
  CHECK(controller.poll_probes(program + 1, {started.request}, reply) == ENOENT);
  REQUIRE(controller.poll_probes(program, {started.request}, reply) == 0);
  CHECK(reply.count == 0);
  CHECK(reply.left == 2);
  device.answers.push_back({started.request, {ev(2, 0)}, FabricTime::from_ns(6540)});
  device.answers.push_back({started.request, {ev(1, 0)}, std::nullopt});
  device.answers.push_back({started.request, {ev(1, 0)}, std::nullopt});  // one too many
  REQUIRE(controller.poll_probes(program, {started.request}, reply) == 0);
  REQUIRE(reply.count == 2);
  CHECK(reply.left == 0);
  CHECK(reply.paths[0].ev == ev(2, 0));
  CHECK(reply.paths[0].answered == 1);
  CHECK(reply.paths[0].rtt_ns == 6540);
  CHECK(reply.paths[1].answered == 0);
  CHECK(controller.poll_probes(program, {started.request}, reply) == ENOENT);
}

}  // namespace mrclab::verbs
