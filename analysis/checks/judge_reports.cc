#include "analysis/expect/expect_reports.h"

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {
namespace {

CheckResult judge(const ExpectNoQpError&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 0;
  if (run.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  uint64_t errors = 0, qps = 0;
  std::string who;
  for (const HostReport& host : run.hosts.hosts) {
    errors += host.qps_in_error;
    qps += host.qps;
    if (host.qps_in_error > 0 && who.empty()) {
      who = host.host + (host.error.empty() ? "" : ": " + host.error);
    }
  }
  check.measured = static_cast<double>(errors);
  check.looked = run.used_queue_pairs();
  if (const auto& failures = run.evidence.events().failures(); errors > 0 && !failures.empty()) {
    check.where = run.at_failure(failures.front());
  }
  if (errors > 0) {
    if (!check.where) check.where = run.whole_run(who);
    return proven(check, who);
  }
  // A NACK "unexpected event" ends in a QP error (MRC specification table 7-3).
  if (const uint64_t fatal = run.history.counters().fatal_nacks; fatal > 0) {
    check.where = run.whole_run("NACKs of the reason \"unexpected event\"");
    return failed(check, "the hosts report none, but the captures show " + std::to_string(fatal) +
                             " fatal NACKs");
  }
  if (qps == 0) return unjudged(check, "no host had a QP");
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectMemoryIntact&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "bytes wrong";
  check.bound = 0;
  uint64_t verified = 0, wrong = 0, violations = 0;
  std::string who;
  for (const HostReport& host : run.hosts.hosts) {
    verified += host.bytes_verified;
    wrong += host.bytes_wrong;
    violations += host.access_violations;
    if (host.bytes_wrong + host.access_violations > 0 && who.empty()) who = host.host;
  }
  check.measured = static_cast<double>(wrong);
  if (wrong + violations > 0) check.where = run.whole_run(who);
  if (wrong > 0) return proven(check, "first at " + who);
  if (violations > 0) {
    return proven(check, std::to_string(violations) +
                             " writes outside of registered memory, first at " + who);
  }
  if (verified > 0 && run.history.counters().records == 0) {
    return unjudged(check, std::to_string(verified) +
                               " bytes verified, but there is no capture to hold against that");
  }
  const std::vector<uint64_t> delivered_by_host = run.delivered_by_host();
  for (const HostReport& host : run.hosts.hosts) {
    const auto number = run.host_number(host.host);
    const uint64_t delivered = number ? delivered_by_host[*number] : 0;
    if (host.bytes_verified > delivered && run.evidence.followed().all()) {
      check.where = run.whole_run(host.host);
      return failed(check, host.host + " reports " + std::to_string(host.bytes_verified) +
                               " bytes verified, but the captures show only " +
                               std::to_string(delivered) + " delivered to it");
    }
  }
  if (verified == 0) return unjudged(check, "no host has verified any byte");
  return passed(check,
                run.of_whole_run(verified, {"byte verified", "bytes verified"}, Source::kReports));
}

CheckResult judge(const ExpectQpError& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 1;
  if (run.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  uint64_t errors = 0;
  std::string other;
  for (const HostReport& host : run.hosts.hosts) {
    errors += host.qps_in_error;
    if (host.qps_in_error > 0 && host.error != expected.reason && other.empty()) {
      other = host.host + ": " + (host.error.empty() ? "no reason given" : host.error);
    }
  }
  check.measured = static_cast<double>(errors);
  check.where = {run.faults.empty() ? FabricTime::zero() : run.first_fault(), run.measurements.end,
                 ""};
  for (const QpFailure& failure : run.evidence.events().failures()) {
    if (failure.reason == expected.reason) continue;
    check.where = run.at_failure(failure);
    break;
  }
  if (errors == 0) return failed(check, "no QP failed");
  if (!other.empty()) return failed(check, other);
  return passed(check, run.of_whole_run(errors, "queue pair in error", Source::kReports));
}

}  // namespace

const Rules<ExpectNoQpError>& rules_of(const ExpectNoQpError&) {
  static constexpr Rules<ExpectNoQpError> kRules{
      .sentence = [](const ExpectNoQpError&, const Wording& in) -> std::string {
        return "queue pairs in error" + in.at_most("0");
      },
      .evidence = needs<ExpectNoQpError, Witness::kPackets, Witness::kReports>,
      .early_end = so_far<ExpectNoQpError>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectMemoryIntact>& rules_of(const ExpectMemoryIntact&) {
  static constexpr Rules<ExpectMemoryIntact> kRules{
      .sentence = [](const ExpectMemoryIntact&, const Wording& in) -> std::string {
        return "bytes wrong in memory" + in.at_most("0");
      },
      .evidence = needs<ExpectMemoryIntact, Witness::kPackets, Witness::kReports>,
      .early_end = so_far<ExpectMemoryIntact>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectQpError>& rules_of(const ExpectQpError&) {
  static constexpr Rules<ExpectQpError> kRules{
      .sentence = [](const ExpectQpError& e, const Wording& in) -> std::string {
        return "queue pairs that fail with \"" + e.reason + "\"" + in.at_least("1");
      },
      .evidence = needs<ExpectQpError, Witness::kReports>,
      .early_end =
          [](const ExpectQpError&, const EarlyResult& result) {
            if (result.check().measured != 0.0) return result.so_far();
            return result.inconclusive("no QP failed until " + to_string(result.ended()));
          },
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
