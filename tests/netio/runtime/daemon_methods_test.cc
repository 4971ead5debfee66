#include "netio/runtime/daemon_methods.h"

#include <doctest/doctest.h>

#include <thread>

#include "tests/netio/temporary_directory.h"
#include "tests/support/fabrics.h"

namespace mrclab::netio {
namespace {

/// A daemon of one node, "h0", which another thread polls.
struct AnsweringDaemon {
  AnsweringDaemon()
      : methods(directory / "socket", topology, matches,
                {.status =
                     [] {
                       return Json{{"finished", false}};
                     },
                 .report = [] { return Json("a report"); },
                 .counters =
                     [] {
                       return Json{{"h0", 1}};
                     },
                 .pauses =
                     [] {
                       return Json{{"h0", 2}};
                     },
                 .table = [](const std::string& node) -> Json {
                   if (node != "h0") throw RpcError(kRpcRefused, "no such node here");
                   return nullptr;
                 },
                 .power_off = [] { return Json("what is left"); },
                 .set_watch = [this](RecordWatch* now) { watch = now; }}) {
    thread = std::jthread([this](std::stop_token stop) {
      for (; !stop.stop_requested(); std::this_thread::yield()) methods.poll();
    });
  }

  test::TemporaryDirectory directory;
  Topology topology = mrclab::test::pair();
  std::atomic<uint64_t> matches{0};
  std::atomic<RecordWatch*> watch{nullptr};
  DaemonMethods methods;
  std::jthread thread;
};

}  // namespace

TEST_CASE("a daemon answers with what it has to say, and for no node that it does not run") {
  AnsweringDaemon daemon;
  RpcClient client(daemon.directory / "socket");
  CHECK(client.call("status") == Json{{"finished", false}});
  CHECK(client.call("report") == "a report");
  CHECK(client.call("counters") == Json{{"h0", 1}});
  CHECK(client.call("pauses") == Json{{"h0", 2}});
  CHECK(client.call("power_off") == "what is left");
  CHECK(client.call("table", {{"node", "h0"}}).is_null());
  CHECK_THROWS_WITH_AS(client.call("table", {{"node", "h1"}}), "no such node here", RpcError);
  CHECK_THROWS_WITH_AS(client.call("table", {{"node", 0}}), "no such node here", RpcError);
  CHECK_THROWS_WITH_AS(client.call("table"), "no such node here", RpcError);
}

TEST_CASE("records are watched from the method's call until it is called with null") {
  AnsweringDaemon daemon;
  RpcClient client(daemon.directory / "socket");
  CHECK_THROWS_WITH_AS(client.call("watched"), "nothing is watched", RpcError);
  RecordFilter filter;
  filter.node = daemon.topology.host(0);
  CHECK(client.call("watch", to_json(filter)) == Json{{"watching", true}});
  REQUIRE(daemon.watch.load() != nullptr);
  CHECK(daemon.watch.load()->filter() == filter);
  CHECK(client.call("watched").at("records").empty());
  CHECK_THROWS_AS(client.call("watch", {{"node", "h0"}}), RpcError);
  CHECK(daemon.watch.load() != nullptr);
  CHECK(client.call("watch") == Json{{"watching", false}});
  CHECK(daemon.watch.load() == nullptr);
  CHECK_THROWS_WITH_AS(client.call("watched"), "nothing is watched", RpcError);
}

}  // namespace mrclab::netio
