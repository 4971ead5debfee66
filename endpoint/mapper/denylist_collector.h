#pragma once
// The collector of one host: takes what the agents of all hosts report while the fabric works, decides by the fabric's
// policy which parts are denied, and has the list that every host shall have.
//
//              over the threshold, and fits            clean periods, at least `for`
//   in use --------------------------------> denied ---------------------------------> in use
//              over it, and does not fit               clean periods
//          --------------------------------> capped ---------------------------------> in use
//              an operator's `drain` begins            it ends, and no probe was lost of late
//          --------------------------------> denied ---------------------------------> in use
//
// The test is that of the judge's collector (fabric/probes/probe_evidence.h), link by link: of links that explain the same
// losses about as well none is denied until their evidence is twice what one would need; then they are all. A T1 that
// fails is denied link by link, as far as the cap goes. What is denied is probed on. Pure: its host passes the time.
//
// A list that was decided is never older than one before, whatever host it is decided on: its version is the instant.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoint/mapper/denied_parts.h"
#include "endpoint/mapper/link_evidence.h"
#include "fabric/probes/mapper_message.h"

namespace mrclab::endpoint {

class DenylistCollector {
 public:
  /// `topology` outlives it. Begins with what all hosts begin with.
  explicit DenylistCollector(const Topology& topology);

  /// A report of a host. False if it is none that this host can have made by now.
  bool take(uint32_t host, const AgentReport& report, FabricTime now);
  /// The collector's own agent has reported this period: no more can be waited for.
  void end_period(uint64_t period, FabricTime now);
  /// When a drain begins or ends next.
  FabricTime deadline() const;
  void run_drains(FabricTime now);

  DeniedList list() const { return {version_, denied_.parts()}; }
  /// Hosts that do not have the list yet, each once a call, in their order; all of them where the list is to be
  /// confirmed.
  std::vector<uint32_t> take_behind();

  struct Change {
    std::string_view cause;  ///< deny, allow, capped
    DeniedPart part;
    std::string why;
  };
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Entry {
    DeniedPart part;
    uint64_t since = 0;   ///< period
    uint32_t need = 0;    ///< clean periods
    FabricTime until;     ///< of a drain; zero: it is none
    bool capped = false;  ///< it does not fit, and is in use
    uint32_t clean = 0;   ///< periods so far
  };
  struct Past {
    uint32_t times = 0;
    uint64_t allowed = 0;  ///< period
  };
  bool takes(const Entry& entry, uint32_t link) const;
  std::vector<uint32_t> links_of(uint32_t host, const Probe& probe) const;
  bool is_of_itself(const std::vector<Probe>& probes, const AgentReport& report) const;
  void note_lost(uint64_t period, const std::vector<uint32_t>& links);
  void decide(FabricTime now);
  void deny(uint32_t link, const std::string& why, FabricTime now);
  std::string loss_of(uint32_t link) const;
  void enter(Entry entry, const std::string& why, FabricTime now);
  void look_at_clean(uint64_t period, FabricTime now);
  bool was_clean(const Entry& entry, uint64_t period) const;
  void changed(FabricTime now);

  const Topology& topology_;
  const LinkNumbers numbers_;
  const double threshold_;
  LinkEvidence evidence_;
  DeniedParts denied_;
  std::vector<Entry> entries_;  ///< bounded by links, drains and fixed parts
  std::map<DeniedPart, Past> past_;
  std::vector<Change> changes_;
  uint64_t version_ = 0;
  std::vector<uint64_t> known_;         ///< by host: the version that it reported last
  std::vector<uint64_t> reported_;      ///< by host: the newest period, plus one
  std::vector<uint64_t> seen_;          ///< by host: one bit for that and each of those before
  std::map<uint64_t, uint32_t> heard_;  ///< by period, the last few: reports
  std::vector<DenylistPolicy::Drain> drains_;  ///< that have not begun, the last one first
  bool sends_ = false, confirms_ = false;
};

}  // namespace mrclab::endpoint
