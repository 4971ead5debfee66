// The programs as people start them: two processes, eight planes of plain veths, no lab.

#include <doctest/doctest.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "netio/child_process.h"
#include "tests/netio/temporary_directory.h"
#include "tests/netio/test_lab.h"

namespace mrclab::standalone {
namespace {

using netio::ChildProcess;
using netio::test::namespace_name;
constexpr std::chrono::seconds kPatience{60};

constexpr const char* kPlanes = "p0,p1,p2,p3,p4,p5,p6,p7";

/// The ends find each other over localhost, where a port may be somebody else's: not in here.
void enter_own_network() {
  static bool inside = false;
  if (inside) return;
  netio::check_system_call("leave the network namespace", ::unshare(CLONE_NEWNET));
  netio::NamespaceNetlink(netio::NetworkNamespace::current()).set_up("lo");
  inside = true;
}

/// Two namespaces with eight veths between them.
class Cables : public netio::test::TestLab {
 public:
  Cables() {
    enter_own_network();
    add("a");
    add("b");
    for (int i = 0; i < 8; ++i) link("a", name(i), "b", name(i));
  }
  static std::string name(int plane) { return "p" + std::to_string(plane); }

  struct Outcome {
    netio::ExitStatus server, client;
    std::string server_says, client_says;
  };
  /// Both programs to their end.
  Outcome run(std::vector<std::string> server, std::vector<std::string> client) {
    ChildProcess a = start(std::move(server), "server");
    ChildProcess b = start(std::move(client), "client");
    Outcome outcome;
    outcome.client = b.wait(kPatience).value_or(netio::ExitStatus{-1});
    outcome.server = a.wait(kPatience).value_or(netio::ExitStatus{-1});
    outcome.server_says = netio::read_file(folder_ / "server");
    outcome.client_says = netio::read_file(folder_ / "client");
    INFO(outcome.server_says);
    INFO(outcome.client_says);
    CHECK(outcome.server.clean());
    CHECK(outcome.client.clean());
    return outcome;
  }

 private:
  ChildProcess start(std::vector<std::string> argv, const char* file) {
    argv[0] = std::string(MRCLAB_BINARY_DIR) + "/" + argv[0];
    netio::ChildOptions options;
    options.argv = std::move(argv);
    options.stdout_file = folder_ / file;
    return ChildProcess::spawn(options);
  }
  netio::test::TemporaryDirectory folder_;
};

/// mrc-endpoint with what every test here says.
std::vector<std::string> endpoint(bool server, const std::string& port,
                                  std::vector<std::string> more) {
  std::vector<std::string> argv{"mrc-endpoint",
                                "--netns",
                                namespace_name(server ? "a" : "b"),
                                "--address",
                                server ? "fd00::1" : "fd00::2",
                                "--port",
                                port,
                                "--json"};
  argv.insert(argv.end(), more.begin(), more.end());
  if (!server) argv.push_back("localhost");
  return argv;
}

}  // namespace

TEST_SUITE_BEGIN("root: standalone");

TEST_CASE("the example program plays ping-pong over eight planes and finds no byte wrong") {
  Cables cables;
  const auto outcome =
      cables.run({"mrc-pingpong", "server", "fd00::1", kPlanes, "200", namespace_name("a")},
                 {"mrc-pingpong", "localhost", "fd00::2", kPlanes, "200", namespace_name("b")});
  CHECK(outcome.client_says.find("200 rounds of 10000 bytes") != std::string::npos);
  CHECK(outcome.client_says.find("no byte wrong") != std::string::npos);
}

TEST_CASE("two processes move 20 MB by several queue pairs, verified, without a spurious loss") {
  Cables cables;
  const std::vector<std::string> more{"-i", kPlanes, "-n", "320", "--qps", "3", "--size", "64K"};
  const auto outcome = cables.run(endpoint(true, "28516", more), endpoint(false, "28516", more));
  const auto server = nlohmann::json::parse(outcome.server_says);
  const auto client = nlohmann::json::parse(outcome.client_says);
  CHECK(server["wrong_bytes"] == 0);
  CHECK(client["retransmissions"] == 0);
  CHECK(client["packets"] == 320 * 16);
}

TEST_CASE("carriers, next hops and planes out of order are taken from the command line") {
  Cables cables;
  // Plane 1 travels to an address that only the list of accepted ones knows; plane 0 by three paths.
  const std::vector<std::string> server{"-i", "p1=p5,p0=p2", "-n",       "50",
                                        "-m", "1024",        "--accept", "p1=5f00:0:e101::"};
  const std::vector<std::string> client{"-i",         "p0=p2,p1=p5",
                                        "-n",         "50",
                                        "-m",         "1024",
                                        "--carrier",  "p1=5f00:0:e101::,p0=fd00::1,p0=fd00::1",
                                        "--next-hop", "p1=02:00:00:00:06:01"};
  const auto outcome =
      cables.run(endpoint(true, "28517", server), endpoint(false, "28517", client));
  CHECK(nlohmann::json::parse(outcome.server_says)["wrong_bytes"] == 0);
  CHECK(nlohmann::json::parse(outcome.client_says)["retransmissions"] == 0);
}

TEST_CASE("ends that do not fit are told so before anything is sent") {
  Cables cables;
  const std::string program = std::string(MRCLAB_BINARY_DIR) + "/mrc-endpoint";
  const auto says = netio::test::output_of(program + " -N " + namespace_name("a") +
                                           " -a fd00::1 -i p0,p0 localhost --port 28518");
  CHECK(says.find("mrc-endpoint: ") != std::string::npos);
  // A server tells it at once: there is no client here that it could wait for.
  const std::string server = "timeout 30 " + program + " -N " + namespace_name("a") + " -a fd00::1";
  const std::string mistyped = netio::test::output_of(server + " -i nosuch0; echo code $?");
  CHECK(mistyped.find("nosuch0") != std::string::npos);
  CHECK(mistyped.find("code 2") != std::string::npos);
  CHECK(netio::test::output_of(server + " -i p0,p0").find("named twice") != std::string::npos);
  CHECK(netio::test::output_of(program + " -a fd00::1 -i p3=x").find("only planes p0 to p0") !=
        std::string::npos);
}

TEST_SUITE_END();

}  // namespace mrclab::standalone
