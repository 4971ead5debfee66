#pragma once
// What a switch does about a failure before its routing has decided (routing: {fast_reroute: ...}; IP fast reroute, RFC
// 5714, in a fabric whose routes come from BGP). The alternates are computed in advance: they are the other next hops
// of each group.
//
//   local    a port without light, or whose session broke (BFD), leaves all groups of this switch `detect` after the
//            light went. Weights of the others stay.
//   remote   and where that leaves no next hop to a host (a T1's only way down), the switch notifies the switches
//            at its other ports (routing/notice/failure_notice.h). They leave that next hop out for those hosts, `react`
//            after the notice came. When the way is back, the switch notifies them again.
//
// From the drafts: convergence within 100 us, notification made and consumed in hardware, and protection at a node
// upstream where the switch at the failure has no alternate but a way back up (draft-clad-rtgwg-ipfrr-aiml-00, abstract;
// draft-clad-rtgwg-efficient-remote-protection-00, abstract; draft-ietf-idr-bgp-ls-bgp-only-fabric, "IP Fast Reroute and
// Protection in BGP-only Networks"); failures and their end are reported (charter of FANN). Their bodies could not be
// had, so these are our choices:
//   - detection and reaction take a time that the fabric names, and the change of a group takes none;
//   - a notice goes one hop, to all neighbours that are switches: in two tiers those are all that have alternates;
//   - it is repeated every kNoticeInterval while the failure lasts, and what it says expires kNoticeHold after the last
//     one, so that a lost notice or a dead neighbour does not matter;
//   - a port that has light again is used at once, without a time of waiting;
//   - hosts whose own link died are in no notice: in their plane there is no other way, and NICs report their ports;
//   - queues that are long, errors and lost bandwidth are no failures here.
// Where no way is left at all, the groups stay as they are, and packets are dropped at the dead port.
//
// Limits: notices in hand and what a neighbour may report are bounded; what is malformed or too much is counted.

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "routing/notice/failure_notice.h"
#include "switchd/fare_table.h"

namespace mrclab::switchd {

inline constexpr FabricTime kNoticeInterval = FabricTime::from_us(100);
inline constexpr FabricTime kNoticeHold = FabricTime::from_us(350);

struct RerouteCounters {
  uint64_t notices_out = 0;
  uint64_t notices_in = 0;  ///< taken
  uint64_t malformed = 0;   ///< or not from that neighbour
  uint64_t refused = 0;     ///< too many in hand
};

class FastReroute {
 public:
  using Hops = FareTable::Hops;

  /// `environment` and `table` outlive it.
  FastReroute(const NodeEnvironment& environment, FareTable& table);

  /// Begins anew, as after a loss of power. `carrier`: by port.
  void start(const std::vector<bool>& carrier);
  void set_carrier(PortId port, bool up, FabricTime now);
  /// The session of the neighbour at that port broke, or is there again.
  void set_session(PortId port, bool up, FabricTime now);
  /// Is the packet, which goes to an address of a link, a notice? It is taken then.
  bool receive(PortId port, std::span<const uint8_t> packet, FabricTime now);
  /// What routing has decided for a host that is not this switch's own.
  void set_routed(uint32_t host, const Hops& hops);

  FabricTime deadline() const;
  /// Does what is due. Notices are to be taken after it.
  void run(FabricTime now);

  using Packet = std::pair<PortId, routing::Octets>;
  std::vector<Packet> take_packets() { return std::exchange(packets_, {}); }
  /// Hosts whose usable next hops have changed, with these.
  using Change = std::pair<uint32_t, Hops>;
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

  const RerouteCounters& counters() const { return counters_; }
  /// Is the port left out of all groups?
  bool is_dead(PortId port) const { return ports_[port.value].dark || ports_[port.value].silent; }
  /// Hosts that the neighbour at the port has reported as lost.
  uint32_t lost_behind(PortId port) const;

 private:
  struct PortState {
    bool to_switch = false;
    bool carrier = true;
    bool dark = false;    ///< without light, and detected
    bool silent = false;  ///< its session broke while there was light
    FabricTime detected_at = FabricTime::never();
    /// By host: until when what the neighbour reported holds; empty: it has reported nothing.
    std::vector<FabricTime> lost_until;
  };
  struct Pending {
    FabricTime at;
    PortId port;
    routing::FailureNotice notice;
  };

  bool remote() const;
  void protect(PortId port, std::string_view why, FabricTime now);
  void take_notice(const Pending& pending, FabricTime now);
  void expire(FabricTime now);
  void apply(uint32_t host);
  void apply_all();
  bool usable(PortId port, uint32_t host) const;
  void report_lost(FabricTime now);
  void notify(routing::FailureNotice::Type type, const std::vector<uint32_t>& hosts);
  std::vector<routing::Prefix> prefixes_of(const std::vector<uint32_t>& hosts) const;

  const NodeEnvironment& environment_;
  const Topology& topology_;
  FareTable& table_;
  std::vector<PortState> ports_;
  std::vector<Hops> routed_, usable_;        ///< by host
  std::vector<bool> reported_;               ///< by host: reported as lost
  std::deque<Pending> pending_;              ///< in order of time, as all wait equally long
  FabricTime expiry_ = FabricTime::never();  ///< nothing expires before
  FabricTime repeat_at_ = FabricTime::never();
  uint32_t sequence_ = 0;
  RerouteCounters counters_;
  std::vector<Packet> packets_;
  std::vector<Change> changes_;
};

}  // namespace mrclab::switchd
