// What others do to a lab during a run leaves no verdict but inconclusive, which names what they
// did: in carried time and by the wall clock. The run ends all the same, with its report, and
// cleans up.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "lab/run/scenario_run.h"
#include "recorded/folder/run_manifest.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;
using test::mentions;

/// `forwarding` kernel or ovs: by the wall clock; nothing of the schedule is over at the end.
Scenario disturbed_scenario(const std::string& forwarding, const std::string& fault) {
  const bool wall = forwarding != "switchd";
  // Where switches route by themselves work begins when they have (fabric/topology/fare.h: fare_ready).
  const char* end = forwarding.find("fare") != std::string::npos ? "170us" : "60us";
  return parse_scenario(read_yaml_text(
      "name: disturbed\nfabric:\n  name: two\n  planes: 2\n  t0: 2\n  t1: 1\n  hosts_per_t0: 1\n"
      "  ecn: off\n  trim: off\n  forwarding: " +
          forwarding + "\n" + (wall ? "timing: wall\n" : "") +
          "dilation: 20000\nseed: 5\nworkload:\n"
          // Small messages: by the wall clock a busy machine delivers few packets until the end.
          "  - permutation: {hosts: all, load: 30%, message: 4KiB, shift: 1}\n" +
          fault + "end: " + end + "\nexpect:\n  - no_qp_error\n  - memory_intact\n",
      "disturbed.yaml"));
}

constexpr const char* kLossToTheEnd =
    "faults:\n  - {at: 1us, wire_loss: {wire: \"p0.t0-0:u0->p0.t1-0:d0\", loss: 20%}}\n";
constexpr const char* kLossThatEnds =
    "faults:\n  - {at: 1us, wire_loss: {wire: \"p0.t0-0:u0->p0.t1-0:d0\", loss: 20%, for: "
    "40us}}\n";

/// A run of more than a second in which somebody runs a command of the shell soon after its start,
/// $NS being what the names of namespaces begin with.
struct Disturbed {
  test::TemporaryRuns runs;
  RunResult result;
  std::string lab = "t_disturbed_" + std::to_string(::getpid());

  Disturbed(const Scenario& scenario, const std::string& command) {
    enter_sandbox();
    RunOptions options = runs.options(World::kLive);
    options.lab_name = lab;
    // The lab has begun the faults of these scenarios by then: at this dilation 50 ms are 2.5 us of fabric time.
    constexpr std::chrono::milliseconds kAfterStart{50};
    std::optional<SteadyClock::time_point> started;
    bool is_up = false, due = false;
    int code = -1;
    options.on_process = [&](const std::string&, int) { is_up = true; };
    options.interrupted = [&] {  // is asked while the lab comes up, too
      if (is_up && !started) started = SteadyClock::now();
      if (!due && started && SteadyClock::now() - *started >= kAfterStart) {
        due = true;
        if (!command.empty())
          code = std::system(("LAB=" + lab + "; NS=mrclab-$LAB; " + command).c_str());
      }
      return false;
    };
    result = run_scenario(scenario, options);
    CAPTURE(command);
    REQUIRE(due);
    if (!command.empty()) REQUIRE(code == 0);
    CAPTURE(analysis::to_table(result.verdict));
    for (const char* file : {"verdict.json", "report.html", "junit.xml"}) {
      CHECK(fs::exists(result.folder.path / file));
    }
    CHECK(RunManifest(result.folder.path)
              .altered({"verdict.json", "report.html", "captures", "history", "reports"})
              .empty());
    CHECK_FALSE(fs::exists("/run/mrclab/" + lab));
    CHECK(std::system(("! ip netns list | grep -q mrclab-" + lab).c_str()) == 0);
  }
};

/// Commands, and the verdict's sentence about each.
struct FaultRow {
  std::string command;
  std::string reason;
};

void check_rows(const std::string& forwarding, const std::string& fault,
                const std::vector<FaultRow>& rows) {
  for (const FaultRow& row : rows) {
    CAPTURE(row.command);
    const Disturbed run(disturbed_scenario(forwarding, fault), row.command);
    CAPTURE(analysis::to_table(run.result.verdict));
    CHECK(run.result.verdict.result == analysis::Result::kInconclusive);
    CHECK(mentions(run.result.verdict.timing.disturbances, row.reason));
    CHECK(mentions(run.result.verdict.timing.reasons, row.reason));
  }
}

TEST_SUITE_BEGIN("root: outside faults");

TEST_CASE("a link that somebody deletes in a run ends in a verdict that names it") {
  check_rows("switchd", "", {{"ip -n $NS-p1.t0-1 link del d0", "somebody deleted p1.t0-1:d0 at"}});
  // The lab itself sets that link up again later, which it cannot.
  check_rows("switchd", "faults:\n  - {at: 5us, link_down: {link: \"h1:p1\", for: 50us}}\n",
             {{"ip -n $NS-h1 link del p1", "somebody deleted h1:p1 at"}});
}

TEST_CASE(
    "a namespace that somebody deletes is gone for them: the run goes on, and is cleaned up") {
  const Disturbed run(disturbed_scenario("switchd", ""),
                      "ip netns del $NS-h1 && ip netns del $NS-p0.t0-0");
  CHECK(run.result.verdict.result != analysis::Result::kFail);
}

TEST_CASE("by the wall clock a run that nobody disturbs passes") {
  for (const char* fault : {"", kLossToTheEnd, kLossThatEnds}) {
    CAPTURE(fault);
    const Disturbed run(disturbed_scenario("kernel", fault), "");
    CAPTURE(analysis::to_table(run.result.verdict));
    CHECK(run.result.verdict.result == analysis::Result::kPass);
    CHECK(run.result.verdict.timing.disturbances.empty());
  }
}

TEST_CASE("by the wall clock what others do to links, rates and routes leaves no verdict") {
  check_rows(
      "kernel", "",
      {{"ip -n $NS-p1.t0-1 link set d0 down", "somebody set down p1.t0-1:d0 at"},
       {"ip -n $NS-p1.t0-1 link del d0", "somebody deleted p1.t0-1:d0 at"},
       {"tc -n $NS-p1.t0-1 qdisc del dev d0 root", "somebody took tbf from p1.t0-1:d0 at"},
       {"ip -n $NS-p0.t0-0 -6 route flush root 5f00::/16",
        "p0.t0-0 is at the end not what it was at the start: missing: route"},
       {"ip netns exec $NS-p0.t1-0 sysctl -qw net.ipv6.conf.all.forwarding=0",
        "somebody wrote the sysctl net.ipv6.conf.all.forwarding = 0 of p0.t1-0 at"},
       {"ip -n $NS-p0.t0-1 -6 rule add pref 9 blackhole", "somebody added a rule of p0.t0-1 ("},
       {"ip netns exec $NS-h0 nft add table inet theirs",
        "somebody changed the packet filter of h0 at"}});
}

TEST_CASE("what others do to ports of our switches and hosts leaves no verdict") {
  check_rows("switchd", "",
             {{"ip -n $NS-h1 link set p1 mtu 2000", "somebody set the mtu of h1:p1 from"},
              {"tc -n $NS-p0.t0-0 qdisc add dev u0 root tbf rate 900mbit burst 1mb latency 9ms",
               "somebody put tbf on p0.t0-0:u0 at"}});
}

TEST_CASE("a BGP speaker that somebody stops or kills leaves no verdict") {
  const std::string pid = "$(pgrep -f /run/mrclab/$LAB/speakers/p0.t0-0/bgpd.yaml)";
  check_rows("kernel\n  routing: fare\n  speaker: bgpd", "",
             {{"kill -STOP " + pid, "mrc-bgpd was stopped, the speaker of p0.t0-0, at"},
              {"kill -KILL " + pid, "signal 9 (Killed), the speaker of p0.t0-0, ended at"}});
}

TEST_CASE("by the wall clock the rules of a fault that somebody takes away leave no verdict") {
  for (const char* fault : {kLossToTheEnd, kLossThatEnds}) {
    check_rows("kernel", fault,
               {{"ip netns exec $NS-p0.t0-0 nft flush ruleset",
                 "somebody changed the packet filter of p0.t0-0 at"},
                {"ip netns exec $NS-p0.t0-0 nft flush table netdev mrclab",
                 "somebody changed the packet filter of p0.t0-0 at"}});
  }
}

TEST_CASE(
    "a virtual switch whose rules somebody takes away, or that is killed, leaves no verdict") {
  check_rows("ovs", "",
             {{"ovs-ofctl -O OpenFlow15 del-flows unix:/run/mrclab/$LAB/ovs/p0.t0-0.mgmt",
               "p0.t0-0 is at the end not what it was at the start: missing: rule"},
              {"kill -9 $(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid)", "ovs-vswitchd"}});
}

TEST_CASE("under load, whatever others do to virtual switches leaves no verdict, and is named") {
  const std::string bridge = "unix:/run/mrclab/$LAB/ovs/p0.t0-0.mgmt";
  const std::string changed = "somebody changed the table of p0.t0-0 (";
  check_rows(
      "ovs", "",
      {{"ovs-ofctl -O OpenFlow15 add-flow " + bridge + " priority=65000,ipv6,actions=drop",
        changed},
       {"ovs-ofctl -O OpenFlow15 mod-flows " + bridge + " ipv6,actions=drop", changed},
       // Gone and back again before the run ends: the table is what it was, the packets are lost. Beside the run, which
       // looks at tables each 200 ms.
       {"(F=$(mktemp); ovs-ofctl -O OpenFlow15 --no-stats dump-flows " + bridge +
            " >$F && ovs-ofctl -O OpenFlow15 del-flows " + bridge +
            " && sleep 0.5 && ovs-ofctl -O OpenFlow15 add-flows " + bridge +
            " $F; rm $F) >/dev/null 2>&1 &",
        changed},
       {"kill -9 $(cat /run/mrclab/$LAB/ovs/ovsdb-server.pid)",
        "ovsdb-server: signal 9 (Killed) ended"},
       {"P=$(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid); kill -STOP $P; sleep 0.3; kill -CONT $P",
        "ovs-vswitchd was stopped"},
       {"kill -TERM $(cat /run/mrclab/$LAB/ovs/ovs-vswitchd.pid)", "ovs-vswitchd: "}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
