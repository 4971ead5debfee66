#pragma once
// What the thread of the page's server has, and its connections.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lab/serve/page_limits.h"
#include "lab/serve/serve_options.h"
#include "session/page_connections.h"

namespace mrclab::lab {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using beast::error_code;

/// As people and browsers write it: an IPv4 address that came in by an IPv6 socket is one of IPv4, and a link-local one
/// has no name of an interface.
std::string plain_text(const asio::ip::address& address);

class PageConnection;

/// Everything in it but `inbox` belongs to that thread.
struct PageThread {
  ServeOptions options;
  std::string machine;
  tcp::endpoint local;  // where we listen
  std::map<ClientId, std::shared_ptr<PageConnection>> sockets;
  std::list<PageConnection*> connections;  // all there are, the oldest first
  ClientId newest = 0;

  mutable std::mutex mutex;  // of what follows
  std::condition_variable filled;
  std::deque<PageInput> inbox;
  std::map<ClientId, size_t> waiting;  // bytes by browser
  std::condition_variable fewer;       // some of these were sent, or nobody waits for that any more

  // Ends before what its handlers refer to.
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer again{io};
  bool failing = false;  // accepting has failed, and stderr has a line about it
  std::thread thread;

  void accept();
  void accept_later(const error_code& error);
  void make_room();
  bool take(PageInput input);
};

/// One connection: a few requests, and then perhaps a WebSocket. Shared by the handlers of what it does.
class PageConnection : public std::enable_shared_from_this<PageConnection> {
 public:
  PageConnection(PageThread& server, tcp::socket socket)
      : server_(server),
        stream_(std::move(socket)),
        place_(server.connections.insert(server.connections.end(), this)) {
    error_code ignored;
    address_ = stream_.socket().local_endpoint(ignored).address();
  }
  ~PageConnection() { server_.connections.erase(place_); }

  enum class State : uint8_t { kAsking, kIdle, kAnswered, kKnown, kLeaving };
  State state() const { return state_; }
  /// Closes it: what reads or writes ends with an error.
  void give_way();

  void read_request();
  void send(std::shared_ptr<const std::string> bytes, bool text);
  void close();
  /// Closes it when all that waits is sent.
  void finish();

 private:
  void answer();
  void answer_scrape(const std::string& target);
  bool names_us(std::string_view host) const;
  void refuse(http::status status, const std::string& why);
  void respond(http::response<http::string_body> response);
  void upgrade(PageVisitor visitor);
  bool may_join(const std::string& target, PageVisitor& visitor) const;
  void read_text();
  void write_next();
  void leave();

  PageThread& server_;
  beast::tcp_stream stream_;  // until it becomes a WebSocket
  std::list<PageConnection*>::iterator place_;
  State state_ = State::kAsking;
  asio::ip::address address_;  // that it came to
  std::optional<websocket::stream<beast::tcp_stream>> socket_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
  struct Outgoing {
    std::shared_ptr<const std::string> bytes;  // shared with the handler that writes it
    bool text;
  };
  std::deque<Outgoing> outgoing_;
  size_t outgoing_bytes_ = 0;
  bool finishing_ = false;
  ClientId id_ = 0;
};

}  // namespace mrclab::lab
