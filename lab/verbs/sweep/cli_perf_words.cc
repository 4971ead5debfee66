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

/// The rest of perftest's options, which help does not list.
constexpr OneWord kPerftestRest[] = {
    {"-X,--vector", Takes::kValue, "completions cost no time"},
    {"-o,--outs", Takes::kValue, "writes have no outstanding reads"},
    {"-O,--dualport", Takes::kNothing, "a queue pair of MRC uses the ports of all planes"},
    {"-L,--hop_limit", Takes::kValue, "packets live as long as the fabric needs"},
    {"-f,--margin", Takes::kValue, "a run has no noise at its edges"},
    {"-V,--version", Takes::kNothing, "see mrclab --version"},
    {"--comm_rdma_cm", Takes::kNothing, "queue pairs are there from the beginning"},
    {"--force-link", Takes::kValue, "links are Ethernet"},
    {"--dlid", Takes::kValue, "links are Ethernet"},
    {"--no_lock", Takes::kNothing, "fabric time depends on no CPU"},
    {"--cpu_id", Takes::kValue, "fabric time depends on no CPU"},
    {"--pin_cores", Takes::kValue, "fabric time depends on no CPU"},
    {"--numa_node", Takes::kValue, "fabric time depends on no CPU"},
    {"--disable_numa", Takes::kNothing, "fabric time depends on no CPU"},
    {"--tph_mem", Takes::kValue, "fabric time depends on no CPU"},
    {"--ph", Takes::kValue, "fabric time depends on no CPU"},
    {"--cqe_poll", Takes::kValue, "completions cost no time"},
    {"--disable_dynamic_polling", Takes::kNothing, "completions cost no time"},
    {"--unsolicited_write", Takes::kNothing, "completions cost no time"},
    {"--use_old_post_send", Takes::kNothing, "posting costs no time"},
    {"--recv_post_list", Takes::kValue, "posting costs no time"},
    {"--use-srq", Takes::kNothing, "writes need no receives"},
    {"--use-null-mr", Takes::kNothing, "memory costs no time"},
    {"--mr_per_qp", Takes::kNothing, "memory costs no time"},
    {"--odp", Takes::kNothing, "memory costs no time"},
    {"--mmap", Takes::kValue, "memory costs no time"},
    {"--mmap-offset", Takes::kValue, "memory costs no time"},
    {"--disable_pcie_relaxed", Takes::kNothing, "memory costs no time"},
    {"--use_ib_dm_dmabuf", Takes::kValue, "memory costs no time"},
    {"--gpu_touch", Takes::kValue, "memory costs no time"},
    {"--use_cuda_bus_id", Takes::kValue, "memory costs no time"},
    {"--use_cuda_dmabuf", Takes::kNothing, "memory costs no time"},
    {"--use_cuda_pcie_mapping", Takes::kNothing, "memory costs no time"},
    {"--use_data_direct", Takes::kNothing, "memory costs no time"},
    {"--cuda_mem_type", Takes::kValue, "memory costs no time"},
    {"--use_musa", Takes::kValue, "memory costs no time"},
    {"--use_musa_bus_id", Takes::kValue, "memory costs no time"},
    {"--use_musa_dmabuf", Takes::kNothing, "memory costs no time"},
    {"--use_musa_pcie_mapping", Takes::kNothing, "memory costs no time"},
    {"--use_rocm", Takes::kValue, "memory costs no time"},
    {"--use_rocm_dmabuf", Takes::kNothing, "memory costs no time"},
    {"--use_neuron", Takes::kValue, "memory costs no time"},
    {"--use_neuron_dmabuf", Takes::kNothing, "memory costs no time"},
    {"--use_hl", Takes::kValue, "memory costs no time"},
    {"--use_mlu", Takes::kValue, "memory costs no time"},
    {"--use_mlu_dmabuf", Takes::kNothing, "memory costs no time"},
    {"--use_opencl", Takes::kValue, "memory costs no time"},
    {"--opencl_platform_id", Takes::kValue, "memory costs no time"},
    {"--ipv6-addr", Takes::kNothing, "hosts have IPv6 addresses"},
    {"--bind_source_ip", Takes::kValue, "a host has one address"},
    {"--flow_label", Takes::kValue, "entropy values take the place of flow labels"},
    {"--use_ooo", Takes::kNothing, "MRC places packets in any order"},
    {"--no_enhanced_reorder", Takes::kNothing, "MRC places packets in any order"},
    {"--data_validation", Takes::kNothing, "data is compared in any case"},
    {"--data_validation_debug", Takes::kNothing, "data is compared in any case"},
    {"--payload_file_path", Takes::kValue, "data is a pattern, so that it can be compared"},
    {"--write_with_imm", Takes::kNothing, "write_lat writes with immediate data, write_bw without"},
    {"--wait_destroy", Takes::kValue, "nothing has to wait at the end"},
    {"--report-both", Takes::kNothing, "of -b both directions add up"},
    {"--log_dci_streams", Takes::kValue, "there are no DC queue pairs"},
    {"--log_active_dci_streams", Takes::kValue, "there are no DC queue pairs"},
    {"--aes_xts", Takes::kNothing, "nothing is encrypted"},
    {"--encrypt_on_tx", Takes::kNothing, "nothing is encrypted"},
    {"--sig_before", Takes::kNothing, "nothing is encrypted"},
    {"--sig_offload", Takes::kNothing, "nothing is encrypted"},
    {"--aes_block_size", Takes::kValue, "nothing is encrypted"},
    {"--data_enc_keys_number", Takes::kValue, "nothing is encrypted"},
    {"--kek_path", Takes::kValue, "nothing is encrypted"},
    {"--credentials_path", Takes::kValue, "nothing is encrypted"},
    {"--data_enc_key_app_path", Takes::kValue, "nothing is encrypted"},
    {"-A,--atomic_type", Takes::kValue, "it belongs to tests of other traffic"},
    {"-g,--mcg", Takes::kNothing, "it belongs to tests of other traffic"},
    {"-M,--MGID", Takes::kValue, "it belongs to tests of other traffic"},
    {"-B,--source_mac", Takes::kValue, "it belongs to tests of other traffic"},
    {"-E,--dest_mac", Takes::kValue, "it belongs to tests of other traffic"},
    {"-J,--dest_ip", Takes::kValue, "it belongs to tests of other traffic"},
    {"-j,--source_ip", Takes::kValue, "it belongs to tests of other traffic"},
    {"-K,--dest_port", Takes::kValue, "it belongs to tests of other traffic"},
    {"-k,--source_port", Takes::kValue, "it belongs to tests of other traffic"},
    {"-Y,--ethertype", Takes::kValue, "it belongs to tests of other traffic"},
    {"-G,--use_rss", Takes::kNothing, "it belongs to tests of other traffic"},
    {"-v,--mac_fwd", Takes::kNothing, "it belongs to tests of other traffic"},
    {"-Z,--server", Takes::kNothing, "it belongs to tests of other traffic"},
    {"-P,--client", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--remote_mac", Takes::kValue, "it belongs to tests of other traffic"},
    {"--local_mac", Takes::kValue, "it belongs to tests of other traffic"},
    {"--remote_ip", Takes::kValue, "it belongs to tests of other traffic"},
    {"--local_ip", Takes::kValue, "it belongs to tests of other traffic"},
    {"--remote_port", Takes::kValue, "it belongs to tests of other traffic"},
    {"--local_port", Takes::kValue, "it belongs to tests of other traffic"},
    {"--tcp", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--raw_ipv6", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--raw_mcast", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--promiscuous", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--sniffer", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--flows", Takes::kValue, "it belongs to tests of other traffic"},
    {"--flows_burst", Takes::kValue, "it belongs to tests of other traffic"},
    {"--reply_every", Takes::kValue, "it belongs to tests of other traffic"},
    {"--vlan_en", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--vlan_pcp", Takes::kValue, "it belongs to tests of other traffic"},
    {"--connectionless", Takes::kNothing, "it belongs to tests of other traffic"},
    {"--send_with_imm", Takes::kNothing, "it belongs to tests of other traffic"},
};

constexpr OneWord kPerftestRefused[] = {
    {"-u,--qp-timeout", Takes::kValue, "--transport \"{ack_timeout: 1ms}\""},
    {"--retry_count", Takes::kValue, "--transport \"{linear_retries: 7}\""},
    {"-w,--limit_bw", Takes::kValue, "a scenario with \"goodput: {at_least: ...}\""},
    {"-c,--connection", Takes::kValue,
     "MRC, or another transport in a scenario (mrclab compare --help)"},
    {"--rate_limit", Takes::kValue, "a scenario with \"load:\""},
    {"--run_infinitely", Takes::kNothing, "-D with a fabric time"},
    {"-y,--limit_msgrate", Takes::kValue, "a scenario with \"goodput: {at_least: ...}\""},
    {"-W,--report-counters", Takes::kValue, "mrclab run, whose verdict has all counters"},
    {"--rate_limit_type", Takes::kValue, "a scenario with \"load:\""},
    {"--rate_units", Takes::kValue, "a scenario with \"load:\""},
    {"--burst_size", Takes::kValue, "a scenario with \"load:\""},
    {"--typical_pkt_size", Takes::kValue, "a scenario with \"load:\""},
    {"--reversed", Takes::kNothing, "--from and --to exchanged"},
    {"--report-per-port", Takes::kNothing, "mrclab run and mrclab analyze --section planes"},
    {"--latency_gap", Takes::kValue, "a scenario with ping_pong, beside other work"},
    {"--congest_type", Takes::kValue, "another transport in a scenario (mrclab compare --help)"},
    {"-U,--report-unsorted", Takes::kNothing, "--json, which has the summary alone"},
    {"-H,--report-histogram", Takes::kNothing, "--json, which has the summary alone"},
};

constexpr OneWord kNccl[] = {
    {"-p,--parallel_init", Takes::kValue, "nothing is initialized"},
    {"-r,--root", Takes::kValue, "none of these collectives has a root"},
    {"-z,--blocking", Takes::kValue, "hosts do nothing beside"},
    {"-y,--stream_null", Takes::kValue, "there are no CUDA streams"},
    {"-T,--timeout", Takes::kValue, "a run ends when its work does, or a queue pair fails"},
    {"-G,--cudagraph", Takes::kValue, "there are no CUDA graphs"},
    {"-C,--report_cputime", Takes::kValue, "results are in fabric time"},
    {"-R,--local_register", Takes::kValue, "memory is registered from the beginning"},
    {"-N,--run_cycles", Takes::kValue, "a run has no chance in it: a second cycle is the same"},
    {"-S,--report_timestamps", Takes::kValue, "results are in fabric time, which has no date"},
    {"-x,--cta_policy", Takes::kValue, "no GPU works at it"},
    {"-D,--device_implementation", Takes::kValue, "no GPU works at it"},
    {"-V,--device_cta_count", Takes::kValue, "no GPU works at it"},
    {"-M,--memory", Takes::kValue, "memory costs no time"},
    {"-u,--unalign", Takes::kValue, "memory costs no time"},
};

constexpr OneWord kNcclRefused[] = {
    {"-I,--per_iter_timing", Takes::kValue, "the mean over the iterations, without -I"},
    {"-K,--per_iter_skip", Takes::kValue, "-w, which times no iterations before"},
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

void add_words(CLI::App& verb, std::span<const OneWord> words, const char* group,
               const std::shared_ptr<WordsWithoutMeaning>& given) {
  for (const OneWord& word : words) {
    add_word(verb, word, group,
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
                                             std::span<const OneWord> unlisted,
                                             std::span<const OneWord> refused) {
  auto given = std::make_shared<WordsWithoutMeaning>();  // shared with the callbacks of the options
  add_words(verb, taken, kGroup, given);
  add_words(verb, unlisted, kHidden, given);
  refuse_words(verb, refused);
  return given;
}

}  // namespace

void WordsWithoutMeaning::print() const {
  for (const std::string& note : notes_) fmt::print(stderr, "mrclab: note: {}\n", note);
}

std::shared_ptr<WordsWithoutMeaning> add_perftest_words(CLI::App& verb) {
  return add_all(verb, kPerftest, kPerftestRest, kPerftestRefused);
}

std::shared_ptr<WordsWithoutMeaning> add_nccl_words(CLI::App& verb) {
  return add_all(verb, kNccl, {}, kNcclRefused);
}

}  // namespace mrclab::lab
