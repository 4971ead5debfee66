// What judging a capture costs, step by step, in CPU time of one core and by the clock on the wall.
// Started by bench_analysis and bench_analyze.
//   analysis_steps CAPTURE FABRIC [REPEATS [WORD]]
// prints one JSON object; the best of the repeats counts. WORD: "judge" (default) or "traffic".

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/capture/open_capture.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/judge/analyze.h"
#include "analysis/traffic/traffic_reader.h"
#include "console/all_cores.h"
#include "fabric/topology/fabric_file.h"
#include "lab/front/huge_pages.h"
#include "sim/cpu_time.h"
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
  const std::unique_ptr<CaptureReader> reader = open_capture(file);
  CaptureRecord record;
  uint64_t records = 0;
  while (reader->next(record)) records += record.bytes.empty() ? 0 : 1;
  return records;
}

uint64_t read_and_parse(const Topology& topology, const char* file, bool join,
                        const SideBySide& side_by_side) {
  SightingReader frames(topology);
  frames.add_file(file, side_by_side);
  if (join) return join_sightings(topology, frames.take(), side_by_side).counters().records;
  return frames.counters().records;
}

uint64_t analyze_stream(const char* file, const SideBySide& side_by_side) {
  TrafficInput input{{file}, {}, {}};
  input.side_by_side = side_by_side;
  return analyze_traffic(input).counters.records;
}

uint64_t judge(const Topology& topology, const char* file, const SideBySide& side_by_side) {
  RunInputs inputs{.topology = topology, .captures = {file}, .side_by_side = side_by_side};
  return analyze(inputs).verdict.metrics.capture_records;
}

/// Runs what may run at once on two threads, and adds up what each of them would take on a core of its own:
/// this machine's clock on the wall also shows who else is at work on it.
class TwoCores {
 public:
  SideBySide side_by_side() {
    return [this](size_t count, const std::function<void(size_t)>& work) {
      std::vector<double> took(count);
      lab::on_threads(2)(count, [&](size_t i) {
        const double start = lab::thread_cpu_seconds();
        work(i);
        took[i] = lab::thread_cpu_seconds() - start;
      });
      std::array<double, 2> core{};  // each call goes to the core that is free first
      for (const double seconds : took) *std::min_element(core.begin(), core.end()) += seconds;
      all_ += core[0] + core[1];
      busier_ += std::max(core[0], core[1]);
    };
  }
  /// How long the busier core worked during a step that took `cpu_seconds` of both, including what only one core
  /// can do.
  double busiest(double cpu_seconds) const { return cpu_seconds - all_ + busier_; }

 private:
  double all_ = 0, busier_ = 0;
};

struct Step {
  const char* name;
  std::function<uint64_t(const SideBySide&)> run;
  bool two = false;  ///< also on two threads
};

nlohmann::ordered_json measured(const Step& step, bool two, int repeats) {
  nlohmann::ordered_json best;
  for (int i = 0; i < repeats; ++i) {
    TwoCores cores;
    const auto begun = std::chrono::steady_clock::now();
    const double start = cpu_seconds();
    const uint64_t records = step.run(two ? cores.side_by_side() : SideBySide{});
    const double took = cpu_seconds() - start;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    const auto least = [&](const char* key, double value) {
      best[key] = i == 0 ? value : std::min(best[key].get<double>(), value);
    };
    best["step"] = step.name;
    best["threads"] = two ? 2 : 1;
    best["records"] = records;
    least("cpu_seconds", took);
    least("busiest_seconds", cores.busiest(took));
    least("wall_seconds", wall.count());
  }
  return best;
}

int run(const char* file, const char* fabric, int repeats, std::string_view what) {
  const Topology topology = read_fabric_file(test::shipped_fabric(fabric));
  const Step libpcap{"libpcap, read only",
                     [&](const SideBySide&) { return read_with_libpcap(file); }};
  const Step read{"read", [&](const SideBySide&) { return read_with_ours(file); }};
  const std::vector<Step> traffic{
      libpcap,
      read,
      {"analyze", [&](const SideBySide& cores) { return analyze_stream(file, cores); }, true},
  };
  const std::vector<Step> judging{
      libpcap,
      read,
      {"read, parse",
       [&](const SideBySide& cores) { return read_and_parse(topology, file, false, cores); }, true},
      {"read, parse, join",
       [&](const SideBySide& cores) { return read_and_parse(topology, file, true, cores); }, true},
      {"read, parse, join, measure",
       [&](const SideBySide& cores) { return judge(topology, file, cores); }, true},
  };
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const bool two : {false, true}) {
    for (const Step& step : what == "traffic" ? traffic : judging) {
      if (!two || step.two) results.push_back(measured(step, two, repeats));
    }
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
