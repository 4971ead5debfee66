#include "analysis/report/job_form.h"

namespace mrclab::analysis {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

Form text() { return Form::of(Kind::kText); }
Form count() { return Form::integer(0, INT64_MAX); }
Form or_null(Form form) { return Form::either({Form::of(Kind::kNothing), std::move(form)}); }

/// Every key is there in every document.
Form object(std::vector<Key> keys) {
  for (Key& key : keys) key.need = Key::kRequired;
  return Form::map(std::move(keys));
}

Form step_form() {
  return object(
      {{"n", count(), "its number, from 0"},
       {"begin_ns", count(), "the end of those before it, or the job's begin"},
       {"end_ns", or_null(count()), "of its last rank; null: it is open"},
       {"compute_ns", count(), "a rank computed: of this and the next two the means over ranks"},
       {"exposed_ns", count(), "it computed nothing, and data of its own was under way"},
       {"bubble_ns", count(), "neither"},
       {"exposed_by_ns", Form::map_of(count()), "the exposed time by group; groups may overlap"},
       {"ideal_ns", or_null(count()), "on a network without loss or queues"},
       {"slowest_rank", count(), "that computed longest for it"},
       {"straggler_percent", or_null(Form::of(Kind::kNumber)), "longer than the median rank"},
       {"waited_for", or_null(count()), "the rank that others waited for longest"},
       {"waited_ns", count(), "for it, by all of them together"},
       {"bytes", count(), "of its messages"},
       {"lost", or_null(count()), "packets of the job meanwhile; null: not known"},
       {"faults", Form::list(count()), "of `faults` those that were on"}});
}

}  // namespace

Form job_form() {
  const Form times = object({{"first", count(), "the first step that counts"},
                             {"steps", count(), "that count: behind the warm-up, and ended"},
                             {"mean_ns", count(), "of their times"},
                             {"p50_ns", count(), "half took no longer"},
                             {"p99_ns", count(), "99 % took no longer"},
                             {"compute_ns", count(), "mean of a step"},
                             {"exposed_ns", count(), "mean of a step"},
                             {"bubble_ns", count(), "mean of a step"},
                             {"ideal_ns", or_null(count()), "mean of a step"}});
  const Form part = object(
      {{"what", text(), "compute, exchange GROUP, wait for rank N, idle"}, {"ns", count(), ""}});
  const Form died = object({{"rank", count(), "that ended with an error"},
                            {"host", text(), "whose it is"},
                            {"reason", text(), "the error"},
                            {"at_ns", count(), "when"}});
  return object({{"name", text(), "of the job"},
                 {"text", text(), "what it came to, as a sentence"},
                 {"ranks", Form::list(text()), "the host of each"},
                 {"groups", Form::list(text()), "by which exposed time is told apart"},
                 {"planned", count(), "steps"},
                 {"warmup", count(), "of them those that averages leave out"},
                 {"done", count(), "steps that ended"},
                 {"begin_ns", count(), "of its first operation"},
                 {"jct_ns", or_null(count()), "to the end of its last one; null: it did not end"},
                 {"ideal_jct_ns", or_null(count()), "on a network without loss or queues"},
                 {"step_time", or_null(times), "over the steps that count; null: there are none"},
                 {"path", Form::list(part), "what its end waited for; sums to jct_ns"},
                 {"died", or_null(died), "null: it did not"},
                 {"missing", text(), "why times of ranks are not known; empty: they are"},
                 {"steps", Form::list(step_form()), "that have begun"},
                 {"steps_left_out", count(), "behind those"}});
}

}  // namespace mrclab::analysis
