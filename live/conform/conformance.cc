#include "live/conform/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "console/terminal.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "live/conform/forwarding_probe.h"
#include "live/conform/probe_frames.h"

namespace mrclab::lab {
namespace {

std::string seen_text(const Topology& topology, const ProbeSighting& seen) {
  return fmt::format("{} {} hop limit {}{}", topology.port_name(seen.at),
                     to_string(seen.destination), seen.hop_limit,
                     seen.same_behind ? "" : " changed behind");
}

/// Empty if the frame went as computed.
std::string path_difference(const Topology& topology, const PathProbe& probe,
                            const ProbeOutcome& outcome) {
  for (size_t i = 0; i < probe.expected.size(); ++i) {
    const PathProbe::Hop& hop = probe.expected[i];
    const ProbeSighting expected{topology.port(hop.exit).peer, hop.destination, hop.hop_limit};
    const bool there = i < outcome.seen.size() && !outcome.strayed;
    if (there && seen_text(topology, outcome.seen[i]) == seen_text(topology, expected)) continue;
    return fmt::format("{}: expected {}, found {}", probe.frame.name, seen_text(topology, expected),
                       i < outcome.seen.size() ? seen_text(topology, outcome.seen[i]) : "nothing");
  }
  if (outcome.seen.size() == probe.expected.size()) return "";
  return probe.frame.name + ": seen at more ports than those of its path";
}

ForwarderReport::Wrong wrong_result(const WrongProbe& probe, const ProbeOutcome& outcome,
                                    Forwarding by) {
  ForwarderReport::Wrong result;
  result.hop_limit = Reach{}.hop_limit;
  if (outcome.seen.size() > 1) {
    result.switches = static_cast<uint32_t>(outcome.seen.size() - 1);
    result.hop_limit = outcome.seen.back().hop_limit;
  }
  result.changed = std::any_of(outcome.seen.begin(), outcome.seen.end(),
                               [](const ProbeSighting& seen) { return !seen.same_behind; });
  const Reach known = probe.known[static_cast<size_t>(by)];
  result.as_known = !outcome.seen.empty() && !outcome.strayed &&
                    Reach{result.switches, result.hop_limit} == known &&
                    result.changed == (probe.rewritten_by == by);
  return result;
}

/// Good frames on the same paths as a wrong one, to see when the fabric has processed it.
std::vector<PathProbe> beside(const std::vector<PathProbe>& paths, const ProbeFrame& wrong) {
  constexpr size_t kSwitchesAndNic = 4;
  std::vector<PathProbe> good;
  for (const PathProbe& probe : paths) {
    if (probe.frame.source != wrong.source || probe.expected.size() != kSwitchesAndNic) continue;
    if (!good.empty() && good.front().destination != probe.destination) continue;
    good.push_back(probe);
  }
  return good;
}

template <class Probe>
std::vector<const ProbeFrame*> frames_of(const std::vector<Probe>& probes) {
  std::vector<const ProbeFrame*> frames;
  for (const Probe& probe : probes) frames.push_back(&probe.frame);
  return frames;
}

ForwarderReport check_forwarder(const Topology& topology, const FabricShape& shape, Forwarding by,
                                const std::vector<PathProbe>& paths,
                                const std::vector<WrongProbe>& wrong,
                                const ConformanceOptions& options) {
  ForwardingProbe probe(topology, shape, options.lab + "_" + std::string(name_of(by)), {},
                        [&options, by] { options.waiting(by); });
  ForwarderReport report;
  report.forwarder = by;
  report.paths = paths.size();
  const auto outcomes = probe.send(frames_of(paths), options.patience);
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string difference = path_difference(topology, paths[i], outcomes[i]);
    if (difference.empty()) {
      ++report.as_computed;
    } else if (report.differences.size() < ForwarderReport::kMaxDifferences) {
      report.differences.push_back(std::move(difference));
    }
  }
  if (wrong.empty()) return report;
  const auto good = beside(paths, wrong.front().frame);
  const auto ends = probe.send_wrong(frames_of(wrong), good, options.patience);
  for (size_t i = 0; i < wrong.size(); ++i) {
    report.wrong.push_back(wrong_result(wrong[i], ends[i], by));
  }
  return report;
}

std::string wrong_cell(const ForwarderReport::Wrong& wrong) {
  std::string text = wrong.switches == 0 ? "dropped" : fmt::format("{}", wrong.switches);
  if (wrong.switches > 0) text += fmt::format(", {}", wrong.hop_limit);
  if (wrong.changed) text += " *";
  return wrong.as_known ? text : "! " + text;
}

/// Broken between words, every line after the first `indent` columns further in.
std::string folded(const std::string& text, size_t indent) {
  std::string out, line;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() + indent > kTerminalColumns) {
      out += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out + line + "\n";
}

}  // namespace

bool ConformanceReport::passed() const {
  return std::all_of(forwarders.begin(), forwarders.end(), [](const ForwarderReport& f) {
    return f.as_computed == f.paths &&
           std::all_of(f.wrong.begin(), f.wrong.end(), [](const auto& w) { return w.as_known; });
  });
}

ConformanceReport check_conformance(FabricShape shape, const ConformanceOptions& options) {
  ConformanceReport report;
  report.fabric = shape.name;
  shape.wires = WireMode::kVeth;
  for (const Forwarding by : options.forwarders) {
    shape.forwarding = by;
    const Topology topology = build_topology(shape);
    const std::vector<PathProbe> paths = path_probes(topology);
    std::vector<WrongProbe> wrong;
    // Wrong carriers are made for the form that ends at the NIC and names nodes.
    if (topology.decap == Decap::kNic && topology.segments == Segments::kNode) {
      wrong = wrong_probes(topology, static_cast<uint32_t>(paths.size()) + 1);
    }
    if (report.wrong_names.empty()) {
      for (const WrongProbe& probe : wrong) {
        report.wrong_names.push_back(probe.frame.name);
        report.wrong_reasons.push_back(probe.why);
      }
    }
    report.forwarders.push_back(check_forwarder(topology, shape, by, paths, wrong, options));
  }
  return report;
}

nlohmann::ordered_json to_json(const ConformanceReport& report) {
  nlohmann::ordered_json json{{"fabric", report.fabric},
                              {"result", report.passed() ? "pass" : "fail"},
                              {"forwarders", nlohmann::ordered_json::array()}};
  for (const ForwarderReport& f : report.forwarders) {
    nlohmann::ordered_json wrong = nlohmann::ordered_json::array();
    for (size_t i = 0; i < f.wrong.size(); ++i) {
      wrong.push_back({{"frame", report.wrong_names[i]},
                       {"switches", f.wrong[i].switches},
                       {"hop_limit", f.wrong[i].hop_limit},
                       {"rewritten", f.wrong[i].changed},
                       {"as_known", f.wrong[i].as_known},
                       {"why", report.wrong_reasons[i]}});
    }
    json["forwarders"].push_back({{"forwarding", name_of(f.forwarder)},
                                  {"paths", f.paths},
                                  {"as_computed", f.as_computed},
                                  {"differences", f.differences},
                                  {"wrong_frames", std::move(wrong)}});
  }
  return json;
}

std::string conformance_text(const ConformanceReport& report) {
  std::vector<std::string> heading{"PATHS, hop by hop"}, equal{"as computed"};
  for (const ForwarderReport& f : report.forwarders) {
    heading.emplace_back(name_of(f.forwarder));
    equal.push_back(fmt::format("{} of {}", f.as_computed, f.paths));
  }
  std::string text =
      fmt::format("conformance on {}: {}\n\n", report.fabric, report.passed() ? "PASS" : "FAIL");
  text += table({heading, equal});
  for (const ForwarderReport& f : report.forwarders) {
    for (const std::string& difference : f.differences) {
      text += folded(fmt::format("  {} {}", name_of(f.forwarder), difference), 4);
    }
  }
  if (report.wrong_names.empty()) return text;
  heading.front() = "WRONG FRAMES";
  std::vector<std::vector<std::string>> rows{heading};
  std::string notes;
  int note = 0;
  for (size_t i = 0; i < report.wrong_names.size(); ++i) {
    std::string name = report.wrong_names[i];
    if (!report.wrong_reasons[i].empty()) {
      name += fmt::format(" [{}]", ++note);
      notes += folded(fmt::format("[{}] {}", note, report.wrong_reasons[i]), 4);
    }
    rows.push_back({name});
    for (const ForwarderReport& f : report.forwarders)
      rows.back().push_back(wrong_cell(f.wrong[i]));
  }
  return text + "\n" + table(rows) +
         "\nswitches crossed, and the hop limit then; * is rewritten behind the outer\nheader, ! "
         "is not as known\n" +
         (notes.empty() ? "" : "\n") + notes;
}

}  // namespace mrclab::lab
