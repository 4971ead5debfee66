#include "session/lesson_form.h"

namespace mrclab::lab {

const ValueForm& lesson_form() {
  using Form = ValueForm;
  using Key = ValueForm::Key;
  constexpr int64_t kMostMinutes = 600;
  const Form text = Form::of(Form::Kind::kText);
  static const Form kTask = Form::map(
      {{"title", text, "what is done", Key::kRequired},
       {"predict", text, "the question before", Key::kRequired},
       {"try", text, "what to do", Key::kRequired},
       {"deed", text, "faults that the task asks for, as text; absent: it is done without a fault"},
       {"expect", text, "entries of a scenario's `expect:`, as text; or `answer`"},
       {"answer", text, "what is to be typed; a number is as exact as it is written"},
       {"why", text, "shown when it is done", Key::kRequired},
       {"hint", text, "shown while it is not", Key::kRequired},
       {"options", text, "the transport that does it, as in a scenario; if not the lesson's"},
       {"solution", text, "entries of a scenario's `faults:` that do it; for teachers and tests"}});
  static const Form kForm = Form::map(
      {{"title", text, "of the lesson", Key::kRequired},
       {"aim", text, "one sentence for the teacher", Key::kRequired},
       {"minutes", Form::integer(1, kMostMinutes), "how long it takes", Key::kRequired},
       {"scenario", text, "a shipped scenario's name, or the text of one", Key::kRequired},
       {"at", Form::of(Form::Kind::kTime), "where the page stands at first", Key::kRequired},
       {"tasks", Form::list(kTask, 1, kMaxTasks), "one after the other", Key::kRequired}});
  return kForm;
}

}  // namespace mrclab::lab
