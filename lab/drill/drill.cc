#include "lab/drill/drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"
#include "lab/drill/prom_tool.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/scratch_folder.h"
#include "scenario/judging/run_inputs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// What a fault, or an alert's labels, are about.
struct Parts {
  std::set<NodeId> nodes;
  std::set<PortRef> ports;
  bool none() const { return nodes.empty() && ports.empty(); }
};

/// The parts that an effect spoils.
class EffectParts {
 public:
  EffectParts(const Topology& topology, Parts& parts) : topology_(topology), parts_(parts) {}

  template <class E>
  void operator()(const E& effect) const {
    if constexpr (requires { effect.wire; }) {
      const Wire& wire = topology_.wire(effect.wire);
      parts_.ports.insert({wire.from, wire.to});
    } else if constexpr (requires { effect.port.node; }) {
      parts_.ports.insert(effect.port);
    } else if constexpr (requires { effect.node; }) {
      parts_.nodes.insert(effect.node);
    } else if constexpr (requires { effect.host; }) {
      parts_.nodes.insert(effect.host);
    }
    if constexpr (requires { effect.toward; }) {
      if (effect.toward.value < topology_.nodes.size()) parts_.nodes.insert(effect.toward);
    }
  }

 private:
  const Topology& topology_;
  Parts& parts_;
};

/// A port's number as node_exporter has it, from 1 on, or our name.
std::optional<PortId> port_named(const NodeSite& site, const std::string& word) {
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    if (site.ports[i].name() == word) return PortId{i};
  }
  uint32_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == word.data() + word.size();
  if (whole && number >= 1 && number <= site.ports.size()) return PortId{number - 1};
  constexpr std::string_view kSonic = "Ethernet";
  constexpr uint32_t kLanes = 4;
  if (!word.starts_with(kSonic)) return std::nullopt;
  const char* at = word.data() + kSonic.size();
  const auto lane = std::from_chars(at, word.data() + word.size(), number);
  if (lane.ec != std::errc() || number / kLanes >= site.ports.size()) return std::nullopt;
  return PortId{number / kLanes};
}

Parts parts_of(const Topology& topology, const AlertLabels& labels) {
  Parts parts;
  std::optional<NodeId> node;
  for (const auto& [name, value] : labels) {
    if (name == "alertname") continue;
    if (const auto port = topology.find_port(value)) parts.ports.insert(*port);
    if (!node) node = topology.find_node(value.substr(0, value.find(':')));
  }
  if (!node || !parts.ports.empty()) return parts;
  for (const char* name : {"port", "object_name"}) {
    const auto label = labels.find(name);
    if (label == labels.end()) continue;
    if (const auto port = port_named(topology.node(*node), label->second)) {
      parts.ports.insert({*node, *port});
      return parts;
    }
  }
  parts.nodes.insert(*node);
  return parts;
}

/// Does one of the two name a part that the other has, too? A node has its ports, and a port is of its node.
bool share_a_part(const Parts& fault, const Parts& alert) {
  for (const PortRef port : alert.ports) {
    if (fault.ports.contains(port) || fault.nodes.contains(port.node)) return true;
  }
  for (const NodeId node : alert.nodes) {
    if (fault.nodes.contains(node)) return true;
    for (const PortRef port : fault.ports) {
      if (port.node == node) return true;
    }
  }
  return false;
}

int64_t interval_ms(const DrillOptions& options) {
  constexpr int64_t kPsPerMs = 1'000'000'000;
  const auto ps = static_cast<__int128>(options.every.ps()) * options.stretch;
  if (ps < kPsPerMs || ps % kPsPerMs != 0 || ps / kPsPerMs > int64_t{86'400'000}) {
    throw InputError(fmt::format(
        "found a sample every {} stretched by {}, expected whole milliseconds of the site, up to a day",
        to_string(options.every), options.stretch));
  }
  return static_cast<int64_t>(ps / kPsPerMs);
}

/// The first lines of what promtool printed, as one.
std::string first_words(const std::string& text) {
  constexpr size_t kMost = 600;
  std::string words;
  for (size_t from = 0; from < text.size() && words.size() < kMost;) {
    const size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    from = end + 1;
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line == "FAILED:" || line.starts_with("Checking ")) continue;
    if (words.find(line) != std::string::npos) continue;
    words += (words.empty() ? "" : "; ") + line;
  }
  return visible(words.substr(0, kMost));
}

/// Holds the alerts against the faults.
void judge(Drill& drill, const Scenario& scenario, FabricTime every) {
  const std::vector<analysis::FaultSpan> spans = fault_spans_of(scenario);
  std::vector<Parts> parts(spans.size());
  for (const ScheduledEffect& effect : scenario.schedule) {
    if (effect.fault >= spans.size()) continue;
    std::visit(EffectParts(scenario.topology, parts[effect.fault]), effect.effect);
  }
  for (const analysis::FaultSpan& span : spans) {
    drill.faults.push_back({span.description, span.start, span.healed_at, {}});
  }
  for (size_t i = 0; i < drill.alerts.size(); ++i) {
    DrilledAlert& alert = drill.alerts[i];
    const Parts named = parts_of(scenario.topology, alert.span.labels);
    for (size_t f = 0; f < spans.size(); ++f) {
      const bool healed = spans[f].healed_at != FabricTime::never();
      const bool in_time =
          alert.fired >= spans[f].start &&
          (!healed || alert.fired <= spans[f].healed_at + drill.memory + every * 2);
      if (!in_time) continue;
      const bool names_it = named.none() || share_a_part(parts[f], named);
      if (alert.truth != AlertTruth::kFault) {
        alert.truth = names_it ? AlertTruth::kFault : AlertTruth::kElsewhere;
        alert.fault = f;
      }
      if (names_it) drill.faults[f].alerts.push_back(i);
    }
  }
}

}  // namespace

size_t Drill::unalarmed() const {
  return static_cast<size_t>(std::count_if(faults.begin(), faults.end(),
                                           [](const auto& fault) { return fault.alerts.empty(); }));
}
size_t Drill::false_alarms() const {
  return static_cast<size_t>(std::count_if(alerts.begin(), alerts.end(), [](const auto& alert) {
    return alert.truth == AlertTruth::kFalse;
  }));
}
size_t Drill::elsewhere() const {
  return static_cast<size_t>(std::count_if(alerts.begin(), alerts.end(), [](const auto& alert) {
    return alert.truth == AlertTruth::kElsewhere;
  }));
}
int Drill::exit_code() const {
  if (!faithful) return 3;
  return unalarmed() + false_alarms() > 0 ? 1 : 0;
}

Drill drill_rules(const RuleFile& rules, const RecordedRun& run, const DrillOptions& options) {
  const int64_t interval = interval_ms(options);
  const netio::ScratchFolder scratch("mrclab-drill-");
  const PromToolAnswer checked =
      run_prom_tool({"check", "rules", rules.path.string()}, scratch.path(), options.interrupted);
  if (checked.code != 0) {
    throw InputError(
        fmt::format("{}: promtool refuses it: {}", rules.path.string(), first_words(checked.text)));
  }
  const DrillData data = drill_series(run, options.every, rules.words);
  const fs::path test = scratch.path() / "test.yml";
  netio::write_file(test, drill_test(rules, data, interval));
  const PromToolAnswer answer =
      run_prom_tool({"test", "rules", test.string()}, scratch.path(), options.interrupted);
  const std::vector<AlertSpan> spans = alert_spans(answer.text, data.steps, interval);
  if (answer.code != 0 && spans.empty() && answer.text.find("got: ") == std::string::npos) {
    throw InputError("promtool: " + first_words(answer.text));
  }

  Drill drill;
  drill.run = run.folder.string();
  drill.rules = rules.path.string();
  drill.every = options.every;
  drill.stretch = options.stretch;
  drill.steps = data.steps;
  drill.series = data.series.size();
  drill.faithful = run.faithful;
  drill.unknown.assign(data.unknown.begin(), data.unknown.end());
  drill.memory = FabricTime::from_ps(
      static_cast<int64_t>(rules.memory_seconds / static_cast<double>(options.stretch) * 1e12));
  std::set<std::string> fired;
  for (const AlertSpan& span : spans) {
    DrilledAlert& alert = drill.alerts.emplace_back();
    alert.span = span;
    alert.fired = options.every * static_cast<int64_t>(span.from);
    alert.ended =
        span.open ? FabricTime::never() : options.every * static_cast<int64_t>(span.until);
    const auto name = span.labels.find("alertname");
    if (name != span.labels.end()) fired.insert(name->second);
  }
  for (const std::string& alert : rules.alerts) {
    if (!fired.contains(alert)) drill.silent_rules.push_back(alert);
  }
  judge(drill, recorded_scenario(run.folder), options.every);
  return drill;
}

}  // namespace mrclab::lab
