#pragma once
// What one speaker is made of: its neighbours, the rules of its routes, and how long things take in it.

#include <optional>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "routing/base/prefix.h"
#include "routing/bfd/bfd_session.h"
#include "routing/bgp/communities.h"
#include "routing/fare/hop_weights.h"
#include "routing/fare/path_share.h"
#include "routing/tcp/tcp_connection.h"

namespace mrclab::routing {

/// One session: one port, one link, one neighbour.
struct NeighbourParameters {
  PortId port;
  Ipv6Address local{}, remote{};
  std::optional<AsNumber> as;  ///< none: any but ours
  BitRate rate;                ///< of the link, this way
  bool is_host = false;        ///< no way through: not counted by WaysOutScope::kFabricPorts
  bool takes_filters = false;  ///< the neighbour may send prefix filters of its own (RFC 5292)
  bool passive = false;        ///< never connects by itself
  /// Unreachability is exchanged with it; from others it is taken for a withdrawal.
  bool unreachability = false;
  std::optional<BfdParameters> bfd;
};

/// How long a speaker takes. All are fabric time.
struct SpeakerTiming {
  std::string_view name;
  FabricTime per_update;     ///< processor time for one UPDATE that was received
  FabricTime decision_hold;  ///< changes are collected so long before anything is decided
  FabricTime per_fib_write;  ///< for one prefix, one after the other
  FabricTime first_update;   ///< from a session's birth to its first UPDATE
  FabricTime carrier_delay;  ///< from the loss of carrier to the end of the session
};

/// Nothing takes any time: what is left is the protocol and the wires.
inline constexpr SpeakerTiming kIdealTiming{"ideal", {}, {}, {}, {}, {}};
/// FRR 8.4.4 as measured: 50 ms in a work queue at every hop, the first UPDATE 1.1 s after the session; a lost
/// carrier changed the kernel's route after 76 ms, of which 50 are that queue, and 26 are put here.
inline constexpr SpeakerTiming kFrrTiming{"frr",
                                          FabricTime::from_us(50),
                                          FabricTime::from_ms(50),
                                          FabricTime::from_us(20),
                                          FabricTime::from_ms(1100),
                                          FabricTime::from_ms(26)};
/// What a speaker that runs beside the switch's pipeline might reach: no published figures, our choice.
inline constexpr SpeakerTiming kHardwareTiming{
    "hardware", FabricTime::from_us(2), FabricTime::from_us(10), FabricTime::from_us(1),
    {},         FabricTime::from_us(10)};

struct SpeakerLimits {
  size_t prefixes = 400'000;  ///< in the table: then the session that brings more ends (Cease 8)
  size_t prefixes_per_peer = 200'000;  ///< likewise (Cease 1)
  size_t filter_entries = 65'536;      ///< of one neighbour
  /// Of different attributes in memory: then the session that brings more ends (Cease 8). A full table of the Internet
  /// has some 40 MB.
  size_t attribute_octets = size_t{256} << 20;
  size_t paths_side_by_side = 256;
};

struct SpeakerParameters {
  NodeId node;  ///< for draws
  uint64_t seed = 0;
  AsNumber as;
  RouterId router;
  std::vector<NeighbourParameters> neighbours;

  /// True: the speaker of a switch, which passes routes on. False: that of a host, which advertises its own alone.
  bool transit = true;
  ShareRules shares;
  WeightLimits weights;
  BandwidthForm bandwidth_form = kLinkBandwidth;
  bool advertise_bandwidth = true;  ///< without: ordinary BGP, and equal weights

  /// Aggregates that this node announces. Routes that they cover are not advertised. Where a host under one of them
  /// is lost, it is announced as unreachable to the neighbours that take that.
  std::vector<Prefix> aggregates;
  /// Host routes marked "unreachable" are installed as the covering route without those next hops. For
  /// hosts; switches need not.
  bool install_unreachable = false;
  /// Neighbours are asked to advertise these alone (RFC 5292).
  std::optional<std::vector<Prefix>> wanted;
  bool tag_hosts_fib_suppressed = false;  ///< routes from hosts get the community
  bool honour_fib_suppress = false;       ///< routes with it are kept and advertised, not installed
  uint8_t fib_suppress_sub_type = kFibSuppressSubType;

  SpeakerTiming timing = kIdealTiming;
  SpeakerLimits limits;
  TcpParameters tcp;
  uint16_t hold_time = 9;                         ///< seconds
  FabricTime second = FabricTime::from_ms(1000);  ///< how long a second of BGP's timers is here
  FabricTime connect_retry = FabricTime::from_ms(1000);  ///< shortened by up to a quarter
  /// A connection that a neighbour opened, and on which it sends no OPEN for so long, is closed, and we connect
  /// ourselves; never: after the four minutes of RFC 4271. Between nodes of a fabric nobody else connects.
  FabricTime open_patience = FabricTime::never();
};

}  // namespace mrclab::routing
