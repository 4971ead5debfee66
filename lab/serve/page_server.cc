#include "lab/serve/page_server.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "fabric/text/yaml.h"
#include "lab/serve/page_files.h"

namespace mrclab::lab {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using beast::error_code;

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Equal in a time that does not tell how much of it is.
bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// The value of `token` in "/live?token=abc".
std::string_view token_in(std::string_view target) {
  constexpr std::string_view kKey = "?token=";
  const size_t at = target.find(kKey);
  return at == std::string_view::npos ? "" : target.substr(at + kKey.size());
}

std::string_view text_of(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bits;
  if (::RAND_bytes(bits.data(), bits.size()) != 1) throw std::runtime_error("no random numbers");
  std::string text;
  for (const unsigned char byte : bits) text += fmt::format("{:02x}", byte);
  return text;
}

/// What the thread of the server has; everything in it but `inbox` belongs to that thread.
struct PageServer::Impl {
  class Connection;

  std::string token, host;  // host: as requests must name it
  std::map<ClientId, std::shared_ptr<Connection>> sockets;
  size_t connections = 0;  // also those that have not asked yet
  ClientId newest = 0;

  mutable std::mutex mutex;  // of what follows
  std::condition_variable filled;
  std::deque<PageInput> inbox;
  std::map<ClientId, size_t> waiting;  // bytes by browser

  // Ends before what its handlers refer to.
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::thread thread;

  void accept();
  bool take(PageInput input);
  bool names_us(std::string_view name) const {
    return name == host || name == "localhost" + host.substr(host.rfind(':'));
  }
};

/// One connection: a few requests, and then perhaps a WebSocket. Shared by the handlers of what it does.
class PageServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    ++server_.connections;
  }
  ~Connection() { --server_.connections; }

  void read_request();
  void send(std::shared_ptr<const std::string> bytes, bool text);
  void close();

 private:
  void answer();
  void refuse(http::status status, const std::string& why);
  void respond(http::response<http::string_body> response);
  void upgrade();
  void read_text();
  void write_next();
  void leave();

  Impl& server_;
  beast::tcp_stream stream_;  // until it becomes a WebSocket
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
  ClientId id_ = 0;
};

bool PageServer::Impl::take(PageInput input) {
  {
    const std::lock_guard lock(mutex);
    // Comings and goings are as few as connections; they are never left out.
    if (input.what == PageInput::What::kText && inbox.size() >= kMaxWaiting) return false;
    inbox.push_back(std::move(input));
  }
  filled.notify_one();
  return true;
}

void PageServer::Impl::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error && connections < kMaxClients * 2) {
      std::make_shared<Connection>(*this, std::move(socket))->read_request();
    }
    accept();
  });
}

void PageServer::Impl::Connection::read_request() {
  parser_.emplace();
  parser_->header_limit(kMaxRequestBytes);
  parser_->body_limit(0);
  stream_.expires_after(kHandshakeTime);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) {
                     if (!error) return self->answer();
                     if (error == http::error::header_limit || error == http::error::body_limit) {
                       self->refuse(http::status::payload_too_large, "too long");
                     }
                   });
}

void PageServer::Impl::Connection::respond(http::response<http::string_body> response) {
  response_ = std::move(response);
  response_.set("Content-Security-Policy", kPolicy);
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("Referrer-Policy", "no-referrer");
  response_.set("Cross-Origin-Opener-Policy", "same-origin");
  response_.set("Cross-Origin-Resource-Policy", "same-origin");
  response_.set(http::field::cache_control, "no-store");
  response_.prepare_payload();
  http::async_write(stream_, response_, [self = shared_from_this()](error_code error, size_t) {
    if (error) return;
    if (self->response_.keep_alive()) return self->read_request();
    error_code ignored;
    self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  });
}

void PageServer::Impl::Connection::refuse(http::status status, const std::string& why) {
  http::response<http::string_body> response{status, 11};
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = why + "\n";
  response.keep_alive(false);
  respond(std::move(response));
}

void PageServer::Impl::Connection::answer() {
  const auto& request = parser_->get();
  if (!server_.names_us(text_of(request[http::field::host]))) {
    return refuse(http::status::misdirected_request, "this is not the host that was asked for");
  }
  const std::string target(text_of(request.target()));
  const std::string path = target.substr(0, target.find('?'));
  if (websocket::is_upgrade(request)) {
    const std::string_view origin = text_of(request[http::field::origin]);
    const bool ours = origin.starts_with("http://") && server_.names_us(origin.substr(7));
    if (path != "/live" || !ours || !same_secret(token_in(target), server_.token)) {
      return refuse(http::status::forbidden, "wrong origin or token");
    }
    if (server_.sockets.size() >= kMaxClients) {
      return refuse(http::status::service_unavailable, "too many browsers");
    }
    return upgrade();
  }
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return refuse(http::status::method_not_allowed, "GET only");
  }
  const std::string_view wanted = path == "/" ? "/index.html" : std::string_view(path);
  for (const PageFile& file : page_files()) {
    if (file.path != wanted) continue;
    http::response<http::string_body> response{http::status::ok, request.version()};
    response.set(http::field::content_type, std::string(media_type(file.path)));
    response.keep_alive(request.keep_alive());
    response.body().assign(file.bytes);
    return respond(std::move(response));
  }
  refuse(http::status::not_found, "there is no such file");
}

void PageServer::Impl::Connection::upgrade() {
  stream_.expires_never();
  socket_.emplace(std::move(stream_));
  socket_->set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
  socket_->read_message_max(kMaxTextBytes);
  socket_->async_accept(parser_->get(), [self = shared_from_this()](error_code error) {
    if (error) return;
    self->id_ = ++self->server_.newest;
    self->server_.sockets[self->id_] = self;
    self->server_.take({self->id_, PageInput::What::kJoined});
    self->read_text();
  });
}

void PageServer::Impl::Connection::read_text() {
  buffer_.clear();
  socket_->async_read(buffer_, [self = shared_from_this()](error_code error, size_t) {
    if (error) return self->leave();
    if (!self->socket_->got_text()) return self->close();
    std::string text = beast::buffers_to_string(self->buffer_.data());
    if (!self->server_.take({self->id_, PageInput::What::kText, std::move(text)})) {
      return self->close();
    }
    self->read_text();
  });
}

void PageServer::Impl::Connection::send(std::shared_ptr<const std::string> bytes, bool text) {
  outgoing_bytes_ += bytes->size();
  if (outgoing_bytes_ > kMaxOutgoingBytes) return close();
  outgoing_.push_back({std::move(bytes), text});
  if (outgoing_.size() == 1) write_next();
}

void PageServer::Impl::Connection::write_next() {
  socket_->text(outgoing_.front().text);
  socket_->async_write(asio::buffer(*outgoing_.front().bytes),
                       [self = shared_from_this()](error_code error, size_t) {
                         if (error) return self->leave();
                         const size_t size = self->outgoing_.front().bytes->size();
                         self->outgoing_bytes_ -= size;
                         self->outgoing_.pop_front();
                         {
                           const std::lock_guard lock(self->server_.mutex);
                           const auto found = self->server_.waiting.find(self->id_);
                           if (found != self->server_.waiting.end()) found->second -= size;
                         }
                         if (!self->outgoing_.empty()) self->write_next();
                       });
}

void PageServer::Impl::Connection::close() {
  beast::get_lowest_layer(*socket_).close();  // what reads or writes ends with an error, and leaves
}

void PageServer::Impl::Connection::leave() {
  if (server_.sockets.erase(id_) == 0) return;
  {
    const std::lock_guard lock(server_.mutex);
    server_.waiting.erase(id_);
  }
  server_.take({id_, PageInput::What::kLeft});
}

PageServer::PageServer(const ServeOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->token = options.token.empty() ? random_token() : options.token;
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
    impl_->acceptor.open(endpoint.protocol());
    impl_->acceptor.set_option(asio::socket_base::reuse_address(true));
    impl_->acceptor.bind(endpoint);
    impl_->acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw InputError(fmt::format("cannot listen on {} port {}: {}", options.address, options.port,
                                 error.code().message()));
  }
  const tcp::endpoint local = impl_->acceptor.local_endpoint();
  const std::string name = local.address().to_string();
  impl_->host =
      (local.address().is_v6() ? "[" + name + "]:" : name + ":") + std::to_string(local.port());
  impl_->accept();
  impl_->thread = std::thread([this] { impl_->io.run(); });
}

PageServer::~PageServer() {
  impl_->io.stop();
  impl_->thread.join();
  impl_->sockets.clear();
}

uint16_t PageServer::port() const { return impl_->acceptor.local_endpoint().port(); }

std::string PageServer::link() const {
  return fmt::format("http://{}/?token={}", impl_->host, impl_->token);
}

bool PageServer::next(PageInput& input, std::chrono::milliseconds at_most) {
  std::unique_lock lock(impl_->mutex);
  if (!impl_->filled.wait_for(lock, at_most, [this] { return !impl_->inbox.empty(); }))
    return false;
  input = std::move(impl_->inbox.front());
  impl_->inbox.pop_front();
  return true;
}

size_t PageServer::waiting_bytes(ClientId client) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->waiting.find(client);
  return found == impl_->waiting.end() ? 0 : found->second;
}

namespace {

/// Has the thread of the server send it, if the browser is still there.
template <class Impl>
void send(Impl& impl, ClientId client, std::string bytes, bool text) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));  // with the handlers
  {
    const std::lock_guard lock(impl.mutex);
    impl.waiting[client] += shared->size();
  }
  asio::post(impl.io, [&impl, client, shared = std::move(shared), text] {
    const auto found = impl.sockets.find(client);
    if (found != impl.sockets.end()) return found->second->send(shared, text);
    const std::lock_guard lock(impl.mutex);
    impl.waiting.erase(client);
  });
}

}  // namespace

void PageServer::send_text(ClientId client, std::string text) {
  send(*impl_, client, std::move(text), true);
}

void PageServer::send_binary(ClientId client, std::string bytes) {
  send(*impl_, client, std::move(bytes), false);
}

}  // namespace mrclab::lab
