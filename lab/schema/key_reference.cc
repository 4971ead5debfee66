#include "lab/schema/key_reference.h"

#include <fmt/format.h>

#include "fabric/node/event_kind.h"
#include "lab/schema/json_schema.h"

namespace mrclab::lab {
namespace {

using Kind = ValueForm::Kind;

constexpr size_t kWordsShown = 16;

/// A bar would end a cell, and a bracket may begin a link.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string values_text(const ValueForm& form);

std::string words_text(const std::vector<std::string>& words) {
  if (words.size() > kWordsShown) return "a word";
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + word + "`";
  return text;
}

std::string either_text(const ValueForm& form) {
  std::string text;
  for (const ValueForm& part : form.parts) {
    const std::string next = values_text(part);
    if (text.find(next) != std::string::npos) continue;
    text += (text.empty() ? "" : ", or ") + next;
  }
  return text;
}

std::string values_text(const ValueForm& form) {
  switch (form.kind) {
    case Kind::kAnything: return "anything";
    case Kind::kNothing: return "nothing";
    case Kind::kText: return "text";
    case Kind::kName: return "a name";
    case Kind::kWord: return words_text(form.words);
    case Kind::kSwitch: return "`on`, `off`";
    case Kind::kInteger:
      return form.max == INT64_MAX ? "a number" : fmt::format("{} to {}", form.min, form.max);
    case Kind::kNumber: return "a number";
    case Kind::kTrueFalse: return "true, false";
    case Kind::kTime: return "a duration";
    case Kind::kBytes: return "a size";
    case Kind::kRate: return "a rate";
    case Kind::kShare: return "a share";
    case Kind::kErrorRate: return "errors per bit";
    case Kind::kMultiple: return "a multiple";
    case Kind::kHex: return "hex digits";
    case Kind::kMap: return "a map, below";
    case Kind::kMapOf: return "a map of names to " + values_text(form.parts[0]);
    case Kind::kList: return "a list of " + values_text(form.parts[0]);
    case Kind::kEither: return either_text(form);
  }
  return "";
}

/// Appends a section for `form`, if it is or holds a map, and for all maps in it.
void add_sections(const ValueForm& form, const std::string& title, size_t depth,
                  std::string& page) {
  if (form.kind != Kind::kMap) {
    for (const ValueForm& part : form.parts) add_sections(part, title, depth, page);
    return;
  }
  page += fmt::format("\n{} {}\n\n| key | values | what |\n|---|---|---|\n",
                      std::string(std::min<size_t>(depth, 4), '#'), title);
  for (const ValueForm::Key& key : form.keys) {
    page += fmt::format("| `{}`{} | {} | {} |\n", key.name,
                        key.need == ValueForm::Key::kRequired ? " (needed)" : "",
                        cell(values_text(key.form)), cell(key.about));
  }
  for (const ValueForm::Key& key : form.keys) {
    // A fabric has a chapter of its own, and several faults at once are faults.
    // So are the options and expectations of a contrast.
    const bool again = title.find("contrast") != std::string::npos && key.name != "watchdog";
    if (key.name == "fabric" || key.name == "parallel" || again) continue;
    add_sections(key.form, fmt::format("{} / `{}`", title, key.name), depth + 1, page);
  }
}

}  // namespace

std::string key_reference() {
  std::string page =
      "# All keys\n\n"
      "What files may hold, made by `mrclab schema --markdown` from the tables by which they are "
      "read. A duration is written\nas `300us` (ps, ns, us, ms, s; in scenarios also `rtt`, the "
      "fabric's base round trip), a size as `8MiB` (B, kB, MB, GB,\nKiB, MiB, GiB), a rate as "
      "`100Gb/s` (kb/s, Mb/s, Gb/s, Tb/s), a share as `20%` or `0.2`, errors per bit as `1e-6`, "
      "a\nmultiple (of the plane's bandwidth-delay product) as `0.8`. Of the kinds of a workload, "
      "fault or expectation an entry has\none.\n";
  for (const DocumentForm& document : document_forms()) {
    page += fmt::format("\n## {}\n\n{}. The schema: `mrclab schema {}`.\n", document.name,
                        document.about, document.name);
    add_sections(document.form(), std::string(document.name), 3, page);
  }
  page +=
      "\n## events.jsonl\n\nWhat nodes and the lab recorded, a line each, by `kind`.\n\n"
      "| kind | who writes it | meaning |\n|---|---|---|\n";
  for (const EventKindInfo& kind : kEventKinds) {
    page += fmt::format("| `{}` | {} | {} |\n", kind.name, kind.writer, kind.meaning);
  }
  return page;
}

}  // namespace mrclab::lab
