#pragma once
// Rules of the kernel's packet filter (nftables) at the egress of interfaces: they make the losses
// and corruption of a wire out of a node that is not ours. The hook is behind every sender, also
// behind one that bypasses the queueing disciplines, and in front of the queue of the interface.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "netio/kernel/namespace.h"

struct nft_ctx;

namespace mrclab::netio {

/// The rules of one network namespace, in a table of ours. A device has a chain in it from its first rule
/// on, or from prepare() on, for good: the kernel waits for one or two RCU grace periods to remove
/// a chain, and the end of a fault must not wait.
class PacketFilter {
 public:
  explicit PacketFilter(const NetworkNamespace& ns);  ///< outlives this
  PacketFilter(PacketFilter&&) noexcept;
  ~PacketFilter();

  /// Empty chains for these devices, in one transaction. All throw SystemError with nft's words.
  void prepare(const std::set<std::string>& devices);

  using Rules = std::vector<std::string>;  ///< in nft's language: "drop"
  /// Puts these rules, or none, in place of what the devices have, all in one transaction.
  void set(const std::map<std::string, Rules>& of_devices);
  void set(const std::string& device, const Rules& rules) { set({{device, rules}}); }
  /// The rules of each device as the kernel has them, without counters; also rules of other
  /// programs.
  std::map<std::string, Rules> rules();

 private:
  struct FreeContext {
    void operator()(nft_ctx* context) const;
  };
  std::string run(const std::string& commands);

  std::string commands_to_add(const std::string& device) const;

  const NetworkNamespace& ns_;
  std::unique_ptr<nft_ctx, FreeContext> context_;
  std::set<std::string> devices_;  ///< devices that have a chain
};

}  // namespace mrclab::netio
