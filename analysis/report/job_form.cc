#include "analysis/report/job_form.h"

#include "analysis/report/form_parts.h"
#include "analysis/report/serve_form.h"

namespace mrclab::analysis {
namespace {

using Form = ValueForm;

Form text() { return Form::of(Form::Kind::kText); }

Form step_form() {
  return object(
      {{"n", count_form(), "its number, from 0"},
       {"begin_ns", count_form(), "the end of those before it, or the job's begin"},
       {"end_ns", or_null(count_form()), "of its last rank; null: it is open"},
       {"compute_ns", count_form(),
        "a rank computed: of this and the next two the means over ranks"},
       {"exposed_ns", count_form(), "it computed nothing, and data of its own was under way"},
       {"bubble_ns", count_form(), "neither"},
       {"exposed_by_ns", Form::map_of(count_form()),
        "the exposed time by group; groups may overlap"},
       {"ideal_ns", or_null(count_form()), "on a network without loss or queues"},
       {"slowest_rank", count_form(), "that computed longest for it"},
       {"straggler_percent", or_null(Form::of(Form::Kind::kNumber)), "longer than the median rank"},
       {"waited_for", or_null(count_form()), "the rank that others waited for longest"},
       {"waited_ns", count_form(), "for it, by all of them together"},
       {"bytes", count_form(), "of its messages"},
       {"lost", or_null(count_form()), "packets of the job meanwhile; null: not known"},
       {"faults", Form::list(count_form()), "of `faults` those that were on"}});
}

Form turn_form(const Form& died) {
  return object({{"text", text(), "as a sentence"},
                 {"death", died, "the first of the attempt"},
                 {"reported_ns", or_null(count_form()), "to the job's launcher"},
                 {"ended_ns", or_null(count_form()), "when every host had answered or was lost"},
                 {"lost_hosts", Form::list(text()), "that did not answer"},
                 {"begun_ns", or_null(count_form()), "the next attempt; null: there is none"},
                 {"from_step", count_form(), "with which it began"},
                 {"ranks", count_form(), "that it has"},
                 {"gave_up", text(), "why there is none"},
                 {"steps_repeated", count_form(), "that had ended and were run again"},
                 {"time_lost_ns", count_form(),
                  "from the end of the last step that counts until the job went on"},
                 {"rank_time_lost_ns", count_form(), "the same of all ranks together"}});
}

}  // namespace

Form job_form() {
  const Form times = object({{"first", count_form(), "the first step that counts"},
                             {"steps", count_form(), "that count: behind the warm-up, and ended"},
                             {"mean_ns", count_form(), "of their times"},
                             {"p50_ns", count_form(), "half took no longer"},
                             {"p99_ns", count_form(), "99 % took no longer"},
                             {"compute_ns", count_form(), "mean of a step"},
                             {"exposed_ns", count_form(), "mean of a step"},
                             {"bubble_ns", count_form(), "mean of a step"},
                             {"ideal_ns", or_null(count_form()), "mean of a step"}});
  const Form part = object({{"what", text(), "compute, exchange GROUP, wait for rank N, idle"},
                            {"ns", count_form(), "how long, in nanoseconds"}});
  const Form died = object({{"rank", count_form(), "that ended with an error"},
                            {"host", text(), "whose it is"},
                            {"reason", text(), "the error"},
                            {"at_ns", count_form(), "when"}});
  return object(
      {{"name", text(), "of the job"},
       {"text", text(), "what it came to, as a sentence"},
       {"ranks", Form::list(text()), "the host of each"},
       {"groups", Form::list(text()), "by which exposed time is told apart"},
       {"planned", count_form(), "steps"},
       {"warmup", count_form(), "of them those that averages leave out"},
       {"done", count_form(), "steps that ended"},
       {"begin_ns", count_form(), "of its first operation"},
       {"jct_ns", or_null(count_form()), "to the end of its last one; null: it did not end"},
       {"ideal_jct_ns", or_null(count_form()), "on a network without loss or queues"},
       {"step_time", or_null(times), "over the steps that count; null: there are none"},
       {"path", Form::list(part), "what its end waited for; sums to jct_ns"},
       {"died", or_null(died), "null: it did not, or it went on"},
       {"turns", Form::list(turn_form(died)), "attempts that ended with an error"},
       {"notes", Form::list(text()), "what was made of it beside what its entry says"},
       {"missing", text(), "why times of ranks are not known; empty: they are"},
       {"steps", Form::list(step_form()), "that have begun"},
       {"steps_left_out", count_form(), "behind those"},
       {"serve", or_null(serve_form()), "of a service; null: it is a job"}});
}

}  // namespace mrclab::analysis
