#pragma once
// The held programs of one host: they act within its node's events, at the instants that they ask for. Made beside the
// node (HostNode::device()) before its time starts; from there everything happens by itself.
//
// A declared program is awaited when fabric time has come to its `at`: the node, and so the whole fabric, stands there
// until the program has connected, or whoever has started it, once it has ended, or for Patience::attach; then it counts as never attached.
// Programs act in their order at one instant, until none of them has anything to do there.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/host/verbs.h"
#include "netio/system/message_socket.h"
#include "verbs/server/held/held_program.h"
#include "verbs/server/held/held_world.h"
#include "verbs/server/host_programs.h"

namespace mrclab::verbs {

class HeldHost : public HostPrograms {
 public:
  /// `world` and `device` outlive it.
  HeldHost(HeldWorld& world, endpoint::Device& device, HostFacts facts);
  ~HeldHost() override;

  /// One more program; before the host's time has come to its `at`. Listens at its socket from now on. Throws
  /// SystemError.
  void declare(const DeclaredProgram& program);
  /// The same, over a connection of the caller's.
  void declare(const DeclaredProgram& program, netio::MessageSocket connected);
  /// From another host: something arrives here at `at`.
  void wake_at(FabricTime at) { device().wake_at(at); }
  /// In the order in which they were declared.
  std::vector<HeldReport> reports() const;
  /// Have all of them ended?
  bool finished() const;

  // DeviceUser.
  void on_wake() override;
  void on_power_lost() override;

 private:
  struct Place {
    DeclaredProgram declared;
    std::optional<netio::MessageListener> listener;
    std::unique_ptr<HeldProgram> program;
    bool gone = false;  ///< it never attached, or its host lost its power before
    std::string why_gone;
  };

  void start(Place& place);
  void end_all(FabricTime now);
  std::optional<netio::MessageSocket> await(Place& place);
  FabricTime next_of(Place& place) const;
  void step_all(FabricTime now);

  HeldWorld& world_;
  std::vector<std::unique_ptr<Place>> places_;  ///< what a program refers to stays where it is
  bool power_lost_ = false;
};

}  // namespace mrclab::verbs
