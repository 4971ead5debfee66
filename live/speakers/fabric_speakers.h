#pragma once
// The speakers of a fabric's switches whose frames the kernel forwards (routing: fare): a process each, or two, in
// the namespace of its switch. They begin before the fabric's clock does.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/speakers/speaker_process.h"

namespace mrclab::lab {

/// What the speaker of this switch is to be. Neighbours that our switch daemon speaks for count their seconds in
/// fabric time: with them no hold time is agreed, and a link that is lost is noticed by its carrier.
SpeakerPlan speaker_plan(const Topology& topology, NodeId node);

class FabricSpeakers {
 public:
  /// `own_programs`: where mrc-bgpd is. Throws as SpeakerProcess does. The fabric outlives it.
  FabricSpeakers(LiveFabric& fabric, const std::filesystem::path& own_programs);

  /// Which have ended, and how, each reported once, and which were stopped or go on since the last call: "mrc-bgpd
  /// was stopped, the speaker of p0.t0-0,".
  std::vector<std::string> find_changes();
  /// Was a change of the kernel at this switch asked for by its speaker? `sender`: netlink port of the socket.
  bool asked_for(NodeId node, uint32_t sender);

 private:
  struct Running {
    const NodeSite* site;
    std::unique_ptr<SpeakerProcess> process;
    bool told = false;
    std::set<uint32_t> netlink_ports = {};
  };
  std::vector<Running> running_;
};

}  // namespace mrclab::lab
