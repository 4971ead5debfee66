// Public traces of requests as they are, and what is wrong with those that are none.

#include "job/serve/request_trace.h"

#include <doctest/doctest.h>

#include "job/import/trace_bytes.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::job;
using mrclab::test::error_of;

namespace {

RequestTrace read_text(const std::string& text, std::optional<RequestFormat> format = {},
                       uint32_t at_most = 1000) {
  return read_requests(text, "a.csv", format, at_most);
}
std::string error_in(const std::string& text, std::optional<RequestFormat> format = {}) {
  return error_of([&] { read_text(text, format); });
}
std::string sample(const std::string& name) {
  return read_trace_bytes(std::string(MRCLAB_SOURCE_DIR) + "/tests/job/samples/" + name);
}

}  // namespace

TEST_CASE("Azure's trace has its requests at ten millionths of a second, with their tokens") {
  const RequestTrace trace = read_text(sample("azure-llm-2023-code-first200.csv"));
  CHECK(trace.format == RequestFormat::kAzure);
  REQUIRE(trace.requests.size() == 200);
  CHECK(trace.requests[0].input == 4808);
  CHECK(trace.requests[0].output == 10);
  CHECK(trace.requests[0].arrival == FabricTime::zero());
  CHECK(trace.requests[1].arrival == FabricTime::from_us(52'000));
  CHECK(trace.requests[2].arrival == FabricTime::from_us(98'189));
  CHECK(read_text(sample("azure-llm-2023-code-first200.csv"), {}, 3).requests.size() == 3);
}

TEST_CASE("Mooncake's trace has milliseconds, and several requests at one of them in its order") {
  const RequestTrace trace = read_text(sample("mooncake-conversation-first60.jsonl"));
  CHECK(trace.format == RequestFormat::kMooncake);
  REQUIRE(trace.requests.size() == 60);
  CHECK(trace.requests[1].input == 7322);
  CHECK(trace.requests[1].output == 490);
  CHECK(trace.requests[1].arrival == FabricTime::zero());
  CHECK(trace.requests.back().arrival > FabricTime::from_ms(1));
}

TEST_CASE("columns are found by name, failed requests are left out, and dates cross midnight") {
  const RequestTrace burst = read_text(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,1,2.5,ChatGPT,472,18,490,Conversation log\n"
      "45.25,1,2.5,GPT-4,1087,0,1087,API log\n"
      "118,,1,ChatGPT,417,276.0,693,Conversation log\n");
  CHECK(burst.format == RequestFormat::kBurstGpt);
  REQUIRE(burst.requests.size() == 2);
  CHECK(burst.failed == 1);
  CHECK(burst.requests[1].output == 276);
  CHECK(burst.requests[1].arrival == FabricTime::from_ms(113'000));
  const RequestTrace vidur =
      read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n2.5,10,3\n1.5,20,4\n");
  CHECK(vidur.format == RequestFormat::kVidur);
  CHECK(vidur.requests[0].input == 20);  // by arrival
  CHECK(vidur.requests[1].arrival == FabricTime::from_ms(1000));
  const RequestTrace night = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2024-02-28 23:59:59.5+00:00,1,1\r\n2024-03-01 00:00:00+00:00,2,2\r\n");
  CHECK(night.requests[1].arrival == FabricTime::from_ms(86'400'500));  // 2024 has a 29th
}

TEST_CASE(
    "what is wrong with a trace of requests is named with its line, and nothing of it is shown") {
  const std::string head = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  const std::string when = "2023-11-16 18:17:03.9,";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "a.csv: no request: expected a trace of azure"},
      {head, "a.csv: no request"},
      {"root:x:0:0\n", "a.csv:1: expected the head of a table of azure"},
      {head + when + "1\n", "a.csv:2: expected 3 columns, as in the head"},
      {head + "\n18:17,1,1\n", "a.csv:3: expected a date such as"},
      {head + "2023-13-16 18:17:03,1,1\n", "a.csv:2: expected a date such as"},
      {head + when + "-1,1\n", "a.csv:2: expected ContextTokens, 0 to 2097152"},
      {head + when + "1,2097153\n", "a.csv:2: expected GeneratedTokens, 0 to 2097152"},
      {"{\"timestamp\": 1}\n", "a.csv:1: expected a number \"input_length\", 0 to 2097152"},
      {"{\"timestamp\": 1, \n", "a.csv:1: expected a JSON object"},
      {"{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}\n",
       "a.csv:1: expected a number \"timestamp\""},
      {"{" + std::string(70'000, ' ') + "}\n", "a.csv:1: expected a line of at most 64 KiB"}};
  for (const auto& [text, expected] : cases) {
    const std::string error = error_in(text);
    CAPTURE(error);
    CHECK(error.find(expected) != std::string::npos);
    CHECK(error.find("root") == std::string::npos);
  }
  CHECK(error_in(head, RequestFormat::kMooncake).find("a.csv:1: expected an object") !=
        std::string::npos);
  CHECK(error_in("{}", RequestFormat::kBurstGpt).find("expected a head with Timestamp") !=
        std::string::npos);
}
