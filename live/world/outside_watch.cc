#include "live/world/outside_watch.h"

#include <fmt/format.h>

#include <cerrno>

#include "live/bringup/node_plan.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {

OutsideWatch::OutsideWatch(const Subjects& subjects, OutsideFaults& faults,
                           std::function<FabricTime()> now)
    : subjects_(subjects),
      nodes_(
          subjects.fabric, subjects.foreign == nullptr,
          [this](NodeId node, uint32_t sender) { return is_ours(node, sender); },
          [this](NodeId node, bool changed) {
            if (changed) return subjects_.onlookers.note_filter(node);
            subjects_.onlookers.look_at(node);
          }),
      faults_(faults),
      now_(std::move(now)) {}

bool OutsideWatch::is_ours(NodeId node, uint32_t sender) {
  const NodeSite& site = subjects_.fabric.topology().node(node);
  const bool bridges = site.role != NodeRole::kHost && shares_namespace(site);
  if (bridges && subjects_.ovs != nullptr) return subjects_.ovs->asked_for(sender);
  return subjects_.speakers != nullptr && subjects_.speakers->asked_for(node, sender);
}

void OutsideWatch::look_at_nodes() { report_changes(nodes_.check()); }

void OutsideWatch::report_changes(const std::vector<OutsideChange>& changes) {
  for (const OutsideChange& change : changes) {
    OutsideFault fault{.t = now_(),
                       .what = fmt::format("somebody {} at {}", change.what, to_string(now_())),
                       .port = change.port};
    if (change.kind == OutsideChange::Kind::kDown) fault.kind = OutsideFault::Kind::kLinkDown;
    if (change.kind == OutsideChange::Kind::kUp) fault.kind = OutsideFault::Kind::kLinkUp;
    if (fault.kind != OutsideFault::Kind::kOther) {
      subjects_.routes.set_outside(change.port, change.kind == OutsideChange::Kind::kUp);
    }
    faults_.report_fault(std::move(fault));
  }
}

void OutsideWatch::look_at_switches() {
  std::vector<std::string> found;
  if (subjects_.ovs != nullptr) found = subjects_.ovs->find_changes();
  if (subjects_.bpf != nullptr) {
    if (const auto changed = subjects_.bpf->find_changes()) found.push_back(*changed);
  }
  if (subjects_.speakers != nullptr) {
    for (std::string& what : subjects_.speakers->find_changes()) found.push_back(std::move(what));
  }
  for (const std::string& what : found)
    report_text(fmt::format("{} at {}", what, to_string(now_())));
}

void OutsideWatch::collect_problems() {
  if (subjects_.foreign == nullptr) return;
  for (std::string& problem : subjects_.foreign->take_problems()) report_text(std::move(problem));
}

void OutsideWatch::look_again() {
  report_changes(nodes_.check_all());
  look_at_switches();
  if (subjects_.foreign == nullptr) return;
  subjects_.foreign->look_again();
  collect_problems();
}

void OutsideWatch::mirror_link(LinkId link, bool up) {
  try {
    subjects_.fabric.set_link(link, up);
  } catch (const netio::SystemError& error) {
    if (error.error_number() != ENODEV) report_text(error.what());
  } catch (const std::runtime_error& error) {  // up, but without a carrier
    report_text(error.what());
  }
}

void OutsideWatch::report_text(std::string what) {
  faults_.report_fault({.t = now_(), .what = std::move(what)});
}

}  // namespace mrclab::lab
