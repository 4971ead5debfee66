#include "lab/compare/comparison_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/summary.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::lab {
namespace {

/// "4 of 8"
std::string of(uint64_t part, uint64_t all) { return fmt::format("{} of {}", part, all); }

std::string outcome(const ComparedRun& first, const ComparedRun& run) {
  const analysis::Metrics& a = first.verdict.metrics;
  const analysis::Metrics& b = run.verdict.metrics;
  if (&first != &run && a.history_sha256 == b.history_sha256) {
    return "It does the same, packet by packet.";
  }
  if (b.work_ends && !b.completed) {
    return fmt::format("It did not finish: {} of {} arrived.", b.delivered,
                       counted_noun(b.data_packets, "packet"));
  }
  const std::string did = b.work_ends ? "It took " + to_string(*b.completed)
                                      : fmt::format("{:.2f} Gb/s arrived", b.goodput_bps / 1e9);
  const std::optional<double> share = share_of_first(first, run);
  if (&first == &run || !share) return did + ".";
  if (std::abs(*share - 100) < 0.05) return did + ", as under " + first.transport + ".";
  if (b.work_ends) {
    return fmt::format("{}, {:.2f} times as long as {}.", did, *share / 100, first.transport);
  }
  return fmt::format("{}, {:.1f} % {} than under {}.", did, std::abs(*share - 100),
                     *share < 100 ? "less" : "more", first.transport);
}

/// How flows that keep to one path collide. Empty if all flows spray.
std::string collisions(const analysis::Metrics& metrics) {
  const auto& spread = metrics.spread;
  if (!spread || spread->one_path == 0) return "";
  const std::string flows =
      spread->one_path == spread->flows
          ? counted_noun(spread->flows, "flow")
          : of(spread->one_path, spread->flows) + " " + Noun("flow").of(spread->flows);
  const uint64_t used_by_them = spread->uplinks - spread->uplinks_by_flows.front();
  std::string text = fmt::format(
      "{} kept to one path{} and used {} {}", flows, spread->one_path == 1 ? "" : " each",
      of(used_by_them, spread->uplinks), Noun("uplink").of(spread->uplinks));
  if (spread->one_path == 1) return text + ".";
  if (spread->sharing == 0) return text + "; no two shared one.";
  return text + fmt::format(
                    "; {} of them shared one with others, {} the fullest, and {} carried "
                    "{:.1f} times the mean.",
                    spread->sharing, spread->most, spread->busiest, spread->busiest_to_mean);
}

std::string pauses(const ComparedRun& run, FabricTime end) {
  const auto& pauses = run.verdict.metrics.pauses;
  if (!pauses) return "";
  const double share =
      100 * static_cast<double>(pauses->longest.ps()) / static_cast<double>(end.ps());
  return fmt::format("{} {} paused, {} longest: {:.1f} % of the time; {} paused first.",
                     counted_noun(pauses->ports, "port"), pauses->ports == 1 ? "was" : "were",
                     pauses->longest_port, share, pauses->first_pauser);
}

std::string losses(const analysis::Verdict& verdict) {
  const analysis::Metrics& m = verdict.metrics;
  if (m.lost == 0 && m.retransmitted == 0 && m.trimmed == 0) return "";
  std::string text = fmt::format("{} lost", counted_noun(m.lost, "packet"));
  if (m.trimmed > 0) text += fmt::format(", {} trimmed", m.trimmed);
  text += fmt::format(", {} retransmitted", m.retransmitted);
  const uint64_t missing = m.lost + m.trimmed;
  if (missing > 0 && m.retransmitted > missing + missing / 10) {
    text += fmt::format(": {:.1f} for each lost{}",
                        static_cast<double>(m.retransmitted) / static_cast<double>(missing),
                        m.trimmed > 0 ? " or trimmed" : "");
  }
  return text + (verdict.loss_timers.empty()
                     ? "."
                     : ". Losses were found by " + verdict.loss_timers + ".");
}

/// Why there is no time of recovery. Where switches find their routes again, losses are shown in its place.
std::string no_recovery(const analysis::Verdict& verdict) {
  if (longest_recovery(verdict) || longest_fault_times(verdict).routed) return "";
  for (const analysis::FaultResult& fault : verdict.faults) {
    if (fault.recovered) continue;
    if (!fault.measured) return "Recovery is not known: " + fault.note + ".";
    if (!fault.recovery_known) return "Recovery is " + fault.recovery_note + ".";
    return "Not recovered by the end: " + fault.fault + ".";
  }
  return "";
}

/// The queue is shown where a port was paused or a CNP slowed a flow down: other queues are no evidence about RC.
std::string queues(const analysis::Metrics& m) {
  if (!m.deepest || (!m.pauses && m.cnps == 0)) return "";
  return "The deepest queue held " + size_text(m.deepest->size) + ", at " + m.deepest->port + ".";
}

std::string answers(const analysis::Metrics& m) {
  std::string text;
  if (m.cnps > 0) {
    text = counted_noun(m.cnps, "CNP") + " notified senders of full queues";
    if (m.flows_cut > 0) text += " and slowed " + counted_noun(m.flows_cut, "flow") + " down";
  }
  if (m.naks > 0) {
    text += (text.empty() ? "" : ", ") + counted_noun(m.naks, "NAK") + " to go back";
  }
  if (m.timeouts > 0) {
    text += (text.empty() ? "" : ", ") + counted_noun(m.timeouts, "timeout") + " of a sender";
  }
  return text.empty() ? "" : text + ".";
}

std::string list_of(const std::vector<analysis::CheckResult>& checks, analysis::Result result) {
  std::string text;
  for (const analysis::CheckResult& check : checks) {
    if (check.result != result) continue;
    text += (text.empty() ? "" : "; ") + analysis::sentence_of(check);
  }
  return text;
}

void add_checks(const ComparedRun& run, std::vector<std::string>& story) {
  using enum analysis::Result;
  const auto add = [&](const char* what, const std::string& list) {
    if (!list.empty()) story.push_back(fmt::format("{}: {}.", what, list));
  };
  add("Not met", list_of(run.verdict.checks, kFail));
  add("Cannot be judged", list_of(run.verdict.checks, kInconclusive));
  add("Not asked", fmt::format("{}", fmt::join(run.not_asked, "; ")));
  add("Contrast met", list_of(run.contrast, kPass));
  add("CONTRAST NOT MET", list_of(run.contrast, kFail));
  add("Contrast cannot be judged", list_of(run.contrast, kInconclusive));
}

}  // namespace

Headline headline_of(const Comparison& comparison) {
  const ComparedRun& first = comparison.runs.front();
  const bool times = first.verdict.metrics.work_ends;
  return {times,
          times ? "completion: until the workload's last byte had arrived"
                : "the workload goes on until the end, at " + to_string(comparison.end) +
                      ": goodput is what arrived by then",
          "of " + first.transport};
}

std::optional<double> share_of_first(const ComparedRun& first, const ComparedRun& run) {
  const analysis::Metrics& a = first.verdict.metrics;
  const analysis::Metrics& b = run.verdict.metrics;
  if (a.work_ends) {
    if (!a.completed || !b.completed) return std::nullopt;
    return 100 * static_cast<double>(b.completed->ps()) / static_cast<double>(a.completed->ps());
  }
  if (a.goodput_bps <= 0) return std::nullopt;
  return 100 * b.goodput_bps / a.goodput_bps;
}

std::string size_text(Bytes size) {
  return size.value < 1'000 ? fmt::format("{} B", size.value)
                            : fmt::format("{} kB", (size.value + 500) / 1'000);
}

std::string checks_met(const ComparedRun& run) {
  const auto& checks = run.verdict.checks;
  const auto met = std::count_if(checks.begin(), checks.end(), [](const auto& check) {
    return check.result == analysis::Result::kPass;
  });
  return fmt::format("{} of {}", met, checks.size());
}

std::vector<std::string> story_of(const Comparison& comparison, const ComparedRun& run) {
  const analysis::Metrics& metrics = run.verdict.metrics;
  std::vector<std::string> story;
  for (std::string sentence :
       {outcome(comparison.runs.front(), run), collisions(metrics), pauses(run, comparison.end),
        queues(metrics), losses(run.verdict), no_recovery(run.verdict), answers(metrics)}) {
    if (!sentence.empty()) story.push_back(std::move(sentence));
  }
  if (metrics.qps_failed > 0) {
    story.push_back(counted_noun(metrics.qps_failed, "queue pair") + " failed.");
  }
  for (const std::string& what : run.verdict.depends_on)
    story.push_back("Depends on " + what + ".");
  add_checks(run, story);
  return story;
}

}  // namespace mrclab::lab
