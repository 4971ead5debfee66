#include "scenario/spec/program_form.h"

namespace mrclab::lab {

const ValueForm& exec_form() {
  using Form = ValueForm;
  using Key = ValueForm::Key;
  const Form text = Form::of(Form::Kind::kText), time = Form::of(Form::Kind::kTime);
  static const Form kForm =
      Form::map({{"host", Form::either({text, Form::list(text)}), "where it runs", Key::kRequired},
                 {"command", text, "for sh -c", Key::kRequired},
                 {"cwd", text, "its folder, from the file's"},
                 {"at", time, "when it starts"},
                 {"until", Form::word({"end"}), "it is ended with the run"},
                 {"timeout", time, "of this machine's time"},
                 {"may_fail", Form::of(Form::Kind::kSwitch), "its exit code does not matter"}});
  return kForm;
}

const ValueForm& check_program_form() {
  using Form = ValueForm;
  using Key = ValueForm::Key;
  const Form text = Form::of(Form::Kind::kText);
  static const Form kForm = Form::map(
      {{"command", text, "for sh -c, with the run folder as its argument", Key::kRequired},
       {"name", text, "of the check; absent: its command"},
       {"cwd", text, "its folder, from the file's"},
       {"timeout", Form::of(Form::Kind::kTime), "of this machine's time"}});
  return kForm;
}

}  // namespace mrclab::lab
