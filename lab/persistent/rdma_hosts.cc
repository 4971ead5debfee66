#include "lab/persistent/rdma_hosts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/persistent.h"
#include "lab/rdma/device_files.h"

namespace mrclab::lab {

RdmaHosts::RdmaHosts(const LabRecord& record, const RdmaWish& wish)
    : wish_(wish), lab_directory_(LabPaths{}.lab_directory(record.lab)) {
  const bool asked = wish.rdma.value_or(false) || wish.send_emulated;
  if (!wish.rdma.value_or(true)) {
    if (wish.send_emulated) {
      throw InputError("found --no-rdma beside --send: expected one or the other");
    }
    return;
  }
  const std::optional<std::filesystem::path> libraries = rdma_libraries();
  if (!libraries) {
    if (asked) throw InputError(kNoRdmaLibraries);
    return;
  }
  if (!asked && !std::filesystem::exists(control_socket({}, record.lab))) return;
  if (!ask_lab(record)) {
    if (asked)
      throw InputError("lab '" + record.lab + "' knows no RDMA programs: it is an older version's");
    return;
  }
  topology_ = read_fabric_file(lab_directory_ / "fabric.yaml");
  libraries_ = libraries;
}

bool RdmaHosts::ask_lab(const LabRecord& record) {
  try {
    has_rc_ = connect_to_labd(record).call("rdma").at("rc").get<bool>();
    return true;
  } catch (const netio::RpcError& error) {
    if (error.code() == netio::kRpcMethodNotFound) return false;
    throw InputError(error.what());
  }
}

NodeSurroundings RdmaHosts::at(const std::string& node) const {
  if (!libraries_) return {};
  const std::optional<NodeId> id = topology_->find_node(node);
  if (!id || topology_->node(*id).role != NodeRole::kHost) return {};
  const uint32_t host = topology_->node(*id).index;
  RdmaProgram program;
  program.host = host;
  program.send_emulated = wish_.send_emulated;
  return {rdma_environment(*topology_, program, *libraries_),
          write_device_files(*topology_, host, has_rc_, lab_directory_)};
}

}  // namespace mrclab::lab
