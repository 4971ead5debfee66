#include "scenario/spec/program_keys.h"

#include <fmt/format.h>

#include "scenario/spec/yaml_text.h"

namespace mrclab::lab {
namespace {

using Form = ValueForm;
using Base = const std::filesystem::path;

const Form kProgramText = Form::of(Form::Kind::kText);

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

std::string read_check_name(const YamlValue& value) {
  const std::string name = value.as_string();
  const bool plain = name.find_first_of("\n\t\"\\") == std::string::npos;
  if (name.empty() || name.size() > kMaxCheckName || !plain) {
    value.fail_expecting("a name of at most 64 characters on one line");
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
             "its exit code does not matter")});
  return kKeys;
}

const KeyTable<CheckProgram, Base>& check_program_keys() {
  using S = CheckProgram;
  using R = KeyRow<S, Base>;
  static const KeyTable<S, Base> kKeys(
      {R::of("command", &S::command, command_kind(), "for sh -c, in the run folder's words",
             kRequiredKey),
       R::of("name", &S::name, ValueKind{kProgramText, read_check_name, yaml_string},
             "of the check; absent: its command"),
       R::of("cwd", &S::cwd, folder_kind(), "its folder, from the file's"),
       R::of("timeout", &S::timeout, wall_time_kind(), "of this machine's time")});
  return kKeys;
}

}  // namespace mrclab::lab
