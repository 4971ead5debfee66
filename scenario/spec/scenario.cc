#include "scenario/spec/scenario.h"

#include <algorithm>

#include "analysis/expect/expectation.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fabric_form.h"
#include "fabric/topology/forwarding_file.h"
#include "faults/schedule.h"
#include "scenario/spec/dilation.h"
#include "scenario/spec/expectation_list.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/planned_traffic.h"
#include "scenario/spec/scenario_form.h"
#include "scenario/spec/shipped_files.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

/// The pace of a run whose switches were exchanged (ScenarioOverrides::forwarding) for the kernel's or for
/// those of Open vSwitch: two cores forward a fully loaded octet with time to spare. The userspace datapath
/// takes up to half a millisecond for a lone packet over three bridges. Our choice.
constexpr uint32_t kKernelDilation = 40'000, kOvsDilation = 100'000;

/// No shipped file has a name in capital letters.
bool is_like_an_id(std::string_view text) {
  constexpr std::string_view kCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  return !text.empty() && text.size() <= 8 &&
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

/// One id or a list of them.
std::vector<std::string> read_ids(const YamlValue& document) {
  std::vector<std::string> ids;
  const auto value = document.get("id");
  if (!value) return ids;
  for (const YamlValue& item : value->is_list() ? value->items() : std::vector{*value}) {
    const std::string id = item.is_scalar() ? item.as_string() : "";
    if (!is_like_an_id(id)) item.fail_expecting("an id such as L5 or P-2");
    ids.push_back(id);
  }
  return ids;
}

void read_mechanisms(const YamlValue& document, const ScenarioOverrides& overrides, Scenario& out) {
  if (const auto list = document.get("without")) out.without = parse_mechanisms(*list);
  for (const std::string& name : overrides.without) {
    const YamlValue value = read_yaml_text("[" + in_quotes(name) + "]", "--without");
    const std::string known = parse_mechanisms(value).front();
    if (std::find(out.without.begin(), out.without.end(), known) == out.without.end()) {
      out.without.push_back(known);
    }
  }
  if (const auto list = document.get("fails_without")) {
    out.fails_without = parse_mechanisms(*list);
  }
}

/// The file that `name` means. Of one that is no fabric nothing is shown: a scenario may come from somebody who
/// cannot read that file, and the error may go back there.
YamlValue read_fabric_file(const YamlValue& name, const std::filesystem::path& path) {
  YamlValue file = read_yaml_file(path);
  const std::vector<ValueForm::Key>& keys = fabric_form().keys;
  const bool known = file.is_map() && std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
                       return file.get(key.name).has_value();
                     });
  if (!known) name.fail(in_quotes(name.as_string()) + ", a file that is no fabric", "one that is");
  return file;
}

FabricShape read_fabric(const YamlValue& document, const std::filesystem::path& base,
                        const ScenarioOverrides& overrides) {
  const uint64_t most = overrides.max_nodes;
  if (overrides.fabric) return parse_fabric(read_yaml_file(find_fabric(*overrides.fabric)), most);
  const YamlValue value = document.require("fabric");
  if (value.is_map()) return parse_fabric(value, most);
  if (!value.is_scalar()) value.fail_expecting("the name or the path of a fabric");
  std::filesystem::path path;
  try {
    path = find_fabric(value.as_string(), base);
  } catch (const NameError& error) {
    value.fail(error.found(), error.expected());
  }
  return parse_fabric(read_fabric_file(value, path), most);
}

/// Sets the forwarder of all switches, and leaves out what it cannot do.
void exchange_switches(Forwarding by, const YamlValue& document, FabricShape& fabric) {
  fabric.forwarding = by;
  if (by == Forwarding::kSwitchd) return;
  fabric.wires = WireMode::kVeth;
  if (!marks_and_trims(by)) fabric.queues.ecn = fabric.queues.trim = false;
  if (const auto misfit = forwarding_misfit(fabric)) {
    document.require("fabric").fail(misfit->found, misfit->expected);
  }
}

std::optional<uint32_t> read_dilation(const YamlValue& value) {
  if (value.is_scalar() && value.as_string() == "auto") return std::nullopt;
  const bool number =
      value.is_scalar() && value.as_string().find_first_not_of("0123456789") == std::string::npos;
  if (!number) value.fail_expecting("auto, or lab seconds per fabric second such as 5000");
  return static_cast<uint32_t>(value.as_integer(1, kMaxDilation));
}

/// How time passes: what is foreign to the lab's time needs the wall clock and a fixed pace.
void read_timing(const YamlValue& document, const ScenarioOverrides& overrides, Scenario& out) {
  const bool carried = out.topology.carries_time();
  const auto timing = document.get("timing");
  if (timing) {
    out.timing = static_cast<TimingMode>(read_word(*timing, scenario_form().at("timing")));
  } else if (!carried) {
    out.timing = TimingMode::kWall;
  }
  const bool exchanged = overrides.forwarding && !carried;
  if (exchanged) out.timing = TimingMode::kWall;
  if (!carried && out.timing != TimingMode::kWall) {
    timing->fail_expecting(
        "wall: in this fabric others than our switches forward, and they carry no time");
  }
  if (const auto dilation = document.get("dilation")) out.dilation = read_dilation(*dilation);
  if (overrides.dilation) out.dilation = overrides.dilation;
  if (exchanged && !out.dilation) {
    out.dilation = overrides.forwarding == Forwarding::kOvs ? kOvsDilation : kKernelDilation;
  }
  if (out.timing == TimingMode::kWall && !out.dilation) {
    (timing ? *timing : document.require("fabric"))
        .fail("timing by the wall clock without a number for \"dilation\"",
              "\"dilation: 5000\" or another number");
  }
}

/// What an incident shows with the help of ECN or trimming, the kernel and Open vSwitch cannot show.
void check_mechanisms(const YamlValue& document, const Scenario& scenario) {
  if (scenario.topology.marks_and_trims()) return;
  for (const std::string name : {"ecn", "trim"}) {
    const auto& needed = scenario.fails_without;
    if (std::find(needed.begin(), needed.end(), name) == needed.end()) continue;
    document.require("fails_without")
        .fail("a scenario that needs " + name +
                  ", in a fabric where the kernel and Open vSwitch forward",
              "\"forwarding: switchd\" or bpf: those neither mark nor trim");
  }
}

/// `--until` at the scenario's end itself changes nothing.
void read_until(const std::string& text, Scenario& out) {
  const YamlValue value = read_yaml_text(text, "--until").with_rtt(out.topology.base_rtt);
  const FabricTime until = value.as_time();
  if (until == FabricTime::zero()) value.fail_expecting("an instant after 0");
  if (until > out.end) value.fail_expecting("at most the scenario's end at " + exact(out.end));
  if (until < out.end) out.until = until;
}

void read_faults(const YamlValue& document, NameResolver& names, Scenario& out) {
  const auto list = document.get("faults");
  if (!list) return;
  out.faults = faults::parse_faults(*list, names, out.end);
  out.schedule = faults::compile(out.faults, out.topology);
}

void read_exec(const YamlValue& entry, const YamlValue& body, NameResolver& names,
               const std::filesystem::path& base, Scenario& out) {
  if (out.timing != TimingMode::kWall) {
    entry.fail("exec, beside timing that packets carry",
               "\"timing: wall\" and a \"dilation: 2000\": programs live in this machine's time");
  }
  for (ExecSpec& spec : parse_exec(body, names, base)) {
    if (spec.at >= out.end) {
      body.require("at").fail_expecting("an instant before the end at " + exact(out.end));
    }
    out.programs.push_back(std::move(spec));
  }
  if (out.programs.size() > kMaxExecPrograms) {
    entry.fail("more programs", "at most " + std::to_string(kMaxExecPrograms));
  }
}

/// Packets without a carrier need switches with routes to hosts, which those of regular planes have.
void check_routing(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                   const Topology& topology) {
  const auto asked = endpoint::routing_of(spec);
  if (!asked || asked == Routing::kSrv6) return;
  const YamlValue routing = entry.members().front().second.require("routing");
  const bool fare = topology.routing.is_fare();
  if (fare != (asked == Routing::kFare)) {
    routing.fail_expecting(
        fare ? "fare or srv6: switches of this fabric route by themselves"
             : "ecmp or srv6: only in a fabric with \"routing: fare\" do switches "
               "route by themselves");
  }
  if (!topology.regular() && !fare)
    routing.fail_expecting("srv6: only switches of regular planes hash");
  if (fare || !has_carrier_routes_alone(topology)) return;
  routing.fail("ecmp in a fabric with switches of the kernel",
               "srv6: those switches get routes for carriers only");
}

void read_workload(const YamlValue& document, NameResolver& names,
                   const std::filesystem::path& base, Scenario& out) {
  const YamlValue list = document.require("workload");
  for (const YamlValue& entry : list.items()) {
    if (const auto body = only_member(entry, "exec")) {
      read_exec(entry, *body, names, base, out);
    } else if (out.workload.size() < endpoint::kMaxWorkloads) {
      out.workload.push_back(endpoint::parse_workload(entry, names));
      check_routing(entry, out.workload.back(), out.topology);
      require_possible_work(entry, out.workload.back(), out.topology, out.end);
    } else {
      entry.fail("more workloads", "at most " + std::to_string(endpoint::kMaxWorkloads));
    }
  }
  if (list.items().empty()) list.fail("an empty list", "at least one workload");
}

}  // namespace

Scenario parse_scenario(const YamlValue& document, const std::filesystem::path& base,
                        const ScenarioOverrides& overrides) {
  const ValueForm& form = scenario_form();
  std::vector<std::string_view> known;
  for (const ValueForm::Key& key : form.keys) known.emplace_back(key.name);
  document.only_keys(known);
  Scenario scenario;
  scenario.name = document.require("name").as_name();
  if (const auto about = document.get("about")) scenario.about = about->as_string();
  scenario.ids = read_ids(document);
  read_mechanisms(document, overrides, scenario);
  scenario.fabric = read_fabric(document, base, overrides);
  if (overrides.forwarding) exchange_switches(*overrides.forwarding, document, scenario.fabric);
  leave_out(scenario.without, scenario.fabric);
  scenario.topology = build_topology(scenario.fabric);
  check_lookahead(scenario.topology);
  check_mechanisms(document, scenario);

  const YamlValue file = document.with_rtt(scenario.topology.base_rtt);
  check_form(file, form);
  if (const auto seed = file.get("seed")) {
    scenario.seed = static_cast<uint64_t>(read_integer(*seed, form.at("seed")));
  }
  if (overrides.seed) scenario.seed = *overrides.seed;
  if (scenario.seed > kMaxSeed) {
    throw InputError("found the seed " + std::to_string(scenario.seed) +
                     ": expected at most 18 digits");
  }
  if (const auto transport = file.get("transport")) {
    scenario.transport = endpoint::parse_transport(*transport, scenario.topology);
  }
  leave_out(scenario.without, scenario.transport, scenario.topology);
  read_timing(file, overrides, scenario);
  const YamlValue end = file.require("end");
  const bool endless = end.is_scalar() && end.as_string() == "never";
  scenario.end = overrides.end ? *overrides.end : endless ? FabricTime::never() : end.as_time();
  if (scenario.end == FabricTime::zero()) end.fail_expecting("a duration above 0");
  if (overrides.until) read_until(*overrides.until, scenario);
  if (const auto captures = file.get("captures")) {
    scenario.captures = static_cast<CaptureScope>(read_word(*captures, form.at("captures")));
  }
  if (overrides.captures) scenario.captures = *overrides.captures;
  if (const auto taps = file.get("taps")) {
    scenario.taps = static_cast<CaptureScope>(read_word(*taps, form.at("taps")));
  }
  if (overrides.taps) scenario.taps = *overrides.taps;

  if (const auto payload = file.get("payload")) {
    scenario.payload_elided = read_word(*payload, form.at("payload")) == 1;
  }
  if (overrides.payload_elided) scenario.payload_elided = *overrides.payload_elided;

  NameResolver names(scenario.topology, scenario.seed);
  read_workload(file, names, base, scenario);
  fit_fabric_to_transport(scenario);
  read_faults(file, names, scenario);
  if (const auto list = file.get("expect")) {
    scenario.expect = read_expectations(*list, scenario);
    scenario.check_programs = read_check_programs(*list, base);
  }
  // Switches in place of those that the file was written for may not carry other transports.
  const auto contrast = file.get("contrast");
  if (contrast && !overrides.forwarding) scenario.contrasts = parse_contrasts(*contrast, scenario);
  return scenario;
}

void set_workload(Scenario& scenario, const std::string& text) {
  YamlValue list = read_yaml_text(text, "--workload");
  if (list.is_map()) {
    std::string item = "- ";
    for (const char c : text) item += c == '\n' ? "\n  " : std::string(1, c);
    list = read_yaml_text(item, "--workload");
  }
  NameResolver names(scenario.topology, scenario.seed);
  auto workload = endpoint::parse_workloads(list.with_rtt(scenario.topology.base_rtt), names);
  if (workload.empty()) list.fail("an empty list", "at least one workload");
  const std::vector<YamlValue> entries = list.items();
  for (size_t i = 0; i < entries.size(); ++i) {
    check_routing(entries[i], workload[i], scenario.topology);
    require_possible_work(entries[i], workload[i], scenario.topology, scenario.end);
  }
  scenario.workload = std::move(workload);
}

Scenario workload_scenario(const std::filesystem::path& fabric_file, const std::string& workload) {
  Scenario scenario;
  scenario.name = "by-hand";
  scenario.fabric = parse_fabric(read_yaml_file(fabric_file));
  scenario.topology = build_topology(scenario.fabric);
  check_lookahead(scenario.topology);
  scenario.end = FabricTime::never();
  set_workload(scenario, workload);
  return scenario;
}

Scenario read_scenario_file(const std::filesystem::path& path, const ScenarioOverrides& overrides) {
  return parse_scenario(read_yaml_file(path), path.parent_path(), overrides);
}

Scenario read_run_scenario(const std::filesystem::path& folder) {
  ScenarioOverrides overrides;
  overrides.max_nodes = kMaxSimulatedNodes;
  return read_scenario_file(folder / "scenario.yaml", overrides);
}

std::filesystem::path find_scenario(std::string_view name_or_path) {
  if (!is_like_an_id(name_or_path)) return find_incident(name_or_path);
  for (const auto& entry :
       std::filesystem::directory_iterator(data_directory() / "topologies" / "incidents")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::vector<std::string> ids = read_ids(read_yaml_file(entry.path()));
    if (std::find(ids.begin(), ids.end(), name_or_path) != ids.end()) return entry.path();
  }
  return find_incident(name_or_path);
}

std::filesystem::path find_fabric_or_scenario(const std::string& name_or_path) {
  const std::string& word = name_or_path;
  if (word.find('/') != std::string::npos || word.ends_with(".yaml")) {
    if (std::filesystem::exists(word)) return word;
    throw NameError(in_quotes(word) + ", and no such file", "the path of a fabric or a scenario");
  }
  const std::vector<std::string> fabrics = shipped_names("fabrics");
  if (std::find(fabrics.begin(), fabrics.end(), word) != fabrics.end()) return find_fabric(word);
  try {
    return find_scenario(word);
  } catch (const NameError&) {
    std::vector<std::string> known = shipped_names("incidents");
    known.insert(known.end(), fabrics.begin(), fabrics.end());
    throw NameError(in_quotes(word) + ", which names no fabric and no incident",
                    one_of(word, known) + " or the path of a file");
  }
}

Scenario load_scenario(std::string_view name_or_path, const ScenarioOverrides& overrides) {
  return read_scenario_file(find_scenario(name_or_path), overrides);
}

}  // namespace mrclab::lab
