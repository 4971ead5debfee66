#include "lab/cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "fabric/fabric_file.h"
#include "faults/fault_kind.h"
#include "lab/scenario/shipped_files.h"

namespace mrclab::lab {
namespace {

std::string shipped(const char* kind) {
  return fmt::format("{}", fmt::join(shipped_names(kind), " "));
}

std::string fault_kinds() {
  std::string kinds;
  for (const faults::FaultInfo& fault : faults::all_faults()) {
    kinds += std::string(fault.name) + " ";
  }
  return kinds;
}

/// Kinds, and every key that some kind has.
std::string fault_words() {
  std::set<std::string> keys;
  for (const faults::FaultInfo& fault : faults::all_faults()) {
    for (const std::string_view key : faults::keys_of(fault.targets)) keys.emplace(key);
    for (const faults::ParameterUse& use : fault.parameters) {
      keys.emplace(faults::info(use.parameter).name);
    }
  }
  std::string words = fault_kinds();
  for (const std::string& key : keys) words += key + "= ";
  return words;
}

/// The words that may stand where this verb wants a word that is no option.
std::string words_of(const std::string& verb) {
  constexpr const char* kLabs = "$(cd /run/mrclab 2>/dev/null && echo *)";
  if (verb == "up") return shipped("fabrics") + " " + shipped("incidents");
  if (verb == "perf") return shipped("fabrics");
  if (verb == "run") return shipped("incidents");
  if (verb == "down" || verb == "inspect") return kLabs;
  if (verb == "fault") return fault_words();
  if (verb == "heal") return "all " + fault_kinds();
  if (verb == "exec" || verb == "shell") {
    return "$(sed -n 's/^  \"\\([a-z][a-z0-9.-]*\\)\",*$/\\1/p' /run/mrclab/*/record.json "
           "2>/dev/null)";
  }
  return "";
}

/// May an argument of this verb name a file?
bool takes_files(const std::string& verb) {
  const std::set<std::string> none{"demo",  "down",  "ls",   "inspect", "exec",    "shell",
                                   "clock", "fault", "heal", "doctor",  "version", "completion"};
  return !none.contains(verb);
}

std::string options_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string verbs;
  std::string cases;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += verb->get_name() + " ";
    std::string words = options_of(*verb) + words_of(verb->get_name());
    // `perf` has verbs of its own, with much the same options.
    for (const CLI::App* inner : verb->get_subcommands([](const CLI::App*) { return true; })) {
      words += " " + inner->get_name() + " " + options_of(*inner);
    }
    cases += fmt::format("    {}) words=\"{}\" files={} ;;\n", verb->get_name(), words,
                         takes_files(verb->get_name()) ? "1" : "");
  }
  return fmt::format(R"(# bash completion for mrclab: source <(./mrclab completion)
_mrclab() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb= word words files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    [[ $word == -- ]] && {{ COMPREPLY=(); return; }}
    [[ $word != -* && -z $verb ]] && verb=$word
  done
  case $verb in
    '') words="{} --no-install --help --version" ;;
{}    *) words= ;;
  esac
  [[ -n $verb && ${{COMP_WORDS[COMP_CWORD - 1]}} == --* ]] && files=1
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; [[ -n $files ]] && compgen -f -- "$current")
}}
complete -F _mrclab mrclab ./mrclab
)",
                     verbs, cases);
}

}  // namespace mrclab::lab
