#include "scenario/spec/program_spec.h"

#include "fabric/text/plain_text.h"
#include "scenario/spec/program_keys.h"
#include "scenario/spec/yaml_text.h"

namespace mrclab::lab {
namespace {

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
