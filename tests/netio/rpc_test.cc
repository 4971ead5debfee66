#include "netio/rpc/rpc.h"
#include "netio/system/file_descriptor.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "fabric/text/json_text.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

/// "echo" returns its params, "sum" takes numbers, "refuse" and "burst" fail in their own ways.
void add_methods(RpcServer& server) {
  server.method("echo", [](const Json& params) { return params; });
  server.method("sum", [](const Json& params) {
    return Json(params.at("a").get<int>() + params.at("b").get<int>());
  });
  server.method("refuse", [](const Json&) -> Json {
    throw RpcError(kRpcRefused, "not now", {{"retry", true}});
  });
  server.method("burst", [](const Json&) -> Json { throw std::runtime_error("pipe"); });
}

/// A server that a thread runs until the test ends.
class RunningServer {
 public:
  explicit RunningServer(const std::filesystem::path& path, RpcServerOptions options = {})
      : server_(io_, path, options) {
    add_methods(server_);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RunningServer() {
    io_.stop();
    thread_.join();
  }

 private:
  boost::asio::io_context io_{1};
  RpcServer server_;
  std::thread thread_;
};

FileDescriptor raw_client(const std::filesystem::path& path) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  check_system_call("connect",
                    ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  const timeval patience{5, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

/// One line from the server; empty when it closed the connection.
std::string read_line(const FileDescriptor& fd) {
  std::string line;
  char byte;
  while (::recv(fd.get(), &byte, 1, 0) == 1 && byte != '\n') line += byte;
  return line;
}

std::string answer(const std::string& message) {
  static const RpcMethod echo = [](const Json& params) { return params; };
  static const RpcMethod at = [](const Json& params) { return params.at("missing"); };
  static const RpcMethod fail = [](const Json&) -> Json { throw std::runtime_error("inside"); };
  return answer_rpc(message, [](const std::string& name) -> const RpcMethod* {
    return name == "echo" ? &echo : name == "at" ? &at : name == "fail" ? &fail : nullptr;
  });
}

}  // namespace

TEST_SUITE("rpc") {
  TEST_CASE("every malformed message gets the error of the specification") {
    struct Row {
      const char* message;
      int code;
      Json id;
    };
    const Row table[] = {
        {"", kRpcParseError, nullptr},
        {"hello", kRpcParseError, nullptr},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"id\":1", kRpcParseError, nullptr},
        {"\xff\xfe\x00", kRpcParseError, nullptr},
        {"1", kRpcInvalidRequest, nullptr},
        {"null", kRpcInvalidRequest, nullptr},
        {"[]", kRpcInvalidRequest, nullptr},
        {"{}", kRpcInvalidRequest, nullptr},
        {R"({"jsonrpc":"1.0","method":"echo","id":1})", kRpcInvalidRequest, 1},
        {R"({"jsonrpc":2.0,"method":"echo","id":1})", kRpcInvalidRequest, 1},
        {R"({"jsonrpc":"2.0","id":"x"})", kRpcInvalidRequest, "x"},
        {R"({"jsonrpc":"2.0","method":7,"id":1})", kRpcInvalidRequest, 1},
        {R"({"jsonrpc":"2.0","method":"echo","params":3,"id":1})", kRpcInvalidRequest, 1},
        {R"({"jsonrpc":"2.0","method":"echo","id":{}})", kRpcInvalidRequest, nullptr},
        {R"({"jsonrpc":"2.0","method":"nope","id":1})", kRpcMethodNotFound, 1},
        {R"({"jsonrpc":"2.0","method":"","id":1})", kRpcMethodNotFound, 1},
        {R"({"jsonrpc":"2.0","method":"at","params":{},"id":1})", kRpcInvalidParams, 1},
        {R"({"jsonrpc":"2.0","method":"at","id":1})", kRpcInvalidParams, 1},
        {R"({"jsonrpc":"2.0","method":"fail","id":1})", kRpcInternalError, 1},
    };
    for (const Row& row : table) {
      INFO(row.message);
      const Json got = Json::parse(answer(row.message));
      CHECK(got.at("jsonrpc") == "2.0");
      CHECK(got.at("error").at("code") == row.code);
      CHECK(got.at("error").at("message").is_string());
      CHECK(got.at("id") == row.id);
      CHECK_FALSE(got.contains("result"));
    }
  }

  TEST_CASE("a request that nests too deep is refused before it is looked at, whatever it holds") {
    struct Row {
      std::string before, open, close, after;
    };
    const std::vector<Row> table = {
        {"", "[", "]", ""},
        {R"({"jsonrpc":"2.0","method":"echo","id":1,"params":)", "[", "]", "}"},
        {R"({"jsonrpc":"2.0","method":"echo","id":1,"params":)", R"({"a":)", "}", "}"},
        {R"([{"jsonrpc":"2.0","method":"echo","id":1,"params":)", "[", "]", "}]"},
        {R"({"jsonrpc":"2.0","method":"echo","id":)", "[", "]", "}"},
    };
    const auto repeated = [](const std::string& text, size_t times) {
      std::string all;
      for (size_t i = 0; i < times; ++i) all += text;
      return all;
    };
    TemporaryDirectory directory;
    const RunningServer server(directory / "s");
    for (const Row& row : table) {
      for (const size_t depth : {mrclab::kMaxJsonDepth + 1, size_t{60'000}, size_t{100'000}}) {
        CAPTURE(row.before);
        CAPTURE(depth);
        const FileDescriptor client = raw_client(directory / "s");
        const std::string inside = row.close == "}" ? "1" : "";
        const std::string request = row.before + repeated(row.open, depth) + inside +
                                    repeated(row.close, depth) + row.after + "\n";
        client.write_all("s", {reinterpret_cast<const uint8_t*>(request.data()), request.size()});
        CHECK(read_line(client).find("-32700") != std::string::npos);
      }
    }
    RpcClient after(directory / "s");
    CHECK(after.call("sum", {{"a", 2}, {"b", 3}}) == 5);
    Json deep = 1;
    for (int i = 0; i < 40; ++i) deep = Json::array({deep});
    CHECK(after.call("echo", Json{{"deep", deep}}).at("deep") == deep);
    // Brackets in a text are no depth.
    CHECK(after.call("echo", Json{{"t", std::string(1000, '[') + "\"\\"}}).size() == 1);
  }

  TEST_CASE("a batch is bounded in requests and in what they are answered") {
    const std::string one = R"({"jsonrpc":"2.0","method":"echo","id":1})";
    const auto batch = [](size_t count, const std::string& request) {
      std::string text = "[" + request;
      for (size_t i = 1; i < count; ++i) text += "," + request;
      return text + "]";
    };
    CHECK(Json::parse(answer(batch(kMaxBatch, one))).size() == kMaxBatch);
    CHECK(answer(batch(40'000, one)).find("at most 64") != std::string::npos);
    const std::string big = R"({"jsonrpc":"2.0","method":"echo","id":1,"params":[")" +
                            std::string(kMaxMessageBytes / 8, 'x') + "\"]}";
    CHECK(answer(batch(9, big)).size() < 200);
  }

  TEST_CASE("a notification is carried out and not answered, a batch is answered as a batch") {
    CHECK(answer(R"({"jsonrpc":"2.0","method":"echo"})").empty());
    CHECK(answer(R"({"jsonrpc":"2.0","method":"nope"})").empty());
    CHECK(answer(R"([{"jsonrpc":"2.0","method":"echo"}])").empty());
    const Json got = Json::parse(answer(
        R"([{"jsonrpc":"2.0","method":"echo","params":[1],"id":1},7,{"jsonrpc":"2.0","method":"echo"}])"));
    REQUIRE(got.size() == 2);
    CHECK(got[0] == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {1}}});
    CHECK(got[1].at("error").at("code") == kRpcInvalidRequest);
  }

  TEST_CASE("a client's call returns the result or throws the server's error") {
    TemporaryDirectory directory;
    const RunningServer server(directory / "s");
    RpcClient client(directory / "s");
    CHECK(client.call("sum", {{"a", 2}, {"b", 3}}) == 5);
    CHECK(client.call("echo").is_null());
    const Json big = std::string(1 << 20, 'x');
    CHECK(client.call("echo", {{"text", big}}).at("text") == big);
    const auto code_of = [&client](const char* method, const Json& params) {
      try {
        client.call(method, params);
      } catch (const RpcError& error) {
        return error.code();
      }
      return 0;
    };
    CHECK(code_of("nope", nullptr) == kRpcMethodNotFound);
    CHECK(code_of("sum", {{"a", "two"}, {"b", 3}}) == kRpcInvalidParams);
    CHECK(code_of("burst", nullptr) == kRpcInternalError);
    CHECK(code_of("refuse", nullptr) == kRpcRefused);
    CHECK(client.call("sum", {{"a", 1}, {"b", 1}}) == 2);  // an error ends no connection
  }

  TEST_CASE("several clients are served at once, one too many is told so") {
    TemporaryDirectory directory;
    RpcServerOptions options;
    options.max_clients = 3;
    const RunningServer server(directory / "s", options);
    std::vector<FileDescriptor> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(raw_client(directory / "s"));
    for (const FileDescriptor& client : clients) {
      const std::string request = "{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"id\":4}\n";
      client.write_all("s", {reinterpret_cast<const uint8_t*>(request.data()), request.size()});
      CHECK(Json::parse(read_line(client)).at("id") == 4);
    }
    const FileDescriptor fourth = raw_client(directory / "s");
    CHECK(read_line(fourth).find("too many clients") != std::string::npos);
    CHECK(read_line(fourth).empty());
    // The client of the command reports it as well, also where it is too late to send anything.
    try {
      RpcClient(directory / "s").call("echo", {{"text", std::string(1 << 20, 'x')}});
      FAIL("was served");
    } catch (const std::exception& error) {
      CHECK(std::string(error.what()).find("too many clients") != std::string::npos);
    }
  }

  TEST_CASE("clients that say nothing make room for one that does") {
    TemporaryDirectory directory;
    RpcServerOptions options;
    options.idle = std::chrono::milliseconds(0);
    const RunningServer server(directory / "s", options);
    std::vector<FileDescriptor> silent;
    for (int i = 0; i < 100; ++i) silent.push_back(raw_client(directory / "s"));
    RpcClient client(directory / "s");
    for (int i = 0; i < 100; ++i) CHECK(client.call("sum", {{"a", i}, {"b", 1}}) == i + 1);
  }

  TEST_CASE("an endless line ends that client's connection and nobody else's") {
    TemporaryDirectory directory;
    RpcServerOptions options;
    options.max_message_bytes = 1000;
    const RunningServer server(directory / "s", options);
    RpcClient other(directory / "s");
    const FileDescriptor flood = raw_client(directory / "s");
    const std::string junk(1500, 'a');
    ::send(flood.get(), junk.data(), junk.size(), MSG_NOSIGNAL);
    CHECK(read_line(flood).find("too long") != std::string::npos);
    CHECK(read_line(flood).empty());
    CHECK(other.call("sum", {{"a", 1}, {"b", 2}}) == 3);
  }

  TEST_CASE("clients that vanish in the middle are forgotten") {
    TemporaryDirectory directory;
    boost::asio::io_context io(1);
    RpcServer server(io, directory / "s");
    add_methods(server);
    const auto wait = [&] {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(50));
    };
    {
      const FileDescriptor client = raw_client(directory / "s");
      ::send(client.get(), "{\"json", 7, 0);
      for (int i = 0; i < 100 && server.clients() == 0; ++i) wait();
      CHECK(server.clients() == 1);
    }
    for (int i = 0; i < 100 && server.clients() > 0; ++i) wait();
    CHECK(server.clients() == 0);
  }

  TEST_CASE("poll never waits, and a call has its deadline") {
    TemporaryDirectory directory;
    boost::asio::io_context io(1);
    RpcServer server(io, directory / "s");
    CHECK(server.poll() == 0);
    RpcClient client(directory / "s");  // connected by the kernel; no server answers
    try {
      client.call("echo", nullptr, std::chrono::milliseconds(30));
      FAIL("was answered");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == ETIMEDOUT);
    }
  }

  TEST_CASE("a dead server's socket is replaced, a living one's and other files are not") {
    TemporaryDirectory directory;
    const auto path = directory / "s";
    boost::asio::io_context io(1);
    {
      const RpcServer living(io, path);
      struct stat status {};
      REQUIRE(::stat(path.c_str(), &status) == 0);
      CHECK((status.st_mode & 0777) == 0600);
      try {
        const RpcServer second(io, path);
        FAIL("two servers at one path");
      } catch (const SystemError& error) {
        CHECK(error.error_number() == EADDRINUSE);
      }
      CHECK(std::filesystem::exists(path));
    }
    CHECK_FALSE(std::filesystem::exists(path));
    {
      // A server that was killed: bound, closed, not unlinked.
      const FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strcpy(address.sun_path, path.c_str());
      REQUIRE(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    {
      const RunningServer successor(path);
      CHECK(RpcClient(path).call("echo", {1}) == Json{1});
    }
    write_file(path, "precious");
    CHECK_THROWS_AS(RpcServer(io, path), SystemError);
    CHECK(read_file(path) == "precious");
    CHECK_THROWS_AS(RpcServer(io, directory / std::string(120, 'x')), SystemError);
    CHECK_THROWS_AS(RpcClient{directory / "nobody"}, SystemError);
  }
}
