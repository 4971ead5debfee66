#pragma once
// A host's mapper agent (MRC paper section 2.4: "Clustermapper"): sends the probes that the plan has for this host
// (fabric/probes/probe_plan.h), recognises those that come back, and reports each period when the last of its probes
// can no longer come back.
//
//   period n          n+1         n+2
//   |--p2---p0---p1---|--p2---p0---p1---|     each port at its own instant, its probes one behind the other
//          timeout    |----->| report of n
//
// A probe that comes back after its period's report is late, not lost: the next report takes the loss back. Only its own
// send and arrival instants count; what a probe carries is compared, never believed: a number that was not sent, another
// nonce or another port is counted as forged. The agent is software: while its host is paused or off it sends and
// reports nothing, and what was under way is forgotten.
//
// Bounded: the probes of the periods that a timeout spans, and as many of those before, for late ones; and what becomes of
// the ports in a period.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/probes/probe_frame.h"
#include "fabric/probes/probe_plan.h"
#include "fabric/probes/probe_report.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

class MapperAgent {
 public:
  /// `topology` outlives it; its mapper is on.
  MapperAgent(const Topology& topology, uint32_t host, uint64_t seed);

  /// When something is due: a probe, or a report.
  FabricTime deadline() const;

  struct Due {
    Probe probe;
    ProbeTag tag;
  };
  /// The next probe that is due. The caller sends it, or calls not_sent().
  std::optional<Due> next_probe(FabricTime now);
  /// The probe that next_probe() gave last was not sent, as there was no buffer for it.
  void not_sent() { periods_.back().probes.back().fate = Fate::kNotMade; }
  /// A report that is due.
  std::optional<ProbeReport> next_report(FabricTime now);
  /// A probe came in on `port`.
  void receive(uint32_t port, const SeenProbe& seen, FabricTime now);
  /// The NIC notices that a port lost its light, or has it back.
  void set_light(uint32_t port, bool lit, FabricTime now);
  /// The host's software works, or does not.
  void set_running(bool running, FabricTime now);

 private:
  enum class Fate : uint8_t { kUnderWay, kNotMade, kBack, kLost };
  struct Sent {
    Probe probe;
    FabricTime at;
    Fate fate = Fate::kUnderWay;
    bool slow = false, damaged = false;
  };
  struct Period {
    uint64_t number = 0;
    uint32_t first_sequence = 0;
    std::vector<Sent> probes;
    std::vector<std::string> unsent;  ///< as in its report
    bool reported = false;
  };
  void begin_period(uint64_t number);
  FabricTime start_of(uint64_t period) const;
  FabricTime report_at(const Period& period) const;
  uint32_t nonce_of(uint32_t sequence) const;

  const Topology& topology_;
  const uint32_t host_;
  const uint64_t seed_;
  const ProbeGrid grid_;
  const FabricTime period_, timeout_;
  std::vector<std::pair<FabricTime, uint32_t>> turns_;  ///< offsets of the ports, in order

  std::array<FabricTime, 3> idle_;  ///< round trips by kind, over an idle fabric
  std::deque<Period> periods_;      ///< the last one is being sent
  uint64_t next_period_ = 0;
  uint32_t next_sequence_ = 0;
  size_t turn_ = 0;             ///< of turns_: the next port
  std::vector<Probe> waiting_;  ///< probes of the port whose turn it is, the next one last
  std::vector<std::pair<uint64_t, std::string>> late_;
  uint32_t marked_ = 0, again_ = 0, forged_ = 0;
  std::vector<bool> has_light_;       ///< by port
  ProbeReport::Numbered dark_, lit_;  ///< since the last report
  bool running_ = true;
};

}  // namespace mrclab::endpoint
