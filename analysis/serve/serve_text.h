#pragma once
// What a service came to, as JSON and in a few lines.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/measure/job_result.h"

namespace mrclab::analysis {

/// More requests than these are counted in `requests_left_out`.
inline constexpr size_t kMaxRequestsWritten = 2'000;

/// Times in nanoseconds of the run.
nlohmann::ordered_json to_json(const ServeResult& serve);

/// "chat: 4 prefill and 4 decode ranks, 32 of 32 requests served"; what ended it, or is not known of it
std::string serve_headline(const JobResult& job);
/// Times of tokens and messages, the objective, each a line.
std::vector<std::string> serve_lines(const ServeResult& serve);

/// A row a request, with a head; times in picoseconds of the run, empty where they are not known. `within`: yes, no, open, or empty
/// without an objective.
std::string serve_csv(const ServeResult& serve);

/// Requests within the objective in a second of the service's own time, from the first arrival to the last token, or to the
/// run's end where one is open; zero without an objective.
double serve_goodput(const ServeResult& serve);

}  // namespace mrclab::analysis
