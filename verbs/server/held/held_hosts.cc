#include "verbs/server/held/held_hosts.h"

#include <filesystem>
#include <utility>

namespace mrclab::verbs {

HeldHosts::HeldHosts(uint32_t hosts, std::function<void(uint32_t host)> planned,
                     HeldWorld::Patience patience)
    : hosts_(hosts),
      world_(hosts, patience, [this, planned = std::move(planned)](uint32_t host, FabricTime at) {
        if (host >= hosts_.size() || !hosts_[host]) return;
        hosts_[host]->wake_at(at);
        if (planned) planned(host);
      }) {}

HeldHosts::~HeldHosts() { close(); }

void HeldHosts::add(endpoint::Device& device, HostFacts facts) {
  const uint32_t number = facts.number;
  hosts_.at(number) = std::make_unique<HeldHost>(world_, device, std::move(facts));
}

void HeldHosts::declare(const DeclaredProgram& program) {
  std::filesystem::create_directories(std::filesystem::path(program.socket).parent_path());
  hosts_.at(program.host)->declare(program);
}

std::vector<HeldReport> HeldHosts::reports() const {
  std::vector<HeldReport> all = last_;
  for (const auto& host : hosts_) {
    if (!host) continue;
    for (HeldReport& report : host->reports()) all.push_back(std::move(report));
  }
  return all;
}

void HeldHosts::close() {
  last_ = reports();
  world_.give_up();
  for (auto& host : hosts_) host.reset();
}

}  // namespace mrclab::verbs
