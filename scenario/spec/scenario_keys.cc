#include "scenario/spec/scenario_keys.h"

#include <algorithm>

#include "endpoint/options/transport_form.h"
#include "endpoint/plan/connection_plan.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/mapper/denylist_keys.h"
#include "fabric/mapper/mapper_keys.h"
#include "fabric/text/mistakes.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/keys/fabric_keys.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "fabric/topology/programs/program_table.h"
#include "faults/fault_form.h"
#include "faults/schedule.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/contrast_keys.h"
#include "scenario/spec/expectation_list.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/planned_traffic.h"
#include "scenario/spec/program_keys.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

using Form = ValueForm;
using Reading = ScenarioReading;
using S = Scenario;
using R = ScenarioKeys::Row;

const Form kText = Form::of(Form::Kind::kText);

// --- kinds of values -----------------------------------------------------------------------------

/// "[spray, trim]"
std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "[" : ", ") + yaml_word(name);
  return text.empty() ? "" : text + "]";
}

Form contrasts_form() { return Form::list(contrast_form(), 0, kMaxContrasts).elsewhere(); }

/// A fabric, or what is other than in another one.
Form changed_fabric_form() {
  Form form = fabric_form();
  for (Form::Key& key : form.keys) {
    if (key.need == Form::Key::kRequired) key.need = Form::Key::kOptional;
  }
  form.keys.insert(
      form.keys.begin(),
      {"like", kText, "a shipped fabric's name, or a path: the keys here replace its own"});
  return form;
}

Form workload_form() {
  std::vector<Form::Key> kinds = endpoint::workload_kinds();
  kinds.push_back(
      {"exec", exec_keys().form(), "a program of yours on a host; `timing: wall` or `held`"});
  for (Form::Key& kind : kinds) kind.need = Form::Key::kOneOf;
  return Form::list(Form::map(std::move(kinds)), 1).elsewhere();
}

auto ids_kind() {
  return ValueKind{Form::either({kText, Form::list(kText)}).elsewhere(), read_ids, names_text};
}

auto mechanisms_kind() {
  return ValueKind{Form::list(Form::word(mechanism_names())), parse_mechanisms, names_text};
}

/// "yes", or "no" or "partly" with a reason, which is what makes the word worth something.
std::string read_production(const YamlValue& value) {
  const std::string text = value.is_scalar() ? value.as_string() : "";
  const size_t comma = text.find(", because ");
  const std::string word = text.substr(0, comma);
  const bool reasoned = comma != std::string::npos && text.size() > comma + 10;
  if (text != "yes" && !(reasoned && (word == "no" || word == "partly"))) {
    value.fail_expecting("yes, or no or partly with a reason: \"partly, because ...\"");
  }
  return text;
}

auto production_kind() { return ValueKind{kText, read_production, text_kind().write}; }

auto scope_kind() { return word_kind<CaptureScope>({"hosts", "all", "none"}); }

std::optional<uint32_t> read_dilation(const YamlValue& value) {
  const std::string text = value.is_scalar() ? value.as_string() : "-";
  if (text == "auto") return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string::npos) {
    value.fail_expecting("auto, or lab seconds per fabric second such as 5000");
  }
  return static_cast<uint32_t>(value.as_integer(1, kMaxDilation));
}

auto dilation_kind() {
  return ValueKind{Form::either({Form::word({"auto"}), Form::integer(1, kMaxDilation)}),
                   read_dilation,
                   [](std::optional<uint32_t> in) { return in ? std::to_string(*in) : "auto"; }};
}

// --- readers and writers -------------------------------------------------------------------------

void read_transport_choice(const YamlValue& value, S& out, Reading&) {
  out.transport = endpoint::parse_transport(value, out.topology);
}

void read_twin(const YamlValue& value, S&, Reading& reading) {
  reading.on_fat_twin = value.as_word({"none", "fat"}) == 1;
}

void read_workload_entry(const YamlValue& entry, S& out, Reading& reading) {
  if (const auto body = only_member(entry, "exec")) {
    return add_programs(entry, *body, *reading.names, reading.base, out);
  }
  for (endpoint::WorkloadSpec& spec : endpoint::parse_workload(entry, *reading.names)) {
    if (out.workload.size() == endpoint::kMaxWorkloads) {
      entry.fail("more workloads", "at most " + std::to_string(endpoint::kMaxWorkloads));
    }
    out.workload.push_back(std::move(spec));
    if (!reading.is_doubtful) check_workload(entry, out.workload.back(), out);
  }
}

void read_workload(const YamlValue& list, S& out, Reading& reading) {
  Mistakes mistakes;
  for (const YamlValue& entry : list.items()) {
    mistakes.go_on([&] { read_workload_entry(entry, out, reading); });
  }
  if (list.items().empty()) list.fail("an empty list", "at least one workload");
  reading.is_doubtful = reading.is_doubtful || mistakes.any();
  mistakes.report();
  fit_fabric_to_transport(out);
}

void read_faults(const YamlValue& list, S& out, Reading& reading) {
  out.faults = faults::parse_faults(list, *reading.names, out.end);
  out.schedule = faults::compile(out.faults, out.topology);
}

/// The pattern is kept as it is written, since 4,096 names are no better to read.
void read_follow(const YamlValue& value, S& out, Reading& reading) {
  if (reading.names->hosts(value).empty()) value.fail_expecting("a pattern of hosts");
  out.follow = value.as_string();
}

void read_expect(const YamlValue& list, S& out, Reading& reading) {
  out.expect = read_expectations(list, out, !reading.is_doubtful);
  out.check_programs = read_check_programs(list, reading.base);
}

/// Switches in place of those that the file was written for may not carry other transports.
void read_contrast(const YamlValue& list, S& out, Reading& reading) {
  if (reading.is_doubtful) return check_form(list, contrasts_form(), FormDepth::kWhole);
  if (reading.contrasts) out.contrasts = parse_contrasts(list, out);
}

/// In place of the fabric's own, and written with the fabric.
void read_mapper(const YamlValue& value, S& out, Reading&) {
  mapper_key().read(value, out.fabric.mapper);
  out.topology.mapper = out.fabric.mapper;
}

/// Both in place of the fabric's own, and written with the fabric; what is left out stays out.
void provision_again(const YamlValue& value, S& out) {
  const auto& without = out.without;
  if (std::find(without.begin(), without.end(), "authorise") != without.end()) {
    out.fabric.authorise = Authorise::kOff;
  }
  if (const auto misfit = forwarding_misfit(out.fabric); misfit && misfit->key == "authorise") {
    value.fail(misfit->found, misfit->expected);
  }
  provision(out.fabric, out.topology);
}
void read_authorise(const YamlValue& value, S& out, Reading&) {
  authorise_row().read(value, out.fabric);
  provision_again(value, out);
}
void read_tenants(const YamlValue& value, S& out, Reading&) {
  require_tenants(value, out.topology);
  tenants_row().read(value, out.fabric);
  provision_again(value, out);
}
void read_denylist(const YamlValue& value, S& out, Reading&) {
  denylist_key().read(value, out.fabric.denylist);
  out.topology.denylist = out.fabric.denylist;
}

/// The text of a list, below its key; empty of an empty list.
template <class... Values>
std::string list_text(const Values&... values) {
  std::string text;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) text += "\n  - " + to_yaml(entry);
  };
  (add(values), ...);
  return text;
}

std::string faults_text(const S& scenario) {
  std::string text;
  for (const faults::Fault& fault : scenario.faults) {
    text += "\n  - " + faults::to_yaml(fault, scenario.topology);
  }
  return text;
}

std::string fabric_text(const S& scenario) {
  std::string text = "\n" + mrclab::to_yaml(scenario.fabric, 2);
  text.pop_back();
  return text;
}

/// Switches forward packets without a carrier only if they have routes to hosts.
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
  if (!topology.planes_apart && !fare) {
    routing.fail_expecting("srv6: a packet to a host's address could come to any of its ports");
  }
  if (fare || !has_carrier_routes_alone(topology)) return;
  routing.fail("ecmp in a fabric with switches of the kernel",
               "srv6: those switches get routes for carriers only");
}

std::string timing_text(const S& scenario) {
  if (scenario.programs_held) return "held";
  return scenario.timing == TimingMode::kWall ? "wall" : "carried";
}

/// Hosts of two tenants have no work with one another; who reaches for another tenant is an attack, which is a fault.
void check_tenants(const YamlValue& entry, const endpoint::WorkloadSpec& spec, const S& scenario) {
  const Topology& topology = scenario.topology;
  if (topology.tenants.empty()) return;
  for (const endpoint::ConnectionPlan& plan :
       endpoint::plan_connections(topology, {spec}, scenario.seed)) {
    const uint32_t from = plan.initiator.host, to = plan.acceptor.host;
    if (same_tenant(topology, from, to)) continue;
    entry.fail("work between " + topology.node(topology.host(from)).name + " and " +
                   topology.node(topology.host(to)).name + ", which are of two tenants",
               "hosts of one tenant, or \"attack: {kind: tenant, ...}\" in \"faults\"");
  }
}

}  // namespace

bool is_like_an_id(std::string_view text) {
  constexpr std::string_view kCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  return !text.empty() && text.size() <= 8 &&
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

std::vector<std::string> read_ids(const YamlValue& value) {
  std::vector<std::string> ids;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    const std::string id = item.is_scalar() ? item.as_string() : "";
    if (!is_like_an_id(id)) item.fail_expecting("an id such as L5 or P-2");
    ids.push_back(id);
  }
  return ids;
}

void check_workload(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                    const Scenario& scenario) {
  check_routing(entry, spec, scenario.topology);
  check_tenants(entry, spec, scenario);
  require_possible_work(entry, spec, scenario.topology, scenario.end);
}

const ScenarioKeys& scenario_keys() {
  constexpr auto kNeeded = Form::Key::kRequired;
  constexpr KeyUse kFirst{.read_pass = kBeforeFabric};
  constexpr KeyUse kAtTheEnd{.read_pass = kEnd, .write_pass = 2};
  constexpr KeyUse kLast{.read_pass = kWhatHappens, .write_pass = 3};
  const Form files = Form::either({kText, Form::list(kText, 1)});
  static const ScenarioKeys kKeys(std::vector<R>{
      // These two are in place before a row is read.
      {"include",
       files.elsewhere(),
       "files with keys of a scenario, relative to this one; maps are joined, lists follow theirs, "
       "and anything else replaces theirs",
       {}},
      {"vars",
       Form::map_of(Form::of(Form::Kind::kAnything)).elsewhere(),
       "values by name, for ${name} anywhere in the file",
       {}},
      R::of("name", &S::name, name_kind(), "what it is called",
            {.need = kNeeded, .read_pass = kBeforeFabric}),
      R::of("id", &S::ids, ids_kind(), "what it is called elsewhere, such as L5", kFirst),
      R::of("about", &S::about, text_kind(), "what happened, its source, what was compressed",
            kFirst),
      R::of("holds_at_production", &S::holds_at_production, production_kind(),
            "yes, \"no, because ...\" or \"partly, because ...\": does what it shows hold under "
            "timers of products?",
            kFirst),
      {"fabric",
       Form::either({kText, changed_fabric_form()}).elsewhere(),
       "a shipped fabric's name, a path, or the fabric itself; `like: octet` in it: that one, of which "
       "the other keys here replace some",
       {},
       fabric_text,
       kRequiredKey},
      {"twin",
       Form::word({"none", "fat"}),
       "fat: on one plane with the rate of all planes of the fabric; parts of any plane mean its",
       read_twin,
       {},
       kFirst},
      {"mapper", mapper_key().form, mapper_key().about + ", in place of the fabric's `mapper`",
       read_mapper},
      {"authorise", authorise_row().form,
       authorise_row().about + "; in place of the fabric's `authorise`", read_authorise},
      {"tenants", tenants_row().form, tenants_row().about + "; in place of the fabric's `tenants`",
       read_tenants},
      {"denylist", denylist_key().form,
       denylist_key().about + "; in place of the fabric's `denylist`", read_denylist},
      R::of("seed", &S::seed, integer_kind(0, kMaxSeed), "of all draws"),
      {"transport",
       endpoint::transport_form().elsewhere(),
       "a profile, or options",
       read_transport_choice,
       [](const S& scenario) { return endpoint::to_yaml(scenario.transport); },
       {.write_pass = 2}},
      R::of("without", &S::without, mechanisms_kind(), "mechanisms that are switched off", kFirst),
      R::of("fails_without", &S::fails_without, mechanisms_kind(),
            "each of them alone makes an expectation fail", kFirst),
      R::of("dilation", &S::dilation, dilation_kind(), "lab seconds per fabric second",
            {.write_pass = 2}),
      {"timing",
       Form::word({"carried", "wall", "held"}),
       "wall: by this machine's clock, where others forward or run; held: programs run at fabric time",
       [](const YamlValue& value, S& out, Reading&) {
         const size_t word = value.as_word({"carried", "wall", "held"});
         out.timing = word == 1 ? TimingMode::kWall : TimingMode::kCarried;
         out.programs_held = word == 2;
       },
       timing_text,
       {.write_pass = 2}},
      {"workload",
       workload_form(),
       "what hosts do",
       read_workload,
       [](const S& scenario) { return list_text(scenario.workload, scenario.programs); },
       {.need = kNeeded, .read_pass = kWhatHappens, .write_pass = 3}},
      {"faults", faults::faults_form().elsewhere(), "what breaks, and when", read_faults,
       faults_text, kLast},
      end_row(),
      R::of("captures", &S::captures, scope_kind(), "where daemons capture packets", kAtTheEnd),
      R::of("taps", &S::taps, scope_kind(), "where libpcap does, on the veths; live only",
            {.if_unusual = true, .read_pass = kEnd, .write_pass = 2}),
      R::of("payload", &S::payload_elided, word_kind<bool>({"real", "elided"}),
            "elided: headers alone, nothing to verify", kAtTheEnd),
      {"follow",
       kText,
       "hosts whose packets the judge of a simulation follows, where there are more than it can keep; without it all",
       read_follow,
       [](const S& scenario) { return in_quotes(scenario.follow); },
       {.if_unusual = true, .read_pass = kWhatHappens, .write_pass = 2}},
      {"expect", expectation_list_form(true, 0), "what must hold", read_expect,
       [](const S& scenario) { return list_text(scenario.expect, scenario.check_programs); },
       kLast},
      {"contrast", contrasts_form(), "what other transports make of it", read_contrast,
       [](const S& scenario) { return list_text(scenario.contrasts); }, kLast}});
  return kKeys;
}

}  // namespace mrclab::lab
