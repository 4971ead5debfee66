#include "netio/runtime/daemon.h"

#include <fmt/format.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "fabric/fabric_file.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/log.h"
#include "netio/kernel/parallel.h"
#include "netio/record/process_report.h"
#include "netio/record/report_json.h"
#include "netio/record/run_recorder.h"
#include "netio/rpc/exit_codes.h"
#include "netio/rpc/rpc.h"
#include "netio/runtime/driver.h"
#include "netio/runtime/schedule_file.h"
#include "netio/runtime/shared_page.h"

namespace mrclab::netio {
namespace {

// Ticks are on an absolute grid: a wake-up costs 6-12 us of CPU, so processes tick instead of
// waking per packet.
constexpr int64_t kIdleTickNs = 5'000'000;
constexpr int64_t kHousekeepingNs = 5'000'000;
constexpr int64_t kOffTickNs = 200'000;
/// Rings are opened and closed by so many threads, which spend their time waiting.
constexpr size_t kSocketThreads = 32;

volatile std::sig_atomic_t g_stop = 0;  // a signal handler can reach nothing else

void request_stop(int) { g_stop = 1; }

void sleep_until(LabTime when) {
  const timespec ts{when.ns / 1'000'000'000, when.ns % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, nullptr);
}

class Daemon {
 public:
  Daemon(DaemonConfig config, const MakeProgram& make_program)
      : config_(std::move(config)),
        topology_(read_fabric_file(config_.fabric_file)),
        page_(SharedPage::attach(FileDescriptor(config_.page_fd), sizeof(GatePage))),
        gate_(page_.as<GatePage>()),
        program_(make_program(config_, topology_)),
        log_(open_log(log_file(), config_.process_name)),
        left_(read_handover(config_.resume_file)),
        driver_(gate_, topology_, {config_.process, config_.process_of_node}, config_.incarnation,
                frames_),
        rpc_(config_.control_socket) {
    if (gate_.magic != GatePage::kMagic) throw std::runtime_error("not a gate page");
    open_outputs();
    std::vector<const NodeSite*> sites;
    for (const NodeSite& site : topology_.nodes) {
      if (config_.process_of_node.at(site.id.value) == config_.process) sites.push_back(&site);
    }
    std::vector<std::unique_ptr<PacketSocket>> sockets(sites.size());
    in_parallel(sites.size(), kSocketThreads,
                [&](size_t i) { sockets[i] = open_socket(*sites[i]); });
    // A host's first touch of a page of its buffers took longer than filling it: 8 ms in one tick
    // for 8 MiB. So all memory is there before time starts, as an RDMA registration pins it.
    if (!config_.workload.empty()) ::mlockall(MCL_CURRENT | MCL_FUTURE);
    for (size_t i = 0; i < sites.size(); ++i) add_node(*sites[i], std::move(sockets[i]));
    driver_.follow_schedule(
        [this] { return read_schedule_file(topology_, config_.schedule_file); });
    if (left_) resume();
    driver_.set_end(config_.end);
    add_methods();
  }

  ~Daemon() {
    in_parallel(nodes_.size(), kSocketThreads, [this](size_t i) { nodes_[i].socket.reset(); });
  }

  int run() {
    prepare_scheduling();
    gate_.set_state(config_.process, ProcessState::kReady);
    log_->info("ready with {} nodes", nodes_.size());
    LabTime next_tick = LabTime::now();
    LabTime housekeeping = next_tick;
    while (g_stop == 0) {
      if (off_) {  // until somebody kills it
        rpc_.poll();
        sleep_until(LabTime::now() + kOffTickNs);
        continue;
      }
      const Driver::Tick tick = driver_.tick();
      const LabTime now = LabTime::now();
      if (now >= housekeeping) {
        keep_house();
        housekeeping = now + kHousekeepingNs;
      }
      if (tick.finished && !finished_) finish();
      // Held back by the gate, not by the clock, and something moved: the neighbours have more.
      if (tick.advanced && tick.clock_ahead) continue;
      next_tick = std::max(next_tick + tick_ns(), now);
      if (finished_) next_tick = now + kIdleTickNs;
      sleep_until(next_tick);
    }
    if (!finished_ && !off_) finish();
    return 0;
  }

 private:
  struct Hosted {
    NodeId id;
    std::unique_ptr<PacketSocket> socket;
    std::unique_ptr<RunRecorder> recorder;
    std::unique_ptr<Node> node;
  };

  int64_t tick_ns() const {
    const int64_t chosen = gate_.tick_ns.load(std::memory_order_relaxed);
    return chosen > 0 ? chosen : config_.tick_ns;
  }

  std::filesystem::path log_file() const {
    const auto dir =
        config_.run_dir.empty() ? config_.control_socket.parent_path() : config_.run_dir / "logs";
    return dir / (config_.process_name + ".log");
  }

  /// A successor writes files of its own, which come after its predecessor's in the order of names.
  std::string output_name(const char* extension) const {
    if (config_.incarnation == 1) return config_.process_name + extension;
    return fmt::format("{}.start{:04}{}", config_.process_name, config_.incarnation, extension);
  }

  /// What packet records may still take: the lives of a process share its bound.
  uint64_t record_bytes_left() const {
    if (records_) return records_->bytes_left();
    if (left_) return left_->record_bytes;
    return history_share(topology_, config_.process_of_node, config_.process,
                         config_.history_bytes);
  }

  void open_outputs() {
    if (config_.run_dir.empty()) return;
    events_ = std::make_unique<EventLog>(config_.run_dir / "events" / output_name(".jsonl"));
    if (config_.history_bytes > 0) {
      records_ = std::make_unique<HistoryWriter>(config_.run_dir / "history" / output_name(".bin"),
                                                 stream_count(topology_), record_bytes_left());
    }
    if (config_.capture == CaptureMode::kNone) return;
    PcapngOptions options;
    options.snap_length = kCaptureSnapLength;
    options.max_file_bytes = config_.capture_bytes;
    options.comment = "lab " + config_.lab + ", fabric time since its start";
    capture_ = std::make_unique<PcapngWriter>(config_.run_dir / "captures" / output_name(".pcapng"),
                                              options);
  }

  std::unique_ptr<PacketSocket> open_socket(const NodeSite& site) const {
    return std::make_unique<PacketSocket>(
        NetworkNamespace::open("mrclab-" + config_.lab + "-" + site.name),
        rings_for(topology_, site.id));
  }

  void add_node(const NodeSite& site, std::unique_ptr<PacketSocket> socket) {
    Hosted hosted;
    hosted.id = site.id;
    hosted.socket = std::move(socket);
    const bool capture_passed =
        config_.capture == CaptureMode::kAll || site.role == NodeRole::kHost;
    hosted.recorder = std::make_unique<RunRecorder>(
        topology_, site.id, std::min(config_.end, config_.work_end), capture_.get(), capture_passed,
        events_.get(), records_.get());
    hosted.node =
        program_->make_node({topology_, site.id, config_.seed, frames_, *hosted.recorder});
    driver_.add_node(site.id, *hosted.node, *hosted.socket);
    nodes_.push_back(std::move(hosted));
  }

  /// Where the nodes are, for a successor; this process does nothing more.
  Json power_off() {
    Handover left;
    for (const Hosted& hosted : nodes_) {
      left.histories[topology_.node(hosted.id).name] = hosted.recorder->history().saved();
    }
    off_ = true;
    close_outputs();
    left.committed = driver_.committed();
    left.record_bytes = record_bytes_left();
    left.report = report();
    return report_to_json(left);
  }

  static std::optional<Handover> read_handover(const std::filesystem::path& file) {
    if (file.empty()) return std::nullopt;
    return report_from_json<Handover>(parse_report(read_file(file, size_t{64} << 20)));
  }

  void resume() {
    for (Hosted& hosted : nodes_) {
      const auto history = left_->histories.find(topology_.node(hosted.id).name);
      if (history == left_->histories.end() ||
          !hosted.recorder->history().restore(history->second)) {
        throw std::runtime_error(config_.resume_file.string() + ": no history of " +
                                 topology_.node(hosted.id).name);
      }
      hosted.recorder->set_muted(true);
    }
    driver_.resume(left_->committed);
    for (Hosted& hosted : nodes_) hosted.recorder->set_muted(false);
  }

  void prepare_scheduling() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    ::munlockall();  // what is there stays there until somebody needs it more
    if (!config_.realtime) return;
    const sched_param priority{.sched_priority = 10};
    if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
      log_->warn("no SCHED_FIFO here; wake-ups may be late, which costs pace, not correctness");
    }
    ::mlockall(MCL_CURRENT);
  }

  void add_methods() {
    rpc_.method("status", [this](const Json&) {
      return Json{{"process", config_.process_name},
                  {"committed_ps", driver_.committed().ps()},
                  {"finished", finished_},
                  {"nodes", nodes_.size()}};
    });
    rpc_.method("power_off", [this](const Json&) { return power_off(); });
    rpc_.method("report", [this](const Json&) { return report_to_json(report()); });
    rpc_.method("counters", [this](const Json&) { return Json(described_nodes()); });
    rpc_.method("table", [this](const Json& of) {
      for (const Hosted& hosted : nodes_) {
        const std::string& name = topology_.node(hosted.id).name;
        if (of.is_object() && of.value("node", Json()) == name) {
          return program_->table(*hosted.node);
        }
      }
      throw RpcError(kRpcRefused, "no such node here");
    });
    rpc_.method("watch", [this](const Json& filter) {
      set_watch(filter.is_null()
                    ? nullptr
                    : std::make_unique<RecordWatch>(topology_, record_filter_from(filter),
                                                    gate_.slot(config_.process).watched_records));
      return Json{{"watching", watch_ != nullptr}};
    });
    rpc_.method("watched", [this](const Json&) {
      if (watch_ == nullptr) throw RpcError(kRpcRefused, "nothing is watched");
      return watch_->take();
    });
  }

  /// For single steps: null when nobody steps.
  void set_watch(std::unique_ptr<RecordWatch> watch) {
    watch_ = std::move(watch);
    for (Hosted& hosted : nodes_) hosted.recorder->set_watch(watch_.get());
    driver_.watch(watch_ ? watch_->filter().node : std::nullopt);
  }

  std::map<std::string, Json> described_nodes() const {
    std::map<std::string, Json> all;
    for (const Hosted& hosted : nodes_) {
      all[topology_.node(hosted.id).name] = program_->describe(*hosted.node);
    }
    return all;
  }

  ProcessReport report() const {
    const DriverReport driver = driver_.report();
    ProcessReport report;
    report.process = config_.process_name;
    report.committed = driver_.committed();
    report.frames_sent = driver.frames_sent;
    report.frames_received = driver.arrivals.carried;
    report.late_frames = driver.arrivals.late;
    report.foreign_frames = driver.arrivals.foreign;
    report.unknown_frames = driver.arrivals.unknown;
    report.failed_sends = driver.failed_sends;
    report.failed_send_reasons = driver.failed_send_reasons;
    report.ring_drops = driver.ring_drops;
    report.late_effects = driver.late_effects;
    report.frame_pool_exhausted = frames_.exhausted();
    report.gap_count = driver.gaps.count;
    for (const WireGap& gap : driver.gaps.listed) {
      report.gaps.push_back({topology_.wire_name(gap.wire), gap.sequence});
    }
    report.min_slack_ns = driver.min_slack_ns;
    report.capture_records = capture_ ? capture_->written() : 0;
    report.capture_skipped = capture_ ? capture_->skipped() : 0;
    report.events_dropped = events_ ? events_->dropped() : 0;
    for (const Hosted& hosted : nodes_) {
      report.history += history_to_text(hosted.recorder->history().streams());
    }
    report.nodes = described_nodes();
    if (left_) report.add_earlier(left_->report);
    return report;
  }

  void keep_house() {
    rpc_.poll();
    std::array<uint64_t, kProgressCounters> progress{};
    for (const Hosted& hosted : nodes_) program_->add_progress(*hosted.node, progress);
    ProcessSlot& slot = gate_.slot(config_.process);
    for (size_t i = 0; i < progress.size(); ++i) {
      slot.progress[i].store(progress[i], std::memory_order_relaxed);
    }
  }

  /// The nodes whose evidence this process has written, from when to when.
  EvidenceSeal told() const {
    EvidenceSeal seal;
    for (const Hosted& hosted : nodes_) seal.nodes.push_back(hosted.id);
    if (left_) seal.from = left_->committed;
    const bool all = driver_.committed() >= std::min(config_.end, config_.work_end);
    if (!all) seal.until = driver_.committed();
    return seal;
  }

  void close_outputs() {
    if (capture_) capture_->close(told());
    if (events_) events_->close(told());
    if (records_) records_->close(told());
  }

  void finish() {
    finished_ = true;
    keep_house();
    close_outputs();
    if (!config_.run_dir.empty()) {
      write_file(config_.run_dir / "reports" / (config_.process_name + ".json"),
                 sealed_report(report_to_json(report())));
    }
    gate_.set_state(config_.process, ProcessState::kFinished);
    log_->info("finished at {}", to_string(driver_.committed()));
  }

  DaemonConfig config_;
  Topology topology_;
  SharedPage page_;
  GatePage& gate_;
  std::unique_ptr<DaemonProgram> program_;
  std::shared_ptr<spdlog::logger> log_;
  FramePool frames_;
  std::unique_ptr<PcapngWriter> capture_;
  std::unique_ptr<EventLog> events_;
  std::unique_ptr<RecordWatch> watch_;
  std::unique_ptr<HistoryWriter> records_;
  std::vector<Hosted> nodes_;
  std::optional<Handover> left_;  ///< by a predecessor (power_off)
  Driver driver_;
  RpcServer rpc_;
  bool finished_ = false;
  bool off_ = false;  ///< a successor takes over
};

}  // namespace

int daemon_main(int argc, char** argv, const MakeProgram& make_program) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CONFIG.json (started by mrclab, not by hand)\n", argv[0]);
    return 2;
  }
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C is for the owner of the lab
  try {
    return Daemon(read_daemon_config(argv[1]), make_program).run();
  } catch (const SystemError& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], explain(error).c_str());
    return error.kind() == ErrorKind::kDiskFull ? kDiskFullExit : exit_code(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

}  // namespace mrclab::netio
