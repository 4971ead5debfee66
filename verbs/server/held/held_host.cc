#include "verbs/server/held/held_host.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace mrclab::verbs {

HeldHost::HeldHost(HeldWorld& world, endpoint::Device& device, HostFacts facts)
    : HostPrograms(device, std::move(facts)), world_(world) {}

/// Programs first: their sessions end before what HostPrograms has of them.
HeldHost::~HeldHost() { places_.clear(); }

void HeldHost::declare(const DeclaredProgram& program) {
  auto place = std::make_unique<Place>();
  place->declared = program;
  place->listener.emplace(program.socket);
  places_.push_back(std::move(place));
  wake_at(program.at);
}

void HeldHost::declare(const DeclaredProgram& program, netio::MessageSocket connected) {
  auto place = std::make_unique<Place>();
  place->declared = program;
  place->program = std::make_unique<HeldProgram>(
      world_, *this, place->declared, std::move(connected), [this] { wake_at(device().now()); });
  places_.push_back(std::move(place));
  wake_at(program.at);
}

void HeldHost::on_wake() {
  HostPrograms::on_wake();
  const FabricTime now = device().now();
  if (std::exchange(power_lost_, false)) end_all(now);
  world_.net().deliver(facts().number, now);
  step_all(now);
  FabricTime next = FabricTime::never();
  for (const auto& place : places_) next = std::min(next, next_of(*place));
  if (next != FabricTime::never()) wake_at(next);
}

FabricTime HeldHost::next_of(Place& place) const {
  if (place.gone) return FabricTime::never();
  const bool started = place.program && place.program->started();
  return started ? place.program->next() : place.declared.at;
}

/// In the order in which they were declared.
void HeldHost::step_all(FabricTime now) {
  for (const auto& place : places_) {
    if (place->gone || place->declared.at > now) continue;
    if (!place->program) start(*place);
    if (place->program) place->program->step(now);
  }
}

void HeldHost::start(Place& place) {
  std::optional<netio::MessageSocket> socket = await(place);
  place.listener.reset();
  if (!socket) {
    place.gone = true;
    place.why_gone = world_.given_up() ? "the run was given up"
                                       : "never attached: " + std::string(kNeverAttaches);
    return;
  }
  place.program = std::make_unique<HeldProgram>(world_, *this, place.declared, std::move(*socket),
                                                [this] { wake_at(device().now()); });
}

std::optional<netio::MessageSocket> HeldHost::await(Place& place) {
  for (uint32_t beats = 0; beats < world_.patience().attach && world_.go_on(); ++beats) {
    pollfd waits{.fd = place.listener->fd(), .events = POLLIN, .revents = 0};
    ::poll(&waits, 1, HeldWorld::kBeatMs);
    if (auto socket = place.listener->accept()) return socket;
  }
  return std::nullopt;
}

/// Their objects go when the device may be asked to destroy them.
void HeldHost::on_power_lost() {
  HostPrograms::on_power_lost();
  power_lost_ = true;
  wake_at(device().now());
}

void HeldHost::end_all(FabricTime now) {
  for (const auto& place : places_) {
    if (place->program) {
      place->program->end(now);
    } else if (!std::exchange(place->gone, true)) {
      place->why_gone = "its host lost its power before";
    }
  }
}

std::vector<HeldReport> HeldHost::reports() const {
  std::vector<HeldReport> reports;
  for (const auto& place : places_) {
    HeldReport report = place->program ? place->program->report() : HeldReport{};
    report.number = place->declared.number;
    report.host = place->declared.host;
    if (!place->program) report.not_held = place->why_gone;
    reports.push_back(std::move(report));
  }
  return reports;
}

bool HeldHost::finished() const {
  return std::all_of(places_.begin(), places_.end(), [](const auto& place) {
    return place->program ? place->program->ended() : place->gone;
  });
}

}  // namespace mrclab::verbs
