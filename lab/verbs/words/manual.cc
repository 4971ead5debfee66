#include "lab/verbs/words/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "console/version.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kExample = "Example: ";

std::string bold(const std::string& text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string section(const std::string& name) { return ".SH \"" + name + "\"\n"; }

/// "--world live|sim", "--threads UINT in [1 - 64]".
std::string heading(const VerbOption& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : ", ") + (option.positional ? italic(name) : bold(name));
  }
  if (!option.choices.empty()) {
    text += " " + roff_text(fmt::format("{}", fmt::join(option.choices, "|")));
  } else if (!option.value.empty() && !option.positional) {
    text += " " + italic(option.value);
  }
  return option.repeated ? text + " ..." : text;
}

std::string options_text(const Verb& verb, bool positional) {
  std::string text;
  for (const VerbOption& option : verb.options) {
    if (option.positional != positional) continue;
    text += ".TP\n" + heading(option) + "\n" + roff_text(option.about);
    if (!option.preset.empty()) text += " (default: " + roff_text(option.preset) + ")";
    text += "\n";
  }
  return text;
}

std::string synopsis(const std::string& called, const Verb& verb) {
  std::string text = bold(called) + " [" + italic("OPTIONS") + "]";
  if (!verb.verbs.empty()) text += " " + italic("VERB") + " ...";
  for (const VerbOption& option : verb.options) {
    if (!option.positional) continue;
    const std::string name = italic(option.names.front()) + (option.repeated ? " ..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

/// Lines that begin with a space are a table or commands, and stay as they are.
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string text;
  bool as_is = false;
  for (const std::string& line : lines) {
    if (line.starts_with(' ') != as_is) {
      as_is = !as_is;
      text += as_is ? ".PP\n.nf\n" : ".fi\n.PP\n";
    }
    text += roff_text(line) + "\n";
  }
  return as_is ? text + ".fi\n" : text;
}

struct Footer {
  std::vector<std::string> prose, examples;
};

Footer split_footer(const std::string& footer) {
  Footer parts;
  std::istringstream in(footer);
  bool examples = false;
  for (std::string line; std::getline(in, line);) {
    const bool first = line.starts_with(kExample);
    examples = examples || first;
    // Further examples stand below the first one.
    const size_t indent =
        first ? kExample.size() : std::min(line.find_first_not_of(' '), kExample.size());
    if (examples) line = "  " + line.substr(std::min(line.size(), indent));
    (examples ? parts.examples : parts.prose).push_back(line);
  }
  return parts;
}

/// The about-line, options, verbs and examples of one verb, below the headings that `part` makes.
template <class Part>
std::string body(const Verb& verb, Part part) {
  const Footer footer = split_footer(verb.footer);
  std::string text = footer.prose.empty() ? "" : ".PP\n" + paragraphs(footer.prose);
  const std::string arguments = options_text(verb, true), options = options_text(verb, false);
  if (!arguments.empty()) text += part("ARGUMENTS") + arguments;
  if (!options.empty()) text += part("OPTIONS") + options;
  if (!footer.examples.empty()) text += part("EXAMPLES") + paragraphs(footer.examples);
  return text;
}

std::string inner_verbs(const std::string& called, const Verb& verb) {
  std::string text;
  for (const Verb& inner : verb.verbs) {
    const std::string name = called + " " + inner.name;
    text += ".SS \"" + roff_text(name) + "\"\n" + roff_text(inner.about) + "\n.PP\n" +
            synopsis(name, inner) + body(inner, [](const char*) { return std::string(); }) +
            inner_verbs(name, inner);
  }
  return text;
}

std::string title(const std::string& name) {
  return fmt::format(".TH \"{}\" 1 \"\" \"mrclab {}\" \"mrclab\"\n", roff_text(name),
                     release_version());
}

std::string exit_status() {
  return section("EXIT STATUS") +
         "0 pass, 1 fail, 2 bad usage or input, 3 inconclusive: evidence is missing, or this "
         "machine cannot do it. A verb with other codes lists them above.\n";
}

/// "Run scenarios and judge them" as man needs it after the dash of NAME.
std::string name_line(const std::string& name, std::string about) {
  if (!about.empty() && about.ends_with('.')) about.pop_back();
  return section("NAME") + roff_text(name) + " \\- " + roff_text(about) + "\n";
}

ManualPage verb_page(const Verb& command, const Verb& verb) {
  const std::string name = command.name + "-" + verb.name;
  const std::string called = command.name + " " + verb.name;
  std::string text = title(name) + name_line(name, verb.about) + section("SYNOPSIS") +
                     synopsis(called, verb) + section("DESCRIPTION") + roff_text(verb.about) +
                     ".\n" + body(verb, [](const char* heading) { return section(heading); });
  if (!verb.verbs.empty()) text += section("VERBS") + inner_verbs(called, verb);
  text += exit_status() + section("SEE ALSO") + ".BR " + roff_text(command.name) + " (1)\n";
  return {name, text};
}

ManualPage command_page(const Verb& command) {
  std::string text =
      title(command.name) + name_line(command.name, "an eight-plane AI fabric on one laptop") +
      section("SYNOPSIS") + synopsis(command.name, command) + section("DESCRIPTION") +
      "Replays production incidents on a fabric of eight planes, in network "
      "namespaces with real packets (as root) or simulated "
      "(\\fB\\-\\-world sim\\fR, as any user), and judges what the packets "
      "show.\n" +
      section("VERBS");
  for (const Verb& verb : command.verbs) {
    text += ".TP\n" + bold(verb.name) + "\n" + roff_text(verb.about) + "\n";
  }
  text += section("OPTIONS") + options_text(command, false);
  text += section("FILES") +
          ".TP\n.I runs/\nRun folders, and \\fIlatest\\fR, which points to the newest with a "
          "verdict. Where this folder cannot be written they are in "
          "\\fI$XDG_STATE_HOME/mrclab/runs\\fR, by default \\fI~/.local/state/mrclab/runs\\fR.\n"
          ".TP\n.I /usr/share/mrclab/topologies/\nThe fabrics and incidents that come with it.\n"
          ".TP\n.I /run/mrclab/\nLabs that stay.\n";
  text += exit_status() + section("SEE ALSO");
  for (size_t i = 0; i < command.verbs.size(); ++i) {
    text += ".BR " + roff_text(command.name + "-" + command.verbs[i].name) +
            (i + 1 < command.verbs.size() ? " (1),\n" : " (1)\n");
  }
  return {command.name, text};
}

}  // namespace

std::string roff_text(const std::string& text) {
  std::string safe;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) safe += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '"') {
      safe += "\\(dq";  // headings stand in quotes
    } else {
      safe += c;
    }
  }
  return safe;
}

std::vector<ManualPage> manual_pages(const Verb& command) {
  std::vector<ManualPage> pages{command_page(command)};
  for (const Verb& verb : command.verbs) pages.push_back(verb_page(command, verb));
  return pages;
}

}  // namespace mrclab::lab
