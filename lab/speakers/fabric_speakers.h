#pragma once
// The speakers of a fabric's switches whose frames the kernel forwards (routing: fare): a process each, or two, in
// the namespace of its switch. They begin before the fabric's clock does.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/bringup/bring_up.h"
#include "lab/speakers/speaker_process.h"

namespace mrclab::lab {

/// What the speaker of this switch is to be. Neighbours that our switch daemon speaks for count their seconds in
/// fabric time: with them no hold time is agreed, and a link that is lost is noticed by its carrier.
SpeakerPlan speaker_plan(const Topology& topology, NodeId node);

class FabricSpeakers {
 public:
  /// `own_programs`: where mrc-bgpd is. Throws as SpeakerProcess does. The fabric outlives it.
  FabricSpeakers(LiveFabric& fabric, const std::filesystem::path& own_programs);

  /// One that has ended, and how; each is reported once.
  std::optional<std::string> check();

 private:
  struct Running {
    std::string node;
    std::unique_ptr<SpeakerProcess> process;
    bool told = false;
  };
  std::vector<Running> running_;
};

}  // namespace mrclab::lab
