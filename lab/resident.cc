// The side of mrclab-labd: brings the lab up, keeps it going, answers, takes it down.

#include "lab/resident.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fabric/fabric_file.h"
#include "lab/describe.h"
#include "lab/live_lab.h"
#include "netio/file_descriptor.h"
#include "netio/log.h"
#include "netio/rpc.h"

namespace mrclab::lab {
namespace {

using netio::FileDescriptor;
using nlohmann::json;
using std::chrono::steady_clock;

/// How often the lab is looked after: the pace, the kernel mirror and dead children.
constexpr std::chrono::milliseconds kStep{5};

/// One fabric microsecond takes a millisecond: a ping across three switches about 20 ms.
constexpr double kResidentDilation = 1000;
/// A lab that stays is mostly idle; half the wake-ups of a run.
constexpr int64_t kResidentTickNs = 500'000;

volatile std::sig_atomic_t g_asked_to_end = 0;  // a signal handler can reach nothing else

void note_signal(int) { g_asked_to_end = 1; }

/// The pipe to `up`. A broken one throws: nobody waits for this lab any more.
class Report {
 public:
  explicit Report(int fd) : fd_(fd) {}
  void send(const json& message) {
    if (!fd_) return;
    const std::string line = message.dump() + "\n";
    fd_.write_all("the report to 'mrclab up'",
                  {reinterpret_cast<const uint8_t*>(line.data()), line.size()});
  }
  void close() { fd_.reset(); }

 private:
  FileDescriptor fd_;
};

void prepare_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = note_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

void add_methods(netio::RpcServer& server, LiveLab& live, const Topology& topology, bool& end) {
  const auto since = steady_clock::now();
  const auto link_is_up = [&live](LinkId link) { return live.fabric().link_is_up(link); };
  server.method("status", [&live, &topology, since](const json&) {
    const auto up_for =
        std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - since);
    json outside = json::array();
    for (const OutsideFault& fault : live.outside_faults()) outside.push_back(fault.what);
    return json{{"lab", live.fabric().lab()},
                {"fabric", topology.name},
                {"pid", ::getpid()},
                {"up_seconds", up_for.count()},
                {"fabric_ns", live.now().ns()},
                {"dilation", live.dilation()},
                {"outside_faults", std::move(outside)}};
  });
  server.method("inspect", [&live, &topology, link_is_up](const json&) {
    return describe_fabric(topology, live.fabric().lab(), link_is_up);
  });
  server.method("down", [&end](const json&) {
    end = true;
    return json{{"down", true}};
  });
}

/// Until somebody asks for the end. A client that asked for `down` gets its answer first.
void serve(LiveLab& live, const Topology& topology, spdlog::logger& log) {
  netio::RpcServer server(control_socket(live.fabric().paths(), live.fabric().lab()));
  bool end = false;
  add_methods(server, live, topology, end);
  size_t faults_told = 0;
  while (!end && g_asked_to_end == 0) {
    live.step();
    for (; faults_told < live.outside_faults().size(); ++faults_told) {
      log.warn("{}", live.outside_faults()[faults_told].what);
    }
    server.poll_for(kStep);
  }
  server.poll();
}

void run_resident(const ResidentOptions& options, Report& report) {
  const RegularPlanes shape = parse_fabric(read_yaml_file(options.fabric_file));
  const Topology topology = build_regular_planes(shape);
  LiveLabOptions live_options;
  live_options.name = options.lab;
  live_options.shape = shape;
  live_options.isolate = options.isolate;
  // Ordinary traffic comes from the kernel's own time, so the pace is fixed and round trips are
  // steady.
  live_options.dilation = kResidentDilation;
  live_options.tick_ns = kResidentTickNs;
  LiveLab live(topology, live_options, [&report](const BringUpStep& step) {
    if (g_asked_to_end != 0) throw std::runtime_error("taken down while coming up");
    report.send({{"step", step.what}, {"done", step.done}, {"total", step.total}});
  });
  const auto log = netio::open_log(live.fabric().run_directory() / "labd.log", "mrclab-labd");
  log->info("lab {} of fabric {} is up", options.lab, topology.name);
  live.start();
  report.send({{"ready", true}});
  report.close();
  serve(live, topology, *log);
  live.tear_down();
}

}  // namespace

int resident_main(int argc, char** argv) {
  if (argc < 4) return 2;
  prepare_signals();
  Report report(std::atoi(argv[3]));
  ::fcntl(std::atoi(argv[3]), F_SETFD, FD_CLOEXEC);
  ResidentOptions options{argv[1], argv[2], argc > 4 && std::string_view(argv[4]) == "--isolate"};
  json problem;
  try {
    run_resident(options, report);
    return 0;
  } catch (const InputError& error) {
    problem = {{"error", error.what()}, {"code", 2}};
  } catch (const netio::SystemError& error) {
    problem = {{"error", netio::explain(error)}, {"code", netio::exit_code(error)}};
  } catch (const std::exception& error) {
    problem = {{"error", error.what()}, {"code", 3}};
  }
  try {
    report.send(problem);
  } catch (const netio::SystemError&) {  // nobody is there to read it
  }
  return problem.at("code").get<int>();
}

}  // namespace mrclab::lab
