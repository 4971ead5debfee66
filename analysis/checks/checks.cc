#include "analysis/checks/checks.h"

#include <algorithm>
#include <cstdio>

#include "analysis/checks/coverage_check.h"
#include "analysis/checks/expectation_text.h"
#include "analysis/checks/judge.h"

namespace mrclab::analysis {

std::string one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double percent_of(Probability share) { return static_cast<double>(share.ppb) * 1e-7; }

CheckResult failed(CheckResult check, std::string why) {
  check.result = Result::kFail;
  check.note = std::move(why);
  return check;
}

CheckResult proven(CheckResult check, std::string why) {
  check.proven = true;
  return failed(std::move(check), std::move(why));
}

CheckResult unjudged(CheckResult check, std::string why) {
  check.result = Result::kInconclusive;
  check.note = std::move(why);
  return check;
}

CheckResult passed(CheckResult check) {
  check.result = Result::kPass;
  return check;
}

CheckResult Judge::operator()(const ExpectNoQpError&) const {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 0;
  if (in_.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  uint64_t errors = 0, qps = 0;
  std::string who;
  for (const HostReport& host : in_.hosts.hosts) {
    errors += host.qps_in_error;
    qps += host.qps;
    if (host.qps_in_error > 0 && who.empty()) {
      who = host.host + (host.error.empty() ? "" : ": " + host.error);
    }
  }
  check.measured = static_cast<double>(errors);
  if (const auto& failures = in_.evidence.events().failures(); errors > 0 && !failures.empty()) {
    check.where = at_failure(failures.front());
  }
  if (errors > 0) {
    if (!check.where) check.where = whole_run(who);
    return proven(check, who);
  }
  // A NACK "unexpected event" ends in a QP error (MRC specification table 7-3).
  if (const uint64_t fatal = in_.history.counters().fatal_nacks; fatal > 0) {
    check.where = whole_run("NACKs of the reason \"unexpected event\"");
    return failed(check, "the hosts report none, but the captures show " + std::to_string(fatal) +
                             " fatal NACKs");
  }
  if (qps == 0) return unjudged(check, "no host had a QP");
  return passed(check);
}

uint64_t Judge::delivered_to(const std::string& host) const {
  const std::optional<NodeId> node = in_.topology.find_node(host);
  uint64_t bytes = 0;
  for (const Delivery& d : in_.history.deliveries()) {
    const Flow& flow = in_.history.flows()[in_.history.packets()[d.packet].flow];
    if (node && in_.topology.host(flow.destination) == *node) bytes += d.bytes;
  }
  return bytes;
}

CheckResult Judge::operator()(const ExpectMemoryIntact&) const {
  CheckResult check;
  check.unit = "bytes wrong";
  check.bound = 0;
  uint64_t verified = 0, wrong = 0, violations = 0;
  std::string who;
  for (const HostReport& host : in_.hosts.hosts) {
    verified += host.bytes_verified;
    wrong += host.bytes_wrong;
    violations += host.access_violations;
    if (host.bytes_wrong + host.access_violations > 0 && who.empty()) who = host.host;
  }
  check.measured = static_cast<double>(wrong);
  if (wrong + violations > 0) check.where = whole_run(who);
  if (wrong > 0) return proven(check, "first at " + who);
  if (violations > 0) {
    return proven(check, std::to_string(violations) +
                             " writes outside of registered memory, first at " + who);
  }
  if (verified > 0 && in_.history.counters().records == 0) {
    return unjudged(check, std::to_string(verified) +
                               " bytes verified, but there is no capture to hold against that");
  }
  for (const HostReport& host : in_.hosts.hosts) {
    const uint64_t delivered = host.bytes_verified == 0 ? 0 : delivered_to(host.host);
    if (host.bytes_verified > delivered) {
      check.where = whole_run(host.host);
      return failed(check, host.host + " says it verified " + std::to_string(host.bytes_verified) +
                               " bytes, but the captures show only " + std::to_string(delivered) +
                               " delivered to it");
    }
  }
  if (verified == 0) return unjudged(check, "no host has verified any byte");
  check.note = std::to_string(verified) + " bytes verified";
  return passed(check);
}

CheckResult Judge::operator()(const ExpectHealed&) const {
  CheckResult check;
  check.unit = "faults open";
  check.bound = 0;
  size_t open = 0;
  std::string why, unsure;
  for (size_t i = 0; i < in_.faults.size(); ++i) {
    if (!in_.faults[i].heals) continue;  // meant to last
    const FaultMeasurement& m = in_.measurements.faults[i];
    const size_t missing = m.unused.size();
    if (!in_.faults[i].healed()) {
      ++open;
      if (why.empty()) {
        why = fault_name(i) + " was not undone";
        check.where = around(in_.faults[i], FabricTime::zero());
      }
    } else if (missing > 0 && work_lost()) {
      if (unsure.empty())
        unsure = fault_name(i) + ": not all wires are usable again, nor all work done";
    } else if (missing > 0) {
      ++open;
      if (why.empty()) {
        why = fault_name(i) + ": " + std::to_string(missing) + " of " +
              std::to_string(m.wires_to_regain) + " wires carry no traffic after the heal";
        check.where = {in_.faults[i].healed_at, in_.measurements.end, fault_name(i)};
      }
    } else if (!m.unjudged.empty() && unsure.empty()) {
      unsure = fault_name(i) + ": too little was sent after the heal to use all its paths";
    }
  }
  check.measured = static_cast<double>(open);
  if (open > 0) return failed(check, why);
  if (!unsure.empty()) return unjudged(check, unsure);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectDetect& expected) const {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  std::optional<FabricTime> longest;
  bool confirmed = false;
  std::string worst, silent;
  for (size_t i = 0; i < in_.faults.size(); ++i) {
    const FaultMeasurement& m = in_.measurements.faults[i];
    if (m.detection == Detection::kNothing) {
      if (silent.empty()) silent = fault_name(i);
      continue;
    }
    confirmed = confirmed || m.detection == Detection::kDetected;
    if (longest && m.detect <= *longest) continue;
    longest = m.detect;
    check.where = around(in_.faults[i], m.detect);
    worst = fault_name(i) + (m.still_used ? ": an affected path stays in use" : "");
  }
  if (in_.faults.empty()) return unjudged(check, "there is no fault to detect");
  if (!longest) return unjudged(check, "nothing to detect: no affected sender tried");
  check.measured = longest->us();
  if (*longest > expected.within) return failed(check, worst);
  if (!confirmed) {
    return unjudged(check,
                    "no affected sender sent enough afterwards to show that it avoids the path");
  }
  if (!silent.empty()) check.note = "nothing to detect for " + silent;
  return passed(check);
}

CheckResult Judge::operator()(const ExpectRecover& expected) const {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  const Measurements& m = in_.measurements;
  if (in_.faults.empty()) return unjudged(check, "there is no fault to recover from");
  if (!m.baseline.usable) return unjudged(check, m.baseline.why_not);
  const BitRate target = share_of(m.baseline.rate, expected.to);
  FabricTime longest;
  std::string worst;
  for (size_t i = 0; i < in_.faults.size(); ++i) {
    const FaultSpan& fault = in_.faults[i];
    const std::optional<FabricTime> recovered = recovery_time(m, fault.start, target);
    if (!recovered) {
      const FabricTime left = std::max(m.end - fault.start, FabricTime::zero());
      const std::string why = fault_name(i) + ": goodput not back at " +
                              one_digit(percent_of(expected.to)) + " % before the run ends";
      // Shorter than the bound allows: the run does not say whether it would have been in time.
      check.where = around(fault, left);
      if (left < std::max(expected.within, m.window())) return unjudged(check, why);
      return failed(check, why);
    }
    if (*recovered >= longest) {
      longest = *recovered;
      worst = fault_name(i);
      check.where = around(fault, longest);
    }
  }
  check.measured = longest.us();
  if (longest > expected.within) return failed(check, worst);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectLeave& expected) const {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  if (in_.faults.empty()) return unjudged(check, "there is no fault to leave a path for");
  std::optional<FabricTime> longest;
  std::string worst, lingers;
  std::optional<WhereToLook> never_left;
  for (size_t i = 0; i < in_.faults.size(); ++i) {
    const FaultMeasurement& m = in_.measurements.faults[i];
    if (m.never_left && lingers.empty()) {
      lingers = fault_name(i);
      never_left = around(in_.faults[i], FabricTime::zero());
    }
    if (!m.left || (longest && *m.left <= *longest)) continue;
    longest = m.left;
    worst = fault_name(i);
    check.where = around(in_.faults[i], *m.left);
  }
  if (!longest) return unjudged(check, "nothing to leave: no affected sender lost a packet");
  check.measured = longest->us();
  if (!lingers.empty()) {
    check.where = *never_left;
    return failed(check, lingers + ": an affected path was never left");
  }
  if (*longest > expected.within) return failed(check, worst);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectQpError& expected) const {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 1;
  if (in_.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  uint64_t errors = 0;
  std::string other;
  for (const HostReport& host : in_.hosts.hosts) {
    errors += host.qps_in_error;
    if (host.qps_in_error > 0 && host.error != expected.reason && other.empty()) {
      other = host.host + ": " + (host.error.empty() ? "no reason given" : host.error);
    }
  }
  check.measured = static_cast<double>(errors);
  check.where = {in_.faults.empty() ? FabricTime::zero() : first_fault(), in_.measurements.end, ""};
  for (const QpFailure& failure : in_.evidence.events().failures()) {
    if (failure.reason == expected.reason) continue;
    check.where = at_failure(failure);
    break;
  }
  if (errors == 0) return failed(check, "no QP failed");
  if (!other.empty()) return failed(check, other);
  return passed(check);
}

WhereToLook Judge::around(const FaultSpan& fault, FabricTime least) const {
  const FabricTime healed = std::min(fault.healed_at, in_.measurements.end);
  return {fault.start, std::max(healed, fault.start + least), fault.description};
}

namespace {

/// The interval that an expectation names, and the hosts.
std::optional<WhereToLook> interval_of(const Expectation& expectation, FabricTime end) {
  std::optional<WhereToLook> where;
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.until; }) where = {e.from, std::min(e.until, end), {}};
      },
      expectation);
  return where;
}

/// The instant from which no fault was in force any more; empty if one lasts, or there was none.
std::optional<FabricTime> last_heal(std::span<const FaultSpan> faults) {
  std::optional<FabricTime> last;
  for (const FaultSpan& fault : faults) {
    if (!fault.healed()) return std::nullopt;
    last = std::max(last.value_or(fault.healed_at), fault.healed_at);
  }
  return last;
}

}  // namespace

/// By the wall clock no record shows a loss: a packet counts as lost after kLostAfterRtts of
/// silence, so its fate settles that much later.
CheckedSpan span_of(const CheckInputs& in) {
  const FabricTime rtt = in.topology.base_rtt;
  return {in.measurements.end, first_start(in.faults),
          in.topology.carries_time() ? rtt : rtt * (PacketHistory::kLostAfterRtts + 1)};
}

std::vector<CheckResult> run_checks(std::span<const Expectation> expectations,
                                    const CheckInputs& inputs) {
  std::vector<CheckResult> results;
  const CheckedSpan span = span_of(inputs);
  const RunTimes times{last_heal(inputs.faults), inputs.measurements.base_rtt};
  for (const Expectation& expectation : expectations) {
    CheckResult check =
        judge_coverage(expectation, std::visit(Judge(inputs), expectation), inputs.coverage, span);
    check.name = name_of(expectation);
    check.about = describe_for_run(expectation, times);
    check.published = expectation.published;
    if (!check.where) check.where = interval_of(expectation, inputs.measurements.end);
    results.push_back(std::move(check));
  }
  return results;
}

Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing) {
  if (checks.empty() && timing.sound()) return Result::kNoChecks;
  Result result = timing.sound() ? Result::kPass : Result::kInconclusive;
  for (const CheckResult& check : checks) {
    const bool excused = !timing.sound() && check.name != "memory_intact";
    if (check.result == Result::kFail && !excused) return Result::kFail;
    if (check.result == Result::kInconclusive) result = Result::kInconclusive;
  }
  return result;
}

}  // namespace mrclab::analysis
