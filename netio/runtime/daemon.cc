#include "netio/runtime/daemon.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <ctime>

#include "fabric/history/report_json.h"
#include "fabric/packet/frame_room.h"
#include "fabric/topology/fabric_file.h"
#include "netio/record/process_report.h"
#include "netio/rpc/exit_codes.h"
#include "netio/runtime/daemon_methods.h"
#include "netio/runtime/daemon_nodes.h"
#include "netio/runtime/daemon_outputs.h"
#include "netio/runtime/daemon_start.h"
#include "netio/runtime/driver.h"
#include "netio/runtime/frame_channels.h"
#include "netio/runtime/schedule_file.h"
#include "netio/runtime/shared_page.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/file_size_limit.h"
#include "netio/system/log.h"
#include "netio/system/touched_memory.h"

namespace mrclab::netio {
namespace {

// Ticks are on an absolute grid: a wake-up costs 6-12 us of CPU, so processes tick instead of
// waking per packet.
constexpr int64_t kIdleTickNs = 5'000'000;
constexpr int64_t kHousekeepingNs = 5'000'000;
constexpr int64_t kOffTickNs = 200'000;
/// While nothing may be committed: how often a process that waits for the limit looks at its control
/// socket and reports that it is alive. Other daemons are still to start, and need the processors for that.
constexpr int64_t kWaitingTickNs = 20'000'000;
constexpr int64_t kProgressNs = 1'000'000'000;

volatile std::sig_atomic_t g_stop = 0;  // global, because a signal handler can reach nothing else

void request_stop(int) { g_stop = 1; }

void sleep_until(LabTime when) {
  const timespec ts{when.ns / 1'000'000'000, when.ns % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, nullptr);
}

std::filesystem::path log_file(const DaemonConfig& config) {
  const auto dir =
      config.run_dir.empty() ? config.control_socket.parent_path() : config.run_dir / "logs";
  return dir / (config.process_name + ".log");
}

GatePage& gate_of(const SharedPage& page) {
  auto& gate = page.as<GatePage>();
  if (gate.magic != GatePage::kMagic) throw std::runtime_error("not a gate page");
  return gate;
}

std::optional<Handover> read_handover(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  return report_from_json<Handover>(parse_report(read_file(file, size_t{64} << 20)));
}

std::optional<uint64_t> record_bytes_of(const std::optional<Handover>& left) {
  if (!left) return std::nullopt;
  return left->record_bytes;
}

void add_driver_report(ProcessReport& report, const DriverReport& driver,
                       const Topology& topology) {
  report.frames_sent = driver.frames_sent;
  report.frames_received = driver.arrivals.carried;
  report.late_frames = driver.arrivals.late;
  report.foreign_frames = driver.arrivals.foreign;
  report.unknown_frames = driver.arrivals.unknown;
  report.failed_sends = driver.failed_sends;
  report.failed_send_reasons = driver.failed_send_reasons;
  report.ring_drops = driver.ring_drops;
  report.late_effects = driver.late_effects;
  report.gap_count = driver.gaps.count;
  for (const WireGap& gap : driver.gaps.listed) {
    report.gaps.push_back({topology.wire_name(gap.wire), gap.sequence});
  }
  report.min_slack_ns = driver.min_slack_ns;
}

/// One process: it owns all parts, ticks the driver, and in between serves the control socket and the lab.
class Daemon {
 public:
  Daemon(DaemonConfig config, const Topology& topology, const MakeProgram& make_program)
      : config_(std::move(config)),
        topology_(topology),
        page_(SharedPage::attach(FileDescriptor(config_.page_fd), sizeof(GatePage))),
        gate_(gate_of(page_)),
        program_(make_program(config_, topology_)),
        log_(open_log(log_file(config_), config_.process_name, {.debug = config_.verbose})),
        frames_(FramePool::kLimit, room_on_wires(topology_, config_.payload_elided)),
        left_(read_handover(config_.resume_file)),
        methods_(config_.control_socket, topology_, gate_.slot(config_.process).watched_records,
                 answers()),
        outputs_(config_, topology_, record_bytes_of(left_)),
        nodes_(config_, topology_, *program_, frames_, outputs_),
        driver_(gate_, topology_, {config_.process, config_.process_of_node}, config_.incarnation,
                frames_) {
    send_together();
    if (config_.wires_fd >= 0) send_by_memory();
    if (config_.end != FabricTime::never()) touch_buffers();  // a run: its time counts
  }

  ~Daemon() { program_->close(); }  // what is connected to the nodes, before they die
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  int run() {
    if (!wait_for_links()) return 0;
    take_up_nodes();
    program_->set_beat([this] {
      gate_.slot(config_.process).heartbeat_ns.store(LabTime::now().ns, std::memory_order_relaxed);
      return g_stop == 0;
    });
    program_->open();
    driver_.watch(std::nullopt);  // what lives on the nodes may have given them earlier events
    prepare_scheduling();
    gate_.set_state(config_.process, ProcessState::kReady);
    log_->info("ready with {} nodes of fabric {}", nodes_.size(), topology_.name);
    for (const NodeId node : nodes_.ids()) log_->debug("runs {}", topology_.node(node).name);
    LabTime next_tick = LabTime::now();
    LabTime housekeeping = next_tick;
    while (g_stop == 0) {
      if (off_) {  // powered off: waits for the lab to kill this process
        methods_.poll();
        sleep_until(LabTime::now() + kOffTickNs);
        continue;
      }
      const Driver::Tick tick = driver_.tick();
      const bool served = program_->serve(gate_.clock);
      ++ticks_;
      const LabTime now = LabTime::now();
      if (now >= housekeeping) {
        keep_house();
        log_progress(now);
        housekeeping = now + kHousekeepingNs;
      }
      if (tick.finished && !finished_) finish();
      // The gate, not the clock, holds this process back, and something moved: the neighbours may
      // have published more.
      if ((tick.advanced || served) && tick.clock_ahead) continue;
      // A process that could commit nothing sleeps for a whole tick, so that those that hold it back get the processor.
      // Where many processes share one, all of them are late for their ticks, and would only look at the gate again.
      next_tick = std::max(next_tick + tick_ns(), now + (tick.advanced ? 0 : tick_ns()));
      if (finished_) next_tick = now + kIdleTickNs;
      if (finished_ || gate_.wait_for_limit(kWaitingTickNs)) sleep_until(next_tick);
    }
    if (!finished_ && !off_) finish();
    return 0;
  }

 private:
  /// False if this process is to end before they are there.
  bool wait_for_links() {
    while (g_stop == 0) {
      if (gate_.wait_for_links(kWaitingTickNs)) return true;
    }
    return false;
  }

  void take_up_nodes() {
    // For a successor the lab has asked for nothing, and links may have come and gone since.
    nodes_.find_interfaces(left_ ? PacketSocket::Carriers::kToBeAskedFor
                                 : PacketSocket::Carriers::kAskedFor);
    nodes_.add_to(driver_);
    driver_.follow_schedule([this] {
      Schedule schedule = read_schedule_file(topology_, config_.schedule_file);
      log_->debug("got {} effects, at {}", schedule.effects.size(), reached());
      return schedule;
    });
    if (left_) {
      log_->info("goes on at {} for the process that was here before", to_string(left_->committed));
      resume();
    }
    driver_.set_end(config_.end);
  }

  int64_t tick_ns() const {
    const int64_t chosen = gate_.tick_ns.load(std::memory_order_relaxed);
    return chosen > 0 ? chosen : config_.tick_ns;
  }

  void send_together() {
    try {
      driver_.send_by(SendRing());
    } catch (const SystemError& error) {
      log_->info("{}: each node sends by system calls of its own", error.what());
    }
  }

  void send_by_memory() {
    const FrameRoom room = room_on_wires(topology_, config_.payload_elided);
    const ProcessMap processes{config_.process, config_.process_of_node};
    driver_.send_by(FrameChannels(SharedPage::attach(FileDescriptor(config_.wires_fd), 1),
                                  topology_, processes, room));
  }

  DaemonAnswers answers() {
    return {.status =
                [this] {
                  return Json{{"process", config_.process_name},
                              {"committed_ps", driver_.committed().ps()},
                              {"ticks", ticks_},
                              {"finished", finished_},
                              {"nodes", nodes_.size()}};
                },
            .report = [this] { return report_to_json(report()); },
            .counters =
                [this] {
                  return Json{{"committed_ps", driver_.committed().ps()},
                              {"nodes", nodes_.described()}};
                },
            .pauses = [this] { return Json(nodes_.pauses()); },
            .table = [this](const std::string& node) { return table(node); },
            .power_off = [this] { return power_off(); },
            .set_watch =
                [this](RecordWatch* watch) {
                  nodes_.set_watch(watch);
                  driver_.watch(watch != nullptr ? watch->filter().node : std::nullopt);
                }};
  }

  Json table(const std::string& name) const {
    const Node* node = nodes_.find(name);
    if (node == nullptr) throw RpcError(kRpcRefused, "no such node here");
    return program_->table(*node);
  }

  /// Returns the state of the nodes for a successor; this process does nothing more.
  Json power_off() {
    Handover left;
    left.histories = nodes_.saved_histories();
    off_ = true;
    program_->close();
    log_->info("off at {}: another process takes over", to_string(driver_.committed()));
    outputs_.close(told());
    left.committed = driver_.committed();
    left.record_bytes = outputs_.record_bytes_left();
    left.report = report();
    return report_to_json(left);
  }

  void resume() {
    nodes_.restore_histories(left_->histories, config_.resume_file);
    nodes_.set_muted(true);
    driver_.resume(left_->committed);
    nodes_.set_muted(false);
  }

  void prepare_scheduling() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    ::munlockall();  // locked pages stay in memory until the kernel needs them for others
    if (!config_.realtime) return;
    const sched_param priority{.sched_priority = 10};
    if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
      log_->warn("no SCHED_FIFO here; wake-ups may be late, which costs pace, not correctness");
    }
    ::mlockall(MCL_CURRENT);
  }

  ProcessReport report() const {
    ProcessReport report;
    report.process = config_.process_name;
    report.committed = driver_.committed();
    add_driver_report(report, driver_.report(), topology_);
    report.frame_pool_exhausted = frames_.exhausted();
    outputs_.count_in(report);
    report.history = nodes_.history_text();
    report.nodes = nodes_.described();
    report.programs = program_->programs();
    if (left_) report.add_earlier(left_->report);
    return report;
  }

  void keep_house() {
    methods_.poll();
    const DaemonNodes::Progress progress = nodes_.progress();
    ProcessSlot& slot = gate_.slot(config_.process);
    if (config_.followed) {
      outputs_.publish_records(driver_.committed(), slot);
    } else {
      outputs_.hand_on_events();
    }
    for (size_t i = 0; i < progress.size(); ++i) {
      slot.progress[i].store(progress[i], std::memory_order_relaxed);
    }
  }

  /// Seal of the evidence that this process has written: which nodes, from when to when.
  EvidenceSeal told() const {
    EvidenceSeal seal;
    seal.nodes = nodes_.ids();
    if (left_) seal.from = left_->committed;
    const bool all = driver_.committed() >= std::min(config_.end, config_.work_end);
    if (!all) seal.until = driver_.committed();
    return seal;
  }

  void finish() {
    finished_ = true;
    keep_house();
    outputs_.close(told());
    outputs_.write_report(report());
    gate_.set_state(config_.process, ProcessState::kFinished);
    log_end();
  }

  void log_end() {
    const DriverReport did = driver_.report();
    log_->info(
        "finished at {}: {} frames sent, {} by memory, {} received; {} late, {} unknown, {} foreign",
        to_string(driver_.committed()), did.frames_sent, did.frames_by_channel,
        did.arrivals.carried, did.arrivals.late, did.arrivals.unknown, did.arrivals.foreign);
    if (did.ring_drops > 0)
      log_->warn("the kernel dropped {} frames of full rings", did.ring_drops);
    if (did.failed_sends > 0) log_->warn("{} frames could not be sent", did.failed_sends);
    for (const std::string& reason : did.failed_send_reasons) log_->warn("not sent: {}", reason);
    if (did.late_effects > 0) log_->warn("{} effects came too late", did.late_effects);
    if (did.gaps.count > 0) log_->warn("{} gaps in the sequences of wires", did.gaps.count);
    if (did.min_slack_ns != INT64_MAX) {
      log_->info("least slack {:.3f} ms", static_cast<double>(did.min_slack_ns) * 1e-6);
    }
  }

  /// Progress, once a second, to find what holds a lab up.
  void log_progress(LabTime now) {
    if (!config_.verbose || now < next_progress_) return;
    next_progress_ = now + kProgressNs;
    log_->debug("committed {}, {} frames sent", reached(), driver_.report().frames_sent);
  }

  /// The instant that is committed, for the log; before time starts it is the one before 0.
  std::string reached() const {
    return to_string(std::max(driver_.committed(), FabricTime::zero()));
  }

  DaemonConfig config_;
  const Topology& topology_;
  SharedPage page_;
  GatePage& gate_;
  std::unique_ptr<DaemonProgram> program_;
  std::shared_ptr<spdlog::logger> log_;
  FramePool frames_;
  std::optional<Handover> left_;  ///< by a predecessor (power_off)
  DaemonMethods methods_;
  DaemonOutputs outputs_;
  DaemonNodes nodes_;
  Driver driver_;
  LabTime next_progress_{};
  uint64_t ticks_ = 0;
  bool finished_ = false;
  bool off_ = false;  ///< a successor takes over
};

}  // namespace

int daemon_main(int argc, char** argv, const MakeProgram& make_program) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CONFIG.json... (started by mrclab, not by hand)\n", argv[0]);
    return 2;
  }
  report_file_size_limit();
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C is for the owner of the lab
  try {
    DaemonConfig config = read_daemon_config(argv[1]);
    const Topology topology = read_fabric_file(config.fabric_file);
    if (argc > 2) {
      std::optional<DaemonConfig> own = fork_for_each({argv, static_cast<size_t>(argc)});
      if (!own) return 0;
      if (own->fabric_file != config.fabric_file) throw std::runtime_error("daemons of two labs");
      config = std::move(*own);
    }
    return Daemon(std::move(config), topology, make_program).run();
  } catch (const SystemError& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], explain(error).c_str());
    return error.kind() == ErrorKind::kDiskFull ? kDiskFullExit : exit_code(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

}  // namespace mrclab::netio
