#include "lab/rdma/device_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "fabric/topology/path.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "verbs/protocol/device_identity.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// Entries of the table that hold the host's address: scripts of others ask for number 0, 1 or 3.
constexpr int kGids = 4;
/// IB_USER_VERBS_ABI_VERSION of include/uapi/rdma/ib_user_verbs.h.
constexpr int kVerbsAbi = 6;

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw netio::SystemError("make folder " + folder.string(), failed.value());
}

void write_line(const fs::path& file, const std::string& text) {
  netio::write_file(file, text + "\n");
}

/// As /sys has them: all eight groups, four digits each.
std::string gid_text(const Ipv6Address& gid) {
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

std::string guid_text(uint64_t guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xFFFF,
                     guid >> 16 & 0xFFFF, guid & 0xFFFF);
}

void write_port(const Topology& topology, uint32_t host, const fs::path& port) {
  for (const char* folder : {"gids", "gid_attrs/types", "gid_attrs/ndevs", "pkeys"}) {
    make_folder(port / folder);
  }
  const NodeSite& site = topology.node(topology.host(host));
  const double gbps =
      static_cast<double>(topology.host_rate.bps) * static_cast<double>(site.ports.size()) / 1e9;
  write_line(port / "state", "4: ACTIVE");
  write_line(port / "phys_state", "5: LinkUp");
  write_line(port / "link_layer", "Ethernet");
  write_line(port / "rate", fmt::format("{:g} Gb/sec", gbps));
  write_line(port / "lid", "0x0");
  write_line(port / "sm_lid", "0x0");
  write_line(port / "cap_mask", "0x00010000");
  write_line(port / "pkeys" / "0", "0xffff");
  for (int i = 0; i < kGids; ++i) {
    const std::string number = std::to_string(i);
    write_line(port / "gids" / number, gid_text(host_address(topology, host)));
    write_line(port / "gid_attrs" / "types" / number, "RoCE v2");
    write_line(port / "gid_attrs" / "ndevs" / number, site.ports.front().name());
  }
}

void write_all(const Topology& topology, uint32_t host, const std::string& name,
               const fs::path& folder) {
  const fs::path device = folder / "infiniband" / name;
  const fs::path verbs = folder / "infiniband_verbs";
  make_folder(device / "device");  // NCCL takes its real path as where the device is
  make_folder(verbs / "uverbs0");
  write_line(device / "device" / "numa_node", "-1");
  write_line(device / "node_type", "1: CA");
  write_line(device / "node_guid", guid_text(verbs::node_guid(host)));
  write_line(device / "sys_image_guid", guid_text(verbs::node_guid(host)));
  write_line(device / "node_desc", name + " of " + topology.node(topology.host(host)).name);
  write_line(verbs / "abi_version", std::to_string(kVerbsAbi));
  write_line(verbs / "uverbs0" / "ibdev", name);
  write_line(verbs / "uverbs0" / "abi_version", "1");
  write_port(topology, host, device / "ports" / "1");
}

}  // namespace

fs::path write_device_files(const Topology& topology, uint32_t host, bool has_rc,
                            const fs::path& lab_directory) {
  const std::string node = topology.node(topology.host(host)).name;
  const fs::path folder = lab_directory / "devices" / node;
  std::error_code none;
  if (fs::exists(folder, none)) return folder;
  // Whole or not at all: two commands may start in a host at once, and one may be killed half-way.
  const fs::path fresh = lab_directory / "devices" / fmt::format(".{}.{}", node, ::getpid());
  fs::remove_all(fresh, none);  // of an earlier process with this number
  write_all(topology, host, verbs::device_name(has_rc), fresh);
  if (::rename(fresh.c_str(), folder.c_str()) == 0) return folder;
  const int error = errno;
  fs::remove_all(fresh, none);
  if (error != EEXIST && error != ENOTEMPTY) {
    throw netio::SystemError("make folder " + folder.string(), error);
  }
  return folder;
}

}  // namespace mrclab::lab
