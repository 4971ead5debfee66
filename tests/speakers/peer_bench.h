#pragma once
// Our speaker over real sockets, in the test's own thread, and programs that are not ours beside it, each in a network
// namespace of its own. Waiting ends with what is waited for, or fails after kPatience.

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/speakers/speaker_process.h"
#include "netio/kernel/route.h"
#include "tests/netio/test_lab.h"

namespace mrclab::lab::test {

inline constexpr std::chrono::seconds kPatience{60};  // a busy machine; nothing takes a tenth of it

inline routing::Prefix prefix(const std::string& text) { return *routing::Prefix::parse(text); }
inline Ipv6Address address(const std::string& text) { return *routing::parse_address(text); }
/// 2001:db8:<block>:<number>::/64.
inline routing::Prefix numbered(unsigned block, unsigned number) {
  char text[64];
  std::snprintf(text, sizeof text, "2001:db8:%x:%x::/64", block, number);
  return prefix(text);
}

/// A folder that goes with it.
class Folder {
 public:
  Folder() {
    // FRR gives up root, and the tests' temporary folder is root's alone.
    std::string pattern = "/run/mrclab-peers-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Our speaker and what it went through.
struct OurSpeaker : BgpDaemonEvents {
  OurSpeaker(boost::asio::io_context& io, const netio::NetworkNamespace& where,
             const BgpDaemonSetup& setup) {
    where.run_in([&] {
      daemon = std::make_unique<BgpDaemon>(io, setup, *this);
      daemon->start();
    });
  }
  void session_up(size_t) override { ++ups; }
  void session_down(size_t, const std::string& reason) override { downs.push_back(reason); }
  void route_changed(const routing::Prefix& to, const routing::FibEntry& entry) override {
    if (entry.hops.empty()) {
      routes.erase(to);
    } else {
      routes[to] = entry;
    }
  }
  void attribute_fault(size_t, const routing::AttributeFault& fault) override {
    faults.push_back(fault.reason);
  }
  void trouble(const std::string& what) override { troubles.push_back(what); }

  /// The path of a neighbour; nullptr if it has announced none.
  const routing::Path* path(const routing::Prefix& to, routing::PeerIndex peer = 0) const {
    const auto found = daemon->speaker().table().routes().find(to);
    return found == daemon->speaker().table().routes().end() ? nullptr
                                                             : found->second.path_of(peer);
  }

  std::unique_ptr<BgpDaemon> daemon;
  size_t ups = 0;
  std::vector<std::string> downs, faults, troubles;
  std::map<routing::Prefix, routing::FibEntry> routes;
};

/// "us" in one namespace, with links to neighbours in others: link i is fd01::i:0/112, ours 1, theirs 2.
class PeerBench {
 public:
  PeerBench() { add("us"); }

  netio::NetworkNamespace& add(const std::string& name) {
    netio::Sysctls sysctls = netio::forwarding_sysctls();
    sysctls.push_back({"net/ipv6/fib_multipath_hash_policy", "1"});
    return lab.add(name, sysctls);
  }

  /// A link between two namespaces, whose ends are called after the other one. Returns the addresses.
  struct Ends {
    Ipv6Address a{}, b{};
  };
  Ends link(const std::string& a, const std::string& b) {
    lab.link(a, b, b, a);
    const std::string net = "fd01::" + std::to_string(++links_) + ":";
    const Ends ends{address(net + "1"), address(net + "2")};
    netio::disable_offloads(lab.at(a), std::vector<std::string>{b});
    netio::disable_offloads(lab.at(b), std::vector<std::string>{a});
    put_addresses(a, b, ends.a, 1);
    put_addresses(b, a, ends.b, 2);
    return ends;
  }

  /// One neighbour of each other over `ends`; ours at the a end.
  static SpeakerPlan plan(const std::string& name, uint32_t as, uint32_t router) {
    SpeakerPlan made;
    made.name = name;
    made.as = routing::AsNumber{as};
    made.router = routing::RouterId{router};
    made.kernel_routes = false;
    return made;
  }
  static SpeakerPlan::Neighbour neighbour(const std::string& device, const Ipv6Address& local,
                                          const Ipv6Address& remote, uint32_t as) {
    SpeakerPlan::Neighbour made;
    made.device = device;
    made.local = local;
    made.remote = remote;
    made.as = routing::AsNumber{as};
    made.rate = BitRate::from_gbps(100);
    return made;
  }

  /// Ours runs in the namespace "us"; one at a time may connect by itself.
  OurSpeaker& start_ours(const BgpDaemonSetup& setup) {
    ours_.push_back(std::make_unique<OurSpeaker>(io, lab.at("us"), setup));
    return *ours_.back();
  }
  SpeakerProcess& start_other(const std::string& where, const SpeakerPlan& other,
                              SpeakerProgram program, const std::string& config = "") {
    const SpeakerPlace place{
        lab.at(where), folder.path() / where, MRCLAB_BINARY_DIR, {}, config, {}};
    others_.push_back(std::make_unique<SpeakerProcess>(other, program, place));
    return *others_.back();
  }
  void end_ours() { ours_.clear(); }
  void end_others() { others_.clear(); }

  /// Runs our speakers until this holds; false if it does not come to hold.
  template <class Condition>
  bool wait_for(const Condition& holds) {
    return lab.at("us").run_in([&] {
      const auto until = std::chrono::steady_clock::now() + kPatience;
      while (!holds()) {
        if (std::chrono::steady_clock::now() > until) return false;
        io.restart();
        io.run_one_for(std::chrono::milliseconds(10));
        io.poll();
      }
      return true;
    });
  }

  netio::test::TestLab lab;
  Folder folder;
  boost::asio::io_context io;

 private:
  void put_addresses(const std::string& where, const std::string& device, const Ipv6Address& own,
                     uint8_t end) {
    netio::NamespaceNetlink netlink(lab.at(where));
    netio::RouteBatch batch(netlink);
    batch.address(device, {own, 112});
    Ipv6Address local = address("fe80::");
    local[13] = static_cast<uint8_t>(links_);
    local[15] = end;
    batch.address(device, {local, 64});
    batch.commit();
  }

  unsigned links_ = 0;
  std::vector<std::unique_ptr<OurSpeaker>> ours_;
  std::vector<std::unique_ptr<SpeakerProcess>> others_;
};

}  // namespace mrclab::lab::test
