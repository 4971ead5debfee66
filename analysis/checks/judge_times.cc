#include "analysis/expect/expect_times.h"

#include <algorithm>
#include <map>

#include "analysis/checks/expectation_rules.h"
#include "analysis/checks/open_work.h"
#include "analysis/measure/message_times.h"
#include "fabric/text/enum_words.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

/// The messages from one host to another, over all their queue pairs, in the order in which they began.
using MessagesByPair = std::map<std::pair<uint32_t, uint32_t>, std::vector<MessageTime>>;
MessagesByPair messages_by_pair(const PacketHistory& history) {
  MessagesByPair pairs;
  for (uint32_t number = 0; number < history.flows().size(); ++number) {
    const Flow& flow = history.flows()[number];
    auto& messages = pairs[{flow.source, flow.destination}];
    const std::vector<MessageTime> more = messages_of(history, number);
    messages.insert(messages.end(), more.begin(), more.end());
  }
  for (auto& [pair, messages] : pairs) {
    std::sort(messages.begin(), messages.end(),
              [](const MessageTime& a, const MessageTime& b) { return a.began < b.began; });
  }
  return pairs;
}

/// The one message of `pongs` that begins between the two instants; null if there is none, or more than one.
const MessageTime* only_pong(const std::vector<MessageTime>& pongs, FabricTime from,
                             FabricTime until) {
  const auto begins_before = [](const MessageTime& pong, FabricTime t) { return pong.began < t; };
  const auto first = std::lower_bound(pongs.begin(), pongs.end(), from, begins_before);
  const auto end = std::lower_bound(first, pongs.end(), until, begins_before);
  return end - first == 1 ? &*first : nullptr;
}

/// The turns of one pair of hosts.
struct PingPongTurns {
  OperationTimes turns;
  uint64_t pings = 0;
  std::optional<FabricTime>
      unanswered;         ///< a ping that another followed without a pong between them
  FabricTime open_since;  ///< the newest ping, if it is open
};

void add_turns(const std::vector<MessageTime>& pings, const std::vector<MessageTime>& pongs,
               FabricTime from, FabricTime until, PingPongTurns& found) {
  for (size_t i = 0; i < pings.size(); ++i) {
    const MessageTime& ping = pings[i];
    if (ping.began < from || ping.began >= until) continue;
    ++found.pings;
    const bool followed = i + 1 < pings.size() && pings[i + 1].began < until;
    const FabricTime next = followed ? pings[i + 1].began : until;
    const MessageTime* const pong = only_pong(pongs, ping.began, next);
    // It begins when the ping is there, and the next ping when it is.
    const bool answered = pong != nullptr && ping.arrived <= pong->began && pong->arrived <= next;
    if (followed && !answered && !found.unanswered) found.unanswered = ping.began;
    if (followed) {
      found.turns.finished(next - ping.began);
    } else if (!answered) {
      found.turns.open(until - ping.began);
      found.open_since = ping.began;
    }
  }
}

CheckResult judge(const ExpectLatency& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound =
      (expected.at_most != FabricTime::never() ? expected.at_most : expected.at_least).us();
  if (!run.topology.carries_time()) {
    return unjudged(check, "switches that are not ours take no modelled time");
  }
  const FabricTime until = run.end_of(expected.until);
  const std::vector<bool> sources = hosts_of(run.topology, expected.source);
  const std::vector<bool> destinations = hosts_of(run.topology, expected.destination);
  const MessagesByPair pairs = messages_by_pair(run.history);
  static const std::vector<MessageTime> kNone;
  PingPongTurns found;
  for (const auto& [pair, pings] : pairs) {
    if (!sources[pair.first] || !destinations[pair.second]) continue;
    const auto back = pairs.find({pair.second, pair.first});
    add_turns(pings, back == pairs.end() ? kNone : back->second, expected.from, until, found);
  }
  check.looked = Looked(found.pings, "ping", expected.from, until, Source::kPackets);
  if (found.unanswered) {
    return unjudged(check, "this is no ping-pong: the message at " + to_string(*found.unanswered) +
                               " was followed by another before exactly one came back; "
                               "message_time measures messages of any kind");
  }
  const OperationTimes& turns = found.turns;
  if (turns.finished() + turns.hanging() == 0) {
    return unjudged(check, "fewer than two pings in this interval");
  }
  const FabricTime mean = turns.mean() / 2;
  check.measured = mean.us();
  const std::string open = "the ping at " + to_string(found.open_since) + " is open for " +
                           to_string(turns.longest_open());
  check.note = turns.hanging() > 0 ? open : "";
  if (mean > expected.at_most) {
    return failed(check, to_string(mean) + (check.note.empty() ? "" : "; " + check.note));
  }
  if (turns.hanging() > 0) return unjudged(check, open);
  if (mean < expected.at_least) return failed(check, to_string(mean));
  return passed(check, *check.looked);
}

/// How long iterations took before the first fault, and in the interval.
struct IterationTimes {
  OperationTimes before, during;
};
IterationTimes iteration_times(const ExpectCompletionTime& expected, const JudgedRun& run) {
  const FabricTime until = run.end_of(expected.until), fault = run.first_fault();
  const std::vector<bool> goes_on = hosts_with_open_work(run);
  IterationTimes times;
  std::vector<std::optional<FabricTime>> last(run.topology.host_count());
  std::vector<bool> later(run.topology.host_count());  // does an iteration end behind the interval?
  for (const CollectiveDone& done : run.evidence.events().collectives()) {
    std::optional<FabricTime>& previous = last[done.host];
    if (done.t >= until) {
      later[done.host] = true;
      continue;
    }
    if (previous && done.t < fault) {
      times.before.finished(done.t - *previous);
    } else if (previous && done.t >= expected.from) {
      times.during.finished(done.t - *previous);
    }
    previous = done.t;
  }
  for (uint32_t host = 0; host < last.size(); ++host) {
    if (last[host] && (later[host] || goes_on[host])) times.during.open(until - *last[host]);
  }
  return times;
}

CheckResult judge(const ExpectCompletionTime& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% slower";
  check.bound = percent_of(expected.slower_by);
  const FabricTime until = run.end_of(expected.until);
  const IterationTimes times = iteration_times(expected, run);
  const uint64_t hanging = times.during.hanging();
  const uint64_t looked = times.during.finished() + hanging;
  check.looked = Looked(looked, "iteration", expected.from, until, Source::kEvents);
  if (times.before.finished() == 0) {
    return unjudged(check, "no host finished two iterations before the first fault");
  }
  if (looked == 0) return unjudged(check, "no iteration ended in this interval");
  const FabricTime usual = times.before.mean(), now = times.during.mean();
  check.measured = 100.0 * (now.us() / usual.us() - 1);
  check.note = to_string(usual) + " before, " + to_string(now) + " then";
  const std::string open = std::to_string(hanging) + " open at " + to_string(until) +
                           ", the longest for " + to_string(times.during.longest_open());
  if (hanging > 0) check.note += "; " + open;
  const FabricTime allowed =
      usual + FabricTime::from_ps(static_cast<int64_t>(Wide{static_cast<uint64_t>(usual.ps())} *
                                                       expected.slower_by.ppb / Probability::kOne));
  if (now > allowed) return failed(check, check.note);
  if (hanging > 0) return unjudged(check, check.note);
  return passed(check, *check.looked);
}

/// The selected messages that begin in the interval.
std::vector<MessageTime> selected_messages(const ExpectMessageTime& expected,
                                           const JudgedRun& run) {
  const std::vector<bool> flows = run.selected(expected.flows);
  const FabricTime until = run.end_of(expected.until);
  std::vector<MessageTime> selected;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (!flows[flow]) continue;
    for (const MessageTime& message : messages_of(run.history, flow)) {
      const bool begins = message.began >= expected.from && message.began < until;
      const bool fits = message.size >= expected.min_size.value_or(message.size) &&
                        message.size <= expected.max_size.value_or(message.size);
      if (begins && fits) selected.push_back(message);
    }
  }
  return selected;
}

CheckResult judge(const ExpectMessageTime& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.at_most.us();
  if (!run.topology.carries_time()) {
    return unjudged(check, "switches that are not ours take no modelled time");
  }
  const FabricTime end = run.measurements.end;
  const std::vector<MessageTime> messages = selected_messages(expected, run);
  check.looked = Looked(messages.size(), "message", expected.from, run.end_of(expected.until),
                        Source::kPackets);
  const std::optional<MessageTimes> times = message_times(messages, end);
  if (!times) return without_evidence(check, *check.looked);
  std::vector<FabricTime> so_far, at_worst;
  for (const MessageTime& message : messages) {
    so_far.push_back(message.time(end));
    // What is open for longer than any other took hangs: it may take any time.
    const bool hangs = message.arrived > end && so_far.back() > times->longest_finished;
    at_worst.push_back(hangs ? FabricTime::never() : so_far.back());
  }
  const FabricTime time = time_at_thousandth(std::move(so_far), thousandths_of(expected.by));
  check.measured = time.us();
  if (times->open > 0) {
    check.note = std::to_string(times->open) + " open at the end, the longest for " +
                 to_string(times->longest_open);
  }
  if (time > expected.at_most) {
    return failed(check, to_string(time) + (check.note.empty() ? "" : "; " + check.note));
  }
  if (time_at_thousandth(std::move(at_worst), thousandths_of(expected.by)) > expected.at_most) {
    return unjudged(check, check.note);
  }
  return passed(check, *check.looked);
}

}  // namespace

const Rules<ExpectLatency>& rules_of(const ExpectLatency&) {
  static constexpr Rules<ExpectLatency> kRules{
      .sentence = [](const ExpectLatency& e, const Wording& in) -> std::string {
        return "mean latency" + in.who({e.source, e.destination, {}}) + in.when(e) +
               in.bounds(e.at_least, e.at_most, FabricTime::never(),
                         [&](FabricTime t) { return in.time(t); });
      },
      .evidence = packets_in_interval<ExpectLatency>,
      .early_end = in_its_interval<ExpectLatency>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectCompletionTime>& rules_of(const ExpectCompletionTime&) {
  static constexpr Rules<ExpectCompletionTime> kRules{
      .sentence = [](const ExpectCompletionTime& e, const Wording& in) -> std::string {
        return "collectives slower than before the first fault" + in.when(e) +
               in.at_most(in.share(e.slower_by));
      },
      .evidence = [](const ExpectCompletionTime& e, const CheckedSpan& span) -> Reliances {
        return {
            {Witness::kEvents, std::max(span.clipped(e.until), span.clipped(span.first_fault))}};
      },
      .early_end = in_its_interval<ExpectCompletionTime>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectMessageTime>& rules_of(const ExpectMessageTime&) {
  static constexpr Rules<ExpectMessageTime> kRules{
      .sentence = [](const ExpectMessageTime& e, const Wording& in) -> std::string {
        static constexpr auto kWhat = words_by_value<MessageTimeMeasure>(
            {{MessageTimeMeasure::kMax, "longest time of a message"},
             {MessageTimeMeasure::kP999, "message time, 99.9th percentile,"},
             {MessageTimeMeasure::kP99, "message time, 99th percentile,"},
             {MessageTimeMeasure::kP50, "message time, median,"}});
        const std::string sizes = (e.min_size ? " from " + exact(*e.min_size) : "") +
                                  (e.max_size ? " up to " + exact(*e.max_size) : "");
        return std::string(kWhat[static_cast<size_t>(e.by)]) + sizes + in.who(e.flows) +
               in.when(e) + in.at_most(in.time(e.at_most));
      },
      // The whole run: a message that begins in the interval may arrive behind it.
      .evidence = needs<ExpectMessageTime, Witness::kPackets>,
      .early_end = in_its_interval<ExpectMessageTime>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
