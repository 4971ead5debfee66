#include "analysis/report/serve_form.h"

#include "analysis/report/form_parts.h"

namespace mrclab::analysis {
namespace {

ValueForm number_form() { return ValueForm::of(ValueForm::Kind::kNumber); }

ValueForm spread_form() {
  return object({{"p50_ns", count_form(), "half took no longer"},
                 {"p99_ns", count_form(), "99 % took no longer"},
                 {"p999_ns", count_form(), "99.9 % took no longer"},
                 {"max_ns", count_form(), "the longest"},
                 {"open", count_form(), "of these those that count so far"}});
}

ValueForm request_form() {
  return object({{"n", count_form(), "its number, from 0"},
                 {"arrival_ns", count_form(), "when it came"},
                 {"input", count_form(), "tokens of the prompt"},
                 {"output", count_form(), "tokens of the answer"},
                 {"prefill_rank", count_form(), "that computes the prompt"},
                 {"decode_rank", count_form(), "that makes the answer"},
                 {"cache_bytes", count_form(), "of keys and values, between them"},
                 {"computed_ns", or_null(count_form()), "the prompt is; null: it is not"},
                 {"cached_ns", or_null(count_form()), "all keys and values have arrived"},
                 {"first_token_ns", or_null(count_form()), "of the answer"},
                 {"last_token_ns", or_null(count_form()), "of the answer"},
                 {"tokens", count_form(), "that have come"},
                 {"fabric_ttft_ns", or_null(count_form()),
                  "of the time to the first token what the fabric took"},
                 {"fabric_tpot_ns", or_null(count_form()),
                  "of the mean time of a token behind it what the fabric took"}});
}

}  // namespace

ValueForm serve_form() {
  const ValueForm message =
      object({{"group", ValueForm::of(ValueForm::Kind::kText), "kv: caches; ep: of experts"},
              {"count", count_form(), "that were posted"},
              {"open", count_form(), "of them those that have not arrived"},
              {"bytes", count_form(), "of those that arrived"},
              {"p50_ns", count_form(), "half took no longer"},
              {"p99_ns", count_form(), "99 % took no longer"},
              {"p999_ns", count_form(), "99.9 % took no longer"},
              {"max_ns", count_form(), "the longest"}});
  const ValueForm objective = object(
      {{"ttft_ns", count_form(), "to the first token"},
       {"tpot_ns", count_form(), "of each token behind it, the mean"},
       {"requests", count_form(), "that have arrived"},
       {"within", count_form(), "that kept both"},
       {"open", count_form(), "of which it is not known"},
       {"goodput_per_s", number_form(), "requests within it, a second of the service's own time"}});
  return object(
      {{"prefill_ranks", count_form(), "rank 0 and so on"},
       {"decode_ranks", count_form(), "those behind them"},
       {"compression", number_form(), "the service takes so many times as long as the run"},
       {"served", count_form(), "requests whose whole answer has come"},
       {"ttft", or_null(spread_form()), "from a request's arrival to its first token"},
       {"fabric_ttft", or_null(spread_form()), "what the fabric took of it"},
       {"tpot", or_null(spread_form()), "mean time of an answer's tokens behind the first"},
       {"fabric_tpot", or_null(spread_form()), "what the fabric took of it"},
       {"objective", or_null(objective), "null: there is none"},
       {"messages", ValueForm::list(message), "from when a rank posts one to when it is whole"},
       {"requests", ValueForm::list(request_form()), "by arrival"},
       {"requests_left_out", count_form(), "behind those"}});
}

}  // namespace mrclab::analysis
