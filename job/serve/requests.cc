#include "job/serve/requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/base/exponential_time.h"
#include "fabric/base/random.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "job/import/trace_bytes.h"
#include "job/plan/compute_time.h"
#include "job/serve/cache_size.h"
#include "job/serve/request_trace.h"

namespace mrclab::job {
namespace {

__extension__ using WideProduct = __int128;

/// Which draws of an entry's requests: of their arrivals, prompts and answers.
enum class RequestDraw : uint32_t { kArrival, kInput, kOutput };

uint32_t drawn_tokens(uint32_t mean, Probability spread, uint64_t key, RequestDraw what,
                      uint32_t number) {
  if (spread.ppb == 0) return mean;
  const auto most = static_cast<int64_t>(WideProduct{mean} * spread.ppb / Probability::kOne);
  const uint64_t drawn =
      draw(key, NodeId{0}, PortId{static_cast<uint32_t>(what)}, DrawPurpose::kWorkload, number);
  const int64_t more =
      static_cast<int64_t>(below(drawn, 2 * static_cast<uint64_t>(most) + 1)) - most;
  return static_cast<uint32_t>(std::clamp<int64_t>(mean + more, 1, kMaxTokens));
}

Requests drawn_requests(const ServeSpec& spec, uint64_t seed) {
  const DrawnRequests& drawn = *spec.drawn;
  // A second of the service, as a run has it, by the requests in it.
  const FabricTime mean = FabricTime::from_ps(
      static_cast<int64_t>(WideProduct{compressed(spec, FabricTime::from_ms(1'000'000)).ps()} /
                           static_cast<WideProduct>(drawn.milli_rate)));
  const uint64_t key = seed ^ job_key(spec.name);
  Requests requests;
  FabricTime at;
  for (uint32_t i = 0; i < drawn.count && at <= kMaxServeTime; ++i) {
    at += exponential_time(mean, key ^ static_cast<uint64_t>(RequestDraw::kArrival), i);
    requests.list.push_back(
        {at, drawn_tokens(drawn.input, drawn.spread, key, RequestDraw::kInput, i),
         drawn_tokens(drawn.output, drawn.spread, key, RequestDraw::kOutput, i)});
  }
  return requests;
}

uint32_t cut_tokens(uint32_t tokens, uint32_t most, uint32_t& cut) {
  if (most == 0 || tokens <= most) return tokens;
  ++cut;
  return most;
}

Requests traced_requests(const ServeSpec& spec) {
  const TracedRequests& traced = *spec.traced;
  const RequestTrace trace =
      read_requests(read_trace_bytes(traced.file), traced.file, traced.format, traced.at_most);
  Requests requests;
  uint32_t cut = 0;
  for (const TracedRequest& one : trace.requests) {
    requests.list.push_back({compressed(spec, one.arrival / traced.faster),
                             cut_tokens(one.input, traced.input_at_most, cut),
                             cut_tokens(one.output, traced.output_at_most, cut)});
  }
  const FabricTime span = trace.requests.back().arrival;
  requests.notes.push_back(fmt::format(
      "{} of a trace of {}, which came in {:.0f} s{}",
      counted_noun(trace.requests.size(), "request"), name_of(trace.format), span.us() / 1e6,
      traced.faster == 1 ? "" : fmt::format(", {} times as fast", traced.faster)));
  if (trace.failed > 0) {
    requests.notes.push_back(fmt::format("{} without a prompt or an answer left out",
                                         counted_noun(trace.failed, "request")));
  }
  if (cut > 0) {
    requests.notes.push_back(
        fmt::format("{} cut to what the entry allows",
                    counted_noun(cut, {"prompt or answer", "prompts and answers"})));
  }
  return requests;
}

}  // namespace

Requests requests_of(const ServeSpec& spec, uint64_t seed) {
  Requests requests = spec.traced ? traced_requests(spec) : drawn_requests(spec, seed);
  if (requests.list.back().arrival > kMaxServeTime) {
    throw InputError(
        fmt::format("requests that come later than {} of the run: expected fewer, a "
                    "higher rate, or a smaller \"scale\"",
                    to_string(kMaxServeTime)));
  }
  return requests;
}

}  // namespace mrclab::job
