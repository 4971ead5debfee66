// The side of mrclab-labd: brings the lab up, keeps it going, answers, takes it down.

#include "lab/persistent/persistent.h"
#include "fabric/topology/build_topology.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_clock.h"
#include "lab/persistent/persistent_methods.h"
#include "live/world/lab_loop.h"
#include "live/world/live_lab.h"
#include "live/world/live_options.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/file_size_limit.h"
#include "netio/system/log.h"

namespace mrclab::lab {
namespace {

using netio::FileDescriptor;
using nlohmann::json;

/// How often the lab is looked after: the pace, the kernel mirror and dead children.
constexpr std::chrono::milliseconds kLook{5};

/// One fabric microsecond takes a millisecond: a ping across three switches about 20 ms.
constexpr double kPersistentDilation = 1000;
/// A lab that stays is mostly idle; half the wake-ups of a run.
constexpr int64_t kIdleTickNs = 500'000;

/// The pipe to `up`. A broken pipe throws: no caller waits for this lab any more.
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
  /// Only the end of this process closes it: a caller that waits for that finds nothing of the lab
  /// left.
  void keep_to_the_end() { fd_.release(); }

 private:
  FileDescriptor fd_;
};

/// The signals that ask for the end, noted when the io_context is run or polled.
class EndSignals {
 public:
  explicit EndSignals(boost::asio::io_context& io)
      : io_(io), signals_(io, SIGINT, SIGTERM, SIGHUP) {
    signals_.async_wait([this](const boost::system::error_code& error, int) { asked_ = !error; });
  }
  /// Has one come?
  bool asked() const { return asked_; }
  /// The same while the io_context does not run.
  bool asked_by_now() {
    io_.restart();
    io_.poll();
    return asked_;
  }

 private:
  boost::asio::io_context& io_;
  boost::asio::signal_set signals_;
  bool asked_ = false;
};

/// Time between two looks while the lab does single steps: a tick is 250 us.
constexpr std::chrono::microseconds kStepLook{200};

/// Serves until a client or a signal asks for the end. A client that asked for `down` gets its
/// answer first.
void serve(boost::asio::io_context& io, const EndSignals& signals, netio::RpcServer& server,
           PersistentLab& lab, spdlog::logger& log) {
  uint64_t faults_told = 0;
  LabLoop loop([&] { return lab.live.step(); }, [&] { lab.faults.notice(); },
               LabLoop::Ends::kNever);
  loop.add([&] { lab.clock.apply_order(); });
  loop.add([&] {
    for (const OutsideFault& fault : lab.live.outside_faults().since(faults_told)) {
      log.warn("{}", fault.what);
    }
  });
  netio::Heartbeat heartbeat(io);
  server.after_message([&heartbeat] { heartbeat.hurry(); });
  heartbeat.run([&]() -> netio::Heartbeat::Next {
    if (lab.end || signals.asked()) return std::nullopt;
    loop.turn();
    if (lab.clock.busy()) return kStepLook;
    return kLook;
  });
  server.after_message({});
  server.poll();
}

/// A lab without a scenario is a fabric that waits for ordinary traffic.
LiveLabOptions resident_lab(const PersistentOptions& options, const FabricShape& shape,
                            const std::optional<Scenario>& scenario) {
  LiveLabOptions live;
  live.name = options.lab;
  live.shape = shape;
  live.isolate = options.isolate;
  live.verbose = options.verbose;
  if (scenario) {
    live = live_options_of(*scenario, std::move(live));
  } else {
    // Ordinary traffic comes from the kernel's own time, so the pace is fixed and round trips are
    // steady.
    live.dilation = kPersistentDilation;
    live.tick_ns = kIdleTickNs;
  }
  // The rates of switches that are not ours follow from the pace.
  if (!live.dilation && shape.forwarding != ForwardingChoice()) live.dilation = kPersistentDilation;
  if (options.dilation) live.dilation = parse_dilation(*options.dilation);
  return live;
}

std::optional<Scenario> read_scenario(const PersistentOptions& options) {
  if (!options.workload.empty()) return workload_scenario(options.fabric_file, options.workload);
  if (options.scenario_file.empty()) return std::nullopt;
  ScenarioOverrides overrides;
  if (!options.fabric_file.empty()) overrides.fabric = options.fabric_file;
  return read_scenario_file(options.scenario_file, overrides);
}

void run_persistent(const PersistentOptions& options, Report& report) {
  boost::asio::io_context io(1);
  EndSignals signals(io);
  const std::optional<Scenario> scenario = read_scenario(options);
  const FabricShape shape =
      scenario ? scenario->fabric : parse_fabric(read_yaml_file(options.fabric_file));
  const Topology topology = build_topology(shape);
  LiveLab live(topology, resident_lab(options, shape, scenario),
               [&report, &signals](const BringUpStep& step) {
                 if (signals.asked_by_now()) throw std::runtime_error("taken down while coming up");
                 report.send({{"step", step.what}, {"done", step.done}, {"total", step.total}});
               });
  const auto log = netio::open_log(live.fabric().run_directory() / "labd.log", "mrclab-labd",
                                   {.debug = options.verbose});
  log->info("lab {} of fabric {} is up", options.lab, topology.name);
  if (scenario) {
    write_resolved_scenario(*scenario, live.fabric().run_directory() / kScenarioFile);
  }
  const bool exact = topology.carries_time();
  LabClock clock(live, topology, exact);
  clock.start(options.paused);
  LabFaults faults(live, topology, scenario ? scenario->faults : std::vector<faults::Fault>{},
                   scenario ? scenario->seed : 1,
                   FaultRecord(topology, live.fabric().run_directory() / kFaultRecordFile));
  PersistentLab lab{live, clock, faults, topology, scenario};
  netio::RpcServer server(io, control_socket(live.fabric().paths(), live.fabric().lab()));
  add_persistent_methods(server, lab, *log);
  report.send({{"ready", true}});  // from here on clients can talk to the lab
  report.close();
  serve(io, signals, server, lab, *log);
  live.tear_down();
}

}  // namespace

int persistent_main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::signal(SIGPIPE, SIG_IGN);
  netio::report_file_size_limit();
  Report report(std::atoi(argv[2]));
  ::fcntl(std::atoi(argv[2]), F_SETFD, FD_CLOEXEC);
  json problem;
  try {
    run_persistent(persistent_options_from(json::parse(argv[1])), report);
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
  } catch (const netio::SystemError&) {  // no caller is left to read it
  }
  report.keep_to_the_end();
  return problem.at("code").get<int>();
}

}  // namespace mrclab::lab
