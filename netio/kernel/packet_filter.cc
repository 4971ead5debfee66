#include "netio/kernel/packet_filter.h"

#include <nftables/libnftables.h>

#include <algorithm>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr const char* kTable = "netdev mrclab";

/// The table and the name of the device's chain. An identifier of nft has no '-' and is none of
/// nft's own words.
std::string chain_of(const std::string& device) {
  std::string chain = "to_" + device;
  std::replace(chain.begin(), chain.end(), '-', '_');
  return std::string(kTable) + " " + chain;
}

std::string trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first);
}

}  // namespace

void PacketFilter::FreeContext::operator()(nft_ctx* context) const { ::nft_ctx_free(context); }

PacketFilter::PacketFilter(const NetworkNamespace& ns)
    : ns_(ns), context_(ns.run_in([] { return ::nft_ctx_new(NFT_CTX_DEFAULT); })) {
  if (!context_) throw SystemError("open the packet filter of " + ns.name(), ENOMEM);
  ::nft_ctx_output_set_flags(context_.get(), NFT_CTX_OUTPUT_STATELESS);
  ::nft_ctx_buffer_output(context_.get());
  ::nft_ctx_buffer_error(context_.get());
}

PacketFilter::PacketFilter(PacketFilter&&) noexcept = default;
PacketFilter::~PacketFilter() = default;

std::string PacketFilter::run(const std::string& commands) {
  const int result =
      ns_.run_in([&] { return ::nft_run_cmd_from_buffer(context_.get(), commands.c_str()); });
  const std::string output = ::nft_ctx_get_output_buffer(context_.get());
  const std::string problem = ::nft_ctx_get_error_buffer(context_.get());
  if (result == 0) return output;
  throw SystemError("filter packets in " + ns_.name(), EINVAL, problem.substr(0, 500));
}

/// The commands that add a chain for the device, if it has none.
std::string PacketFilter::commands_to_add(const std::string& device) const {
  if (devices_.contains(device)) return "";
  return "add table " + std::string(kTable) + "\nadd chain " + chain_of(device) +
         " { type filter hook egress device \"" + device + "\" priority 0; policy accept; }\n";
}

void PacketFilter::prepare(const std::set<std::string>& devices) {
  std::string commands;
  for (const std::string& device : devices) commands += commands_to_add(device);
  if (!commands.empty()) run(commands);
  devices_.insert(devices.begin(), devices.end());
}

void PacketFilter::set(const std::map<std::string, Rules>& of_devices) {
  std::string commands;
  std::set<std::string> devices;
  for (const auto& [device, rules] : of_devices) {
    const std::string chain = chain_of(device);
    commands += commands_to_add(device) + "flush chain " + chain + "\n";
    for (const std::string& rule : rules) commands += "add rule " + chain + " " + rule + "\n";
    devices.insert(device);
  }
  if (!commands.empty()) run(commands);
  devices_.merge(devices);
}

std::map<std::string, PacketFilter::Rules> PacketFilter::rules() {
  std::map<std::string, Rules> rules;
  constexpr std::string_view kHook = "hook egress device \"";
  const std::string text = run("list ruleset");
  std::string device;  // owner of the chain that is being read
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (const size_t hook = line.find(kHook); hook != std::string::npos) {
      const size_t name = hook + kHook.size();
      device = line.substr(name, line.find('"', name) - name);
    } else if (line == "}") {
      device.clear();
    } else if (!device.empty()) {
      rules[device].push_back(line);
    }
  }
  return rules;
}

}  // namespace mrclab::netio
