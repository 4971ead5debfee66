#pragma once
// What a BGP speaker of a node is to be, whichever program does it, and the same in the words of each program.
//
//   bgpd     mrc-bgpd: ours, with FARE's rule
//   frr      FRR's bgpd; with kernel routes also its zebra
//   bird     BIRD 2
//   exabgp   ExaBGP: announces routes and installs none
//
// What they cannot do: FRR writes no bandwidth above 25.6 Gb/s, and no program but ours divides what it passes on.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/speaker.h"
#include "live/bgpd/bgp_daemon.h"

namespace mrclab::lab {

struct SpeakerPlan {
  struct Neighbour {
    std::string device;
    Ipv6Address local{}, remote{};
    routing::AsNumber as;
    BitRate rate;  ///< of the link, from this speaker to the neighbour
    uint16_t hold =
        9;  ///< seconds; 0: neither keepalives nor a limit, where the other's seconds are not ours
    bool filters =
        false;  ///< prefix filters may be sent to us (RFC 5292), and with `wanted` are sent
    bool is_host = false;  ///< no way through (routing/speaker/speaker_parameters.h)
  };
  std::string name;  ///< of the node
  routing::AsNumber as;
  routing::RouterId router;
  std::vector<Neighbour> neighbours;
  std::vector<BgpDaemonSetup::Origin> origins;
  bool kernel_routes = true;
};

/// The most that FRR writes into a link bandwidth.
inline constexpr BitRate kMostOfFrr{25'600'000'000};

BgpDaemonSetup daemon_setup(const SpeakerPlan& plan);

/// The configuration file of the program for this plan.
std::string bgpd_config(const SpeakerPlan& plan);
std::string frr_config(const SpeakerPlan& plan);
/// For FRR's staticd: the origins that have a device. Empty without any.
std::string frr_static_config(const SpeakerPlan& plan);
/// Is there an origin that is announced only while its device has a carrier? ExaBGP cannot do so.
bool has_devices(const SpeakerPlan& plan);
std::string bird_config(const SpeakerPlan& plan);
std::string exabgp_config(const SpeakerPlan& plan);
std::string speaker_config(const SpeakerPlan& plan, SpeakerProgram program);

/// The plan in bgpd_config()'s form, which people may write, too. Throws InputError.
SpeakerPlan read_speaker_plan(const std::filesystem::path& file);

}  // namespace mrclab::lab
