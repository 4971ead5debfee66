// The verdict as a table for the terminal. summary.cc writes the few lines below it with the
// result.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/blame/blame_text.h"
#include "analysis/mapper/denylist_text.h"
#include "analysis/mapper/mapper_text.h"
#include "analysis/orchestrator/orchestrator_text.h"
#include "analysis/report/job_table.h"
#include "analysis/report/summary.h"
#include "analysis/report/text_table.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"

namespace mrclab::analysis {
namespace {

using Row = TextTable::Row;

/// A duration behind a fault's start; `zero` is the text for none at all.
std::string after(const std::optional<FabricTime>& t, const char* zero) {
  if (!t) return "-";
  return *t == FabricTime::zero() ? zero : "+" + to_string(*t);
}

std::string optional_time(const std::optional<FabricTime>& t) { return t ? to_string(*t) : "-"; }

/// "0", "4.67 us", "99.97 %". A unit that counts things is left out: the
/// check's sentence names them.
std::string in_unit(const std::optional<double>& value, const std::string& unit) {
  const std::string number = plain_number(value);
  if (unit == "exit code") return unit + " " + number;
  if (unit.starts_with('%')) return number + " %";
  return unit.starts_with("us") ? number + " us" : number;
}

/// Does the sentence name its bound? It cannot if the bound was only computed while judging.
bool names_bound(const std::string& about) {
  return about.find("≥") != std::string::npos || about.find("≤") != std::string::npos;
}

/// Every mark takes four columns, so that the sentences begin in one column.
const char* mark_of(Result result) {
  switch (result) {
    case Result::kPass: return "pass";
    case Result::kFail: return "FAIL";
    case Result::kInconclusive:
    case Result::kNoChecks: break;
  }
  return "????";
}

/// What a check that passed looked at, and its note.
std::string looked_and_note(const CheckResult& check) {
  const std::string looked = check.looked ? to_string(*check.looked) : "";
  return looked + (looked.empty() || check.note.empty() ? "" : "; ") + check.note;
}

void checks_part(const Verdict& verdict, TextTable& table) {
  if (verdict.checks.empty()) {
    table.line(std::string(kNothingChecked));
    table.rule();
    return;
  }
  for (const CheckResult& check : verdict.checks) {
    const bool pass = check.result == Result::kPass;
    std::string text = sentence_of(check);
    if (pass) text += " (" + looked_and_note(check) + ")";
    table.marked(mark_of(check.result), check.result, text);
    if (!pass && !check.note.empty()) table.indented(check.note, 8);
    if (!pass && check.looked && check.looked->count() > 0) {
      table.indented("looked at " + to_string(*check.looked), 8);
    }
    if (check.where && check.result == Result::kFail) {
      table.indented("where: " + to_string(*check.where), 8);
    }
    if (const auto& published = check.published) {
      table.indented("to compare: " + published->text + " (" + published->figure + ")", 8);
    }
  }
  table.rule();
}

void faults_part(const Verdict& verdict, TextTable& table) {
  if (verdict.faults.empty()) return;
  std::vector<Row> rows{{"fault", "at", "detected", "recovered", "healed"}};
  for (const FaultResult& fault : verdict.faults) {
    rows.push_back(
        {fault.fault, to_string(fault.at), after(fault.detected, "at once"),
         fault.recovery_known && !fault.recovered ? "no" : after(fault.recovered, "no dip"),
         fault.healed ? optional_time(fault.healed_at) : "no"});
  }
  const std::vector<size_t> widths = table.fit(rows);
  const std::vector<bool> right{false, true, true, true, true};
  table.row(rows[0], widths, right);
  for (size_t i = 0; i < verdict.faults.size(); ++i) {
    const std::vector<std::string> name = wrapped_lines(rows[i + 1][0], widths[0]);
    if (!name.empty()) rows[i + 1][0] = name[0];
    table.row(rows[i + 1], widths, right);
    for (size_t line = 1; line < name.size(); ++line) table.line("  " + name[line]);
    if (const auto& dip = verdict.faults[i].dip) table.indented("dip: " + to_string(*dip), 4);
    if (!verdict.faults[i].note.empty()) table.indented(verdict.faults[i].note, 4);
    const std::string& why = verdict.faults[i].recovery_note;
    if (!why.empty() && (i == 0 || why != verdict.faults[i - 1].recovery_note))
      table.indented("recovered: " + why, 4);
  }
  table.rule();
}

/// More than these are in verdict.json.
constexpr size_t kBlamesShown = 8;
void more_in_file(size_t all, TextTable& table) {
  const size_t more = all - std::min(all, kBlamesShown);
  if (more > 0) table.indented("and " + std::to_string(more) + " more in verdict.json", 2);
}

void evidence_part(const Blame& blame, TextTable& table) {
  table.indented(blame.evidence, 4);
  std::string others;
  for (const std::string& other : blame.or_else) others += (others.empty() ? "" : ", ") + other;
  if (!others.empty()) table.indented("or " + others, 4);
}

/// What was broken, by packets alone.
void blame_part(const Verdict& verdict, TextTable& table) {
  if (!verdict.no_blame.empty() && !verdict.faults.empty()) {
    table.line("blame: none, for evidence is missing");
    table.indented(verdict.no_blame, 4);
    table.rule();
    return;
  }
  if (verdict.blame.empty() && verdict.losses_not_told.empty()) return;
  table.line("blame, by the packets alone");
  for (size_t i = 0; i < std::min(verdict.blame.size(), kBlamesShown); ++i) {
    const Blame& blame = verdict.blame[i];
    table.indented(headline(blame), 2);
    evidence_part(blame, table);
  }
  more_in_file(verdict.blame.size(), table);
  if (!verdict.losses_not_told.empty()) table.indented(verdict.losses_not_told, 2);
  table.rule();
}

void findings_part(const std::vector<MapperFinding>& findings, TextTable& table) {
  for (size_t i = 0; i < std::min(findings.size(), kBlamesShown); ++i) {
    table.indented(headline(findings[i]), 2);
    evidence_part(findings[i].part, table);
  }
  more_in_file(findings.size(), table);
}

/// What was broken, by a mapper's probes alone, and by what hosts reported of their paths.
void mapper_part(const Verdict& verdict, TextTable& table) {
  if (!verdict.mapper) return;
  const MapperResult& mapper = *verdict.mapper;
  table.line("mapper, by its probes alone");
  table.indented(summary_of(mapper), 2);
  findings_part(mapper.found, table);
  if (!mapper.none.empty())
    table.indented("found nothing, for evidence is missing: " + mapper.none, 2);
  if (mapper.ev_events > 0) {
    table.line("paths, by what hosts report of them alone");
    table.indented(counted_noun(mapper.ev_events, "entropy value") + " assumed bad" +
                       (mapper.by_events.empty() ? ": too few in one place to name a part" : ""),
                   2);
    findings_part(mapper.by_events, table);
  }
  table.rule();
}

constexpr size_t kOrchestratorLines = 16;

/// Cables and switches, by what neighbours send each other.
void orchestrator_part(const Verdict& verdict, TextTable& table) {
  if (!verdict.orchestrator) return;
  table.line("orchestrator, by what neighbours send each other");
  table.indented(summary_of(*verdict.orchestrator), 2);
  const std::vector<std::string> lines = lines_of(*verdict.orchestrator);
  for (size_t i = 0; i < std::min(lines.size(), kOrchestratorLines); ++i) {
    table.indented(lines[i], 2);
  }
  if (lines.size() > kOrchestratorLines) {
    table.indented(std::to_string(lines.size() - kOrchestratorLines) + " more in verdict.json", 2);
  }
  table.rule();
}

/// What was denied because of it, and what would have been too much.
void denylist_part(const Verdict& verdict, TextTable& table) {
  if (!verdict.denylist) return;
  const DenylistResult& list = *verdict.denylist;
  table.line("denylist");
  table.indented(summary_of(list), 2);
  for (size_t i = 0; i < std::min(list.spans.size(), kBlamesShown); ++i) {
    table.indented(headline(list.spans[i], list.hosts), 2);
    table.indented(list.spans[i].why, 4);
  }
  more_in_file(list.spans.size(), table);
  for (size_t i = 0; i < std::min(list.capped.size(), kBlamesShown); ++i) {
    table.indented("not denied: " + list.capped[i].part, 2);
    table.indented(list.capped[i].why, 4);
  }
  more_in_file(list.capped.size(), table);
  table.rule();
}

std::string milliseconds(int64_t ns) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g ms", std::abs(static_cast<double>(ns)) * 1e-6);
  return text;
}

/// How much time frames had to spare. Where a clock ran ahead of a frame, the gate held its
/// receiver until the frame was there, which costs wall time and nothing else.
std::string slack_text(const TimingReport& t) {
  if (t.dilation_max <= 0) return "";  // a simulation has no lab clock, so no slack either
  if (t.min_slack_ns >= 0) return "every frame " + milliseconds(t.min_slack_ns) + " early or more";
  return "the lab stood still for frames, up to " + milliseconds(t.min_slack_ns) +
         (t.faithful ? "; none came too late" : "");
}

void timing_part(const Verdict& verdict, TextTable& table) {
  const TimingReport& t = verdict.timing;
  if (t.mode == TimingMode::kWall) {
    table.line(t.sound() ? "timing     wall clock: honest, but not exact"
                         : "timing     wall clock, DISTURBED: there is nothing to be judged");
  } else {
    table.line(std::string("timing     ") + (t.faithful ? "FAITHFUL" : "NOT FAITHFUL") +
               ", late frames " + std::to_string(t.late_frames) + ", gaps " +
               std::to_string(t.gaps));
    table.indented(slack_text(t), 11);
  }
  for (const std::string& reason : t.reasons) table.indented(reason, 11);
  char text[96];
  std::snprintf(text, sizeof text, "dilation   min %.0f, mean %.0f, max %.0f", t.dilation_min,
                t.dilation_mean, t.dilation_max);
  if (t.dilation_max > 0) table.line(text);
}

/// What it cost that libpcap looked on as well.
void taps_part(const Verdict& verdict, TextTable& table) {
  if (!verdict.taps) return;
  const TapCost& taps = *verdict.taps;
  const auto number = [](const char* format, double value) {
    char text[48];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  table.line("taps       " + counted_noun(taps.packets, "packet") + " of " +
             counted_noun(taps.interfaces, "interface") + ", " +
             number("%.1f MB", static_cast<double>(taps.bytes) * 1e-6) +
             (taps.missing > 0 ? ", " + std::to_string(taps.missing) + " missing" : ""));
  table.line("           cost " + number("%.2f s", taps.cpu_seconds) + " of CPU" +
             (taps.packets > 0 ? number(", %.1f us a packet",
                                        1e6 * taps.cpu_seconds / static_cast<double>(taps.packets))
                               : "") +
             number(", and %.2f s to open them", taps.open_seconds));
}

}  // namespace

std::string sentence_of(const CheckResult& check) {
  std::string text = check.about.empty() ? check.name : check.about;
  if (check.bound && check.unit != "exit code" && !names_bound(text)) {
    text += " ≤ " + in_unit(check.bound, check.unit);
  }
  return check.measured ? text + ": " + in_unit(check.measured, check.unit) : text;
}

std::string to_table(const Verdict& verdict, TableOptions options) {
  TextTable table(options);
  table.line(verdict.scenario + "  (" + verdict.world + ", seed " + std::to_string(verdict.seed) +
             circumstances(verdict) + ")");
  table.rule();
  checks_part(verdict, table);
  faults_part(verdict, table);
  blame_part(verdict, table);
  mapper_part(verdict, table);
  orchestrator_part(verdict, table);
  denylist_part(verdict, table);
  for (const JobResult& job : verdict.jobs) add_job(job, table);
  if (!verdict.jobs.empty()) table.rule();
  const Metrics& m = verdict.metrics;
  if (m.data_packets == 0) {  // zeros would look as if nothing had been delivered
    table.line("packets    no data packet was captured, so the goodput is not known");
  } else {
    table.line("goodput    " + rate_text(m.goodput_bps) +
               (m.baseline_bps           ? ", baseline " + rate_text(*m.baseline_bps)
                : verdict.faults.empty() ? ""
                                         : ", no baseline: " + m.no_baseline));
    table.line("packets    " + std::to_string(m.delivered) + " of " +
               std::to_string(m.data_packets) + " delivered, " + std::to_string(m.lost) +
               " lost, " + std::to_string(m.trimmed) + " trimmed, " +
               std::to_string(m.retransmitted) + " retransmitted");
  }
  if (!verdict.loss_timers.empty()) table.line("losses     found by " + verdict.loss_timers);
  timing_part(verdict, table);
  taps_part(verdict, table);
  if (!m.history_sha256.empty()) table.line("history    " + m.history_sha256);
  for (const std::string& what : verdict.depends_on) table.indented("depends on " + what, 0);
  for (const std::string& note : verdict.notes) table.indented("note: " + note, 0);
  return table.take();
}

}  // namespace mrclab::analysis
