#include "analysis/serve/serve_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/measure/message_times.h"
#include "analysis/serve/serve_times.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json ns_of(FabricTime t) { return t == FabricTime::never() ? Json(nullptr) : Json(t.ns()); }

std::string digits(double value, int behind) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", behind, value);
  return text;
}

Json spread_json(const RequestTimes& times) {
  if (times.so_far.empty()) return nullptr;
  return {{"p50_ns", time_at_thousandth(times.so_far, 500).ns()},
          {"p99_ns", time_at_thousandth(times.so_far, 990).ns()},
          {"p999_ns", time_at_thousandth(times.so_far, 999).ns()},
          {"max_ns", times.longest.ns()},
          {"open", times.open}};
}

Json objective_json(const ServeResult& serve) {
  if (!serve.objective) return nullptr;
  const ObjectiveCount count = objective_count(serve, serve.end);
  return {{"ttft_ns", serve.objective->ttft.ns()},
          {"tpot_ns", serve.objective->tpot.ns()},
          {"requests", count.all},
          {"within", count.within},
          {"open", count.open},
          {"goodput_per_s", std::round(serve_goodput(serve) * 1e3) / 1e3}};
}

Json request_json(const ServedRequest& request, size_t number) {
  return {{"n", number},
          {"arrival_ns", request.arrival.ns()},
          {"input", request.input},
          {"output", request.output},
          {"prefill_rank", request.prefill_rank},
          {"decode_rank", request.decode_rank},
          {"cache_bytes", request.cache_bytes},
          {"computed_ns", ns_of(request.computed)},
          {"cached_ns", ns_of(request.cached)},
          {"first_token_ns", ns_of(request.first_token)},
          {"last_token_ns", ns_of(request.last_token)},
          {"tokens", request.tokens},
          {"fabric_ttft_ns", request.begun() ? Json(request.fabric_ttft.ns()) : Json(nullptr)},
          {"fabric_tpot_ns", request.served() ? Json(request.fabric_tpot.ns()) : Json(nullptr)}};
}

std::string spread_text(const RequestTimes& times, const RequestTimes& fabric) {
  const auto at = [](const RequestTimes& of, size_t thousandths) {
    return to_string(time_at_thousandth(of.so_far, thousandths));
  };
  return "p50 " + at(times, 500) + ", p99 " + at(times, 990) + ", max " + to_string(times.longest) +
         "; the fabric's p50 " + at(fabric, 500) + ", max " + to_string(fabric.longest) +
         (times.open > 0 ? "; " + std::to_string(times.open) + " open" : "");
}

}  // namespace

double serve_goodput(const ServeResult& serve) {
  if (!serve.objective || serve.requests.empty()) return 0;
  FabricTime last;
  for (const ServedRequest& request : serve.requests) {
    if (request.arrival < serve.end) last = std::max(last, std::min(request.last_token, serve.end));
  }
  const FabricTime span = last - serve.requests.front().arrival;
  if (span <= FabricTime::zero()) return 0;
  const auto within = static_cast<double>(objective_count(serve, serve.end).within);
  return within / (span.us() / 1e6 * serve.compression);
}

std::string serve_csv(const ServeResult& serve) {
  std::string text =
      "request,arrival_ps,input,output,prefill_rank,decode_rank,cache_bytes,computed_ps,cached_ps,"
      "first_token_ps,last_token_ps,tokens,ttft_ps,fabric_ttft_ps,tpot_ps,fabric_tpot_ps,within\n";
  const auto ps = [](FabricTime t) {
    return t == FabricTime::never() ? std::string() : std::to_string(t.ps());
  };
  constexpr FabricTime kNone = FabricTime::never();
  for (size_t i = 0; i < serve.requests.size(); ++i) {
    const ServedRequest& r = serve.requests[i];
    std::string word;
    if (serve.objective) {
      const Within is = within(r, *serve.objective, serve.end);
      word = is == Within::kYes ? "yes" : is == Within::kNo ? "no" : "open";
    }
    for (const std::string& field :
         {std::to_string(i), ps(r.arrival), std::to_string(r.input), std::to_string(r.output),
          std::to_string(r.prefill_rank), std::to_string(r.decode_rank),
          std::to_string(r.cache_bytes), ps(r.computed), ps(r.cached), ps(r.first_token),
          ps(r.last_token), std::to_string(r.tokens), ps(r.begun() ? r.ttft() : kNone),
          ps(r.begun() ? r.fabric_ttft : kNone), ps(r.served() ? r.tpot() : kNone),
          ps(r.served() ? r.fabric_tpot : kNone)}) {
      text += field + ",";
    }
    text += word + "\n";
  }
  return text;
}

Json to_json(const ServeResult& serve) {
  Json messages = Json::array(), requests = Json::array();
  for (const MessageSpread& one : serve.messages) {
    messages.push_back({{"group", one.group},
                        {"count", one.count},
                        {"open", one.open},
                        {"bytes", one.bytes},
                        {"p50_ns", one.p50.ns()},
                        {"p99_ns", one.p99.ns()},
                        {"p999_ns", one.p999.ns()},
                        {"max_ns", one.max.ns()}});
  }
  const size_t written = std::min(serve.requests.size(), kMaxRequestsWritten);
  for (size_t i = 0; i < written; ++i) requests.push_back(request_json(serve.requests[i], i));
  return {{"prefill_ranks", serve.prefill_ranks},
          {"decode_ranks", serve.decode_ranks},
          {"compression", serve.compression},
          {"served", serve.served()},
          {"ttft", spread_json(ttft_times(serve, false, serve.end))},
          {"fabric_ttft", spread_json(ttft_times(serve, true, serve.end))},
          {"tpot", spread_json(tpot_times(serve, false, serve.end))},
          {"fabric_tpot", spread_json(tpot_times(serve, true, serve.end))},
          {"objective", objective_json(serve)},
          {"messages", std::move(messages)},
          {"requests", std::move(requests)},
          {"requests_left_out", serve.requests.size() - written}};
}

std::string serve_headline(const JobResult& job) {
  const ServeResult& serve = *job.serve;
  const std::string text = job.name + ": " + std::to_string(serve.prefill_ranks) + " prefill and " +
                           counted_noun(serve.decode_ranks, "decode rank") + ", " +
                           std::to_string(serve.served()) + " of " +
                           counted_noun(serve.requests.size(), "request") + " served";
  if (job.died) {
    return text + ", died at " + to_string(job.died->at) + ": " + job.rank_name(job.died->rank) +
           ", " + job.died->reason;
  }
  return job.missing.empty() ? text : text + "; " + job.missing;
}

std::vector<std::string> serve_lines(const ServeResult& serve) {
  std::vector<std::string> lines;
  const auto add_times = [&](const char* what, const auto& times_of) {
    const RequestTimes times = times_of(serve, false, serve.end);
    if (times.so_far.empty()) return;
    lines.push_back(what + spread_text(times, times_of(serve, true, serve.end)));
  };
  add_times("first token: ", ttft_times);
  add_times("each token behind it: ", tpot_times);
  if (serve.objective) {
    const ObjectiveCount count = objective_count(serve, serve.end);
    const double share =
        count.all == 0 ? 0
                       : 100.0 * static_cast<double>(count.within) / static_cast<double>(count.all);
    lines.push_back("within " + to_string(serve.objective->ttft) + " and " +
                    to_string(serve.objective->tpot) + ": " + std::to_string(count.within) +
                    " of " + counted_noun(count.all, "request") + " (" + digits(share, 1) +
                    " %), " + digits(serve_goodput(serve), 2) + " a second of the service");
  }
  for (const MessageSpread& one : serve.messages) {
    lines.push_back("messages " + one.group + ": " + std::to_string(one.count) + ", p50 " +
                    to_string(one.p50) + ", p99 " + to_string(one.p99) + ", p99.9 " +
                    to_string(one.p999) + ", max " + to_string(one.max) +
                    (one.open > 0 ? ", " + std::to_string(one.open) + " open" : ""));
  }
  if (serve.compression > 1) {
    lines.push_back("the service takes " + digits(serve.compression, 1) +
                    " times as long as this run of it");
  }
  return lines;
}

}  // namespace mrclab::analysis
