#pragma once
// Steady traffic for the tests of measurements and checks: every flow sends one packet per
// interval, turning through its paths, and a script sets which paths it avoids and which packets
// are lost.
//
//   4 hosts, 2 planes x (2 T0 + 2 T1):   h0 h1 -- T0 0 == T1 0, T1 1 == T0 1 -- h2 h3

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "analysis/judge/analyze.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/synthetic_run.h"
#include "tests/support/times.h"

namespace mrclab::test {

inline Topology quad() { return build_topology(shape_of("quad", 2, 2, 2, 2)); }

/// The link h2:p0 fails and heals, in stories without other events.
inline constexpr FabricTime kFault = us(400), kHeal = us(600);

inline bool over_h2_p0(const SyntheticRun::Sent& s) {
  return s.path.plane == 0 && (s.source == 2 || s.destination == 2);
}

struct ScriptedTraffic {
  using When = std::function<bool(const SyntheticRun::Sent&)>;
  FabricTime from = FabricTime::zero();
  FabricTime until = FabricTime::from_us(1000);
  FabricTime interval = FabricTime::from_ns(1000);
  /// (source, destination)
  std::vector<std::pair<uint32_t, uint32_t>> flows{{0, 2}, {1, 3}, {2, 0}, {3, 1}};
  When avoids = [](const SyntheticRun::Sent&) { return false; };  ///< takes another path instead
  When silent = [](const SyntheticRun::Sent&) { return false; };  ///< sends nothing
  When lost = [](const SyntheticRun::Sent&) { return false; };    ///< at the receiver's T0

  void write(SyntheticRun& run) const {
    const std::vector<Path> paths{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    for (const auto& [source, destination] : flows) {
      uint32_t psn = 1000 * source, turn = source;
      for (FabricTime t = from; t < until; t += interval) {
        SyntheticRun::Sent s;
        s.source = source;
        s.destination = destination;
        s.start = t;
        for (size_t tries = 0; tries < paths.size(); ++tries) {
          s.path = paths[turn++ % paths.size()];
          if (!avoids(s)) break;
        }
        s.psn = psn;
        if (silent(s)) continue;
        ++psn;
        if (lost(s)) {
          run.lost(s, "p" + std::to_string(s.path.plane) + ".t0-1:d0", "wire_down");
        } else {
          run.delivered(s);
        }
      }
    }
  }
};

/// A run as the runner would hand it over, with its captures in a scratch file.
class AnalyzedRun {
 public:
  explicit AnalyzedRun(const Topology& topology, const std::string& name)
      : run(topology),
        inputs{topology, {}, {}, {}, {}, {}, name, "live", "0.1.0", {}, 7, {}, {}, {}, {}, {}},
        file_(name + ".pcapng"),
        events_(name + ".sealed.jsonl") {
    for (const NodeSite& site : topology.nodes) seal.nodes.push_back(site.id);
    inputs.end = FabricTime::from_us(1000);
    inputs.timing.min_slack_ns = 640;
    inputs.timing.dilation_min = 4100;
    inputs.timing.dilation_mean = 5200;
    inputs.timing.dilation_max = 9000;
    for (uint32_t h = 0; h < topology.host_count(); ++h) {
      inputs.hosts.hosts.push_back({topology.node(topology.host(h)).name, 1, 0, 4096, 0, 0, {}});
    }
  }
  /// Both wires of a port's link are down.
  void add_link_fault(const char* port, FabricTime from, FabricTime until) {
    const Topology& topology = inputs.topology;
    const LinkId link = topology.port(*topology.find_port(port)).link;
    analysis::FaultSpan fault;
    fault.description = std::string("link_down ") + port;
    fault.kind = "link_down";
    fault.start = from;
    fault.healed_at = until;
    fault.impairments = analysis::impairments_of_links(topology, std::span{&link, 1}, from, until);
    inputs.faults.push_back(std::move(fault));
  }
  analysis::Analysis analyze() {
    run.writer().save_sealed(file_.path(), seal);
    inputs.captures = {file_.path()};
    analysis::RunInputs closed = inputs;
    closed.events = keeps_events ? sealed_events() : std::filesystem::path();
    return analysis::analyze(closed);
  }
  analysis::CheckResult check(analysis::Expectation expectation) {
    inputs.expectations = {std::move(expectation)};
    analysis::CheckResult check = analyze().verdict.checks.at(0);
    // For every kind of check, in every test in which one fails.
    if (check.result == analysis::Result::kFail && !check.where) {
      throw std::logic_error(check.name + " failed without a word about where to look");
    }
    return check;
  }

  SyntheticRun run;
  analysis::RunInputs inputs;
  bool keeps_events = true;
  EvidenceSeal seal;  ///< its capture and its events have it: all nodes, to the end

 private:
  /// The story's events (none, if it has none) as a writer leaves them that recorded all nodes.
  std::filesystem::path sealed_events() const {
    std::ostringstream text;
    if (!inputs.events.empty()) text << std::ifstream(inputs.events).rdbuf();
    text.clear();  // an empty file is no failure
    std::ofstream(events_.path()) << text.str()
                                  << seal_line(seal, FabricTime::zero(), checksum(0, text.str()))
                                  << '\n';
    return events_.path();
  }

  ScratchFile file_;
  ScratchFile events_;
};

/// A line of events.jsonl: the first queue pair of `host` reports it of its value for `path`.
inline void write_ev_state(const std::filesystem::path& file, FabricTime at, const char* state,
                           Path path, const char* host = "h0") {
  std::ofstream(file, std::ios::app) << nlohmann::json{{"t_ps", at.ps()},
                                                       {"node", host},
                                                       {"kind", "ev_state"},
                                                       {"qp", 1},
                                                       {"port", "p" + std::to_string(path.plane)},
                                                       {"ev", ev_of(path).value},
                                                       {"cause", state}}
                                     << "\n";
}

/// A run of that traffic, which is written when it is looked at for the first time.
struct TrafficStory {
  explicit TrafficStory(const char* name) : topology(quad()), run(topology, name) {}

  analysis::CheckResult check(analysis::Expectation expectation) {
    if (!written_) traffic.write(run.run);
    written_ = true;
    return run.check(std::move(expectation));
  }
  analysis::Result result(analysis::Expectation expectation) {
    return check(std::move(expectation)).result;
  }

  Topology topology;
  AnalyzedRun run;
  ScriptedTraffic traffic;

 private:
  bool written_ = false;
};

}  // namespace mrclab::test
