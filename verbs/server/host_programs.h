#pragma once
// All programs of one host as the one user of its device: who owns which completion queue and queue pair, and who is
// called when something happens to it.

#include <cstdint>
#include <map>
#include <vector>

#include "endpoint/host/verbs.h"
#include "verbs/server/control/controller.h"
#include "verbs/server/host_facts.h"
#include "verbs/server/program_share.h"

namespace mrclab::verbs {

class HostPrograms : public endpoint::DeviceUser {
 public:
  /// `device` outlives it.
  HostPrograms(endpoint::Device& device, HostFacts facts);
  /// All programs are gone before.
  ~HostPrograms() override;
  HostPrograms(const HostPrograms&) = delete;
  HostPrograms& operator=(const HostPrograms&) = delete;

  endpoint::Device& device() { return device_; }
  const HostFacts& facts() const { return facts_; }
  /// Profiles, events and probes of paths, for all programs.
  Controller& controller() { return controller_; }
  /// Delivers to every program (ProgramShare::deliver). False: there was nothing.
  bool deliver();
  /// What the device reports beside completions goes to whom it concerns.
  bool hand_out_events();
  uint32_t next_domain() { return ++domains_; }

  // From sessions; null: nobody's any more.
  void add(ProgramShare& program);
  void remove(ProgramShare& program);
  void own(endpoint::CqHandle cq, ProgramShare* program);
  void own(Qpn qpn, ProgramShare* program);
  void own(endpoint::SrqHandle srq, ProgramShare* program);

  // DeviceUser.
  void on_completion(endpoint::CqHandle cq) override;
  void on_async_event() override;
  void on_path_probe() override;
  void on_memory_written() override;
  void on_wake() override;
  void on_power_lost() override;

 private:
  ProgramShare* owner_of(const endpoint::AsyncEvent& event) const;

  endpoint::Device& device_;
  HostFacts facts_;
  Controller controller_;
  std::vector<ProgramShare*> programs_;  ///< in the order in which they came
  std::map<uint32_t, ProgramShare*> cqs_, qps_, srqs_;
  uint32_t domains_ = 0;
  bool events_ = false;
};

}  // namespace mrclab::verbs
