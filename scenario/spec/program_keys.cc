#include "scenario/spec/program_keys.h"

#include <fmt/format.h>

#include "fabric/text/plain_text.h"

namespace mrclab::lab {
namespace {

using Form = ValueForm;
using Base = const std::filesystem::path;

constexpr size_t kMaxCheckName = 64;

const Form kProgramText = Form::of(Form::Kind::kText);

/// A command line for sh -c, of at most 4096 characters.
std::string read_command(const YamlValue& value) {
  constexpr size_t kMax = 4096;
  const std::string command = value.is_scalar() ? value.as_string() : "";
  const bool blank = command.find_first_not_of(" \t\n") == std::string::npos;
  if (blank || command.size() > kMax) {
    value.fail_expecting("a command line such as \"./check.py\"");
  }
  return command;
}

/// Where a command runs, absolute: `cwd` from `base`, or `base` itself; no folder whose name a file cannot repeat.
std::filesystem::path read_folder(const std::optional<YamlValue>& cwd,
                                  const std::filesystem::path& base) {
  std::filesystem::path folder = std::filesystem::absolute(base.empty() ? "." : base);
  if (cwd) folder /= cwd->as_string();
  std::error_code ignored;
  if (cwd && !std::filesystem::is_directory(folder, ignored)) cwd->fail_expecting("a folder");
  folder = folder.lexically_normal();
  if (const auto odd = find_odd_text(folder.string())) {
    throw InputError(in_quotes(folder.string()) + ": found " + odd->found +
                     " in the name of the folder: expected a name that can be written down");
  }
  return folder;
}

/// A duration of this machine's time, from 1ms to a day.
std::chrono::milliseconds read_wall_time(const YamlValue& value) {
  const auto time = std::chrono::milliseconds(value.as_time().ns() / 1'000'000);
  if (time < std::chrono::milliseconds(1) || time > std::chrono::hours(24)) {
    value.fail_expecting("a time of this machine from 1ms to 24 hours, such as 10s");
  }
  return time;
}

auto command_kind() { return ValueKind{kProgramText, read_command, yaml_string}; }

auto folder_kind() {
  return ValueKind{kProgramText,
                   [](const YamlValue& value, Base& base) { return read_folder(value, base); },
                   [](const std::filesystem::path& in) { return yaml_string(in.string()); }};
}

auto wall_time_kind() {
  using Time = std::optional<std::chrono::milliseconds>;
  return ValueKind{Form::of(Form::Kind::kTime), read_wall_time,
                   [](Time in) { return in ? fmt::format("{}ms", in->count()) : ""; }};
}

auto program_time_kind() {
  using Time = std::optional<ProgramTime>;
  return ValueKind{Form::word({"wall", "held"}),
                   [](const YamlValue& value) -> Time {
                     return static_cast<ProgramTime>(value.as_word({"wall", "held"}));
                   },
                   [](Time in) { return !in                         ? ""
                                        : *in == ProgramTime::kHeld ? "held"
                                                                    : "wall"; }};
}

std::string read_check_name(const YamlValue& value) {
  const std::string name = value.as_string();
  const bool plain = name.find_first_of("\n\t\"\\") == std::string::npos;
  if (name.empty() || name.size() > kMaxCheckName || !plain) {
    value.fail_expecting("a name of at most 64 characters on one line");
  }
  return name;
}

/// What a program at fabric time needs, and what one beside it must not do.
void check_time(const YamlValue& body, const ExecSpec& spec, const Scenario& scenario) {
  const bool held = is_held(scenario, spec);
  if (scenario.programs_held && !held) {
    body.require("time").fail("a program in this machine's time, beside \"timing: held\"",
                              "held, or \"timing: wall\" for the scenario");
  }
  if (held && !spec.rdma) {
    body.require("rdma").fail("a held program without the host's NIC",
                              "true: what holds it is its link to the host");
  }
  if (held && scenario.payload_elided) {
    body.fail("a held program, beside \"payload: elided\"",
              "\"payload: real\": programs look at their bytes");
  }
  if (spec.send_emulated && scenario.transport.profile == "roce") {
    body.require("send").fail("SENDs to be emulated, beside \"profile: roce\"",
                              "no such key: RC has SENDs of its own");
  }
}

/// The name of a check that was given none: its command, as far as it fits on a line.
std::string name_by_command(const std::string& command) {
  std::string name = command.substr(0, kMaxCheckName);
  while (!name.empty() && find_odd_text(name)) name.pop_back();  // the cut may split a character
  for (char& c : name) {
    if (std::string_view("\n\t\"\\").find(c) != std::string_view::npos) c = ' ';
  }
  return name;
}

}  // namespace

const KeyTable<ExecSpec, Base>& exec_keys() {
  using S = ExecSpec;
  using R = KeyRow<S, Base>;
  static const KeyTable<S, Base> kKeys(
      {R{"host",
         Form::either({kProgramText, Form::list(kProgramText)}),
         "where it runs",
         {},
         [](const S& spec) { return fmt::format("h{}", spec.host); },
         kRequiredKey},
       R::of("command", &S::command, command_kind(), "for sh -c", kRequiredKey),
       R::of("cwd", &S::cwd, folder_kind(), "its folder, from the file's"),
       R::of("at", &S::at, "when it starts", kIfUnusual),
       R::of("until", &S::until_end,
             ValueKind{Form::word({"end"}), [](const YamlValue&) { return true; },
                       [](bool in) { return in ? "end" : ""; }},
             "it is ended with the run"),
       R::of("timeout", &S::timeout, wall_time_kind(), "of this machine's time"),
       R::of("may_fail", &S::may_fail,
             ValueKind{Form::of(Form::Kind::kSwitch), &YamlValue::as_bool,
                       [](bool in) { return in ? "true" : ""; }},
             "its exit code does not matter"),
       R::of("rdma", &S::rdma,
             ValueKind{Form::of(Form::Kind::kSwitch), &YamlValue::as_bool,
                       [](bool in) { return in ? "" : "false"; }},
             "its verbs are those of the host's emulated NIC"),
       R::of("time", &S::time, program_time_kind(),
             "held: it runs at fabric time; absent: as the scenario's `timing`"),
       R::of("send", &S::send_emulated,
             ValueKind{Form::word({"emulated"}), [](const YamlValue&) { return true; },
                       [](bool in) { return in ? "emulated" : ""; }},
             "SENDs on MRC, by Write-with-Immediate into a hidden ring")});
  return kKeys;
}

const KeyTable<CheckProgram, Base>& check_program_keys() {
  using S = CheckProgram;
  using R = KeyRow<S, Base>;
  static const KeyTable<S, Base> kKeys(
      {R::of("command", &S::command, command_kind(),
             "for sh -c, with the run folder as its argument", kRequiredKey),
       R::of("name", &S::name, ValueKind{kProgramText, read_check_name, yaml_string},
             "of the check; absent: its command"),
       R::of("cwd", &S::cwd, folder_kind(), "its folder, from the file's"),
       R::of("timeout", &S::timeout, wall_time_kind(), "of this machine's time")});
  return kKeys;
}

std::vector<ExecSpec> parse_exec(const YamlValue& body, NameResolver& names,
                                 const std::filesystem::path& base) {
  check_form(body, exec_keys().form());
  ExecSpec spec;
  if (!body.get("cwd")) spec.cwd = read_folder(std::nullopt, base);
  exec_keys().read(body, spec, base);
  std::vector<ExecSpec> specs;
  for (const NodeId id : names.hosts(body.require("host"))) {
    spec.host = names.topology().node(id).index;
    specs.push_back(spec);
  }
  return specs;
}

void add_programs(const YamlValue& entry, const YamlValue& body, NameResolver& names, Base& base,
                  Scenario& out) {
  if (out.timing != TimingMode::kWall && !out.programs_held) {
    entry.fail(
        "exec, beside timing that packets carry",
        "\"timing: wall\" and a \"dilation: 2000\": programs live in this machine's time; or "
        "\"timing: held\", for RDMA programs at fabric time");
  }
  for (ExecSpec& spec : parse_exec(body, names, base)) {
    if (spec.at >= out.end) {
      body.require("at").fail_expecting("an instant before the end at " + exact(out.end));
    }
    check_time(body, spec, out);
    out.programs.push_back(std::move(spec));
  }
  if (out.programs.size() > kMaxExecPrograms) {
    entry.fail("more programs", "at most " + std::to_string(kMaxExecPrograms));
  }
}

std::string to_yaml(const ExecSpec& spec) { return "exec: " + exec_keys().written(spec); }

CheckProgram parse_check_program(const YamlValue& body, const std::filesystem::path& base) {
  check_form(body, check_program_keys().form());
  CheckProgram program;
  if (!body.get("cwd")) program.cwd = read_folder(std::nullopt, base);
  check_program_keys().read(body, program, base);
  if (program.name.empty()) program.name = name_by_command(program.command);
  return program;
}

std::string to_yaml(const CheckProgram& program) {
  return "program: " + check_program_keys().written(program);
}

}  // namespace mrclab::lab
