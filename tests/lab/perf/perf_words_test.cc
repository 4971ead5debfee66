// Command lines that people have for perftest and nccl-tests: taken, mapped or refused, and never silently.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/perf/flow_report.h"
#include "lab/perf/nccl_report.h"
#include "lab/perf/perftest_report.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"

namespace mrclab::lab {
namespace {

/// Standard output and error apart, which mrclab() has in one.
struct Run {
  int code = 0;
  std::string out, err;
};
Run cli(const std::vector<std::string>& words) {
  Run run;
  const CommandResult result = mrclab(words);
  run.code = result.code;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    (line.starts_with("mrclab: ") ? run.err : run.out) += line + "\n";
  return run;
}

TEST_CASE("perftest's options without a meaning here are taken, and each is named") {
  const auto plain = cli({"perf", "write_bw", "pair", "-n", "8"});
  REQUIRE(plain.code == 0);
  for (const auto& words : std::vector<std::vector<std::string>>{{"-F"},
                                                                 {"-d", "mlx5_0"},
                                                                 {"-x", "3"},
                                                                 {"-R"},
                                                                 {"-i", "1"},
                                                                 {"-p", "18515"},
                                                                 {"-Q", "1"},
                                                                 {"-I", "0"},
                                                                 {"-l", "4"},
                                                                 {"-r", "512"},
                                                                 {"-S", "3"},
                                                                 {"-T", "106"},
                                                                 {"--tclass=106"},
                                                                 {"-z"},
                                                                 {"--cpu_util"},
                                                                 {"--perform_warm_up"},
                                                                 {"--CPU-freq"},
                                                                 {"--ib-dev", "mlx5_1"},
                                                                 {"--gid-index=0"}}) {
    std::vector<std::string> all{"perf", "write_bw", "pair", "-n", "8"};
    all.insert(all.end(), words.begin(), words.end());
    const auto run = cli(all);
    CAPTURE(words[0]);
    CHECK(run.code == 0);
    CHECK(run.out == plain.out);
    CHECK(run.err.find("means nothing here: ") != std::string::npos);
  }
  const auto both =
      cli({"perf", "write_lat", "pair", "-n", "4", "-d", "mlx5_0", "-F", "--report_gbits"});
  CHECK(both.code == 0);
  CHECK(
      both.err ==
      "mrclab: note: --CPU-freq means nothing here: fabric time depends on no CPU\n"
      "mrclab: note: --ib-dev means nothing here: a host has one NIC with a port in each plane\n");
}

TEST_CASE("perftest's options that mean something are mapped, or refused with what says the same") {
  const auto small = cli({"perf", "write_bw", "pair", "-n", "8", "-m", "1024", "-N"});
  CHECK(small.code == 0);
  CHECK(small.out.find("Mtu             : 1024[B]") != std::string::npos);
  CHECK(small.out.find("       0.00 ") != std::string::npos);
  const netio::test::TemporaryDirectory folder;
  const std::string file = folder / "out.json";
  const auto answer =
      cli({"perf", "write_bw", "pair", "-n", "8", "--out_json", "--out_json_file", file});
  CHECK(answer.code == 0);
  CHECK(answer.out.find("RDMA_Write BW Test") != std::string::npos);
  CHECK(nlohmann::json::parse(std::ifstream(file)).at("results").at("n_iterations") == 8);
  for (const auto& [word, instead] :
       std::map<std::string, std::string>{{"-u", "ack_timeout"},
                                          {"-w", "at_least"},
                                          {"-c", "compare"},
                                          {"--retry_count", "retries"}}) {
    const auto run = cli({"perf", "write_bw", "pair", word, "7"});
    CAPTURE(word);
    CHECK(run.code == 2);
    CHECK(run.err.find(" is not here: expected ") != std::string::npos);
    CHECK(run.err.find(instead) != std::string::npos);
  }
}

TEST_CASE("every option of perftest's is known") {
  // perftest 26, long_options of src/perftest_parameters.c, without those that other cases try.
  const char* flags =
      "events comm_rdma_cm rdma_cm report-cycles dualport mcg use_rss server client mac_fwd use-srq no_lock use-null-mr "
      "report-both tcp dont_xchg_versions use_cuda_dmabuf use_cuda_pcie_mapping use_data_direct use_musa_dmabuf "
      "use_musa_pcie_mapping use_rocm_dmabuf use_neuron_dmabuf use_mlu_dmabuf ipv6 ipv6-addr raw_ipv6 odp use_hugepages "
      "use_old_post_send promiscuous sniffer raw_mcast mr_per_qp vlan_en aes_xts encrypt_on_tx sig_before "
      "disable_pcie_relaxed use_ooo write_with_imm send_with_imm no_enhanced_reorder unsolicited_write connectionless "
      "disable_dynamic_polling sig_offload data_validation data_validation_debug disable_numa cpu_util";
  const char* values =
      "vector outs hop_limit MGID atomic_type margin source_mac dest_mac dest_ip source_ip dest_port source_port "
      "ethertype force-link remote_mac local_mac remote_ip local_ip remote_port local_port pkey_index flow_label "
      "payload_file_path use_cuda use_cuda_bus_id cuda_mem_type use_musa use_musa_bus_id use_rocm use_neuron use_hl use_mlu "
      "use_opencl opencl_platform_id use_ib_dm_dmabuf gpu_touch mmap mmap-offset dlid wait_destroy flows flows_burst "
      "reply_every vlan_pcp recv_post_list aes_block_size kek_path credentials_path data_enc_keys_number "
      "data_enc_key_app_path log_dci_streams log_active_dci_streams bind_source_ip cqe_poll tph_mem cpu_id ph pin_cores "
      "numa_node";
  std::vector<std::string> all{"perf", "ib_write_bw", "pair", "-n", "8"};
  std::string word;
  for (std::istringstream in(flags); in >> word;) all.push_back("--" + word);
  for (std::istringstream in(values); in >> word;) all.push_back("--" + word + "=1");
  const auto run = cli(all);
  CHECK(run.code == 0);
  CHECK(static_cast<size_t>(std::count(run.err.begin(), run.err.end(), '\n')) == all.size() - 5);
  for (const char* refused :
       {"limit_msgrate=1", "report-counters=x", "rate_limit_type=SW", "rate_units=M",
        "burst_size=1", "typical_pkt_size=1", "reversed", "report-per-port", "latency_gap=1",
        "congest_type=DCQCN", "run_infinitely", "report-unsorted", "report-histogram"}) {
    CAPTURE(refused);
    const auto one = cli({"perf", "write_bw", "pair", std::string("--") + refused});
    CHECK(one.code == 2);
    CHECK(one.err.find(" is not here: expected ") != std::string::npos);
  }
}

TEST_CASE("nccl-tests' options are taken, mapped or refused") {
  const auto plain = cli({"perf", "all_gather", "octet", "-b", "64K", "-n", "2"});
  REQUIRE(plain.code == 0);
  const auto idle =
      cli({"perf", "all_gather", "octet", "-b", "64K", "-n", "2",  "-g", "1",  "-t", "1",
           "-d",   "float",      "-p",    "0",  "-G",  "0",  "-R", "1",  "-o", "sum"});
  CHECK(idle.code == 0);
  CHECK(idle.out == plain.out);
  CHECK(idle.err.find("--local_register means nothing here") != std::string::npos);
  const auto rest = cli({"perf",  "all_gather_perf",
                         "octet", "-b",
                         "64K",   "-n",
                         "2",     "-N",
                         "1",     "-S",
                         "0",     "-x",
                         "0",     "-D",
                         "0",     "-V",
                         "16",    "-M",
                         "0",     "-u",
                         "0",     "-z",
                         "0",     "-y",
                         "0",     "-T",
                         "0",     "-C",
                         "0",     "-p",
                         "0",     "-r",
                         "0",     "-a",
                         "1",     "-m",
                         "1"});
  CHECK(rest.code == 0);
  CHECK(rest.out == plain.out);
  const auto half = cli({"perf", "all_gather", "octet", "-b", "64K", "-n", "2", "-d", "half"});
  CHECK(half.out.find("       65536          4096      half    none      -1 ") !=
        std::string::npos);
  CHECK(cli({"perf", "all_gather", "octet", "-b", "64K", "-n", "1", "-m", "2"})
            .out.find("agg iters: 2") != std::string::npos);
  const auto four =
      cli({"perf", "all_gather", "octet", "-b", "64K", "-n", "2", "-g", "2", "-t", "2"});
  CHECK(four.code == 0);
  CHECK(four.out.find("Rank  3 on") != std::string::npos);
  CHECK(four.out.find("Rank  4 on") == std::string::npos);
  CHECK(cli({"perf", "all_gather", "pair", "-b", "64K", "-g", "8"}).code == 2);
  const auto steps =
      cli({"perf", "all_gather", "pair", "-b", "64K", "-e", "192K", "-i", "64K", "-n", "1"});
  CHECK(steps.code == 0);
  CHECK(steps.out.find("step: 65536(bytes)") != std::string::npos);
  CHECK(steps.out.find("\n      196608 ") != std::string::npos);
  CHECK(cli({"perf", "all_gather", "pair", "-i", "0"}).code == 2);
  CHECK(cli({"perf", "all_gather", "pair", "-o", "max"}).code == 2);
  CHECK(cli({"perf", "all_gather", "pair", "-I", "1"}).code == 2);
}

TEST_CASE("of a rate below 0.1 Gb/s the digits are kept") {
  BandwidthRow row;
  row.bytes = 2;
  row.iterations = 8;
  row.peak_gbps = 0.04567;
  row.average_gbps = 0.001234;
  const std::string text = to_text(row);
  CHECK(text.find(" 0.0457 ") != std::string::npos);
  CHECK(text.find(" 0.00123 ") != std::string::npos);
  row.peak_gbps = row.average_gbps = 0.5;
  CHECK(to_text(row).find(" 0.50 ") != std::string::npos);
  CHECK(flow_table({{"h0 -> h1", 0.0123, 0.00012}}).find(" 0.0123 ") != std::string::npos);
  CollectiveRow small;
  small.time_us = 20;
  small.algbw = small.busbw = 0.0123;
  CHECK(nccl_row(endpoint::CollectiveKind::kAllReduce, small, true).find("0.0123") !=
        std::string::npos);
}

}  // namespace
}  // namespace mrclab::lab
