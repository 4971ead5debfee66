// What a SwitchNode does where the fabric has an orchestrator: it names itself to its neighbours and leaves out those that
// are not as planned; and after a loss of power it is provisioned, checked, and then put into service:
//
//   down -> provisioning (its table takes that long) -> checking -> in service, or kept out until what differs is mended
//
// The check reads the table back against what is planned for it, and waits until the neighbour at each lit port was heard,
// but no longer than two periods: a port whose neighbour was not heard is not used. Until it is in service it has no route
// at all, and its neighbours, to whom its LLDP frames tell that, leave it out of their groups; T0s tell their hosts, which
// deny the entropy values of such an uplink.

#include <algorithm>

#include "fabric/neighbours/neighbour_text.h"
#include "fabric/node/event_kind.h"
#include "switchd/switch_node.h"

namespace mrclab::switchd {
namespace {

constexpr auto kPhaseWords =
    words_by_value<ServicePhase>({{ServicePhase::kInService, "in_service"},
                                  {ServicePhase::kDown, "down"},
                                  {ServicePhase::kProvisioning, "provisioning"},
                                  {ServicePhase::kChecking, "checking"},
                                  {ServicePhase::kKeptOut, "kept_out"}});
constexpr int64_t kPeriodsToWait = 2;

}  // namespace

void SwitchNode::start_neighbours(FabricTime now) {
  neighbours_->start(now);
  plan_neighbours(now);
}

void SwitchNode::plan_neighbours(FabricTime at) {
  at = std::max(at, committed_);
  if (at == FabricTime::never() || at >= neighbours_planned_) return;
  neighbours_planned_ = at;
  events_.push({at, EventClass::kApplication, kForNeighbours, local_sequence_++}, 0);
}

void SwitchNode::run_neighbours(FabricTime now, FrameSink& out) {
  if (now >= neighbours_planned_) neighbours_planned_ = FabricTime::never();
  if (stands_still()) return;
  step_service(now);
  for (const PortId port : neighbours_->run(now)) {
    Frame frame = neighbours_->make(environment_.frames, port);
    if (!frame) continue;
    enqueue(now, {DropCause::kNone, port, environment_.topology.dscps.control}, port,
            std::move(frame), out);
  }
  for (uint32_t i = 0; i < port_count(); ++i) refresh_port(PortId{i});
  after_neighbours(now);
}

void SwitchNode::on_neighbour_frame(FabricTime now, PortId port, const Frame& frame) {
  if (neighbours_->receive(port, frame.bytes(), now) != LldpError::kNone) {
    record_drop(now, port, Direction::kIngress, DropCause::kMalformed, QueueClass::kNone, frame);
    return;
  }
  refresh_port(port);
  step_service(now);
  after_neighbours(now);
}

/// What was learned is reported, and told on.
void SwitchNode::after_neighbours(FabricTime now) {
  for (NeighbourNews& news : neighbours_->take_news()) {
    environment_.observer.event({now,
                                 event_kind::kNeighbour,
                                 news.port,
                                 {},
                                 {},
                                 {},
                                 name_of(news.kind),
                                 std::move(news.who)});
  }
  neighbours_->set_service({phase_ == ServicePhase::kInService, neighbours_->unused_uplinks()},
                           now);
  const bool waits = phase_ == ServicePhase::kProvisioning && now < provisioned_;
  plan_neighbours(std::min(neighbours_->deadline(), waits ? provisioned_ : FabricTime::never()));
}

void SwitchNode::refresh_port(PortId port) {
  table_.set_live(port, at(port).egress.carrier() && neighbours_->may_use(port));
}

void SwitchNode::on_service_state(FabricTime now, SwitchWork before) {
  if (work_ == SwitchWork::kDown) {
    neighbours_->stop();
    set_phase(now, ServicePhase::kDown, {});
  } else if (before == SwitchWork::kDown) {
    const Topology& topology = environment_.topology;
    provisioned_ = now + topology.orchestrator.provisioning.at(topology.base_rtt);
    set_phase(now, ServicePhase::kProvisioning, {});
    start_neighbours(now);
  }
  table_.set_loaded(phase_ == ServicePhase::kInService && work_ != SwitchWork::kNoTable);
  if (work_ != SwitchWork::kDown) plan_neighbours(now);
}

void SwitchNode::step_service(FabricTime now) {
  if (phase_ == ServicePhase::kInService || phase_ == ServicePhase::kDown) return;
  if (work_ != SwitchWork::kForwarding || now < provisioned_) return;
  const OrchestratorProfile& profile = environment_.topology.orchestrator;
  if (!profile.check) return set_phase(now, ServicePhase::kInService, "not checked");
  const FabricTime patience = profile.period.at(environment_.topology.base_rtt) * kPeriodsToWait;
  if (!neighbours_->has_heard_all() && now < provisioned_ + patience) {
    return set_phase(now, ServicePhase::kChecking, {});
  }
  if (std::string differs = table_.difference(); !differs.empty()) {
    return set_phase(now, ServicePhase::kKeptOut, std::move(differs));
  }
  set_phase(now, ServicePhase::kInService,
            std::to_string(neighbours_->heard()) + " neighbours heard, " +
                std::to_string(table_.size()) + " routes read back");
}

void SwitchNode::set_phase(FabricTime now, ServicePhase phase, std::string why) {
  if (phase == phase_ && why == phase_why_) return;
  phase_ = phase;
  phase_why_ = why;
  table_.set_loaded(phase == ServicePhase::kInService && work_ != SwitchWork::kNoTable);
  environment_.observer.event({now,
                               event_kind::kSwitchService,
                               {},
                               {},
                               {},
                               {},
                               kPhaseWords[static_cast<size_t>(phase)],
                               std::move(why)});
}

}  // namespace mrclab::switchd
