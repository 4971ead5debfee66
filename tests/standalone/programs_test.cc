// The programs as people start them: two processes, eight planes of plain veths, no lab.

#include <doctest/doctest.h>
#include <sched.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "netio/system/child_process.h"
#include "tests/netio/temporary_directory.h"
#include "tests/netio/test_lab.h"

namespace mrclab::standalone {
namespace {

using netio::ChildProcess;
using netio::test::namespace_name;
constexpr std::chrono::seconds kPatience{60};

constexpr const char* kPlanes = "p0,p1,p2,p3,p4,p5,p6,p7";

/// The ends find each other over localhost, where another program may have the port: not in this
/// namespace.
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

/// mrc-endpoint with the options of every test here.
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

/// By the goodput and not by retransmissions: these programs live by the wall clock, and a machine that is
/// busy with other things for longer than a timer makes them retransmit what was only late.
void check_every_plane_carried(const nlohmann::json& server, uint64_t bytes, size_t planes) {
  const auto goodput = server["goodput_of_planes"].get<std::vector<uint64_t>>();
  REQUIRE(goodput.size() == planes);
  for (const uint64_t plane : goodput) CHECK(plane > 0);
  CHECK(std::accumulate(goodput.begin(), goodput.end(), uint64_t{0}) == bytes);
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

TEST_CASE("two processes move 20 MB by several queue pairs over all planes, verified") {
  Cables cables;
  const std::vector<std::string> more{"-i", kPlanes, "-n", "320", "--qps", "3", "--size", "64K"};
  const auto outcome = cables.run(endpoint(true, "28516", more), endpoint(false, "28516", more));
  const auto server = nlohmann::json::parse(outcome.server_says);
  CHECK(server["wrong_bytes"] == 0);
  check_every_plane_carried(server, 320 * 65'536, 8);
}

TEST_CASE("carriers, next hops and planes out of order are taken from the command line") {
  Cables cables;
  // Plane 1 travels to an address that only the list of accepted ones has; plane 0 by three paths.
  const std::vector<std::string> server{"-i", "p1=p5,p0=p2", "-n",       "50",
                                        "-m", "1024",        "--accept", "p1=5f00:0:e101::"};
  const std::vector<std::string> client{"-i",         "p0=p2,p1=p5",
                                        "-n",         "50",
                                        "-m",         "1024",
                                        "--carrier",  "p1=5f00:0:e101::,p0=fd00::1,p0=fd00::1",
                                        "--next-hop", "p1=02:00:00:00:06:01"};
  const auto outcome =
      cables.run(endpoint(true, "28517", server), endpoint(false, "28517", client));
  const auto said = nlohmann::json::parse(outcome.server_says);
  CHECK(said["wrong_bytes"] == 0);
  check_every_plane_carried(said, 50 * 65'536, 2);
}

TEST_CASE("ends with different entropy value formats and different DSCPs talk to each other") {
  struct End {
    const char* format;
    const char* dscps;
  };
  const End ends[] = {
      {"native", "trimmed=12"},
      {"port",
       "no_trim=1,trimmable=10,trimmable_retx=14,trimmed=20,"
       "trimmed_last_hop=22,control=48"},
      {"structured", "trimmable=6,trimmable_retx=6,trimmed=24,trimmed_last_hop=24"}};
  uint32_t port = 28520;
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 0)}) {
    const auto words = [&](const End& end) {
      return std::vector<std::string>{"-i",       "p0,p1",     "-n",     "40",    "--evs",
                                      "4",        "--latency", "-s",     "20000", "--ev-format",
                                      end.format, "--dscp",    end.dscps};
    };
    const std::string text = std::to_string(port++);
    Cables cables;
    const auto outcome =
        cables.run(endpoint(true, text, words(ends[a])), endpoint(false, text, words(ends[b])));
    for (const std::string& says : {outcome.server_says, outcome.client_says}) {
      const auto result = nlohmann::json::parse(says);
      CAPTURE(says);
      CHECK(result["wrong_bytes"] == 0);
      // A busy machine may make them send twice what has arrived.
      for (const auto& [why, count] : result["refused"].items())
        CHECK((why == "duplicate" || why == "stale_feedback"));
    }
  }
}

TEST_CASE("a format or a DSCP that cannot be is named before anything is sent") {
  const std::string program = std::string(MRCLAB_BINARY_DIR) + "/mrc-endpoint -a fd00::1 -i lo";
  CHECK(netio::test::output_of(program + " --dscp trimmed=46; echo code $?")
            .find("trimmed and control are both 46\ncode 2") != std::string::npos);
  CHECK(netio::test::output_of(program + " --dscp trim=4").find("classes are no_trim, trimmable") !=
        std::string::npos);
  CHECK(netio::test::output_of(program + " --ev-format own").find("--ev-format") !=
        std::string::npos);
}

TEST_CASE("ends that do not fit are told so before anything is sent") {
  Cables cables;
  const std::string program = std::string(MRCLAB_BINARY_DIR) + "/mrc-endpoint";
  const auto says = netio::test::output_of(program + " -N " + namespace_name("a") +
                                           " -a fd00::1 -i p0,p0 localhost --port 28518");
  CHECK(says.find("mrc-endpoint: ") != std::string::npos);
  // A server reports it at once: there is no client here that it could wait for.
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
