#include "analysis/report/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "analysis/serve/serve_text.h"
#include "analysis/verdict/job_text.h"
#include "fabric/text/text_wrap.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kStepsShown = 5, kPartsShown = 4, kIndent = 2, kHeadlineLines = 2;
constexpr size_t kTurnLines = 5, kNotesShown = 4;
constexpr size_t kNarrow = 80;  ///< below it there is no room for all columns

std::string percent(FabricTime part, FabricTime whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                whole > FabricTime::zero() ? 100 * part.us() / whole.us() : 0.0);
  return text;
}

/// "+7.7 %"
std::string longer(FabricTime time, FabricTime than) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (time.us() / than.us() - 1));
  return text;
}

void one_line(const std::string& text, TextTable& table) {
  table.line(std::string(kIndent, ' ') + cut_to(text, table.width() - kIndent));
}

/// On as many lines as it takes, at most kTurnLines.
void wrapped(const std::string& text, TextTable& table) {
  const std::vector<std::string> lines = wrapped_lines(text, table.width() - kIndent, kIndent);
  for (size_t i = 0; i < std::min(lines.size(), kTurnLines); ++i) one_line(lines[i], table);
}

std::string times_line(const JobTimes& times) {
  const std::string text = counted_noun(times.steps, "step") + " from " +
                           std::to_string(times.first) + ": mean " + to_string(times.mean) +
                           ", median " + to_string(times.p50) + ", p99 " + to_string(times.p99);
  return text;
}

/// Empty where it is not known.
std::string roofline_line(const JobResult& job, const JobTimes& times) {
  std::string text;
  if (times.ideal > FabricTime::zero()) {
    text = "roofline " + to_string(times.ideal) + " a step (mean " +
           longer(times.mean, times.ideal) + ")";
  }
  if (job.done && job.ideal > FabricTime::zero()) {
    text += (text.empty() ? "roofline " : ", ") + to_string(job.ideal) + " the job (" +
            longer(*job.done - job.begin, job.ideal) + ")";
  }
  return text;
}

/// The groups that were exposed longest, over the steps that count.
std::string exposed_by(const JobResult& job, const JobTimes& times) {
  std::vector<GroupTime> groups;
  for (size_t i = times.first; i < job.steps.size(); ++i) {
    if (!job.steps[i].ended()) continue;
    for (const GroupTime& one : job.steps[i].exposed_by) {
      const auto known = std::find_if(groups.begin(), groups.end(),
                                      [&](const GroupTime& g) { return g.group == one.group; });
      if (known == groups.end()) {
        groups.push_back(one);
      } else {
        known->time += one.time;
      }
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const GroupTime& a, const GroupTime& b) { return a.time > b.time; });
  const FabricTime all = times.mean * static_cast<int64_t>(times.steps);
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kPartsShown); ++i) {
    if (groups[i].time == FabricTime::zero()) break;
    text += (text.empty() ? " (" : ", ") + groups[i].group + " " + percent(groups[i].time, all);
  }
  return text.empty() ? "" : text + ")";
}

std::string path_line(const JobResult& job) {
  std::vector<JobPathPart> parts = job.path;
  FabricTime all;
  for (const JobPathPart& part : parts) all += part.time;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const JobPathPart& a, const JobPathPart& b) { return a.time > b.time; });
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), kPartsShown); ++i) {
    text += (text.empty() ? "" : ", ") + parts[i].what + " " + percent(parts[i].time, all);
  }
  return "its end waited for: " + text;
}

/// The steps that took longest, and an open one, by their numbers.
std::vector<size_t> steps_shown(const JobResult& job, uint32_t first) {
  std::vector<size_t> steps;
  for (size_t i = first; i < job.steps.size(); ++i) steps.push_back(i);
  const auto time = [&](size_t i) {
    return job.steps[i].ended() ? job.steps[i].time() : FabricTime::never();
  };
  std::stable_sort(steps.begin(), steps.end(),
                   [&](size_t a, size_t b) { return time(a) > time(b); });
  steps.resize(std::min(steps.size(), kStepsShown));
  std::sort(steps.begin(), steps.end());
  return steps;
}

TextTable::Row row_of(const JobResult& job, size_t number, const JobTimes& times, bool narrow) {
  constexpr size_t kName = 10;
  const JobStep& step = job.steps[number];
  std::string faults;
  for (const uint32_t fault : step.faults) {
    faults += (faults.empty() ? "" : ", ") + std::to_string(fault + 1);
  }
  std::string rank = step.slowest < job.ranks.size() ? job.ranks[step.slowest] : "";
  if (std::count(job.ranks.begin(), job.ranks.end(), rank) > 1) {
    rank = fmt::format("{}/{}", rank, step.slowest);  // one of several on this host
  }
  TextTable::Row row{"  step " + std::to_string(number),
                     step.ended() ? to_string(step.time()) : "open",
                     step.ended() && times.steps > 1 ? longer(step.time(), times.p50) : "-",
                     step.lost ? std::to_string(*step.lost) : "-"};
  if (!narrow) {
    row.push_back(step.ended() ? percent(step.exposed, step.time()) : "-");
    row.push_back(cut_to(rank, kName));
  }
  row.push_back(cut_to(faults.empty() ? "-" : faults, kName));
  return row;
}

void steps_part(const JobResult& job, const JobTimes& times, TextTable& table) {
  const bool narrow = table.width() < kNarrow;
  std::vector<TextTable::Row> rows{{"  slowest", "took", "over median", "lost"}};
  std::vector<bool> right{false, true, true, true};
  if (!narrow) {
    rows[0].insert(rows[0].end(), {"exposed", "rank"});
    right.push_back(true);
  }
  rows[0].emplace_back("faults");
  right.resize(rows[0].size(), false);
  for (const size_t number : steps_shown(job, times.first)) {
    rows.push_back(row_of(job, number, times, narrow));
  }
  if (rows.size() == 1) return;
  const std::vector<size_t> widths = table.fit(rows);
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
}

void serve_part(const ServeResult& serve, TextTable& table) {
  for (const std::string& text : serve_lines(serve)) {
    for (const std::string& line : wrapped_lines(text, table.width() - kIndent, kIndent)) {
      table.line(std::string(kIndent, ' ') + line);
    }
  }
}

}  // namespace

void add_job(const JobResult& job, TextTable& table) {
  const std::vector<std::string> head =
      wrapped_lines((job.serve ? "service " : "job ") + headline(job), table.width(), kIndent);
  for (size_t i = 0; i < std::min(head.size(), kHeadlineLines); ++i) {
    const bool cut = i + 1 == kHeadlineLines && head.size() > kHeadlineLines;
    table.line(cut ? cut_to(head[i] + " " + head[i + 1], table.width()) : head[i]);
  }
  if (job.serve) return serve_part(*job.serve, table);
  for (const JobTurn& turn : job.turns) wrapped(turn_text(job, turn), table);
  for (size_t i = 0; i < std::min(job.notes.size(), kNotesShown); ++i) {
    wrapped("note: " + job.notes[i], table);
  }
  const JobTimes times = times_of(job);
  if (times.steps > 0) {
    one_line(times_line(times), table);
    one_line("computing " + percent(times.compute, times.mean) + ", exposed " +
                 percent(times.exposed, times.mean) + exposed_by(job, times) + ", bubble " +
                 percent(times.bubble, times.mean),
             table);
  }
  if (const std::string text = roofline_line(job, times); !text.empty()) one_line(text, table);
  if (!job.path.empty()) one_line(path_line(job), table);
  steps_part(job, times, table);
}

}  // namespace mrclab::analysis
