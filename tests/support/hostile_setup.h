#pragma once
// The first bytes of a hostile program: what the two hosts are and what they send.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/plan/connection_plan.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"

namespace mrclab::test {

/// Numbers from any bytes; zero behind their end.
class ProgramBytes {
 public:
  explicit ProgramBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint8_t u8() { return position_ < bytes_.size() ? bytes_[position_++] : uint8_t{0}; }
  uint16_t u16() {
    const uint8_t high = u8();
    return static_cast<uint16_t>(high << 8 | u8());
  }
  bool more() const { return position_ < bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
};

/// Writes of one queue pair.
struct HostileFlow {
  uint32_t from = 0;
  Qpn qpn;  ///< queue pair of the sender
};

struct HostileSetup {
  const Topology* topology = nullptr;
  endpoint::HostConfig config;
  uint64_t seed = 0;
  uint64_t size = 0;               ///< bytes of each write
  uint64_t count = 0;              ///< writes of each flow
  std::vector<HostileFlow> flows;  ///< none: a collective

  uint64_t flows_from(uint32_t host) const {
    uint64_t n = 0;
    for (const HostileFlow& flow : flows) n += flow.from == host ? 1 : 0;
    return n;
  }
};

inline const Topology& hostile_topology(uint32_t planes_log, uint32_t shape, uint32_t pmtu,
                                        bool pauses) {
  static constexpr std::array<uint32_t, 4> kUplinks{0, 0, 1, 3};
  static std::array<std::unique_ptr<Topology>, 2 * 4 * 4 * 4> made;
  static constexpr std::array<uint32_t, 4> kPmtus{1024, 256, 512, 4096};
  auto& slot = made[((pauses ? 4 : 0) + planes_log) * 16 + shape * 4 + pmtu];
  if (!slot) {
    const uint32_t uplinks = kUplinks[shape];
    FabricShape regular = uplinks == 0 ? shape_of("pair", 1u << planes_log, 1, 0, 2)
                                       : shape_of("rows", 1u << planes_log, 2, uplinks, 1);
    regular.pmtu = kPmtus[pmtu];
    regular.lossless.pfc = pauses;
    slot = std::make_unique<Topology>(build_topology(regular));
  }
  return *slot;
}

inline HostileSetup read_hostile_setup(ProgramBytes& in) {
  HostileSetup setup;
  const uint8_t fabric = in.u8(), transport = in.u8(), traffic = in.u8();
  const uint8_t size = in.u8(), count = in.u8();
  setup.seed = in.u8();
  const bool rc = transport >> 6 == 3;  // a quarter of all programs
  const bool pauses = rc && (fabric >> 7 & 1) != 0;
  setup.topology = &hostile_topology(fabric & 3, fabric >> 2 & 3, transport & 3, pauses);
  const uint32_t pmtu = setup.topology->pmtu;
  endpoint::TransportProfile& profile = setup.config.transport;
  profile = endpoint::make_profile("lab", *setup.topology);
  profile.icrc = (fabric >> 4 & 7) != 7;
  static constexpr std::array<uint32_t, 3> kFirst{0xFF'FFFE, 0xFF'FFF0, 0x7F'FFFF};
  if ((transport >> 2 & 3) != 0) profile.first_psn = Psn{kFirst[(transport >> 2 & 3) - 1]};
  if ((transport >> 4 & 1) != 0) profile.max_psn_range = 128;
  if (rc) {
    profile.transport = endpoint::TransportKind::kRoce;
    profile.timers = endpoint::RcTimers::kCompressed;
    if ((transport >> 5 & 1) != 0) profile.recovery = endpoint::RcRecovery::kSelective;
    if ((transport >> 4 & 1) != 0) profile.reorder = 8;
    // An attacker who can forge CNPs can make a rate as low as it gets.
    profile.dcqcn = endpoint::DcqcnChoice::kOff;
  }

  if ((traffic & 0xC0) == 0xC0) {
    endpoint::CollectiveSpec collective;
    collective.kind = static_cast<endpoint::CollectiveKind>(traffic % 5);
    collective.qps = 1 + (traffic >> 4 & 1);
    collective.hosts = {0, 1};
    collective.size = {uint64_t{pmtu} * (1 + size % 16) + 8 * (size / 16)};
    collective.iterations = 1 + count % 3;
    setup.config.workloads = {collective};
    return setup;
  }
  const std::array<uint64_t, 8> sizes{1,        3,         pmtu - 1u,      pmtu,
                                      pmtu + 1, 4u * pmtu, 10u * pmtu + 7, 20u * pmtu};
  setup.size = sizes[size % 8];
  setup.count = setup.size < 4 ? 1 + count % 100 : 1 + count % 4;
  endpoint::WriteSpec write;
  write.size = {setup.size};
  write.count = static_cast<uint32_t>(setup.count);
  const uint32_t forward = 1 + (traffic & 1), backward = (traffic >> 2 & 3) % 3;
  for (uint32_t i = 0; i < forward + backward; ++i) {
    write.from = i < forward ? 0 : 1;
    write.to = 1 - write.from;
    setup.config.workloads.emplace_back(write);
  }
  for (const auto& c : plan_connections(*setup.topology, setup.config.workloads, setup.seed)) {
    setup.flows.push_back({c.initiator.host, c.initiator.qpn});
  }
  return setup;
}

}  // namespace mrclab::test
