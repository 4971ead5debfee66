#include "lab/verbs/sweep/cli_perf_words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <span>

#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

enum class Takes : uint8_t { kNothing, kValue };

struct OneWord {
  const char* names;
  Takes takes;
  const char* why;  ///< it changes nothing; or the option to use instead, of one that is refused
};

constexpr const char* kHidden = "";  // from help
constexpr const char* kGroup = "Taken from other tools, without a meaning here";

constexpr OneWord kPerftest[] = {
    {"-F,--CPU-freq", Takes::kNothing, "fabric time depends on no CPU"},
    {"--CPU_freq", Takes::kNothing, "fabric time depends on no CPU"},
    {"--cpu_util", Takes::kNothing, "fabric time depends on no CPU"},
    {"-C,--report-cycles", Takes::kNothing, "results are in fabric time, which has no cycles"},
    {"-d,--ib-dev", Takes::kValue, "a host has one NIC with a port in each plane"},
    {"-i,--ib-port", Takes::kValue, "a queue pair of MRC uses the ports of all planes"},
    {"-x,--gid-index", Takes::kValue, "a host has one address"},
    {"-p,--port", Takes::kValue, "both ends are one program: nothing listens"},
    {"-R,--rdma_cm", Takes::kNothing, "queue pairs are there from the beginning"},
    {"-z,--com_rdma_cm", Takes::kNothing, "queue pairs are there from the beginning"},
    {"-I,--inline_size", Takes::kValue, "the NIC's access to its host's memory is not modelled"},
    {"-Q,--cq-mod", Takes::kValue, "completions cost no time"},
    {"-l,--post_list", Takes::kValue, "posting costs no time"},
    {"-r,--rx-depth", Takes::kValue, "writes need no receives"},
    {"-e,--events", Takes::kNothing, "completions cost no time"},
    {"-S,--sl", Takes::kValue, "the fabric defines the class of packets (dscps)"},
    {"-T,--tos", Takes::kValue, "the fabric defines the class of packets (dscps)"},
    {"--tclass", Takes::kValue, "the fabric defines the class of packets (dscps)"},
    {"--perform_warm_up", Takes::kNothing, "there are no caches to warm"},
    {"--use_hugepages", Takes::kNothing, "memory costs no time"},
    {"--use_cuda", Takes::kValue, "memory costs no time"},
    {"--ipv6", Takes::kNothing, "hosts have IPv6 addresses"},
    {"--pkey_index", Takes::kValue, "all hosts are in one partition"},
    {"--dont_xchg_versions", Takes::kNothing, "both ends are one program"},
};

constexpr OneWord kPerftestRefused[] = {
    {"-u,--qp-timeout", Takes::kValue, "--transport \"{ack_timeout: 1ms}\""},
    {"--retry_count", Takes::kValue, "--transport \"{linear_retries: 7}\""},
    {"-w,--limit_bw", Takes::kValue, "a scenario with \"goodput: {at_least: ...}\""},
    {"-c,--connection", Takes::kValue,
     "MRC, or another transport in a scenario (mrclab compare --help)"},
    {"--rate_limit", Takes::kValue, "a scenario with \"load:\""},
    {"--run_infinitely", Takes::kNothing, "-D with a fabric time"},
    {"-U,--report-unsorted", Takes::kNothing, "--json, which has the summary alone"},
    {"-H,--report-histogram", Takes::kNothing, "--json, which has the summary alone"},
};

constexpr OneWord kNccl[] = {
    {"-p,--parallel_init", Takes::kValue, "nothing is initialized"},
    {"-d,--datatype", Takes::kValue, "elements are uint32 of 4 bytes, as in the column type"},
    {"-r,--root", Takes::kValue, "none of these collectives has a root"},
    {"-z,--blocking", Takes::kValue, "hosts do nothing beside"},
    {"-y,--stream_null", Takes::kValue, "there are no CUDA streams"},
    {"-T,--timeout", Takes::kValue, "a run ends when its work does, or a queue pair fails"},
    {"-G,--cudagraph", Takes::kValue, "there are no CUDA graphs"},
    {"-C,--report_cputime", Takes::kValue, "results are in fabric time"},
    {"-R,--local_register", Takes::kValue, "memory is registered from the beginning"},
};

constexpr OneWord kNcclRefused[] = {
    {"-m,--agg_iters", Takes::kValue, "one iteration after the other, without -m"},
    {"-N,--run_cycles", Takes::kValue,
     "a run has no chance in it, so that a second cycle is the same"},
    {"-a,--average", Takes::kValue, "times are the mean over the hosts (-a 1), without -a"},
};

std::string last_name(const OneWord& word) {
  const std::string names = word.names;
  return names.substr(names.rfind(',') + 1);
}

/// Calls back with the option as it is called here, and its value.
template <class Found>
void add_word(CLI::App& verb, const OneWord& word, const char* group, Found found) {
  const std::string name = last_name(word);
  CLI::Option* option = nullptr;
  if (word.takes == Takes::kNothing) {
    option = verb.add_flag_callback(word.names, [found, name] { found(name, std::string()); });
  } else {
    option = verb.add_option_function<std::string>(
        word.names, [found, name](const std::string& value) { found(name, value); });
  }
  option->description(word.why)->group(group);
}

void add_words(CLI::App& verb, std::span<const OneWord> words,
               const std::shared_ptr<WordsWithoutMeaning>& given) {
  for (const OneWord& word : words) {
    add_word(verb, word, kGroup,
             [given, why = word.why](const std::string& name, const std::string&) {
               given->found(fmt::format("{} means nothing here: {}", name, why));
             });
  }
}

void refuse_words(CLI::App& verb, std::span<const OneWord> words) {
  for (const OneWord& word : words) {
    add_word(verb, word, kHidden,
             [instead = word.why](const std::string& name, const std::string&) {
               throw InputError(fmt::format("{} is not here: expected {}", name, instead));
             });
  }
}

std::shared_ptr<WordsWithoutMeaning> add_all(CLI::App& verb, std::span<const OneWord> taken,
                                             std::span<const OneWord> refused) {
  auto given = std::make_shared<WordsWithoutMeaning>();  // shared with the callbacks of the options
  add_words(verb, taken, given);
  refuse_words(verb, refused);
  return given;
}

}  // namespace

void WordsWithoutMeaning::print() const {
  for (const std::string& note : notes_) fmt::print(stderr, "mrclab: note: {}\n", note);
}

std::shared_ptr<WordsWithoutMeaning> add_perftest_words(CLI::App& verb) {
  return add_all(verb, kPerftest, kPerftestRefused);
}

std::shared_ptr<WordsWithoutMeaning> add_nccl_words(CLI::App& verb) {
  return add_all(verb, kNccl, kNcclRefused);
}

}  // namespace mrclab::lab
