// list.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/expect/expectation_form.h"
#include "analysis/report/compared_metrics.h"
#include "console/json_print.h"
#include "console/terminal.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/visible_text.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "faults/fault_kind.h"
#include "lab/verbs/cli.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/scenario_keys.h"
#include "scenario/spec/shipped_files.h"
#include "session/lesson.h"

namespace mrclab::lab {
namespace {

struct ListEntry {
  std::string name, about;
};
using ListEntries = std::vector<ListEntry>;

/// The first sentence, without line breaks.
std::string first_sentence(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? ' ' : c;
  const size_t end = line.find(". ");
  return visible(end == std::string::npos ? line : line.substr(0, end + 1));
}

ListEntries fabric_entries() {
  ListEntries entries;
  for (const std::string& name : shipped_names("fabrics")) {
    const FabricShape shape = parse_fabric(read_yaml_file(find_fabric(name)), kMaxSimulatedNodes);
    const std::string planes = counted_noun(shape.planes, "plane");
    entries.push_back(
        {name, fmt::format("{}, {}, {}",
                           !shape.graph.empty() ? "switches one by one"
                           : shape.t2 > 0       ? planes + " of three tiers"
                                                : planes,
                           counted_noun(shape.host_count(), "host"),
                           counted_noun(shape.switch_count(), Noun("switch", "switches")))});
  }
  return entries;
}

/// By the file alone: whether it can be run is what `validate` answers.
ListEntries incident_entries() {
  ListEntries entries;
  std::vector<std::string> all = shipped_names("incidents");
  for (const char* folder : {"production", "programs", "stargate"}) {
    for (std::string& name : shipped_names(folder)) all.push_back(std::move(name));
  }
  for (const std::string& name : all) {
    const YamlValue file = read_yaml_file(find_incident(name));
    const auto id = file.get("id"), about = file.get("about");
    std::string ids;
    for (const std::string& each : id ? read_ids(*id) : std::vector<std::string>()) {
      ids += each + " ";
    }
    entries.push_back({name, (ids.empty() ? "" : "(" + ids.substr(0, ids.size() - 1) + ") ") +
                                 (about ? first_sentence(about->as_string()) : "")});
  }
  return entries;
}

/// Whether each incident holds at production.
ListEntries production_entries() {
  ListEntries entries;
  for (const std::string& name : shipped_names("incidents")) {
    const auto holds = read_yaml_file(find_incident(name)).get("holds_at_production");
    entries.push_back({name, holds ? visible(holds->as_string()) : "not said"});
  }
  return entries;
}

ListEntries entries_of_keys(const std::vector<ValueForm::Key>& keys) {
  ListEntries entries;
  for (const ValueForm::Key& key : keys) entries.push_back({key.name, key.about});
  return entries;
}

template <class Row>
ListEntries entries_of_rows(std::span<const Row> rows) {
  ListEntries entries;
  for (const Row& row : rows) entries.push_back({std::string(row.name), std::string(row.about)});
  return entries;
}

ListEntries lesson_entries() {
  ListEntries entries;
  for (const Lesson& lesson : lessons()) {
    entries.push_back(
        {lesson.name, fmt::format("{}, {}", lesson.title, counted_noun(lesson.minutes, "minute"))});
  }
  return entries;
}

ListEntries metric_entries() {
  ListEntries entries;
  for (const analysis::MetricSpec& metric : analysis::kComparedMetrics) {
    entries.push_back({std::string(metric.name),
                       fmt::format("{}{}", metric.pointer,
                                   metric.of == analysis::MetricOf::kFault ? " of each fault"
                                   : metric.of == analysis::MetricOf::kJob ? " of each job"
                                                                           : "")});
  }
  return entries;
}

struct Listing {
  const char* name;
  const char* about;
  ListEntries (*entries)();
};

constexpr Listing kListings[] = {
    {"fabrics", "what ships: for up, run --fabric, a scenario's fabric:", fabric_entries},
    {"incidents", "scenarios that ship: for run, compare, serve, chaos", incident_entries},
    {"production", "which incidents hold at production time scales, and why others do not",
     production_entries},
    {"faults", "kinds of a scenario's faults:, and of fault",
     [] { return entries_of_rows(faults::all_faults()); }},
    {"checks", "kinds of a scenario's expect:",
     [] { return entries_of_keys(analysis::expectation_kinds()); }},
    {"workloads",
     "kinds of a scenario's workload:", [] { return entries_of_keys(endpoint::workload_kinds()); }},
    {"lessons", "for lesson and serve", lesson_entries},
    {"transports", "for run --transport and compare",
     [] { return entries_of_rows(named_transports()); }},
    {"mechanisms", "for run --without", [] { return entries_of_rows(mechanisms()); }},
    {"metrics", "for run --tolerance, and in tables of run --seeds", metric_entries},
};

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const Listing& kind : kListings) words.emplace_back(kind.name);
  return words;
}

/// Names and what each is, the latter broken below itself.
void print_entries(const ListEntries& entries) {
  size_t widest = 0;
  for (const ListEntry& entry : entries) widest = std::max(widest, entry.name.size());
  for (const ListEntry& entry : entries) {
    const std::string line = fmt::format("{:<{}}  {}", entry.name, widest, entry.about);
    fmt::print("{}", wrapped_text(line, kTerminalColumns, widest + 2));
  }
}

void list_command(const std::string& wanted, bool as_json, bool names) {
  if (wanted.empty()) {
    ListEntries kinds;
    for (const Listing& kind : kListings) kinds.push_back({kind.name, kind.about});
    return print_entries(kinds);
  }
  for (const Listing& kind : kListings) {
    if (kind.name != wanted) continue;
    const ListEntries entries = kind.entries();
    if (as_json) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const ListEntry& entry : entries) {
        list.push_back({{"name", entry.name}, {"about", entry.about}});
      }
      fmt::print("{}\n",
                 printed(nlohmann::ordered_json{{"kind", wanted}, {"names", list}}, "list"));
    } else if (names) {
      for (const ListEntry& entry : entries) fmt::print("{}\n", entry.name);
    } else {
      print_entries(entries);
    }
  }
}

}  // namespace

void add_list_verb(CLI::App& app, CliResult&) {
  struct Options {
    std::string kind;
    bool json = false, names = false;
  };
  auto options = std::make_shared<Options>();  // shared with the callback
  CLI::App* list = add_verb(app, "list");
  list->add_option("KIND", options->kind, "of what; without one the kinds are listed")
      ->check(CLI::IsMember(kind_words()).description(""));  // of one line, too long
  CLI::Option* names = list->add_flag("--names", options->names, "names alone, a line for each");
  list->add_flag("--json", options->json, "as JSON")->excludes(names);
  list->footer("Example: mrclab list faults\n         mrclab list incidents --names");
  list->callback([options] { list_command(options->kind, options->json, options->names); });
}

}  // namespace mrclab::lab
