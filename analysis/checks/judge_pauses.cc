#include "analysis/expect/expect_pauses.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/measure/pause_circle.h"
#include "analysis/measure/pause_tree.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

bool for_want_of_room(DropCause cause) {
  return cause == DropCause::kQueueFull || cause == DropCause::kPauseStorm ||
         cause == DropCause::kReceiveBufferFull;
}

PauseTimes pause_times(const JudgedRun& run) {
  return {run.topology, run.history.pauses(), run.schedule, run.measurements.end};
}

bool any_roce(const JudgedRun& run) {
  const auto flows = run.history.flows();
  return std::any_of(flows.begin(), flows.end(), [](const Flow& flow) { return flow.roce; });
}

CheckResult judge(const ExpectLossless& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  if (!any_roce(run)) return unjudged(check, "no RoCE data was sent");
  const FabricTime until = run.end_of(expected.until);
  check.looked = run.roce_sent(expected.from, until);
  uint64_t lost = 0;
  const Attempt* first = nullptr;
  for (const Attempt& attempt : run.history.attempts()) {
    const Packet& packet = run.history.packets()[attempt.packet];
    if (attempt.fate != Fate::kDropped || !run.history.flows()[packet.flow].roce) continue;
    if (attempt.ended < expected.from || attempt.ended >= until) continue;
    if (!for_want_of_room(attempt.cause)) continue;
    ++lost;
    if (first == nullptr || attempt.ended < first->ended) first = &attempt;
  }
  check.measured = static_cast<double>(lost);
  check.where = {expected.from, until, {}};
  if (first == nullptr) return passed(check, *check.looked);
  const Packet& packet = run.history.packets()[first->packet];
  check.where = run.at_packet(packet);
  check.proven = first->ended < run.settled();
  return failed(check, "the first at " + run.topology.port_name(first->where) + " at " +
                           to_string(first->ended) + ": " + std::string(name_of(first->cause)));
}

CheckResult judge(const ExpectPause& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of the time";
  const bool floor_only = expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor_only ? expected.at_least : expected.at_most);
  const FabricTime until = run.end_of(expected.until);
  const std::vector<PortRef> ports =
      ports_of(run.topology, expected.port.empty() ? "*:*" : expected.port);
  if (ports.empty()) return unjudged(check, "no port is called " + expected.port);
  if (until <= expected.from) return unjudged(check, "the run ended before");
  check.looked = run.roce_sent(expected.from, until);
  const PauseTimes times = pause_times(run);
  FabricTime most;
  PortRef worst = ports.front();
  for (const PortRef port : ports) {
    const FabricTime paused = times.paused(port, expected.from, until);
    if (paused <= most) continue;
    most = paused;
    worst = port;
  }
  // Only RoCE's data is paused: where none is sent, and nothing stands from before, nothing could.
  if (check.looked->count() == 0 && most > FabricTime::zero()) {
    check.looked = Looked(1, {"pause from before", "pauses from before"}, expected.from, until,
                          Source::kPackets);
  }
  if (check.looked->count() == 0) return without_evidence(check, *check.looked);
  const auto whole = static_cast<uint64_t>((until - expected.from).ps());
  const Wide stood = Wide{static_cast<uint64_t>(most.ps())} * Probability::kOne;
  check.measured = 100.0 * static_cast<double>(most.ps()) / static_cast<double>(whole);
  const std::string who = run.topology.port_name(worst);
  check.note = most > FabricTime::zero() ? who + " stood for " + to_string(most) : "none stood";
  check.where = {expected.from, until, most > FabricTime::zero() ? who : ""};
  if (stood > Wide{whole} * expected.at_most.ppb || stood < Wide{whole} * expected.at_least.ppb) {
    return failed(check, check.note);
  }
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectDeadlockFree& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "circles";
  check.bound = 0;
  if (!any_roce(run)) return unjudged(check, "no RoCE data was sent");
  const FabricTime bound = expected.longer_than > FabricTime::zero()
                               ? expected.longer_than
                               : run.measurements.base_rtt * kDeadlockRtts;
  const std::vector<PauseCircle> circles =
      pause_circles(run.topology, pause_times(run), run.evidence.turns(), bound + kPicosecond);
  check.measured = static_cast<double>(circles.size());
  check.looked = run.roce_sent(FabricTime::zero(), run.measurements.end);
  if (circles.empty()) {
    check.where = run.whole_run({});
    if (run.measurements.end > bound) return passed(check, *check.looked);
    check.measured.reset();
    return unjudged(check, "the run ended at " + to_string(run.measurements.end) +
                               ": no circle can have stood for longer than " + to_string(bound));
  }
  const PauseCircle& first = circles.front();
  constexpr size_t kNamed = 6;
  std::string ports;
  for (size_t i = 0; i < first.ports.size() && i < kNamed; ++i) {
    ports += (i > 0 ? ", " : "") + run.topology.port_name(first.ports[i]);
  }
  if (first.ports.size() > kNamed) ports += ", ...";
  check.where = {first.from, first.until, run.topology.port_name(first.ports.front())};
  return failed(check, std::to_string(first.ports.size()) +
                           " ports stood, each for the next, for " +
                           to_string(first.until - first.from) + ": " + ports);
}

}  // namespace

const Rules<ExpectLossless>& rules_of(const ExpectLossless&) {
  static constexpr Rules<ExpectLossless> kRules{
      .sentence = [](const ExpectLossless& e, const Wording& in) -> std::string {
        return "RoCE packets lost for lack of room" + in.when(e) + in.at_most("0");
      },
      .evidence = packets_in_interval<ExpectLossless>,
      .early_end = in_its_interval<ExpectLossless>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectPause>& rules_of(const ExpectPause&) {
  static constexpr Rules<ExpectPause> kRules{
      .sentence = [](const ExpectPause& e, const Wording& in) -> std::string {
        return "time for which RoCE's data stood paused at " +
               (e.port.empty() ? "any port" : e.port) + in.when(e) +
               in.bounds(e.at_least, e.at_most, Probability{Probability::kOne}, Wording::share);
      },
      // Only packet records show what arrives at a switch; a pause that is not seen may last to the end.
      .evidence =
          [](const ExpectPause& e, const CheckedSpan& span) {
            return Reliances{span.packets_until(e.until),
                             {Witness::kRecords, span.clipped(e.until)}};
          },
      .early_end = in_its_interval<ExpectPause>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectDeadlockFree>& rules_of(const ExpectDeadlockFree&) {
  static constexpr Rules<ExpectDeadlockFree> kRules{
      .sentence = [](const ExpectDeadlockFree& e, const Wording& in) -> std::string {
        const std::string bound = e.longer_than == FabricTime::zero()
                                      ? std::to_string(kDeadlockRtts) + " RTT"
                                      : in.time(e.longer_than);
        return "circles of paused ports that stood for longer than " + bound + in.at_most("0");
      },
      // The whole run: a way through a switch that shows late only may close a circle.
      .evidence = needs<ExpectDeadlockFree, Witness::kRecords, Witness::kPackets>,
      .early_end = so_far<ExpectDeadlockFree>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
