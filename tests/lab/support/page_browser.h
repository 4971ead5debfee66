#pragma once
// A browser as tests of the page's server have it: requests, a WebSocket, and questions with answers.

#include <doctest/doctest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mrclab::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using nlohmann::json;

inline constexpr const char* kPageToken = "0123456789abcdef";

/// A client of the page's server, on this machine.
class Browser {
 public:
  explicit Browser(uint16_t port) : port_(port), host_("127.0.0.1:" + std::to_string(port)) {}

  http::response<http::string_body> get(const std::string& target, const std::string& host,
                                        http::verb verb = http::verb::get) {
    tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), port_});
    http::request<http::empty_body> request{verb, target, 11};
    request.set(http::field::host, host);
    http::write(socket, request);
    beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response);
    return response;
  }
  http::response<http::string_body> get(const std::string& target) { return get(target, host_); }

  /// All that comes back until the server closes.
  std::string raw(const std::string& request) {
    tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), port_});
    asio::write(socket, asio::buffer(request));
    std::string answer;
    beast::error_code ended;
    asio::read(socket, asio::dynamic_buffer(answer), ended);
    return answer;
  }

  /// The status of the answer to a wish for a WebSocket; 101: there is one.
  unsigned upgrade(const std::string& token, const std::string& origin) {
    tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), port_});
    http::request<http::empty_body> request{http::verb::get, "/live?token=" + token, 11};
    request.set(http::field::host, host_);
    request.set(http::field::origin, origin);
    request.set(http::field::connection, "Upgrade");
    request.set(http::field::upgrade, "websocket");
    request.set(http::field::sec_websocket_version, "13");
    request.set(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
    http::write(socket, request);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> response;
    http::read_header(socket, buffer, response);
    return response.get().result_int();
  }
  void connect(const std::string& token, const std::string& origin) {
    socket_.emplace(io_);
    socket_->next_layer().connect({asio::ip::make_address("127.0.0.1"), port_});
    socket_->set_option(websocket::stream_base::decorator(
        [&](websocket::request_type& request) { request.set(http::field::origin, origin); }));
    socket_->handshake(host_, "/live?token=" + token);
  }
  void leave() { socket_.reset(); }
  void join() { connect(kPageToken, "http://" + host_); }

  void say(const std::string& text) {
    socket_->text(true);
    socket_->write(asio::buffer(text));
  }
  void say_binary(const std::string& bytes) {
    socket_->binary(true);
    socket_->write(asio::buffer(bytes));
  }
  /// The next JSON with this "say"; others and binary messages are passed over.
  json hear(const std::string& word) {
    for (int i = 0; i < 1000; ++i) {
      beast::flat_buffer buffer;
      socket_->read(buffer);
      if (!socket_->got_text()) continue;
      json message = json::parse(beast::buffers_to_string(buffer.data()));
      if (message.at("say") == word) return message;
    }
    FAIL("nothing says ", word);
    return {};
  }
  /// The next JSON, whatever it says.
  json hear_any() {
    beast::flat_buffer buffer;
    socket_->read(buffer);
    return json::parse(beast::buffers_to_string(buffer.data()));
  }
  json ask(json command) {
    command["ticket"] = ++ticket_;
    say(command.dump());
    for (int i = 0; i < 1000; ++i) {
      beast::flat_buffer buffer;
      socket_->read(buffer);
      if (!socket_->got_text()) continue;
      json message = json::parse(beast::buffers_to_string(buffer.data()));
      if (message.value("ticket", 0) == ticket_) return message;
    }
    return {};
  }
  /// The next message of packets (session/page_messages.h).
  std::string hear_packets() {
    for (int i = 0; i < 1000; ++i) {
      beast::flat_buffer buffer;
      socket_->read(buffer);
      std::string bytes = beast::buffers_to_string(buffer.data());
      if (!socket_->got_text() && bytes.at(0) == 2) return bytes;
    }
    return {};
  }
  /// Has the server closed the connection?
  bool is_closed() {
    beast::error_code error;
    for (int i = 0; i < 1000 && !error; ++i) {
      beast::flat_buffer buffer;
      socket_->read(buffer, error);
    }
    return bool(error);
  }
  const std::string& host() const { return host_; }

 private:
  uint16_t port_;
  std::string host_;
  asio::io_context io_;
  std::optional<websocket::stream<tcp::socket>> socket_;
  int ticket_ = 0;
};

}  // namespace mrclab::test
