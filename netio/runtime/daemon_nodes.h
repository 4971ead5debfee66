#pragma once
// The nodes that one daemon runs: each with the rings of its namespace and the recorder of its
// history. The daemon makes them at its start and gives them to the driver, which runs them; it asks
// them what they have done for its report, its control socket and the live figures.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/packet/frame.h"
#include "netio/packet/packet_port.h"
#include "netio/packet/promiscuous_ports.h"
#include "netio/runtime/daemon_config.h"
#include "netio/runtime/daemon_outputs.h"
#include "netio/runtime/daemon_program.h"
#include "netio/runtime/driver.h"

namespace mrclab::netio {

class DaemonNodes {
 public:
  using Progress = std::array<uint64_t, kProgressCounters>;

  /// Opens the rings of all nodes that the configuration gives to this process, then makes the
  /// nodes. All references outlive this. Throws SystemError.
  DaemonNodes(const DaemonConfig& config, const Topology& topology, DaemonProgram& program,
              FramePool& frames, DaemonOutputs& outputs);
  /// Closes the rings side by side: each waits for the kernel.
  ~DaemonNodes();
  DaemonNodes(const DaemonNodes&) = delete;
  DaemonNodes& operator=(const DaemonNodes&) = delete;

  /// Finds the interfaces of all nodes. To be called when the lab's links are there, which may be after this was made.
  void find_interfaces(PacketSocket::Carriers carriers);
  /// This must outlive the driver's use of them.
  void add_to(Driver& driver);
  size_t size() const { return nodes_.size(); }
  std::vector<NodeId> ids() const;

  /// By node: the digest of its history, for a successor.
  std::map<std::string, std::string> saved_histories() const;
  /// Goes on with the histories of a predecessor. Throws std::runtime_error, which names `file`, if
  /// one is missing or broken.
  void restore_histories(const std::map<std::string, std::string>& saved,
                         const std::filesystem::path& file);
  /// Records nothing while it is so.
  void set_muted(bool muted);
  /// Every event and record goes to `watch` from now on; null: to nobody.
  void set_watch(RecordWatch* watch);

  /// The report of each node, by name.
  std::map<std::string, nlohmann::json> described() const;
  /// The pause account of each node that has one, by name.
  std::map<std::string, nlohmann::json> pauses() const;
  /// Null if there is no node of that name here.
  const Node* find(std::string_view name) const;
  /// The histories of all nodes, as a report has them.
  std::string history_text() const;
  Progress progress() const;

 private:
  struct Hosted {
    NodeId id;
    NetworkNamespace ns;
    std::unique_ptr<PacketSocket> socket;
    std::unique_ptr<RunRecorder> recorder;
    std::unique_ptr<Node> node;
  };
  /// The nodes at the veths of this process that nobody else than our daemons forwards for: its own, and neighbours.
  std::vector<NodeId> nodes_at_wires() const;
  std::string namespace_of(NodeId node) const {
    return "mrclab-" + lab_ + "-" + topology_.node(node).name;
  }
  const std::string& name_of(const Hosted& hosted) const { return topology_.node(hosted.id).name; }

  const Topology& topology_;
  DaemonProgram& program_;
  std::string lab_;
  ProcessMap processes_;
  std::vector<Hosted> nodes_;
  std::optional<PromiscuousPorts> promiscuous_;  ///< from find_interfaces() to add_to()
};

}  // namespace mrclab::netio
