#include "netio/rpc/heartbeat.h"

#include <doctest/doctest.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "netio/rpc/rpc.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;
using std::chrono::hours;
using std::chrono::microseconds;

TEST_CASE("a heart beats as it says, and what waits on its io_context is served in between") {
  boost::asio::io_context io(1);
  Heartbeat heartbeat(io);
  std::string said;
  heartbeat.run([&]() -> Heartbeat::Next {
    said += "beat ";
    if (said.size() > 20) return std::nullopt;
    boost::asio::post(io, [&said] { said += "work "; });
    return microseconds(100);
  });
  CHECK(said == "beat work beat work beat ");
}

TEST_CASE("a beat that is hours away comes at once when it is hurried") {
  boost::asio::io_context io(1);
  Heartbeat heartbeat(io);
  int beats = 0;
  heartbeat.run([&]() -> Heartbeat::Next {
    if (++beats == 3) return std::nullopt;
    boost::asio::post(io, [&heartbeat] { heartbeat.hurry(); });
    return hours(10);
  });
  CHECK(beats == 3);
}

TEST_CASE("what a beat or a handler throws ends the heartbeat") {
  CHECK_THROWS_WITH(
      keep_looking([]() -> Heartbeat::Next { throw std::runtime_error("disk full"); }),
      "disk full");
  boost::asio::io_context io(1);
  Heartbeat heartbeat(io);
  boost::asio::post(io, [] { throw std::runtime_error("no answer"); });
  CHECK_THROWS_WITH(heartbeat.run([]() -> Heartbeat::Next { return hours(10); }), "no answer");
}

TEST_CASE("a client is answered between two beats, and hurries the next") {
  TemporaryDirectory directory;
  boost::asio::io_context io(1);
  RpcServer server(io, directory / "s");
  bool asked = false;
  server.method("end", [&asked](const Json&) {
    asked = true;
    return Json{{"ended", true}};
  });
  Heartbeat heartbeat(io);
  server.after_message([&heartbeat] { heartbeat.hurry(); });
  std::thread client(
      [&directory] { CHECK(RpcClient(directory / "s").call("end").at("ended") == true); });
  heartbeat.run([&asked]() -> Heartbeat::Next {
    if (asked) return std::nullopt;
    return hours(10);
  });
  while (server.poll() > 0) continue;  // the answer itself
  client.join();
  CHECK(asked);
}
