#include "lab/verbs/words/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "faults/fault_kind.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/scenario_keys.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

// What is up now; the same in all three shells.
constexpr const char* kLabs = "$(ls /run/mrclab 2>/dev/null)";
constexpr const char* kNodes = "$(_mrclab_nodes)";
/// The body of _mrclab_nodes. No pattern of the shell's own: zsh and fish complain where none fits.
constexpr const char* kNodesBody =
    "find /run/mrclab -name record.json -exec sed -n "
    R"sh('s/^  "\([a-z][a-z0-9.-]*\)",*$/\1/p' {} + 2>/dev/null)sh";

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

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// Of lessons the names of their files: reading them all takes a simulator that this program lacks.
std::string lesson_names() {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(data_directory() / "lessons", none)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() == ".md" && stem.find('-') == 2) names.insert(stem);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// "end= seed= transport=": what --set may begin with; below those are others.
std::string scenario_keys_set() {
  std::string words;
  for (const ValueForm::Key& key : scenario_keys().form().keys) {
    if (key.name != "include" && key.name != "name") words += key.name + "= ";
  }
  return words;
}

/// The names of transports, those of RoCE on the fat twin of a fabric too, for which its queue pairs are made.
std::string transports() {
  std::vector<std::string> names = transport_names();
  for (const NamedTransport& transport : named_transports()) {
    if (transport.family != TransportFamily::kRoce) continue;
    names.push_back(std::string(transport.name) + std::string(kOnFatTwin));
  }
  return joined(names);
}

/// The values that an option of this name takes in every verb that has it; empty: files.
std::string values_of(const std::string& name, const std::vector<std::string>& choices) {
  if (!choices.empty()) return joined(choices);
  if (name == "--fabric") return shipped("fabrics");
  if (name == "--scenario") return shipped("incidents");
  if (name == "--transport") return transports();
  if (name == "--without") return joined(mechanism_names());
  if (name == "--set") return scenario_keys_set();
  if (name == "--lab") return kLabs;
  if (name == "--node" || name == "--from" || name == "--to" || name == "--host") return kNodes;
  return "";
}
std::string values_of(const VerbOption& option) {
  for (const std::string& name : option.names) {
    const std::string values = values_of(name, option.choices);
    if (!values.empty()) return values;
  }
  return "";
}

/// The words that may stand where this verb takes a word that is no option.
std::string words_of(const std::string& verb) {
  if (verb == "up" || verb == "serve" || verb == "chaos" || verb == "validate") {
    return shipped("fabrics") + " " + shipped("incidents");
  }
  if (verb == "perf" || verb == "draw" || verb == "plan" || verb == "conform") {
    return shipped("fabrics");
  }
  if (verb == "compare") return shipped("incidents") + " " + shipped("production");
  if (verb == "run") {
    return shipped("incidents") + " " + shipped("production") + " " + shipped("programs") + " " +
           shipped("stargate");
  }
  if (verb == "lesson") return lesson_names();
  if (verb == "list") {
    return "fabrics incidents production faults checks workloads lessons transports mechanisms metrics";
  }
  if (verb == "down" || verb == "inspect" || verb == "top") return kLabs;
  if (verb == "capture") return std::string(kLabs) + " " + kNodes;
  if (verb == "fault") return fault_words();
  if (verb == "heal") return "all " + fault_kinds();
  if (verb == "exec" || verb == "shell") return kNodes;
  if (verb == "completion") return "bash zsh fish";
  return "";
}

/// May an argument of this verb name a file?
bool takes_files(const std::string& verb) {
  const std::set<std::string> none{"demo",   "down",    "ls",         "inspect", "exec",
                                   "shell",  "man",     "clock",      "fault",   "heal",
                                   "doctor", "version", "completion", "list",    "capture"};
  return !none.contains(verb);
}

bool is_long(const std::string& name) { return name.starts_with("--"); }

std::string options_of(const Verb& verb) {
  std::string words;
  for (const VerbOption& option : verb.options) {
    for (const std::string& name : option.names) {
      if (is_long(name)) words += name + " ";
    }
  }
  return words;
}

/// A case for each option that takes a value, by the verb and the option before it: words, or files. bash takes the first
/// that fits, so that of a verb's verbs the first counts.
std::string bash_values(const std::string& called, const Verb& verb) {
  std::string cases;
  for (const VerbOption& option : verb.options) {
    if (option.positional || option.value.empty()) continue;
    std::string patterns;
    for (const std::string& name : option.names) {
      patterns += (patterns.empty() ? "" : "|") + called + ":" + name;
    }
    const std::string values = values_of(option);
    cases += fmt::format("    {}) words=\"{}\" files={} ;;\n", patterns, values,
                         values.empty() ? "1" : "");
  }
  return cases;
}

std::string bash_script(const Verb& command) {
  std::string verbs, cases, values;
  for (const Verb& verb : command.verbs) {
    verbs += verb.name + " ";
    std::string words = options_of(verb) + words_of(verb.name);
    values += bash_values(verb.name, verb);
    for (const Verb& inner : verb.verbs) values += bash_values(verb.name, inner);
    // `perf` has verbs of its own, with much the same options.
    for (const Verb& inner : verb.verbs) words += " " + inner.name + " " + options_of(inner);
    cases += fmt::format("    {}) words=\"{}\" files={} ;;\n", verb.name, words,
                         takes_files(verb.name) ? "1" : "");
  }
  return fmt::format(R"(# bash completion for mrclab: source <(./mrclab completion)
_mrclab_nodes() {{
  {}
}}
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
  case $verb:${{COMP_WORDS[COMP_CWORD - 1]}} in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; [[ -n $files ]] && compgen -f -- "$current")
  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}}
complete -F _mrclab mrclab ./mrclab
)",
                     kNodesBody, verbs, cases, values);
}

/// Between single quotes of a shell.
std::string quoted(const std::string& text, std::string_view quote) {
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string(quote) : std::string(1, c);
  return safe + "'";
}

/// In a description of _arguments, brackets and colons would end it.
std::string zsh_about(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// '*--without[a mechanism to do without]:TEXT:_files', one for each of its names.
std::string zsh_options(const Verb& verb) {
  std::string specs;
  for (const VerbOption& option : verb.options) {
    if (option.positional) continue;
    std::string value;
    if (const std::string values = values_of(option); !values.empty()) {
      const bool partial = values.find('=') != std::string::npos;  // of --set: a value follows
      value = fmt::format(":value:{{ compadd {}-- {} }}", partial ? "-S '' " : "", values);
    } else if (!option.value.empty()) {
      value = ":" + zsh_about(option.value) + ":_files";
    }
    for (const std::string& name : option.names) {
      specs += " \\\n        " + quoted((option.repeated ? "*" : "") + name + "[" +
                                            zsh_about(option.about) + "]" + value,
                                        R"('\'')");
    }
  }
  return specs;
}

/// What stands in the place of words: names, files, or either.
std::string zsh_words(const Verb& verb) {
  const std::string words = words_of(verb.name);
  const bool files = takes_files(verb.name);
  if (words.empty()) return files ? "_files" : " ";
  return files ? fmt::format("{{ compadd -- {}; _files }}", words)
               : fmt::format("{{ compadd -- {} }}", words);
}

std::string zsh_verbs(const Verb& command) {
  std::string lines;
  for (const Verb& verb : command.verbs) {
    lines += "\n    " + quoted(verb.name + ":" + verb.about, R"('\'')");
  }
  return lines;
}

/// `_arguments` for one verb; of one that has verbs, these first.
std::string zsh_case(const Verb& verb) {
  if (verb.verbs.empty()) {
    return fmt::format("    {})\n      _arguments -s{} \\\n        '*:word:{}' ;;\n", verb.name,
                       zsh_options(verb), zsh_words(verb));
  }
  std::string names, cases;
  for (const Verb& inner : verb.verbs) {
    names += " " + inner.name;
    cases += fmt::format("        {})\n          _arguments -s{} \\\n        '*:word:{}' ;;\n",
                         inner.name, zsh_options(inner), zsh_words(verb));
  }
  return fmt::format(
      "    {})\n      if (( CURRENT == 2 )); then compadd --{}; return; fi\n"
      "      shift words; (( CURRENT-- ))\n      case $words[1] in\n{}      esac ;;\n",
      verb.name, names, cases);
}

std::string zsh_script(const Verb& command) {
  std::string cases;
  for (const Verb& verb : command.verbs) cases += zsh_case(verb);
  return fmt::format(R"(#compdef mrclab
# zsh completion for mrclab: put it into a folder of $fpath as _mrclab
_mrclab_nodes() {{
  {}
}}
_mrclab() {{
  local -a verbs
  verbs=({}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{}  esac
}}
_mrclab "$@"
)",
                     kNodesBody, zsh_verbs(command), cases);
}

/// fish has (command) for $(command), which older ones do not take; it runs it when the words are asked for.
std::string fish_words(const std::string& words) {
  std::string made;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words.compare(i, 2, "$(") != 0) made += words[i];
  }
  return made;
}

std::string fish_options(const Verb& verb, const std::string& condition) {
  std::string lines;
  for (const VerbOption& option : verb.options) {
    if (option.positional) continue;
    std::string line = "complete -c mrclab -n " + quoted(condition, "\\'");
    for (const std::string& name : option.names) {
      line += is_long(name) ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (const std::string values = values_of(option); !values.empty()) {
      // In single quotes fish runs a command when words are asked for.
      line += fmt::format(" -x -a '{}'", fish_words(values));
    } else if (!option.value.empty()) {
      line += " -r -F";
    }
    lines += line + " -d " + quoted(option.about, "\\'") + "\n";
  }
  return lines;
}

std::string fish_verb(const Verb& verb, const std::string& condition) {
  return "complete -c mrclab -n " + quoted(condition, "\\'") + " -a " + verb.name + " -d " +
         quoted(verb.about, "\\'") + "\n";
}

std::string fish_script(const Verb& command) {
  std::string lines;
  for (const Verb& verb : command.verbs) {
    lines += fish_verb(verb, "__fish_use_subcommand");
    const std::string seen = "__fish_seen_subcommand_from " + verb.name;
    lines += fish_options(verb, seen);
    std::string names;
    for (const Verb& inner : verb.verbs) names += " " + inner.name;
    for (const Verb& inner : verb.verbs) {
      lines += fish_verb(inner, seen + "; and not __fish_seen_subcommand_from" + names);
      lines += fish_options(inner, seen + "; and __fish_seen_subcommand_from " + inner.name);
    }
    if (const std::string words = words_of(verb.name); !words.empty()) {
      lines += fmt::format("complete -c mrclab -n '{}' -a '{}'\n", seen, fish_words(words));
    }
    if (takes_files(verb.name)) lines += fmt::format("complete -c mrclab -n '{}' -F\n", seen);
  }
  return fmt::format(
      R"(# fish completion for mrclab: put it into ~/.config/fish/completions as mrclab.fish
function _mrclab_nodes
  {}
end
complete -c mrclab -f
{})",
      kNodesBody, lines);
}

}  // namespace

std::string completion_script(Shell shell, const Verb& command) {
  switch (shell) {
    case Shell::kZsh: return zsh_script(command);
    case Shell::kFish: return fish_script(command);
    case Shell::kBash: break;
  }
  return bash_script(command);
}

}  // namespace mrclab::lab
