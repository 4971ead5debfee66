// `mrclab analyze` on what runs leave: it counts as the judge counts, from whichever captures.

#include <doctest/doctest.h>
#include <pcap/pcap.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "fabric/text/yaml.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "recorded/traffic/traffic_input.h"
#include "recorded/traffic/traffic_report.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;

/// Losses, retransmissions, trims: an incast through a queue, and a wire that loses.
const std::string kTrafficIncast = R"(
name: traffic
fabric: octet
seed: 5
workload:
  - incast: {from: "h[1-7]", to: h0, load: 100%, message: 64KiB}
faults:
  - {at: 40us, wire_loss: {wire: "p1.t0-1:u0->p1.t1-0:d1", loss: 20%, for: 50us}}
end: 100us
expect: []
)";

nlohmann::json analyzed(const std::vector<std::string>& sources, const std::string& fabric = "") {
  TrafficWords words;
  words.sources = sources;
  words.fabric = fabric;
  const TrafficRequest request = traffic_request(words);
  return to_json(traffic_tables(analysis::analyze_traffic(request.input), request.context));
}
nlohmann::json analyzed(const fs::path& source) {
  return analyzed(std::vector<std::string>{source.string()});
}

/// Records and bytes of their frames, by libpcap alone.
std::pair<uint64_t, uint64_t> counted_by_libpcap(const fs::path& file) {
  char error[PCAP_ERRBUF_SIZE];
  pcap_t* pcap = pcap_open_offline(file.c_str(), error);
  REQUIRE(pcap != nullptr);
  std::pair<uint64_t, uint64_t> counted;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  while (pcap_next_ex(pcap, &header, &bytes) == 1) {
    ++counted.first;
    counted.second += header->len;
  }
  pcap_close(pcap);
  return counted;
}

void check_agreement(const Scenario& scenario) {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario);
  const auto verdict = nlohmann::json::parse(netio::read_file(result.folder.path / "verdict.json"));
  const auto& metrics = verdict.at("metrics");
  const auto report = analyzed(result.folder.path);
  const auto& summary = report.at("summary");
  CHECK(summary.at("packets") == metrics.at("data_packets"));
  CHECK(summary.at("delivered") == metrics.at("delivered"));
  CHECK(summary.at("delivered_bytes") == metrics.at("delivered_bytes"));
  CHECK(summary.at("resent") == metrics.at("retransmitted"));
  CHECK(summary.at("trimmed") == metrics.at("trimmed"));
  CHECK(summary.at("lost") == metrics.at("lost"));
  CHECK(summary.at("records") == metrics.at("capture_records"));
  CHECK(metrics.at("lost") > 0);
  for (const auto& flow : report.at("flows")) CHECK(flow.at("source").get<std::string>()[0] == 'h');
  const fs::path capture = result.folder.path / "captures" / "sim.pcapng";
  const std::pair<uint64_t, uint64_t> counted = counted_by_libpcap(capture);
  CHECK(summary.at("records") == counted.first);
  CHECK(summary.at("frame_bytes") == counted.second);
  // Without the fabric the same numbers come from the packets alone.
  const auto alone = analyzed(capture);
  CHECK(alone.at("planes") == report.at("planes"));
  CHECK(alone.at("summary").at("lost") == summary.at("lost"));
}

TEST_CASE("analyze counts what the judge counts in an optic glitch" *
          doctest::test_suite(test::kWholeRun)) {
  check_agreement(load_scenario("optic-glitch"));
}

TEST_CASE(
    "analyze counts what the judge counts in a lossy incast, captured at hosts or everywhere") {
  Scenario scenario = parse_scenario(read_yaml_text(kTrafficIncast, "traffic.yaml"));
  check_agreement(scenario);
  scenario.captures = CaptureScope::kAll;
  check_agreement(scenario);
}

TEST_CASE("a fault of a run is set beside what its flows did about it" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(load_scenario("optic-glitch"));
  const auto report = analyzed(result.folder.path);
  REQUIRE(report.at("faults").size() == 1);
  const auto& fault = report.at("faults")[0];
  CHECK(fault.at("left") >= 8);
  CHECK(fault.at("left") == fault.at("back"));
  CHECK(fault.at("moved_ns") < 65'000);        // links go down 20 us apart
  CHECK(fault.at("first_back_ns") > 100'000);  // after the 100 us of the first
  for (const auto& change : report.at("evs")) {
    CHECK(change.at("path").get<std::string>().starts_with("p0/"));
  }
}

// ---- captures by other people's programs -----------------------------------------------------------

/// Trims at h0's T0, and losses inside a plane, where no host sees them. It ends with silence, so
/// that a capture can be seen to be whole.
constexpr const char* kCaptured = R"(
name: captured
fabric:
  {name: shallow, planes: 8, t0: 2, t1: 4, hosts_per_t0: 4, host_rate: 100Gb/s,
   trim: {threshold: 0.2, last_hop: 0.2}}
seed: 5
workload:
  - write: {from: h4, to: h0, size: 256KiB, count: 2}
  - write: {from: h5, to: h0, size: 256KiB, count: 2}
  - write: {from: h6, to: h0, size: 256KiB, count: 2}
faults:
  - {at: 1us, wire_loss: {wire: "p1.t0-1:u0->p1.t1-0:d1", loss: 20%, for: 100us}}
end: 150us
expect: []
)";

template <class Until>
void wait_for(const char* what, const Until& until) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (!until()) {
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

size_t count_in(const fs::path& file, std::string_view word) {
  if (!fs::exists(file)) return 0;
  const std::string text = netio::read_file(file, size_t{1} << 30);
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// That scenario in a lab that stays, standing at its start.
class StandingLab {
 public:
  StandingLab(const fs::path& folder, const char* name) : name_(name) {
    enter_sandbox();
    const fs::path file = folder / "captured.yaml";
    std::ofstream(file) << kCaptured;
    ask({"up", "--scenario", file.string(), "--name", name, "--paused", "--dilation", "auto"});
  }
  ~StandingLab() { lab::mrclab({"down", name_}); }
  void run_until(const char* instant) const { ask({"clock", "until", instant}); }

 private:
  static void ask(const std::vector<std::string>& words) {
    const CommandResult result = lab::mrclab(words);
    CAPTURE(result.output);
    REQUIRE(result.code == 0);
  }
  std::string name_;
};

constexpr const char* kMarker = "no frame of the run comes behind this one";

/// Capture programs in the hosts of a live lab.
class Sniffers {
 public:
  Sniffers(fs::path folder, std::string lab) : folder_(std::move(folder)), lab_(std::move(lab)) {}

  /// `ready`: what it prints on its standard error when it has begun. `ports`: how many it captures.
  fs::path start(const std::string& host, const std::string& file, std::vector<std::string> command,
                 const char* ready, size_t ports) {
    const fs::path log = folder_ / (file + ".log");
    command.insert(command.begin(), {"nsenter", "--net=" + network_of(host)});
    command.insert(command.end(), {"-w", (folder_ / file).string()});
    netio::ChildOptions options;
    options.argv = command;
    options.stdout_file = log;
    running_.push_back({netio::ChildProcess::spawn(options), folder_ / file, ports});
    hosts_[host] = true;
    wait_for(ready, [&] { return count_in(log, ready) > 0; });
    return folder_ / file;
  }
  fs::path tcpdump(const std::string& host, const std::string& file, const std::string& interface,
                   std::vector<std::string> more) {
    more.insert(more.begin(), {"tcpdump", "-i", interface, "-U", "--immediate-mode", "-Z", "root",
                               "-B", "16384"});
    return start(host, file, more, "listening on", interface == "any" ? 8 : 1);
  }
  fs::path dumpcap(const std::string& host, const std::string& file) {
    std::vector<std::string> command{"dumpcap", "-q", "-B", "16"};
    for (int plane = 0; plane < 8; ++plane) {
      command.insert(command.end(), {"-i", "p" + std::to_string(plane)});
    }
    return start(host, file, command, "File: ", 8);
  }

  /// A frame of ours behind all others shows that a program has seen them all.
  void finish() {
    for (const auto& [host, unused] : hosts_) {
      const std::string script =
          "import socket\nfor plane in range(8):\n"
          " port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
          " port.bind((f'p{plane}', 0))\n"
          " port.send(b'\\xff' * 6 + b'\\x02' * 6 + b'\\x88\\xb6' + b'" +
          std::string(kMarker) + "')\n";
      netio::ChildOptions options;
      options.argv = {"nsenter", "--net=" + network_of(host), "python3", "-c", script};
      auto python = netio::ChildProcess::spawn(options);
      const auto status = python.wait(kTestPatience);
      REQUIRE(status);
      REQUIRE(status->clean());
    }
    for (Running& program : running_) {
      wait_for("a capture to be whole",
               [&] { return count_in(program.file, kMarker) >= program.ports; });
      program.process.signal(SIGINT);
      REQUIRE(program.process.wait(kTestPatience));
    }
  }

 private:
  struct Running {
    netio::ChildProcess process;
    fs::path file;
    size_t ports;
  };
  std::string network_of(const std::string& host) const {
    return "/run/netns/mrclab-" + lab_ + "-" + host;
  }

  fs::path folder_;
  std::string lab_;
  std::vector<Running> running_;
  std::map<std::string, bool> hosts_;
};

bool installed(const char* program) {
  const bool found =
      std::system((std::string("command -v ") + program + " >/dev/null").c_str()) == 0;
  if (!found) MESSAGE("no " << program << ": its captures were not looked at");
  return found;
}

TEST_SUITE("root: captures from elsewhere") {
  TEST_CASE("analyze says of tcpdump's and dumpcap's captures of hosts what the verdict says") {
    if (!installed("tcpdump") || !installed("dumpcap")) return;
    const test::TemporaryRuns runs;
    const Scenario scenario = parse_scenario(read_yaml_text(kCaptured, "captured.yaml"));
    const RunResult result = runs.run(scenario);  // what the live lab does as well, to the packet
    const analysis::Metrics& metrics = result.verdict.metrics;
    REQUIRE(metrics.lost > 0);
    REQUIRE(metrics.trimmed > 0);

    const StandingLab lab(runs.path(), "sniffed");
    Sniffers sniffers(runs.path(), "sniffed");
    std::vector<std::string> cut, ports, whole;
    const std::string receiver = sniffers.tcpdump("h0", "h0.pcap", "any", {"-s", "9216"});
    whole = {receiver};
    for (const std::string host : {"h4", "h5", "h6"}) {
      whole.push_back(sniffers.tcpdump(host, host + ".pcap", "any", {"-s", "9216"}));
      cut.push_back(sniffers.tcpdump(host, host + "-cut.pcap", "any", {"-s", "128"}));
    }
    for (int plane = 0; plane < 8; ++plane) {  // some planes in ns, others in us
      const std::string port = "p" + std::to_string(plane);
      ports.push_back(
          sniffers.tcpdump("h4", "h4-" + port + ".pcap", port,
                           {"--time-stamp-precision", plane < 4 ? "nano" : "micro", "-s", "9216"}));
    }
    const std::string dumped = sniffers.dumpcap("h4", "h4.pcapng");
    lab.run_until("150us");
    sniffers.finish();

    const auto at_receiver = analyzed(fs::path(receiver)).at("summary");
    CHECK(at_receiver.at("delivered") == metrics.delivered);
    CHECK(at_receiver.at("delivered_bytes") == metrics.delivered_bytes);
    CHECK(at_receiver.at("trimmed") == metrics.trimmed);
    CHECK(at_receiver.at("time") == "carried by the frames");
    const auto at_senders = analyzed(cut).at("summary");
    CHECK(at_senders.at("packets") == metrics.data_packets);
    CHECK(at_senders.at("resent") == metrics.retransmitted);
    CHECK(at_senders.at("time") == "of the capture");
    const auto everywhere = analyzed(whole).at("summary");
    for (const char* key : {"delivered", "delivered_bytes", "trimmed"}) {
      CHECK(everywhere.at(key) == at_receiver.at(key));
    }
    CHECK(everywhere.at("packets") == metrics.data_packets);
    CHECK(everywhere.at("resent") == metrics.retransmitted);
    CHECK(everywhere.at("lost") == metrics.lost);
    // The simulator's captures hold the same times, in ns.
    const auto own = analyzed(result.folder.path).at("summary");
    CHECK(everywhere.at("rtt_p50_ns").get<double>() ==
          doctest::Approx(own.at("rtt_p50_ns").get<double>()).epsilon(0.07));  // a histogram's step
    CHECK(own.at("hosts") == 4);

    // One host's ports, however they were captured.
    const auto by_any = analyzed(runs.path() / "h4.pcap");
    for (const auto& others : {analyzed(ports), analyzed(std::vector<std::string>{dumped})}) {
      for (const char* key : {"packets", "resent", "rtt_p50_ns", "flows"}) {
        CHECK(others.at("summary").at(key) == by_any.at("summary").at(key));
      }
      CHECK(others.at("planes") == by_any.at("planes"));
      CHECK(others.at("answers") == by_any.at("answers"));
    }
    // The same packets twice, by two programs at the same ports.
    ports.push_back(dumped);
    const auto both = analyzed(ports).at("summary");
    CHECK(both.at("packets") == by_any.at("summary").at("packets"));
    CHECK(both.at("resent") == by_any.at("summary").at("resent"));
  }
}

}  // namespace
