#include "live/world/live_lab.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/packet/frame_room.h"
#include "netio/runtime/frame_channels.h"
#include "netio/system/parallel.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::lab {
namespace {

/// Throws an InputError, before anything is brought up, if no lab can satisfy the options.
ProcessPlan plan_of_possible_lab(const Topology& topology, const LiveLabOptions& options) {
  // Daemons of SCHED_FIFO do not make way for each other, so small ones let the others begin sooner.
  const uint32_t switch_processes = options.realtime ? topology.planes : options.switch_processes;
  ProcessPlan plan =
      plan_processes(topology, options.isolate, options.host_processes, switch_processes);
  if (plan.processes.size() > netio::kMaxProcesses) {
    throw InputError(fmt::format("{} processes are too many; at most {} fit in one lab",
                                 plan.processes.size(), netio::kMaxProcesses));
  }
  if (topology.all_wires().size() > netio::kMaxWires) {
    throw InputError(fmt::format("{} wires are too many; at most {} fit in one lab",
                                 topology.all_wires().size(), netio::kMaxWires));
  }
  if (!topology.carries_time() && !options.dilation) {
    throw InputError(
        "an automatic pace where others than our switches forward: expected a fixed dilation; the "
        "rates of their ports follow from it");
  }
  return plan;
}

netio::GatePage& prepare_gate(netio::SharedPage& page, uint32_t lab_id, uint32_t processes) {
  auto& gate = page.as<netio::GatePage>();
  gate.magic = netio::GatePage::kMagic;
  gate.lab = lab_id;
  gate.process_count = processes;
  gate.limit_ps.store(netio::kBeforeTime.ps());
  gate.clock.reset(FabricTime::zero(), netio::LabTime::now());
  for (uint32_t i = 0; i < processes; ++i) {
    gate.slot(i).done_ps.store(netio::kBeforeTime.ps());
    gate.slot(i).claimed_ps.store(netio::kBeforeTime.ps());
    gate.slot(i).min_slack_ns.store(INT64_MAX);
    gate.slot(i).waits_for.store(netio::kNoProcess);
    gate.slot(i).recorded_ps.store(netio::kBeforeTime.ps());
    gate.slot(i).records_cut_ps.store(FabricTime::never().ps());
  }
  return gate;
}

/// The memory by which fast wires cross from one daemon to another.
std::optional<netio::SharedPage> make_wires(const Topology& topology, const ProcessPlan& plan,
                                            bool payload_elided) {
  const size_t bytes = netio::FrameChannels::bytes_for(topology, plan.process_of_node,
                                                       room_on_wires(topology, payload_elided));
  if (bytes == 0) return std::nullopt;
  return netio::SharedPage::create("mrclab-wires", bytes);
}

}  // namespace

LiveLab::LiveLab(const Topology& topology, LiveLabOptions options, const BringUpProgress& progress)
    : options_(std::move(options)),
      plan_(plan_of_possible_lab(topology, options_)),
      fabric_(std::make_unique<LiveFabric>(LiveFabric::NamespacesAlone{}, topology, options_.name,
                                           progress)),
      page_(netio::SharedPage::create("mrclab-gate", sizeof(netio::GatePage))),
      gate_(prepare_gate(page_, fabric_->lab_id(), static_cast<uint32_t>(plan_.processes.size()))),
      commits_(gate_, [this] { return std::min(mirror_.limit(), power_.limit()); }),
      pace_(gate_, topology, options_.dilation, options_.end),
      mirror_(
          topology, options_.schedule,
          [this](LinkId link, bool up) { outside_->mirror_link(link, up); },
          [this](FabricTime instant) { return commits_.keep_before(instant); }),
      power_(topology, plan_.process_of_node, options_.schedule),
      ordinary_routes_(*fabric_, options_.schedule),
      onlookers_(*fabric_, gate_),
      wires_(make_wires(topology, plan_, options_.payload_elided)),
      fleet_(options_, plan_, *fabric_, page_, wires_) {
  // The daemons are started, load and open their rings while another thread makes the links: the kernel makes links under
  // one lock, so that this keeps one processor busy and leaves the others to the daemons.
  netio::run_beside([this] { fleet_.start(); }, [&] { fabric_->connect(progress); });
  if (options_.management_network) fabric_->make_management_network();
  gate_.tell_of_links();
  if (topology.has_forwarding(Forwarding::kOvs)) ovs_ = std::make_unique<OvsSwitches>(*fabric_);
  if (topology.has_forwarding(Forwarding::kBpf)) bpf_ = std::make_unique<BpfSwitches>(*fabric_);
  if (topology.routing.is_fare() && topology.has_forwarding(Forwarding::kKernel)) {
    speakers_ = std::make_unique<FabricSpeakers>(*fabric_, program_directory(options_.programs));
  }
  if (!topology.carries_time()) {
    foreign_ =
        std::make_unique<ForeignSwitches>(*fabric_, ovs_.get(), bpf_.get(), options_.schedule,
                                          *options_.dilation, [this] { return clock(); });
  }
  outside_ = std::make_unique<OutsideWatch>(
      OutsideWatch::Subjects{*fabric_, ovs_.get(), bpf_.get(), speakers_.get(), foreign_.get(),
                             ordinary_routes_, onlookers_},
      outside_faults_, [this] { return now(); });
  fleet_.await_ready();
}

LiveLab::~LiveLab() {
  try {
    tear_down();
  } catch (const std::exception&) {  // the record stays, so that `down` can finish
  }
}

void LiveLab::cut_power() {
  const auto due = power_.due([this](uint32_t process) {
    if (!netio::in_gate(gate_.state(process))) return FabricTime::never();
    return FabricTime::from_ps(gate_.slot(process).done_ps.load(std::memory_order_acquire));
  });
  for (const uint32_t process : due) {
    if (gate_.state(process) == netio::ProcessState::kReady) {
      fleet_.replace(process, outside_faults_);
    }
  }
}

void LiveLab::start() {
  // Only a run is compared with its start at its end; a lab that stays may be changed by its users.
  if (foreign_ && !options_.run_dir.empty()) foreign_->remember_all();
  onlookers_.look_at_all();
  // The first look reads all tables of foreign switches, which takes a second under load: before time starts, so that faults
  // are not late for it.
  outside_->look_at_switches();
  commits_.start();
  pace_.start();
}

FabricTime LiveLab::settled() const {
  const FabricTime in_kernel = mirror_.settled(gate_.slowest_done());
  return foreign_ ? foreign_->settled(in_kernel) : in_kernel;
}

void LiveLab::replace_schedule(const Quiesce& quiesce, netio::Schedule schedule) {
  fleet_.replace_schedule(schedule);
  power_.settle(options_.schedule, schedule.settled);
  options_.schedule = std::move(schedule.effects);
  power_.replace(options_.schedule, quiesce.open_instant());
  mirror_.replace(options_.schedule);
  if (foreign_) foreign_->replace(options_.schedule);
  ordinary_routes_.replace(options_.schedule);
}

bool LiveLab::step() {
  const FabricTime slowest = now();
  mirror_.apply_due(slowest, pace_.dilation(), commits_.limit());
  if (foreign_ && commits_.started()) {
    foreign_->apply_due();
    outside_->collect_problems();
  }
  cut_power();
  if (options_.run_dir.empty()) forget_notes();
  commits_.refresh();  // the mirror's own limit now covers what was kept for it
  if (slowest < options_.end) pace_.adjust_pace(commits_.combined());
  fleet_.find_stopped(outside_faults_);
  outside_->look_at_nodes();
  onlookers_.look();
  // A virtual switch may have taken a while above to be changed, and looking at all of them takes a second on a busy
  // machine: routes leave what is broken before that.
  ordinary_routes_.apply_due(now());
  if (ordinary_routes_.settled()) outside_->look_at_switches();
  return fleet_.any_ready();
}

void LiveLab::make_management_network() {
  if (fabric_->has_management_network()) return;
  fabric_->make_management_network();
  outside_->adopt_in_hosts(verbs::kManagementInterface);
}

void LiveLab::look_again() {
  fleet_.look_for_ended(outside_faults_);
  outside_->look_again();
}

FabricTime LiveLab::clock() const {
  return std::min({gate_.time_at(netio::LabTime::now()), options_.end, commits_.limit()});
}

const std::vector<SwitchNote>& LiveLab::switch_notes() const {
  static const std::vector<SwitchNote> kNone;
  return foreign_ ? foreign_->notes() : kNone;
}

/// Notes become events of a run. A lab that stays has no such file and would collect them for ever.
void LiveLab::forget_notes() {
  mirror_.forget_notes();
  if (foreign_) foreign_->forget_notes();
  fleet_.forget_notes();
}

void LiveLab::tear_down() {
  end_daemons();
  outside_.reset();
  foreign_.reset();
  speakers_.reset();
  ovs_.reset();
  bpf_.reset();
  if (fabric_) fabric_->tear_down();
  fabric_.reset();
}

}  // namespace mrclab::lab
