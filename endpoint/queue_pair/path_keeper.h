#pragma once
// The paths of a queue pair as its requester uses them: the set of entropy values, the probes of those that
// are assumed bad, and the evidence that decides when a value is.
//
// One loss without a trim is enough to leave a path (MRC paper §2.1), as there are others to choose
// from. Three cases need more (`loss_guards`, our choice), and all differ from a dead path by other arrivals:
//
// The last path of a plane: to leave it costs the plane's whole share of the rate, to stay costs
// what is lost and retransmitted. So it is left when it is dead: when several packets in a row are
// lost and nothing that was sent after them has arrived. (That a link between NIC and T0 which is
// only lossy stays in use is as published: MRC paper §4 leaves it to the controller.)
//
// A destination to which most packets are trimmed just now: a queue that is full of trimmed headers
// drops some of them (UEC 1.0.3 §4.1), which is silence on a path that works. (A header is a
// twenty-eighth of a full packet, so where half of the packets pass there is room for all headers.)
//
// A plane that loses alike on whatever path: then it is the NICs' own links that lose, no other path is
// better, and to leave one only fills the others. It shows when half of the plane's other paths were left
// for a loss of late and had been alive all the time (our choice).

#include <cstdint>
#include <optional>
#include <utility>

#include "endpoint/base/host_stats.h"
#include "endpoint/paths/ev_prober.h"
#include "endpoint/paths/lazy_ev_set.h"
#include "endpoint/queue_pair/path_evidence.h"
#include "endpoint/queue_pair/requester_events.h"

namespace mrclab::endpoint {

class PathKeeper {
 public:
  /// `probes`: values that are assumed bad are probed. `guards`: the three cases above. `events` and `stats` outlive it.
  PathKeeper(LazyEvSet evs, EvProber prober, bool probes, bool guards, RequesterEvents& events,
             HostStats& stats)
      : evs_(std::move(evs)),
        prober_(std::move(prober)),
        probes_(probes),
        guards_(guards),
        events_(events),
        stats_(stats) {}

  EvSet& evs() { return evs_.get(); }
  const EvSet& evs() const { return evs_.get(); }
  /// As EvSet::unusable: none of a set that was not made yet.
  uint32_t unusable() const { return evs_.is_made() ? evs().unusable() : 0; }

  /// A packet that was sent at `sent` on the connected value `ev` is lost. `recent`: how long ago a trim may
  /// have been for the destination to count as trimming.
  void lose(uint32_t ev, FabricTime sent, FabricTime recent, FabricTime now);
  /// The loss was none. If nothing newer is held against the value, it is GOOD again.
  void exonerate(uint32_t ev, FabricTime lost_sent, FabricTime now);
  /// The peer asks never to use the value (ALWAYS_SKIP): no arrival clears that.
  void condemn(uint32_t ev, FabricTime now);
  /// A packet that was sent at `sent` on the value has arrived, whole or trimmed.
  void note_delivery(uint32_t ev, FabricTime sent) { evidence_.note_delivery(ev, sent); }
  void note_arrival() { evidence_.note_arrival(); }
  void note_trim(FabricTime now) { evidence_.note_trim(now); }

  FabricTime next_probe_due() const { return prober_.next_due(); }
  /// The next value to probe; the caller sends the probe under `id`.
  std::optional<uint32_t> due_probe(uint16_t id, FabricTime now) { return prober_.due(now, id); }
  /// An answer to the probe `id`, which was marked or not. False if no such probe is out.
  bool take_probe_answer(uint16_t id, bool marked, FabricTime now);

  void set_live_ports(LivePorts live, FabricTime now);
  /// The controller's word about a value; nothing else undoes it.
  void set_denied(EntropyValue value, bool denied, FabricTime now);

 private:
  bool is_loss_enough(uint32_t ev, FabricTime recent, FabricTime now);
  bool plane_loses_alike(uint32_t ev, FabricTime now) const;
  void assume_bad(uint32_t ev, FabricTime now);
  void tell_ev_change(uint32_t ev, EvState to);
  void tell_swaps();

  LazyEvSet evs_;
  EvProber prober_;
  bool probes_, guards_;
  RequesterEvents& events_;
  HostStats& stats_;
  PathEvidence evidence_;
};

}  // namespace mrclab::endpoint
