#include "netio/runtime/daemon_nodes.h"

#include <sys/mman.h>

#include <stdexcept>
#include <utility>

#include "fabric/packet/frame_room.h"
#include "netio/kernel/namespace.h"
#include "netio/system/descriptor_room.h"
#include "netio/system/parallel.h"

namespace mrclab::netio {
namespace {

/// Rings are opened and closed by so many threads, which spend their time waiting.
constexpr size_t kSocketThreads = 32;
/// What a node takes: its namespace, at most four rings, the sending socket, two sockets of netlink.
constexpr size_t kDescriptors = 8;
constexpr size_t kWatchDescriptors = 2;   // of PromiscuousPorts, for each namespace
constexpr size_t kOtherDescriptors = 64;  // of a daemon: some ten, and one for each file of records

}  // namespace

DaemonNodes::DaemonNodes(const DaemonConfig& config, const Topology& topology,
                         DaemonProgram& program, FramePool& frames, DaemonOutputs& outputs)
    : topology_(topology),
      program_(program),
      lab_(config.lab),
      processes_{config.process, config.process_of_node} {
  for (const NodeSite& site : topology.nodes) {
    if (config.process_of_node.at(site.id.value) != config.process) continue;
    nodes_.push_back({site.id, NetworkNamespace::open(namespace_of(site.id)), {}, {}, {}});
  }
  make_room_for_descriptors(nodes_.size() * kDescriptors +
                            nodes_at_wires().size() * kWatchDescriptors + kOtherDescriptors);
  const FrameRoom room = room_on_wires(topology, config.payload_elided);
  in_parallel(nodes_.size(), kSocketThreads, [&](size_t i) {
    PacketSocketOptions options = rings_for(topology, nodes_[i].id, room);
    options.interfaces_later = true;
    nodes_[i].socket = std::make_unique<PacketSocket>(nodes_[i].ns, options);
  });
  // A host's first touch of a page of its buffers took longer than filling it: 8 ms in one tick
  // for 8 MiB. So all memory is there before time starts, as an RDMA registration pins it.
  if (!config.workload.empty()) ::mlockall(MCL_CURRENT | MCL_FUTURE);
  for (Hosted& hosted : nodes_) {
    hosted.recorder = outputs.make_recorder(topology.node(hosted.id));
    hosted.node = program.make_node({topology, hosted.id, config.seed, frames, *hosted.recorder});
  }
}

DaemonNodes::~DaemonNodes() {
  in_parallel(nodes_.size(), kSocketThreads, [this](size_t i) { nodes_[i].socket.reset(); });
}

void DaemonNodes::find_interfaces(PacketSocket::Carriers carriers) {
  for (Hosted& hosted : nodes_) hosted.socket->find_interfaces(hosted.ns, carriers);
  promiscuous_.emplace(topology_.all_wires().size());
  for (const NodeId node : nodes_at_wires()) {
    std::vector<PromiscuousPorts::Watched> ports;
    for (const Port& port : topology_.node(node).ports) {
      ports.push_back({port.name(), port.in, port.out});
    }
    promiscuous_->watch_namespace(NetworkNamespace::open(namespace_of(node)), std::move(ports));
  }
}

std::vector<NodeId> DaemonNodes::nodes_at_wires() const {
  std::vector<bool> found(topology_.nodes.size(), false);
  for (const Hosted& hosted : nodes_) {
    for (const Port& port : topology_.node(hosted.id).ports) {
      const NodeId peer = port.peer.node;
      if (processes_.of(peer) == kNoProcess || stays_inside(topology_, processes_, port)) continue;
      found[hosted.id.value] = found[peer.value] = true;
    }
  }
  std::vector<NodeId> nodes;
  for (const NodeSite& site : topology_.nodes) {
    if (found[site.id.value]) nodes.push_back(site.id);
  }
  return nodes;
}

void DaemonNodes::add_to(Driver& driver) {
  for (Hosted& hosted : nodes_) driver.add_node(hosted.id, *hosted.node, *hosted.socket);
  if (promiscuous_) driver.send_alone_where(*std::exchange(promiscuous_, std::nullopt));
}

std::vector<NodeId> DaemonNodes::ids() const {
  std::vector<NodeId> all;
  for (const Hosted& hosted : nodes_) all.push_back(hosted.id);
  return all;
}

std::map<std::string, std::string> DaemonNodes::saved_histories() const {
  std::map<std::string, std::string> saved;
  for (const Hosted& hosted : nodes_) saved[name_of(hosted)] = hosted.recorder->history().saved();
  return saved;
}

void DaemonNodes::restore_histories(const std::map<std::string, std::string>& saved,
                                    const std::filesystem::path& file) {
  for (Hosted& hosted : nodes_) {
    const auto history = saved.find(name_of(hosted));
    if (history == saved.end() || !hosted.recorder->history().restore(history->second)) {
      throw std::runtime_error(file.string() + ": no history of " + name_of(hosted));
    }
  }
}

void DaemonNodes::set_muted(bool muted) {
  for (Hosted& hosted : nodes_) hosted.recorder->set_muted(muted);
}

void DaemonNodes::set_watch(RecordWatch* watch) {
  for (Hosted& hosted : nodes_) hosted.recorder->set_watch(watch);
}

std::map<std::string, nlohmann::json> DaemonNodes::described() const {
  std::map<std::string, nlohmann::json> all;
  for (const Hosted& hosted : nodes_) all[name_of(hosted)] = program_.describe(*hosted.node);
  return all;
}

std::map<std::string, nlohmann::json> DaemonNodes::pauses() const {
  std::map<std::string, nlohmann::json> all;
  for (const Hosted& hosted : nodes_) {
    nlohmann::json said = program_.pauses(*hosted.node);
    if (!said.is_null()) all[name_of(hosted)] = std::move(said);
  }
  return all;
}

const Node* DaemonNodes::find(std::string_view name) const {
  for (const Hosted& hosted : nodes_) {
    if (name_of(hosted) == name) return hosted.node.get();
  }
  return nullptr;
}

std::string DaemonNodes::history_text() const {
  std::string text;
  for (const Hosted& hosted : nodes_) {
    text += history_to_text(hosted.recorder->history().reported());
  }
  return text;
}

DaemonNodes::Progress DaemonNodes::progress() const {
  Progress progress{};
  for (const Hosted& hosted : nodes_) program_.add_progress(*hosted.node, progress);
  return progress;
}

}  // namespace mrclab::netio
