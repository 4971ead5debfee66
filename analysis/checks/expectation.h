#pragma once
// Expectations as values: what a scenario file's `expect:` list says must hold. What each of them
// means exactly stands at its struct; the fields in files are those of expectation_fields.h.
//
//   expect:
//     - safety                       # placed_once, no_silent_loss, in_order, accounted,
//                                    # no_qp_error_while_a_path_lives
//     - liveness: {within: 100rtt}   # healed, goodput_back, evs_good, queues_empty
//     - steady
//     - no_qp_error
//     - memory_intact
//     - goodput: {from: 600us, at_least: 95%, of: baseline}
//     - goodput: {from: 600us, host: h3, at_least: 83%, at_most: 90%, of: line_rate}
//     - gap: {at_most: 20rtt, below: 10%}
//     - samples: {from: 300us, every: 20us, min_over_mean: 92%}
//     - latency: {source: h0, destination: h4, at_most: 7us}
//     - fairness: {destination: h0, from: 100us, at_least: 95%}
//     - losses_per_qp: {at_most: 5}
//     - losses: {at_most: 40, from: 300us}
//     - trims: {at_most: 0, plane: 3}
//     - retransmissions: {at_least: 1, at_most: 40}
//     - share: {path: "p0/*", from: 600us, at_least: 11%, at_most: 14%}
//     - path_unused: {path: "p0/u1", from: 320us, until: 400us}
//     - counter: {name: duplicate_deliveries, at_most: 0}
//     - affected_qps: {at_least: 15%, at_most: 35%}
//     - completion_time: {from: 300us, slower_by: 1%}
//     - detect: {within: 6rtt}
//     - recover: {within: 100rtt, to: 95%}
//     - leave: {within: 5rtt}
//     - qp_error: {reason: "Retry Counter Exceeded"}
//
// An entry may say what was published: {goodput: {...}, published: 87.2%, figure: "..."}.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/checks/published.h"
#include "fabric/units.h"
#include "fabric/yaml.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxExpectations = 256;

/// No QP has gone to the error state.
struct ExpectNoQpError {
  bool operator==(const ExpectNoQpError&) const = default;
};

/// Every byte that a completed write covers is where it belongs, and nothing else was touched.
struct ExpectMemoryIntact {
  bool operator==(const ExpectMemoryIntact&) const = default;
};

/// At the end, every fault that heals is undone.
struct ExpectHealed {
  bool operator==(const ExpectHealed&) const = default;
};

/// What a goodput is a share of.
struct GoodputReference {
  enum Kind : uint8_t {
    kBaseline,  ///< goodput of the same flows in the last 20 RTT before the first fault
    kLineRate,  ///< the sum of the port rates of the hosts concerned
    kRate,      ///< a number
  };
  Kind kind = kBaseline;
  BitRate rate = {};  ///< kRate
  constexpr GoodputReference() = default;
  constexpr GoodputReference(Kind of) : kind(of) {}  // NOLINT: a word is a reference
  constexpr explicit GoodputReference(BitRate of) : kind(kRate), rate(of) {}
  bool operator==(const GoodputReference&) const = default;
};

/// Which flows are meant: those from `source` to `destination`, and of them
/// those that `host` sends or receives. Patterns of host names ("h[1-7]");
/// empty: any. `plane`: of these, what goes over it.
struct FlowSelection {
  std::string source;
  std::string destination;
  std::string host;
  std::optional<uint32_t> plane = std::nullopt;
  bool all_hosts() const { return source.empty() && destination.empty() && host.empty(); }
  bool all() const { return all_hosts() && !plane; }
  bool operator==(const FlowSelection&) const = default;
};

/// Mean goodput in [from, until) of all flows, or of a selection, against a reference; the line
/// rate of a selection is that of its hosts' ports in the direction concerned (of `host`: in both),
/// and the line rate of a plane is that of the ports in it.
struct ExpectGoodput {
  FabricTime from = {};
  FabricTime until = FabricTime::never();  ///< never: to the end of the run
  Probability at_least = {};               ///< zero: no such bound; at least one of the two
  GoodputReference of = {};
  Probability at_most = {};
  FlowSelection flows = {};
  bool operator==(const ExpectGoodput&) const = default;
};

/// The longest stretch in which goodput stayed below a share of its reference: a row of intervals
/// of `every` (a quarter of the base RTT unless given), each below.
struct ExpectGap {
  FabricTime at_most;
  Probability below{100'000'000};
  GoodputReference of = {};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FabricTime every = {};  ///< zero: base RTT / 4
  FlowSelection flows = {};
  bool operator==(const ExpectGap&) const = default;
};

/// Goodput in intervals of `every` over [from, until), the last one only if it is whole: the lowest
/// over their mean.
struct ExpectSamples {
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FabricTime every;
  Probability min_over_mean;
  FlowSelection flows = {};
  bool operator==(const ExpectSamples&) const = default;
};

/// Mean latency of a ping-pong from `source` to `destination`: half of the time from the first
/// packet of one ping to that of the next (perftest's write_lat: half of a round trip), over the
/// pings that begin in [from, until). Only for a pair whose next ping waits for the last pong.
struct ExpectLatency {
  std::string source;
  std::string destination;
  FabricTime at_least = {};                  ///< zero: no such bound
  FabricTime at_most = FabricTime::never();  ///< at least one of the two
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectLatency&) const = default;
};

enum class FairnessMeasure : uint8_t {
  kJain,        ///< (sum x)^2 / (n x sum x^2): 1 if all are alike, 1/n if one has everything
  kMinOverMax,  ///< the lowest rate over the highest
};
/// How alike the goodputs of the selected pairs of hosts are in [from, until). A pair is what
/// delivered anything in the run.
struct ExpectFairness {
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  Probability at_least;
  FairnessMeasure by = FairnessMeasure::kJain;
  FlowSelection flows = {};
  bool operator==(const ExpectFairness&) const = default;
};

/// Data packets lost (with a drop record) by one QP between `from` and `until`; the QP that lost
/// most counts. Each direction of a QP counts for itself.
struct ExpectLossesPerQp {
  uint64_t at_most = 0;
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectLossesPerQp&) const = default;
};

/// The share of the QPs (directions with data) that lost a data packet between `from` and `until`.
struct ExpectAffectedQps {
  Probability at_least = {};  ///< zero: no such bound
  Probability at_most{Probability::kOne};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectAffectedQps&) const = default;
};

/// How many of something there were between `from` and `until`, of the selected flows.
struct PacketBounds {
  static constexpr uint64_t kNoBound = UINT64_MAX;
  uint64_t at_least = 0;
  uint64_t at_most = kNoBound;  ///< at least one of the two is given
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const PacketBounds&) const = default;
};
/// Data packets lost, as their drop records say.
struct ExpectLosses : PacketBounds {
  bool operator==(const ExpectLosses&) const = default;
};
/// Data packets that were cut to their headers by a switch.
struct ExpectTrims : PacketBounds {
  bool operator==(const ExpectTrims&) const = default;
};
/// Data packets that began to leave their host once more.
struct ExpectRetransmissions : PacketBounds {
  bool operator==(const ExpectRetransmissions&) const = default;
};

/// The share that paths have in the first transmissions of the selected flows that begin in
/// [from, until). `path` is a pattern: "p0/u1", "p0/*", "p*/u2"; T0-local paths end in "-".
struct ExpectShare {
  std::string path;
  Probability at_least = {};  ///< zero: no such bound; at least one of the two
  Probability at_most{Probability::kOne};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectShare&) const = default;
};

/// No data packet begins to leave for one of these paths in [from, until), be it the first time or
/// once more, but for `at_most`. Probes may.
struct ExpectPathUnused {
  std::string path;  ///< as in ExpectShare
  FabricTime from;
  FabricTime until = FabricTime::never();
  uint64_t at_most = 0;
  FlowSelection flows = {};
  bool operator==(const ExpectPathUnused&) const = default;
};

/// A counter of the whole run, made from the captures (analysis/history/counter_names.h).
struct ExpectCounter {
  std::string name;
  uint64_t at_least = 0;
  uint64_t at_most = PacketBounds::kNoBound;  ///< at least one of the two is given
  bool operator==(const ExpectCounter&) const = default;
};

/// Iterations of collectives that end in [from, until) take, on the average over hosts and
/// iterations, at most so much longer than those that ended before the first fault.
struct ExpectCompletionTime {
  Probability slower_by;
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectCompletionTime&) const = default;
};

/// The time from the start of each fault to the last first-transmission by an affected sender on an
/// affected path.
struct ExpectDetect {
  FabricTime within;
  bool operator==(const ExpectDetect&) const = default;
};

/// The time from the start of each fault to the first sliding 20-RTT window whose goodput reaches
/// `to` of the baseline.
struct ExpectRecover {
  FabricTime within;
  Probability to{950'000'000};
  bool operator==(const ExpectRecover&) const = default;
};

/// From the start of each fault to when every affected sender has first left the affected path: its
/// last first-transmission there before it stays away for kAwayRtts. Unlike `detect` it does not
/// mind that a path that still delivers something is tried again later.
struct ExpectLeave {
  FabricTime within;
  bool operator==(const ExpectLeave&) const = default;
};

/// At least one QP has gone to the error state, and every one that did for this reason.
struct ExpectQpError {
  std::string reason;
  bool operator==(const ExpectQpError&) const = default;
};

/// Safety, while faults are on. `safety` in a file stands for all of these.
///
/// No byte is placed twice with different content and none outside its region: every packet that
/// arrives says the same as the first that was seen of its PSN; the packets of a message lie side
/// by side in it, inside the region; and no host counts more bytes as new than reached it.
struct ExpectPlacedOnce {
  bool operator==(const ExpectPlacedOnce&) const = default;
};
/// No message is lost without an error: what a sender was told to be done arrived whole, what a
/// receiver acknowledged had arrived, and what was posted is completed, failed or still under way.
struct ExpectNoSilentLoss {
  bool operator==(const ExpectNoSilentLoss&) const = default;
};
/// No completion out of order: neither at the sender (as the host says) nor, by the captures, an
/// acknowledgement of everything up to a PSN while something before it was missing.
struct ExpectInOrder {
  bool operator==(const ExpectInOrder&) const = default;
};
/// A QP fails only if, in the last retry span, every path between its hosts was impaired or denied
/// at some time (there or back), or one of the hosts was without power at any time before.
struct ExpectNoQpErrorWhileAPathLives {
  bool operator==(const ExpectNoQpErrorWhileAPathLives&) const = default;
};
/// Every packet accounted for (conservation.h), and every transmission of data delivered, trimmed,
/// dropped with a cause, or on its way at the end for no longer than a way takes.
struct ExpectAccounted {
  bool operator==(const ExpectAccounted&) const = default;
};

/// The baseline before the first fault varies by at most 5 %; otherwise the run says nothing.
struct ExpectSteady {
  bool operator==(const ExpectSteady&) const = default;
};

/// 100 base RTTs: the default bound of liveness.
inline constexpr int64_t kLivenessRtts = 100;

/// From the last heal to the end of the first whole 20-RTT window behind it
/// that reaches `to` of the baseline; zero if no window behind the heal ever
/// misses it. A run that does not get there, or has no steady baseline, is
/// held against its fault-free twin (measurements.h), window by window.
struct ExpectGoodputBack {
  FabricTime within = {};  ///< zero: kLivenessRtts
  Probability to{950'000'000};
  bool operator==(const ExpectGoodputBack&) const = default;
};
/// From the last heal to when every entropy value of every living QP is usable again, but for those
/// that the operator still denies.
struct ExpectEvsGood {
  FabricTime within = {};  ///< zero: kLivenessRtts
  bool operator==(const ExpectEvsGood&) const = default;
};
/// No queue that a fault left stands at the end. If all work has ended, no frame is left
/// in any switch. While work goes on, every host port is judged by the packet that
/// waited least on its whole way in the last 20 RTT. It may have waited as long as the
/// one that waited least in the 20 RTT before the first fault, plus what a switch leaves
/// unmarked (the ECN minimum); at a port that is busy for 80 % of the time the delay
/// that congestion control aims at takes the place of the ECN minimum. A busy port that
/// was not used before the fault is not judged, and neither is one that is busy for 95 %
/// of the time, because that port still sends what the faults held up, or its workload fills it.
struct ExpectQueuesEmpty {
  bool operator==(const ExpectQueuesEmpty&) const = default;
};

/// All of safety.
struct ExpectSafety {
  bool operator==(const ExpectSafety&) const = default;
};
/// healed, goodput_back, evs_good and queues_empty, within the same bound.
struct ExpectLiveness {
  FabricTime within = {};  ///< zero: kLivenessRtts
  bool operator==(const ExpectLiveness&) const = default;
};

using ExpectationKind =
    std::variant<ExpectNoQpError, ExpectMemoryIntact, ExpectHealed, ExpectGoodput, ExpectDetect,
                 ExpectRecover, ExpectLeave, ExpectQpError, ExpectGap, ExpectSamples, ExpectLatency,
                 ExpectFairness, ExpectLossesPerQp, ExpectAffectedQps, ExpectCompletionTime,
                 ExpectSteady, ExpectSafety, ExpectPlacedOnce, ExpectNoSilentLoss, ExpectInOrder,
                 ExpectNoQpErrorWhileAPathLives, ExpectAccounted, ExpectLiveness, ExpectGoodputBack,
                 ExpectEvsGood, ExpectQueuesEmpty, ExpectLosses, ExpectTrims, ExpectRetransmissions,
                 ExpectShare, ExpectPathUnused, ExpectCounter>;

/// One entry: what must hold, and what was published about it.
struct Expectation : ExpectationKind {
  using ExpectationKind::ExpectationKind;
  std::optional<Published> published;
  friend bool operator==(const Expectation& a, const Expectation& b) {
    return static_cast<const ExpectationKind&>(a) == static_cast<const ExpectationKind&>(b) &&
           a.published == b.published;
  }
};

/// "no_qp_error", "goodput", ...: the word in the file and in verdict.json.
std::string_view name_of(const Expectation& expectation);
/// One line for a report: "goodput >= 95% of baseline from 600us".
std::string describe(const Expectation& expectation);

/// Reads an `expect:` list; durations in rtt use the list's context. Throws InputError with the
/// position.
std::vector<Expectation> parse_expectations(const YamlValue& list);

/// The entry as it would stand in a file, durations in exact units.
std::string to_yaml(const Expectation& expectation);

/// `safety` and `liveness` replaced by what they stand for; one check each.
std::vector<Expectation> without_bundles(const std::vector<Expectation>& expectations);

/// Reads one entry of an `expect:` list. Throws InputError with the position.
Expectation parse_expectation(const YamlValue& entry);

}  // namespace mrclab::analysis
