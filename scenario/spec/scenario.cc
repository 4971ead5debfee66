#include "scenario/spec/scenario.h"

#include <algorithm>

#include "endpoint/workload/workload_entry.h"
#include "fabric/probes/denylist_fit.h"
#include "fabric/probes/probe_route.h"
#include "fabric/text/mistakes.h"
#include "fabric/text/yaml_compose.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/keys/fabric_keys.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "fabric/topology/pattern.h"
#include "scenario/spec/expectation_check.h"
#include "scenario/spec/fat_twin.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/scenario_document.h"
#include "scenario/spec/scenario_keys.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

/// The pace of a run whose switches were exchanged (ScenarioOverrides::forwarding) for the kernel's or for
/// those of Open vSwitch: two cores forward a fully loaded octet with time to spare. The userspace datapath
/// takes up to half a millisecond for a lone packet over three bridges. Our choice.
constexpr uint32_t kKernelDilation = 40'000, kOvsDilation = 100'000;

/// What a command line leaves out besides.
void leave_out_more(const std::vector<std::string>& without, Scenario& out) {
  for (const std::string& name : without) {
    const YamlValue value = read_yaml_text("[" + in_quotes(name) + "]", "--without");
    const std::string known = parse_mechanisms(value).front();
    if (std::find(out.without.begin(), out.without.end(), known) == out.without.end()) {
      out.without.push_back(known);
    }
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
  const auto like = value.is_map() ? value.get("like") : std::nullopt;
  if (value.is_map() && !like) return parse_fabric(value, most);
  const YamlValue name = like.value_or(value);
  if (!name.is_scalar()) name.fail_expecting("the name or the path of a fabric");
  std::filesystem::path path;
  try {
    path = find_fabric(name.as_string(), folder_of(name, document, base));
  } catch (const NameError& error) {
    name.fail(error.found(), error.expected());
  }
  const YamlValue file = read_fabric_file(name, path);
  return parse_fabric(like ? laid_over(file, without_key(value, "like")) : file, most);
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

/// How time passes: what is foreign to the lab's time needs the wall clock and a fixed pace.
void settle_timing(const YamlValue& document, const ScenarioOverrides& overrides, Scenario& out) {
  const bool carried = out.topology.carries_time();
  const auto timing = document.get("timing");
  const bool exchanged = overrides.forwarding && !carried;
  if (exchanged || (!timing && !carried)) out.timing = TimingMode::kWall;
  if (!carried && (out.timing != TimingMode::kWall || out.programs_held)) {
    timing->fail_expecting(
        "wall: in this fabric others than our switches forward, and they carry no time");
  }
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

/// Whether its probes fit the fabric shows only when both are known.
void check_mapper(const YamlValue& document, const Topology& topology) {
  const auto misfit = mapper_misfit(topology);
  if (!misfit) return;
  const auto own = document.get("mapper");
  (own ? *own : document.require("fabric"))
      .fail(*misfit, "\"mapper: off\", a longer period or fewer kinds of probes");
}

void check_denylist(const YamlValue& document, const Topology& topology) {
  const auto own = document.get("denylist");
  const YamlValue place = own ? *own : document.require("fabric");
  try {
    const auto misfit = denylist_misfit(topology);
    if (misfit) place.fail(*misfit, "\"denylist: off\", or \"mapper: {period: 10rtt}\" beside it");
  } catch (const NameError& error) {
    place.fail(error.found(), error.expected());
  }
}

/// `{jobs: 20ms}`: with the work, and then at the latest; with `found` as a run's folder keeps it.
void read_end(const YamlValue& value, Scenario& out, ScenarioReading& reading) {
  if (value.is_scalar() && value.as_string() == "jobs") {
    value.fail_expecting("\"{jobs: 20ms}\", with the longest that the run may take");
  }
  const bool endless = value.is_scalar() && value.as_string() == "never";
  const YamlValue longest = value.is_map() ? value.require("jobs") : value;
  const FabricTime asked = endless ? FabricTime::never() : longest.as_time();
  out.end = reading.end.value_or(asked);
  if (out.end == FabricTime::zero()) longest.fail_expecting("a duration above 0");
  out.ends_with_work = value.is_map() && out.end != FabricTime::never();
  const auto found = value.is_map() ? value.get("found") : std::nullopt;
  if (!found || reading.end) return;
  const FabricTime at = found->as_time();
  if (at == FabricTime::zero() || at > out.end) {
    found->fail_expecting("an instant after 0, of at most " + exact(out.end));
  }
  out.until = at;
  out.work_ended = true;
}

/// Refuses a run that is to end with work that never ends, or whose end nothing records (programs), or that is not the
/// same twice (this machine's clock).
void check_end(const YamlValue& document, const Scenario& scenario) {
  if (!scenario.ends_with_work) return;
  const YamlValue end = document.require("end");
  if (std::none_of(scenario.workload.begin(), scenario.workload.end(), endpoint::ends)) {
    end.fail("no work that ends by itself", "a job, or a time");
  }
  if (!scenario.programs.empty()) end.fail("\"jobs\" beside \"exec\"", "a time");
  if (scenario.timing == TimingMode::kWall) end.fail("\"jobs\" beside \"timing: wall\"", "a time");
}

/// `--until` at the scenario's end itself changes nothing.
void read_until(const std::string& text, Scenario& out) {
  const YamlValue value = read_yaml_text(text, "--until").with_rtt(out.topology.base_rtt);
  const FabricTime until = value.as_time();
  if (until == FabricTime::zero()) value.fail_expecting("an instant after 0");
  if (until > out.end) value.fail_expecting("at most the scenario's end at " + exact(out.end));
  if (until < out.end) out.until = until;
}

/// Values in place of the names of variables. A file that includes others has been composed (scenario_document.h).
YamlValue with_its_variables(const YamlValue& written) {
  if (!written.is_map()) return written;
  if (const auto include = written.get("include")) {
    include->fail("\"include\" where no file is read", "the keys of the included file themselves");
  }
  const auto vars = written.get("vars");
  if (vars) return with_variables(without_key(written, "vars"), *vars);
  refuse_variables(written);
  return written;
}

void check_seed(uint64_t seed) {
  if (seed <= kMaxSeed) return;
  throw InputError("found the seed " + std::to_string(seed) + ": expected at most 18 digits");
}

}  // namespace

ScenarioKeys::Row end_row() {
  using Form = ValueForm;
  const Form time = Form::of(Form::Kind::kTime);
  const Form with_work =
      Form::map({{"jobs", time, "the longest that it may take", Form::Key::kRequired},
                 {"found", time, "when it ended, in a run's folder; a new run looks again"}});
  const auto write = [](const Scenario& scenario) {
    if (scenario.end == FabricTime::never()) return std::string("never");
    if (!scenario.ends_with_work) return exact(scenario.end);
    const std::string found = scenario.work_ended ? ", found: " + exact(scenario.stop()) : "";
    return "{jobs: " + exact(scenario.end) + found + "}";
  };
  return {"end",
          Form::either({Form::word({"never"}), time, with_work}),
          "of the run; `{jobs: 20ms}`: when all jobs have ended, and all other work that ends by "
          "itself, at 20ms at the latest",
          read_end,
          write,
          {.need = Form::Key::kRequired, .read_pass = kEnd, .write_pass = 3}};
}

Scenario parse_scenario(const YamlValue& written, const std::filesystem::path& base,
                        const ScenarioOverrides& overrides) {
  const ScenarioKeys& keys = scenario_keys();
  std::vector<std::string_view> known;
  for (const ValueForm::Key& key : keys.form().keys) known.emplace_back(key.name);
  Mistakes mistakes;
  mistakes.go_on([&] { written.only_keys(known); });
  YamlValue document = written;
  if (!mistakes.go_on([&] { document = with_its_variables(written); })) mistakes.report();
  Scenario scenario;
  ScenarioReading reading{base, overrides.end, !overrides.forwarding, std::nullopt};
  mistakes.go_on([&] { keys.read_pass(kBeforeFabric, document, scenario, reading); });
  leave_out_more(overrides.without, scenario);
  const bool is_built = mistakes.go_on([&] {
    scenario.fabric = read_fabric(document, base, overrides);
    if (overrides.forwarding) exchange_switches(*overrides.forwarding, document, scenario.fabric);
    leave_out(scenario.without, scenario.fabric);
    scenario.topology = build_topology(scenario.fabric);
    check_lookahead(scenario.topology);
    check_mechanisms(document, scenario);
  });
  if (!is_built) {  // no name means anything, and no RTT is known
    mistakes.go_on([&] {
      check_form(document.with_rtt(FabricTime::from_us(10)), keys.form(), FormDepth::kWhole);
    });
    mistakes.report();
  }

  const YamlValue file = document.with_rtt(scenario.topology.base_rtt);
  mistakes.go_on([&] { check_form(file, keys.form()); });
  if (overrides.seed) check_seed(*overrides.seed);
  const bool is_set = mistakes.go_on([&] {
    keys.read_pass(kHowItRuns, file, scenario, reading);
    leave_out(scenario.without, scenario.fabric);
    scenario.topology.denylist = scenario.fabric.denylist;
    check_mapper(file, scenario.topology);
    check_denylist(file, scenario.topology);
    if (overrides.seed) scenario.seed = *overrides.seed;
    leave_out(scenario.without, scenario.transport, scenario.topology);
    settle_timing(file, overrides, scenario);
  });
  mistakes.go_on([&] { keys.read_pass(kEnd, file, scenario, reading); });
  const bool has_end = scenario.end > FabricTime::zero();
  if (!has_end) scenario.end = FabricTime::never();
  if (overrides.until && has_end) read_until(*overrides.until, scenario);
  if (overrides.captures) scenario.captures = *overrides.captures;
  if (overrides.taps) scenario.taps = *overrides.taps;
  if (overrides.payload_elided) scenario.payload_elided = *overrides.payload_elided;
  reading.names.emplace(scenario.topology, scenario.seed);
  reading.is_doubtful = !is_set || !has_end;
  mistakes.go_on([&] { keys.read_pass(kWhatHappens, file, scenario, reading); });
  mistakes.report();
  check_end(file, scenario);
  if (!reading.on_fat_twin) return scenario;
  Scenario fat = fat_twin(scenario);
  leave_out_impossible(fat);
  return fat;
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
  for (size_t i = 0; i < entries.size(); ++i) check_workload(entries[i], workload[i], scenario);
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
  return parse_scenario(read_scenario_document(path, overrides.sets), path.parent_path(),
                        overrides);
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
    const auto value = read_yaml_file(entry.path()).get("id");
    const std::vector<std::string> ids = value ? read_ids(*value) : std::vector<std::string>();
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
