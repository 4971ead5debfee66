#include "analysis/expect/expect_safety.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/checks/expectation_rules.h"
#include "analysis/checks/placed_messages.h"
#include "analysis/checks/qp_failures.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

/// How many frames the balances of wires and switches lack, or have too many. These two put the
/// first thing that is wrong into `first`, unless there is something, and its place into `check`.
uint64_t unbalanced_frames(const JudgedRun& run, std::string& first, CheckResult& check) {
  const Conservation& books = run.evidence.conservation();
  if (!books.is_complete()) return 0;
  uint64_t wrong = 0;
  const auto judge = [&](const Balance& balance, const auto& name) {
    if (balance.holds()) return;
    wrong += balance.missing + balance.invented;
    if (!first.empty()) return;
    const std::string where = name();
    check.where = run.whole_run(where);
    first = where + ": " + std::to_string(balance.taken) + " in, " +
            std::to_string(balance.passed) + " passed, " + std::to_string(balance.dropped) +
            " dropped; " + std::to_string(balance.missing) + " missing, " +
            std::to_string(balance.invented) + " out of nowhere";
  };
  for (const Wire& wire : run.topology.all_wires()) {
    judge(books.wire(wire.id), [&] { return run.topology.wire_name(wire.id); });
  }
  for (const NodeSite& site : run.topology.nodes) {
    if (site.role != NodeRole::kHost) judge(books.inside(site.id), [&] { return site.name; });
  }
  return wrong;
}

/// How many data packets left their host and were never seen again.
uint64_t vanished_packets(const JudgedRun& run, std::string& first, CheckResult& check) {
  const PacketHistory& history = run.history;
  // A frame that was damaged inside a switch may end under a name that no host sent.
  const bool damaged = std::any_of(
      run.schedule.begin(), run.schedule.end(),
      [](const ScheduledEffect& s) { return std::holds_alternative<SwitchErrors>(s.effect); });
  const HistoryCounters& c = history.counters();
  const uint64_t strangers =
      damaged ? c.unmatched_arrivals + c.unmatched_drops + c.not_mrc + c.unknown_host : 0;
  uint64_t vanished = 0;
  const Attempt* unseen = nullptr;
  const FabricTime crossing = run.evidence.conservation().longest_crossing();
  for (const Attempt& attempt : history.attempts()) {
    if (attempt.fate != Fate::kInFlight || !attempt.start_seen ||
        attempt.start + crossing > run.measurements.end) {
      continue;
    }
    ++vanished;
    if (unseen == nullptr) unseen = &attempt;
  }
  if (vanished <= strangers) return 0;
  if (first.empty()) {
    const Packet& packet = history.packets()[unseen->packet];
    check.where = run.at_packet(packet);
    first = run.flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) +
            " sent at " + to_string(unseen->start) + " was never seen again";
  }
  return vanished - strangers;
}

CheckResult judge(const ExpectPlacedOnce&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  const PacketHistory& history = run.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  uint64_t wrong = 0;
  std::string first;
  const auto report = [&](const Packet& packet, const char* what) {
    ++wrong;
    if (first.empty()) {
      check.where = run.at_packet(packet);
      first =
          run.flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) + ": " + what;
    }
  };
  for (const Attempt& attempt : history.attempts()) {
    if (attempt.differs && attempt.fate == Fate::kDelivered) {
      report(history.packets()[attempt.packet],
             "arrived with another content or address than before");
    }
  }
  for (uint32_t flow = 0; flow < history.flows().size(); ++flow) {
    for_each_misplaced(history, flow, [&](const Packet& packet) {
      report(packet, "does not lie where its message goes on");
    });
  }
  std::map<std::pair<uint32_t, uint32_t>, MemoryRegion> regions;  // by host and rkey
  for (const MemoryRegion& region : run.regions) regions[{region.host, region.rkey}] = region;
  auto region = regions.end();  // most packets go where the one before went
  for (const Packet& packet : history.packets()) {
    if (regions.empty() || packet.delivered == FabricTime::never() ||
        packet.placement == Attempt::kNone) {
      continue;
    }
    const Placement& p = history.placement(packet);
    if (p.nowhere) continue;
    const std::pair place(history.flows()[packet.flow].destination, p.rkey);
    if (region == regions.end() || region->first != place) region = regions.find(place);
    const bool inside =
        region != regions.end() &&
        wholly_inside(p.va, p.payload_bytes, region->second.va, region->second.size.value);
    if (!inside) report(packet, "outside of its region");
  }
  check.measured = static_cast<double>(wrong);
  if (wrong > 0) return failed(check, first);
  const std::vector<uint64_t> delivered_by_host = run.delivered_by_host();
  for (const HostReport& host : run.hosts.hosts) {
    const auto number = run.host_number(host.host);
    const uint64_t delivered = number ? delivered_by_host[*number] : 0;
    if (host.bytes_placed <= delivered || !run.evidence.followed().all()) continue;
    check.where = run.whole_run(host.host);
    return failed(check, host.host + " placed " + std::to_string(host.bytes_placed) +
                             " bytes, but only " + std::to_string(delivered) + " reached it");
  }
  return passed(check, run.arrived(FabricTime::zero(), run.measurements.end));
}

/// What one check of no_silent_loss has found.
class SilentLosses {
 public:
  explicit SilentLosses(const JudgedRun& run);
  /// Packets that were acknowledged before they arrived, or without ever having been sent.
  void look_at_packets();
  /// The counts of messages that `host` reports for a queue pair.
  void look_at(const HostReport& host, uint32_t number, const QueueReport& queue);
  CheckResult result(CheckResult check) const;

 private:
  void report_loss(uint64_t count, const WhereToLook& where, const std::string& what);

  const JudgedRun& run_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> flows_;  // by hosts and QP
  uint64_t lost_ = 0, posted_ = 0, queues_ = 0;
  std::string first_;
  std::optional<WhereToLook> where_;
};

SilentLosses::SilentLosses(const JudgedRun& run) : run_(run) {
  for (uint32_t i = 0; i < run.history.flows().size(); ++i) {
    const Flow& flow = run.history.flows()[i];
    flows_[{flow.source, flow.destination, flow.destination_qp.value}] = i;
  }
}

void SilentLosses::report_loss(uint64_t count, const WhereToLook& where, const std::string& what) {
  lost_ += count;
  if (!first_.empty()) return;
  first_ = what;
  where_ = where;
}

void SilentLosses::look_at_packets() {
  for (const Packet& packet : run_.history.packets()) {
    if (packet.acknowledged < packet.delivered) {
      report_loss(1, run_.at_packet(packet),
                  run_.flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) +
                      ": acknowledged, but it had not arrived");
    }
  }
  if (const uint64_t unsent = run_.history.counters().acks_of_unsent; unsent > 0) {
    report_loss(unsent, run_.whole_run(""), "acknowledgements of packets that were never sent");
  }
}

void SilentLosses::look_at(const HostReport& host, uint32_t number, const QueueReport& queue) {
  ++queues_;
  posted_ += queue.posted;
  const std::string name = host.host + " " + qp_name(queue.qp);
  const auto flow = flows_.find({number, queue.peer, queue.remote.value});
  const uint64_t whole = flow == flows_.end() ? 0 : whole_messages(run_.history, flow->second);
  if (run_.evidence.followed().follows(number) && queue.completed > whole) {
    report_loss(queue.completed - whole, run_.whole_run(name),
                name + " got completions of " + counted_noun(queue.completed, "message") +
                    ", but only " + std::to_string(whole) + " arrived whole");
  }
  const uint64_t answered = queue.completed + queue.failed;
  if (answered > queue.posted) {
    report_loss(answered - queue.posted, run_.whole_run(name), name + ": more answers than posts");
  }
  if (queue.in_error && answered < queue.posted &&
      !run_.lost_power(number, run_.measurements.end)) {
    report_loss(queue.posted - answered, run_.whole_run(name),
                name + " is in error and has not reported all its messages");
  }
}

CheckResult SilentLosses::result(CheckResult check) const {
  check.where = where_;
  check.measured = static_cast<double>(lost_);
  if (lost_ > 0) return failed(check, first_);
  if (queues_ == 0 && run_.all_lost_power()) {
    check.note = "every host lost its power, and its messages with it";
    return passed(check,
                  run_.of_whole_run(run_.history.packets().size(), "packet", Source::kPackets));
  }
  if (queues_ == 0) return unjudged(check, "no host has reported its messages");
  if (posted_ > 0) {
    return passed(
        check, run_.of_whole_run(posted_, {"message posted", "messages posted"}, Source::kReports));
  }
  // Whatever hosts report, acknowledgements were held against the packets.
  return passed(check,
                run_.of_whole_run(run_.history.packets().size(), "packet", Source::kPackets));
}

CheckResult judge(const ExpectNoSilentLoss&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "messages";
  check.bound = 0;
  if (run.history.counters().records == 0) {
    return unjudged(check, "there is no record of packets");
  }
  SilentLosses losses(run);
  losses.look_at_packets();
  for (const HostReport& host : run.hosts.hosts) {
    const auto node = run.topology.find_node(host.host);
    if (!node) continue;
    for (const QueueReport& queue : host.queues) {
      losses.look_at(host, run.topology.node(*node).index, queue);
    }
  }
  return losses.result(std::move(check));
}

CheckResult judge(const ExpectInOrder&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "completion";
  check.bound = 0;
  uint64_t wrong = 0, queues = 0, told = 0;
  std::string first;
  for (const HostReport& host : run.hosts.hosts) {
    for (const QueueReport& queue : host.queues) {
      ++queues;
      told += queue.completed + queue.failed;
      wrong += queue.out_of_order;
      if (queue.out_of_order > 0 && first.empty()) {
        first = host.host + " " + qp_name(queue.qp);
        check.where = run.whole_run(first);
      }
    }
  }
  const uint64_t said = wrong;
  if (const uint64_t ahead = run.history.counters().acks_ahead; ahead > 0) {
    wrong += ahead;
    if (first.empty()) {
      first = "messages were acknowledged before all packets up to their end were there";
      check.where = run.whole_run("acknowledgements");
    }
  }
  check.measured = static_cast<double>(wrong);
  if (said > 0) return proven(check, first);
  if (wrong > 0) return failed(check, first);
  const bool all_gone = queues == 0 && run.all_lost_power();
  if (all_gone) check.note = "every host lost its power, and its completions with it";
  if (queues == 0 && !all_gone) return unjudged(check, "no host has reported its completions");
  if (told > 0) return passed(check, run.of_whole_run(told, "completion", Source::kReports));
  const HistoryCounters& c = run.history.counters();
  return passed(check, run.of_whole_run(c.sacks + c.rc_acks, "answer", Source::kPackets));
}

CheckResult judge(const ExpectNoQpErrorWhileAPathLives&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 0;
  uint64_t reported = 0;
  for (const HostReport& host : run.hosts.hosts) reported += host.qps_in_error;
  const std::vector<QpFailure>& failures = run.evidence.events().failures();
  if (run.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  check.looked = run.used_queue_pairs();
  if (reported == 0 && failures.empty()) {
    check.measured = 0;
    return passed(check, *check.looked);
  }
  if (failures.size() < reported) {
    return unjudged(check, std::to_string(reported) +
                               " QPs failed, but the events have the instants of " +
                               std::to_string(failures.size()) + " only");
  }
  if (run.retry_span == FabricTime::zero()) {
    return unjudged(check, "QPs failed, and no profile states how long they try");
  }
  QpFailureJudge judge(run);
  uint64_t wrong = 0, unknown = 0;
  std::string first;
  for (const QpFailure& failure : failures) {
    const QpFailureJudge::Finding finding = judge.find_reason(failure);
    unknown += finding == QpFailureJudge::Finding::kUnknown ? 1 : 0;
    if (finding != QpFailureJudge::Finding::kWrongly) continue;
    ++wrong;
    if (!first.empty()) continue;
    const std::optional<Path> flow = judge.flow_path(failure);
    check.where = {judge.since(failure), failure.t, run.at_failure(failure).who};
    first = run.host_name(failure.host) + " at " + to_string(failure.t) + ": " + failure.reason +
            ", while " + (flow ? "its path " + to_string(*flow) : "a path") +
            (failure.peer ? " to " + run.host_name(*failure.peer) : "") + " worked";
  }
  check.measured = static_cast<double>(wrong);
  if (wrong > 0) return failed(check, first);
  if (unknown > 0) {
    return unjudged(
        check, "no packet shows which path " + std::to_string(unknown) + " of the failed QPs had");
  }
  check.note = std::to_string(failures.size()) + " QPs failed, rightly";
  return passed(check, run.of_whole_run(failures.size(), "queue pair in error", Source::kEvents));
}

CheckResult judge(const ExpectAccounted&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  if (run.timing == TimingMode::kWall) return unjudged(check, "others forward here as well");
  if (run.history.counters().records == 0) {
    return unjudged(check, "there is no record of packets");
  }
  std::string first;
  const uint64_t unbalanced = unbalanced_frames(run, first, check);
  const uint64_t vanished = vanished_packets(run, first, check);
  // A balance that does not hold is proof without any capture. A packet that vanished is proof only
  // where the captures are whole.
  check.proven = unbalanced > 0 || (vanished > 0 && run.coverage.whole(Witness::kPackets));
  check.measured = static_cast<double>(unbalanced + vanished);
  if (unbalanced + vanished > 0) return failed(check, first);
  const Conservation& books = run.evidence.conservation();
  if (!books.is_complete()) {
    return unjudged(check,
                    "no complete records of the switches; all data packets are accounted for");
  }
  // A run that sent only probes lost no data, so its records are no evidence here.
  const uint64_t records = run.history.attempts().empty() ? 0 : books.records();
  return passed(check, run.of_whole_run(records, "packet record", Source::kRecords));
}

CheckResult judge(const ExpectSafety&, const JudgedRun&) { return unjudged({}, "a bundle"); }

}  // namespace

const Rules<ExpectSafety>& rules_of(const ExpectSafety&) {
  static constexpr Rules<ExpectSafety> kRules{
      .sentence = [](const ExpectSafety&, const Wording&) -> std::string { return "safety"; },
      .evidence = needs<ExpectSafety>,
      .early_end = so_far<ExpectSafety>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectPlacedOnce>& rules_of(const ExpectPlacedOnce&) {
  static constexpr Rules<ExpectPlacedOnce> kRules{
      .sentence = [](const ExpectPlacedOnce&, const Wording& in) -> std::string {
        return "packets placed twice differently, or outside their region" + in.at_most("0");
      },
      .evidence = needs<ExpectPlacedOnce, Witness::kPackets, Witness::kReports>,
      .early_end = so_far<ExpectPlacedOnce>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectNoSilentLoss>& rules_of(const ExpectNoSilentLoss&) {
  static constexpr Rules<ExpectNoSilentLoss> kRules{
      .sentence = [](const ExpectNoSilentLoss&, const Wording& in) -> std::string {
        return "messages lost without an error" + in.at_most("0");
      },
      .evidence = needs<ExpectNoSilentLoss, Witness::kPackets, Witness::kReports>,
      .early_end = so_far<ExpectNoSilentLoss>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectInOrder>& rules_of(const ExpectInOrder&) {
  static constexpr Rules<ExpectInOrder> kRules{
      .sentence = [](const ExpectInOrder&, const Wording& in) -> std::string {
        return "completions out of order" + in.at_most("0");
      },
      .evidence = needs<ExpectInOrder, Witness::kPackets, Witness::kReports>,
      .early_end = so_far<ExpectInOrder>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectNoQpErrorWhileAPathLives>& rules_of(const ExpectNoQpErrorWhileAPathLives&) {
  static constexpr Rules<ExpectNoQpErrorWhileAPathLives> kRules{
      .sentence = [](const ExpectNoQpErrorWhileAPathLives&, const Wording& in) -> std::string {
        return "queue pairs in error while a path lives" + in.at_most("0");
      },
      .evidence = needs<ExpectNoQpErrorWhileAPathLives, Witness::kReports, Witness::kEvents>,
      .early_end = so_far<ExpectNoQpErrorWhileAPathLives>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectAccounted>& rules_of(const ExpectAccounted&) {
  static constexpr Rules<ExpectAccounted> kRules{
      .sentence = [](const ExpectAccounted&, const Wording& in) -> std::string {
        return "packets not accounted for" + in.at_most("0");
      },
      .evidence = needs<ExpectAccounted, Witness::kPackets, Witness::kRecords>,
      .early_end = so_far<ExpectAccounted>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
