// What others change in the nodes of a lab is seen in every kind of node: a table of kinds of nodes by kinds of
// changes, by the programs that people use (ip, tc, nft, sysctl, kill), in one lab for each kind.

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "live/world/live_lab.h"
#include "netio/kernel/open_vswitch.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

using test::mentions;

/// Commands of the shell, one that changes something and one that undoes it, and what the lab reports of the first.
/// $N is the node's namespace, $P a port of it in plane 0 by its device, $LAB the lab's name.
struct ChangeRow {
  const char* kind;
  const char* change;
  const char* undo;
  const char* reported;
};

/// In the namespace of every node, whoever forwards its packets.
constexpr ChangeRow kOfEveryNode[] = {
    {"link", "ip -n $N link set $P down", "ip -n $N link set $P up", "set down"},
    {"mtu", "ip -n $N link set $P mtu 1400", "ip -n $N link set $P mtu 9000", "set the mtu of"},
    {"MAC", "ip -n $N link set $P address 02:09:09:09:09:09", "true", "set the MAC address of"},
    {"new link", "ip -n $N link add odd0 type veth peer name odd1", "ip -n $N link del odd0",
     "odd0 of"},
    {"shaper", "tc -n $N qdisc replace dev $P root tbf rate 9mbit burst 99kb latency 9ms",
     "tc -n $N qdisc del dev $P root", "put tbf on"},
    {"queue", "tc -n $N qdisc replace dev $P root pfifo limit 9", "tc -n $N qdisc del dev $P root",
     "put pfifo on"},
    {"tc filter",
     "tc -n $N qdisc add dev lo clsact && tc -n $N filter add dev lo ingress protocol all u32 "
     "match u32 0 0",
     "tc -n $N qdisc del dev lo clsact", "u32 filter on"},
    {"IPv4 address", "ip -n $N address add 10.99.0.1/24 dev lo",
     "ip -n $N address del 10.99.0.1/24 dev lo", "put the address 10.99.0.1/24 on lo of"},
    {"nftables", "ip netns exec $N nft add table inet theirs",
     "ip netns exec $N nft delete table inet theirs", "changed the packet filter of"},
    {"sysctl", "ip netns exec $N sysctl -qw net.ipv6.conf.all.forwarding=0",
     "ip netns exec $N sysctl -qw net.ipv6.conf.all.forwarding=1",
     "wrote the sysctl net.ipv6.conf.all.forwarding = 0"},
    {"sysctl of a port", "ip netns exec $N sysctl -qw net.ipv6.conf.$P.hop_limit=7",
     "ip netns exec $N sysctl -qw net.ipv6.conf.$P.hop_limit=64", "hop_limit = 7"},
    {"rule", "ip -n $N -6 rule add pref 9 table 9 && ip -n $N -4 rule add pref 9 table 9",
     "ip -n $N -6 rule del pref 9", "9: table 9"},
};
/// Where the kernel has IPv6.
constexpr ChangeRow kOfKernels[] = {
    {"IPv6 address", "ip -n $N address add fd99::1/64 dev $P nodad",
     "ip -n $N address del fd99::1/64 dev $P", "put the address fd99::1/64 on"},
    {"route", "ip -n $N -6 route add fd77::/64 dev $P", "true", "added a route of"},
    {"flush", "ip -n $N -6 route flush root fd77::/64", "true", "removed a route of"},
    {"neighbour", "ip -n $N neigh add fd99::9 lladdr 02:00:00:00:00:09 dev $P",
     "ip -n $N neigh del fd99::9 dev $P", "added a neighbour of"},
};

/// A lab that nobody's work runs in, and somebody who changes it.
class ChangedLab {
 public:
  explicit ChangedLab(std::string forwarding, const std::string& more = "")
      : forwarding_(std::move(forwarding)) {
    enter_sandbox();
    options_.shape = parse_fabric(read_yaml_text(
        "name: two\nplanes: 1\nt0: 2\nt1: 1\nhosts_per_t0: 1\necn: off\ntrim: off\nforwarding: " +
            forwarding_ + "\n" + more,
        "fabric.yaml"));
    topology_ = build_topology(options_.shape);
    options_.name = "t_changed_" + std::to_string(::getpid());
    options_.dilation = 20000;
    options_.programs = MRCLAB_BINARY_DIR;
    lab_.emplace(topology_, options_);
    lab_->start();
    step_for(std::chrono::milliseconds(300));
    CAPTURE(all_reported());
    REQUIRE(lab_->outside_faults().total() == 0);
  }

  /// Runs the command, and waits until what is reported anew, of this node, has `expected` in it.
  void check(const std::string& node, const ChangeRow& row) {
    const std::string name = std::string(row.kind) + " of " + node;
    CAPTURE(name);
    seen_ = lab_->outside_faults().total();
    run(node, row.change);
    const bool found = wait_for(node, row.reported);
    CAPTURE(all_reported());
    CHECK(found);
    run(node, row.undo);
    step_for(std::chrono::milliseconds(20));
  }
  void run(const std::string& node, const std::string& command) const {
    const std::string port = device_of(topology_, {*topology_.find_node(node), PortId{0}});
    const std::string variables =
        "LAB=" + options_.name + "; N=mrclab-$LAB-" + node + "; P=" + port + "; ";
    CAPTURE(command);
    CHECK(std::system((variables + command).c_str()) == 0);
  }
  bool wait_for(const std::string& node, const std::string& expected) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      for (const std::string& what : reported()) {
        if (mentions(what, expected) && mentions(what, node) && mentions(what, " at ")) return true;
      }
      step_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  void step_for(std::chrono::milliseconds span) {
    const auto until = std::chrono::steady_clock::now() + span;
    do {
      if (!lab_->step()) FAIL("the lab has ended");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (std::chrono::steady_clock::now() < until);
  }
  std::vector<std::string> reported() const {
    uint64_t since = seen_;
    std::vector<std::string> lines;
    for (const OutsideFault& fault : lab_->outside_faults().since(since))
      lines.push_back(fault.what);
    return lines;
  }
  std::string all_reported() const {
    std::string text;
    for (const std::string& line : reported()) text += line + "\n";
    return text;
  }
  LiveLab& lab() { return *lab_; }
  const std::string& forwarding() const { return forwarding_; }

 private:
  std::string forwarding_;
  LiveLabOptions options_;
  Topology topology_;
  std::optional<LiveLab> lab_;
  uint64_t seen_ = 0;
};

void check_table(ChangedLab& lab, const std::vector<std::string>& nodes, bool kernel) {
  for (const std::string& node : nodes) {
    for (const ChangeRow& row : kOfEveryNode) {
      // All switches of Open vSwitch are in one namespace, where its daemon makes links of its own.
      const bool bridges = lab.forwarding() == "ovs" && node != "h0";
      if (bridges && (mentions(row.change, "odd0") || mentions(row.change, "dev lo"))) continue;
      lab.check(node, row);
    }
    if (!kernel && node != "h0") continue;
    for (const ChangeRow& row : kOfKernels) lab.check(node, row);
  }
}

}  // namespace

TEST_SUITE_BEGIN("root: changes by others in every kind of node");

TEST_CASE("of hosts and switches of ours") {
  ChangedLab lab("switchd");
  check_table(lab, {"h0", "p0.t0-0"}, false);
}

TEST_CASE("more changes than the kernel can report, of whatever kind, are one, too") {
  ChangedLab lab("switchd");
  // The lab takes no step meanwhile, so that the kernel's reports find no room.
  lab.run("p0.t0-0",
          "for i in $(seq 3000); do echo qdisc replace dev lo root pfifo limit $i; done | "
          "tc -n $N -batch -");
  CHECK(lab.wait_for("p0.t0-0", "changed more of p0.t0-0 than the kernel could report"));
}

TEST_CASE("of the kernel's switches") {
  ChangedLab lab("kernel");
  check_table(lab, {"h0", "p0.t0-0", "p0.t1-0"}, true);
}

TEST_CASE("of Open vSwitch: namespace, tables, processes") {
  if (!netio::missing_ovs_programs().empty()) return;
  ChangedLab lab("ovs");
  check_table(lab, {"p0.t0-0"}, false);
  const std::string socket = " unix:/run/mrclab/$LAB/ovs/p0.t0-0.mgmt";
  const std::string flow = "ovs-ofctl -O OpenFlow15 add-flow" + socket + " priority=9,actions=drop";
  const std::string no_flow = "ovs-ofctl -O OpenFlow15 --strict del-flows" + socket + " priority=9";
  lab.check("p0.t0-0", {"OpenFlow rule", flow.c_str(), no_flow.c_str(), "changed the table of"});
  lab.run("p0.t0-0", "kill -STOP $(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid)");
  CHECK(lab.wait_for("", "ovs-vswitchd was stopped"));
  lab.run("p0.t0-0", "kill -CONT $(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid)");
  CHECK(lab.wait_for("", "ovs-vswitchd runs again"));
  lab.run("p0.t0-0", "kill -KILL $(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid)");
  CHECK(lab.wait_for("", "ovs-vswitchd: signal 9 (Killed) ended"));
}

TEST_CASE("of a BPF switch: namespace, and its program taken off a port") {
  std::optional<ChangedLab> lab;
  try {
    lab.emplace("bpf");
  } catch (const InputError&) {  // not in this build
    return;
  }
  check_table(*lab, {"p0.t0-0"}, false);
  lab->check("p0.t0-0",
             {"program", "tc -n $N filter del dev $P ingress", "true", "took a bpf filter from"});
  lab->check("p0.t0-0", {"hook", "tc -n $N qdisc del dev $P clsact", "true", "took clsact from"});
}

TEST_CASE(
    "of switches with BGP speakers: namespace, routes, processes; what speakers learn is theirs") {
  ChangedLab lab("kernel", "routing: fare\nspeaker: bgpd\n");
  // The sessions come up, and routes are learnt: no change by others.
  lab.step_for(std::chrono::milliseconds(3000));
  CAPTURE(lab.all_reported());
  CHECK(lab.lab().outside_faults().total() == 0);
  check_table(lab, {"p0.t0-0"}, true);
  lab.check("p0.t0-0", {"learnt routes", "ip -n $N -6 route flush proto bgp", "true", "removed"});
  const std::string pid = "$(pgrep -f /run/mrclab/$LAB/speakers/p0.t0-0/bgpd.yaml)";
  lab.run("p0.t0-0", "kill -STOP " + pid);
  CHECK(lab.wait_for("p0.t0-0", "mrc-bgpd was stopped"));
  lab.run("p0.t0-0", "kill -CONT " + pid);
  CHECK(lab.wait_for("p0.t0-0", "runs again"));
  lab.run("p0.t0-0", "kill -KILL " + pid);
  CHECK(lab.wait_for("p0.t0-0", "signal 9 (Killed)"));
}

TEST_SUITE_END();

}  // namespace mrclab::lab
