// The edges of the page's server: who may connect, what may be asked, how much of it; and a session driven
// over a real WebSocket.

#include "lab/serve/page_server.h"
#include "lab/serve/page_limits.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "lab/serve/opened_link.h"
#include "lab/serve/page_host.h"
#include "netio/system/system_error.h"
#include "scenario/spec/scenario.h"
#include "session/serve_loop.h"
#include "tests/lab/support/page_browser.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using nlohmann::json;

using test::Browser;

constexpr const char* kToken = test::kPageToken;

/// A served session of docs/first.yaml.
class Served {
 public:
  explicit Served(const std::string& listen = "127.0.0.1")
      : server_({listen, 0, kToken}),
        played_(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml")),
        thread_([this] { ServeLoop(server_, played_).run([this] { return end_.load(); }); }) {}
  ~Served() {
    end_ = true;
    thread_.join();
  }
  uint16_t port() const { return server_.port(); }

 private:
  std::atomic<bool> end_ = false;
  PageServer server_;
  PlayedSession played_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("the page is served with a policy that lets nothing else in") {
  Served served;
  Browser browser(served.port());
  const auto page = browser.get("/");
  CHECK(page.result_int() == 200);
  CHECK(page["Content-Security-Policy"].find("script-src 'self'") != beast::string_view::npos);
  CHECK(page["Content-Security-Policy"].find("unsafe") == beast::string_view::npos);
  CHECK(page["X-Content-Type-Options"] == "nosniff");
  CHECK(browser.get("/main.js")[http::field::content_type] == "text/javascript; charset=utf-8");
  CHECK(browser.get("/../CMakeLists.txt").result_int() == 404);
  CHECK(browser.get("/nothing").result_int() == 404);
  CHECK(browser.get("/lessons/01-one-packet.md").result_int() == 404);  // its answers stand there
  CHECK(browser.get("/", browser.host(), http::verb::delete_).result_int() == 405);
}

TEST_CASE("a request for another host is refused, so no name of a stranger leads here") {
  Served served;
  Browser browser(served.port());
  CHECK(browser.get("/", "evil.example").result_int() == 421);
  CHECK(browser.get("/", "127.0.0.1:1").result_int() == 421);
}

TEST_CASE(
    "connections without the token, however many, keep no page from loading and end no WebSocket") {
  Served served;
  Browser browser(served.port());
  browser.join();
  asio::io_context io;
  std::vector<tcp::socket> strangers;
  for (size_t i = 0; i < 2 * PageLimits::kMaxStrangers; ++i) {
    strangers.emplace_back(io).connect({asio::ip::make_address("127.0.0.1"), served.port()});
    if (i % 16 == 0) CHECK(browser.get("/main.js").result_int() == 200);
  }
  for (int i = 0; i < 50; ++i) CHECK(browser.get("/main.js").result_int() == 200);
  CHECK(browser.upgrade(kToken, "http://" + browser.host()) == 101);
  CHECK(browser.ask({{"do", "yaml"}}).at("say") == "yaml");
  // Those that gave way are closed, the newest are not.
  beast::error_code error;
  char octet = 0;
  strangers.front().non_blocking(false);
  strangers.front().read_some(asio::buffer(&octet, 1), error);
  CHECK(error);
  CHECK(error != asio::error::would_block);
}

TEST_CASE("the answer to HEAD says how long that to GET is, and has nothing of it") {
  Served served;
  Browser browser(served.port());
  const auto page = browser.get("/main.js");
  for (const auto& [target, length] :
       {std::pair<const char*, size_t>{"/main.js", page.body().size()},
        {"/nothing", browser.get("/nothing").body().size()}}) {
    CAPTURE(target);
    const std::string answer =
        browser.raw("HEAD " + std::string(target) + " HTTP/1.1\r\nHost: " + browser.host() +
                    "\r\nConnection: close\r\n\r\n");
    CHECK(answer.find("Content-Length: " + std::to_string(length) + "\r\n") != std::string::npos);
    CHECK(answer.ends_with("\r\n\r\n"));
  }
}

TEST_CASE("a server on all addresses answers to each of them, and to no name of a stranger") {
  for (const char* listen : {"0.0.0.0", "::"}) {
    CAPTURE(listen);
    Served served(listen);
    Browser browser(served.port());
    const std::string port = ":" + std::to_string(served.port());
    for (const char* name : {"127.0.0.1", "localhost", "LOCALHOST", "0.0.0.0"}) {
      CAPTURE(name);
      CHECK(browser.get("/", name + port).result_int() == 200);
    }
    CHECK(browser.get("/", "evil.example" + port).result_int() == 421);
    CHECK(browser.get("/", "192.0.2.1" + port).result_int() == 421);
    CHECK(browser.get("/", "127.0.0.1").result_int() == 421);
    CHECK(browser.upgrade(kToken, "http://127.0.0.1" + port) == 101);
    CHECK(browser.upgrade(kToken, "http://evil.example" + port) == 403);
  }
}

TEST_CASE("a host is named by its address, and the port of HTTP may be left out") {
  const PageHost http{"192.0.2.7", 80, true, "Lab-1", false};
  for (const char* name :
       {"192.0.2.7", "192.0.2.7:80", "lab-1", "LAB-1:80", "lab-1.local", "0.0.0.0", "[::]"}) {
    CAPTURE(name);
    CHECK(names_page(name, http));
  }
  for (const char* name : {"", ":80", "192.0.2.7:8080", "192.0.2.8", "localhost",
                           "lab-1.evil.example", "lab-2", "192.0.2.7.evil.example"}) {
    CAPTURE(name);
    CHECK_FALSE(names_page(name, http));
  }
  const PageHost six{"::1", 8080, false, "lab-1", true};
  CHECK(names_page("[::1]:8080", six));
  CHECK(names_page("localhost:8080", six));
  CHECK_FALSE(names_page("[::1]", six));
  CHECK_FALSE(
      names_page("lab-1:8080", six));  // a stranger's DNS may lead that name to the loopback
  CHECK_FALSE(names_page("", {"", 80, false, "", false}));
  CHECK(host_text("::1", 80) == "[::1]");
}

TEST_CASE("the file that leads a browser here is this user's alone, and goes with its server") {
  const test::TemporaryRuns runs;
  const std::filesystem::path folder = runs.path();
  std::filesystem::permissions(folder, std::filesystem::perms(0777));
  ::umask(0);
  const auto file = write_link_file(folder, ::getpid(), "http://127.0.0.1:1/?token=x");
  ::umask(022);
  CHECK(std::filesystem::status(file).permissions() == std::filesystem::perms(0600));
  // A server that was killed left its own; this process's number was another server's once.
  const auto dead = folder / "mrclab-999999999.html";
  std::ofstream(dead) << "x";
  const auto other = folder / "mrclab-1.html";  // of a process that lives
  std::ofstream(other) << "x";
  std::ofstream(folder / "mrclab-notes.html") << "x";
  CHECK_NOTHROW(write_link_file(folder, ::getpid(), "http://127.0.0.1:1/?token=x"));
  CHECK_FALSE(std::filesystem::exists(dead));
  CHECK(std::filesystem::exists(other));
  CHECK(std::filesystem::exists(folder / "mrclab-notes.html"));
  // Nobody's link is followed, and what cannot be written ends nothing.
  std::filesystem::remove(file);
  std::filesystem::create_symlink(folder / "elsewhere", file);
  CHECK_THROWS_AS(write_link_file(folder, ::getpid(), "x"), netio::SystemError);
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
  ::setenv("XDG_RUNTIME_DIR", (folder / "nowhere").c_str(), 1);
  ::setenv("DISPLAY", ":77", 1);
  CHECK_NOTHROW(OpenedLink("http://127.0.0.1:1/?token=x"));
  ::unsetenv("DISPLAY");
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("a WebSocket needs the token and a page of this server") {
  Served served;
  Browser browser(served.port());
  const std::string own = "http://" + browser.host();
  CHECK(browser.upgrade("wrong", own) == 403);
  CHECK(browser.upgrade("", own) == 403);
  CHECK(browser.upgrade(kToken, "http://evil.example") == 403);
  CHECK(browser.upgrade(kToken, "null") == 403);
  CHECK(browser.upgrade(kToken, "https://" + browser.host()) == 403);
  CHECK(browser.upgrade(kToken, own) == 101);
}

TEST_CASE("two random tokens differ and have 32 digits") {
  const std::string token = random_token();
  CHECK(token.size() == 32);
  CHECK(token != random_token());
}

TEST_CASE("words that are none are refused, and the session goes on") {
  Served served;
  Browser browser(served.port());
  browser.join();
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"do": 7})", R"({"do": "explode"})", R"({"do": "seek"})",
        R"({"do": "seek", "at_ps": "x"})", R"({"do": "break", "kind": "link_down", "body": []})",
        R"({"do": "packets", "from_ps": 0, "to_ps": 1, "ticket": -1.5e300})",
        R"({"do": "step", "to": "moon"})", R"({"do": "open", "lesson": "../../etc/passwd"})"}) {
    CAPTURE(text);
    browser.say(text);
    CHECK_FALSE(browser.hear("error").at("text").get<std::string>().empty());
  }
  CHECK(browser.ask({{"do", "seek"}, {"at_ps", -5}}).at("say") == "done");
  CHECK(browser.ask({{"do", "seek"}, {"at_ps", INT64_MAX}}).at("say") == "done");
  CHECK(browser.ask({{"do", "yaml"}}).at("text").get<std::string>().starts_with("name: first"));
}

TEST_CASE("a message that is too long, or binary, ends its connection and no other") {
  Served served;
  Browser good(served.port()), longer(served.port()), binary(served.port());
  good.join();
  longer.join();
  binary.join();
  longer.say(std::string(PageLimits::kMaxTextBytes + 1, ' '));
  CHECK(longer.is_closed());
  binary.say_binary("\1\2\3");
  CHECK(binary.is_closed());
  CHECK(good.ask({{"do", "yaml"}}).at("say") == "yaml");
}

TEST_CASE("a browser seeks, breaks, heals and forks, and is told what has become of it") {
  Served served;
  Browser browser(served.port());
  browser.join();
  const json welcome = browser.hear("welcome");
  CHECK(welcome.at("fabric") == "pair");
  CHECK(welcome.at("faults").size() == faults::kFaultKinds);
  CHECK(browser.hear("branch").at("faults").size() == 1);
  CHECK(browser.ask({{"do", "seek"}, {"at_ps", 60'000'000}}).at("say") == "done");
  const json broken = browser.ask({{"do", "break"},
                                   {"kind", "wire_loss"},
                                   {"body", {{"link", "p0.t0-0:u0"}, {"loss", "50%"}}},
                                   {"fork", true}});
  CHECK(broken.at("number") == 1);
  const json difference = browser.ask({{"do", "difference"}});
  CHECK(difference.at("say") == "difference");
  CHECK(browser.ask({{"do", "heal"}, {"what", "1"}}).at("numbers") == json::array({1}));
}

TEST_CASE("one browser holds the controls, the others watch, and it hands them over") {
  Served served;
  Browser first(served.port()), second(served.port());
  first.join();
  CHECK(first.hear("controls").at("mine") == true);
  second.join();
  CHECK(second.hear("controls").at("mine") == false);
  CHECK(second.ask({{"do", "seek"}, {"at_ps", 1}}).at("say") == "error");
  CHECK(second.ask({{"do", "yaml"}}).at("say") == "yaml");
  second.say(R"({"do": "take"})");
  CHECK(second.hear("error").at("text") == "another browser holds the controls");
  first.say(R"({"do": "give"})");
  CHECK(second.hear("controls").at("free") == true);
  second.say(R"({"do": "take"})");
  CHECK(second.hear("controls").at("mine") == true);
  CHECK(second.ask({{"do", "seek"}, {"at_ps", 1}}).at("say") == "done");
}

TEST_CASE("one packet is shown at every place with the carrier that a switch has shifted") {
  Served served;
  Browser browser(served.port());
  browser.join();
  browser.ask({{"do", "seek"}, {"at_ps", 60'000'000}});
  browser.say(R"({"do": "packets", "from_ps": 50000000, "to_ps": 52000000, "ticket": 9})");
  const std::string bytes = browser.hear_packets();
  constexpr size_t kHead = 32, kEach = 40, kLength = 28;
  const auto number = [&](size_t at, size_t width) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    return value;
  };
  size_t at = kHead;  // the first of full length, which is data
  while (at + kEach < bytes.size() && number(at + kLength, 2) < 4000) at += kEach;
  REQUIRE(at + kEach < bytes.size());
  const json life = browser.ask({{"do", "packet"},
                                 {"source", number(at + 20, 4)},
                                 {"destination", number(at + 24, 4)},
                                 {"qp", number(at + 8, 4)},
                                 {"psn", number(at + 12, 4)}});
  REQUIRE(life.at("places").size() >= 6);
  const auto carrier_at = [&](size_t place) {
    for (const json& field : life.at("places").at(place).at("layers").at(1).at("fields")) {
      if (field.at("name") == "dst") return field.at("value").get<std::string>();
    }
    return std::string();
  };
  CHECK(carrier_at(0).starts_with("5f00:0:"));
  CHECK(carrier_at(0) == carrier_at(1));  // over a wire nothing changes
  CHECK(carrier_at(1) != carrier_at(2));  // through a switch it does
}

}  // namespace mrclab::lab
