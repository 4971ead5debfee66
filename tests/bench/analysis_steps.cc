// What judging a capture costs, step by step, in CPU time of one core and by the clock on the wall.
// Started by bench_analysis and bench_analyze.
//   analysis_steps CAPTURE FABRIC [REPEATS [WORD]]
// prints one JSON object; the best of the repeats counts. WORD: "judge" (default) or "traffic".

#include <pcap/pcap.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/analyze.h"
#include "analysis/capture/capture_reader.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/traffic/traffic_reader.h"
#include "fabric/fabric_file.h"
#include "lab/console/huge_pages.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::analysis {
namespace {

/// The bare loop of a peer: no interface, direction or comment, nothing decoded.
uint64_t read_with_libpcap(const char* file) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  pcap_t* pcap =
      pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error.data());
  if (pcap == nullptr) throw std::runtime_error(error.data());
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  uint64_t records = 0;
  while (pcap_next_ex(pcap, &header, &bytes) == 1) records += header->caplen > 0 ? 1 : 0;
  pcap_close(pcap);
  return records;
}

uint64_t read_with_ours(const char* file) {
  const std::unique_ptr<CaptureReader> reader = CaptureReader::open(file);
  CaptureRecord record;
  uint64_t records = 0;
  while (reader->next(record)) records += record.bytes.empty() ? 0 : 1;
  return records;
}

uint64_t read_and_parse(const Topology& topology, const char* file, bool join) {
  SightingReader frames(topology);
  frames.add_file(file);
  if (join) return join_sightings(topology, frames.take()).counters().records;
  return frames.counters().records;
}

uint64_t analyze_stream(const char* file) {
  return analyze_traffic({{file}, {}, {}}).counters.records;
}

uint64_t judge(const Topology& topology, const char* file) {
  RunInputs inputs{.topology = topology, .captures = {file}};
  return analyze(inputs).verdict.metrics.capture_records;
}

int run(const char* file, const char* fabric, int repeats, std::string_view what) {
  const Topology topology = read_fabric_file(test::shipped_fabric(fabric));
  using Steps = std::vector<std::pair<const char*, std::function<uint64_t()>>>;
  const Steps traffic{
      {"libpcap, read only", [&] { return read_with_libpcap(file); }},
      {"read", [&] { return read_with_ours(file); }},
      {"analyze", [&] { return analyze_stream(file); }},
  };
  const Steps judging{
      {"libpcap, read only", [&] { return read_with_libpcap(file); }},
      {"read", [&] { return read_with_ours(file); }},
      {"read, parse", [&] { return read_and_parse(topology, file, false); }},
      {"read, parse, join", [&] { return read_and_parse(topology, file, true); }},
      {"read, parse, join, measure", [&] { return judge(topology, file); }},
  };
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const auto& [name, step] : what == "traffic" ? traffic : judging) {
    double best = 0, best_wall = 0;
    uint64_t records = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      const double start = cpu_seconds();
      records = step();
      const double took = cpu_seconds() - start;
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
      best = i == 0 ? took : std::min(best, took);
      best_wall = i == 0 ? wall.count() : std::min(best_wall, wall.count());
    }
    results.push_back(
        {{"step", name}, {"records", records}, {"cpu_seconds", best}, {"wall_seconds", best_wall}});
  }
  std::puts(results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace mrclab::analysis

int main(int argc, char** argv) {
  mrclab::lab::start_with_huge_pages(argv);  // as the command does
  if (argc < 3) {
    std::fputs("usage: analysis_steps CAPTURE FABRIC [REPEATS [WORD]]\n", stderr);
    return 2;
  }
  try {
    return mrclab::analysis::run(argv[1], argv[2], argc > 3 ? std::max(1, std::atoi(argv[3])) : 3,
                                 argc > 4 ? argv[4] : "judge");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "analysis_steps: %s\n", error.what());
    return 2;
  }
}
