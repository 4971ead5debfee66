#pragma once
// Traces of requests to services of others, with arrivals and lengths:
//
//   azure      TIMESTAMP,ContextTokens,GeneratedTokens      AzurePublicDataset, Azure LLM inference traces of 2023 and 2024:
//              a date with up to 9 digits of a second, and in 2024 an offset of zero hours
//   mooncake   {"timestamp": 27482, "input_length": 6758, "output_length": 500, ...}   a line each, milliseconds
//   burstgpt   Timestamp,...,Request tokens,Response tokens,...    seconds; an answer without tokens has failed
//   vidur      arrived_at,num_prefill_tokens,num_decode_tokens     seconds
//
// Columns are found by their names. Of a file's contents no message shows anything: who may name a file in a scenario may
// be somebody else than who may read it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

inline constexpr size_t kMaxRequestLine = size_t{64} << 10;

/// As its file has it.
struct TracedRequest {
  FabricTime arrival;              ///< counted from the first one
  uint32_t input = 0, output = 0;  ///< tokens, each at least 1
};

struct RequestTrace {
  RequestFormat format = RequestFormat::kAzure;
  std::vector<TracedRequest> requests;  ///< by arrival; of one instant in the order of the file
  uint32_t failed = 0;                  ///< that have no prompt or no answer, and are left out
};

std::string_view name_of(RequestFormat format);
/// Empty: no format is called so.
std::optional<RequestFormat> request_format_named(std::string_view word);

/// Reads `text` up to its `at_most`-th request; `format` empty: by its first line. Throws InputError with `name` and line for
/// what is none of these, a line of more than kMaxRequestLine, or a file without requests.
RequestTrace read_requests(std::string_view text, const std::string& name,
                           std::optional<RequestFormat> format, uint32_t at_most);

}  // namespace mrclab::job
