#pragma once
// The held programs of all hosts of one process, and the network between them. Hosts that programs of it are to reach
// must all be here: in a process of its own, nobody would answer.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "endpoint/host/verbs.h"
#include "verbs/server/held/held_host.h"
#include "verbs/server/held/held_world.h"

namespace mrclab::verbs {

class HeldHosts {
 public:
  /// `planned(host)`: that host's device got an alarm from the event of another host, at least ManagementNet::kOneWay
  /// ahead. For a world that keeps a calendar of its nodes; may be empty.
  explicit HeldHosts(uint32_t hosts, std::function<void(uint32_t host)> planned = {},
                     HeldWorld::Patience patience = {});
  ~HeldHosts();
  HeldHosts(const HeldHosts&) = delete;
  HeldHosts& operator=(const HeldHosts&) = delete;

  /// `device` outlives this, or the call of close().
  void add(endpoint::Device& device, HostFacts facts);
  /// Its host was added. Makes the folder of its socket. Throws SystemError.
  void declare(const DeclaredProgram& program);
  HeldHost& host(uint32_t number) { return *hosts_[number]; }
  HeldWorld& world() { return world_; }
  /// Of all programs, host by host.
  std::vector<HeldReport> reports() const;
  /// Ends all connections: what programs had made goes, and reports() stays as it is now.
  void close();

 private:
  std::vector<std::unique_ptr<HeldHost>> hosts_;  ///< by number; null: it is not here
  HeldWorld world_;
  std::vector<HeldReport> last_;
};

}  // namespace mrclab::verbs
