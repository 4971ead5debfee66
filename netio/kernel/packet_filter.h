#pragma once
// Rules of the kernel's packet filter (nftables) at the egress of interfaces: what a wire out of a node
// that is not ours loses or corrupts. The hook is behind every sender, also behind one that bypasses the
// queueing disciplines, and in front of the queue of the interface.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "netio/kernel/namespace.h"

struct nft_ctx;

namespace mrclab::netio {

/// The rules of one network namespace, in a table of ours. A device has a chain in it from its first rule
/// on, or from prepare() on, for good: to take a chain away the kernel waits for an RCU grace period or
/// two, and what ends a fault should not.
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
  /// By device, as the kernel has them, without counters; whoever put them there.
  std::map<std::string, Rules> rules();

 private:
  struct FreeContext {
    void operator()(nft_ctx* context) const;
  };
  std::string run(const std::string& commands);

  std::string commands_to_add(const std::string& device) const;

  const NetworkNamespace& ns_;
  std::unique_ptr<nft_ctx, FreeContext> context_;
  std::set<std::string> devices_;  ///< with a chain
};

}  // namespace mrclab::netio
