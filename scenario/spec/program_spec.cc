#include "scenario/spec/program_spec.h"

#include <fmt/format.h>

#include "fabric/text/plain_text.h"
#include "fabric/text/yaml_write.h"
#include "scenario/spec/program_form.h"
#include "scenario/spec/yaml_text.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMaxName = 64;  // of a check

/// The name of a check that was given none: its command, as far as it fits on a line.
std::string name_by_command(const std::string& command) {
  std::string name = command.substr(0, kMaxName);
  while (!name.empty() && find_odd_text(name)) name.pop_back();  // the cut may split a character
  for (char& c : name) {
    if (std::string_view("\n\t\"\\").find(c) != std::string_view::npos) c = ' ';
  }
  return name;
}

}  // namespace

std::vector<ExecSpec> parse_exec(const YamlValue& body, NameResolver& names,
                                 const std::filesystem::path& base) {
  check_form(body, exec_form());
  ExecSpec spec;
  spec.command = read_command(body.require("command"));
  spec.cwd = read_folder(body.get("cwd"), base);
  if (const auto at = body.get("at")) spec.at = at->as_time();
  spec.until_end = body.get("until").has_value();
  if (const auto may_fail = body.get("may_fail")) spec.may_fail = may_fail->as_bool();
  if (const auto timeout = body.get("timeout")) spec.timeout = read_wall_time(*timeout);
  std::vector<ExecSpec> specs;
  for (const NodeId id : names.hosts(body.require("host"))) {
    spec.host = names.topology().node(id).index;
    specs.push_back(spec);
  }
  return specs;
}

std::string to_yaml(const ExecSpec& spec) {
  std::string text = fmt::format("exec: {{host: h{}, command: {}, cwd: {}", spec.host,
                                 yaml_string(spec.command), yaml_string(spec.cwd.string()));
  if (spec.at > FabricTime::zero()) text += ", at: " + exact(spec.at);
  if (spec.until_end) text += ", until: end";
  if (spec.timeout) text += fmt::format(", timeout: {}ms", spec.timeout->count());
  if (spec.may_fail) text += ", may_fail: true";
  return text + "}";
}

CheckProgram parse_check_program(const YamlValue& body, const std::filesystem::path& base) {
  check_form(body, check_program_form());
  CheckProgram program;
  program.command = read_command(body.require("command"));
  program.name = name_by_command(program.command);
  if (const auto name = body.get("name")) {
    program.name = name->as_string();
    const bool plain = program.name.find_first_of("\n\t\"\\") == std::string::npos;
    if (program.name.empty() || program.name.size() > kMaxName || !plain) {
      name->fail_expecting("a name of at most 64 characters on one line");
    }
  }
  program.cwd = read_folder(body.get("cwd"), base);
  if (const auto timeout = body.get("timeout")) program.timeout = read_wall_time(*timeout);
  return program;
}

std::string to_yaml(const CheckProgram& program) {
  return fmt::format("program: {{command: {}, name: {}, cwd: {}, timeout: {}ms}}",
                     yaml_string(program.command), yaml_string(program.name),
                     yaml_string(program.cwd.string()), program.timeout.count());
}

}  // namespace mrclab::lab
