// Stream, buffers and clients of the control socket. What a message means is in rpc.cc.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <list>
#include <map>

#include "netio/rpc/rpc.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::local::stream_protocol::socket;
using Acceptor = asio::local::stream_protocol::acceptor;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxEventsPerPoll = 64;
/// A server that could not accept a client, out of descriptors for instance, tries again after this.
constexpr std::chrono::milliseconds kAcceptAgain{100};

std::string refusal(int code, const std::string& message) {
  return Json{
             {"jsonrpc", "2.0"}, {"id", nullptr}, {"error", {{"code", code}, {"message", message}}}}
             .dump() +
         "\n";
}

/// A socket file without a listener is a dead server's.
void make_way(const std::filesystem::path& path) {
  if (path.native().size() >= sizeof(sockaddr_un::sun_path))
    throw SystemError("listen at " + path.string(), ENAMETOOLONG);
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return;
  try {
    const RpcClient probe(path);
  } catch (const SystemError& error) {
    if (error.error_number() == ENOENT) return;
    // Connecting to any other kind of file is refused as well: that is not ours to remove.
    if (error.error_number() != ECONNREFUSED || !std::filesystem::is_socket(path)) throw;
    ::unlink(path.c_str());
    return;
  }
  throw SystemError("listen at " + path.string(), EADDRINUSE);
}

}  // namespace

struct RpcServer::Impl {
  /// One client: a line is read, answered, the answer written, and so on.
  struct Client {
    Client(Impl& owner, Socket connected)
        : server(owner), socket(std::move(connected)), input(owner.options.max_message_bytes + 1) {}
    Impl& server;
    Socket socket;
    asio::streambuf input;
    std::string output;
    bool close_after_write = false;
    bool answering = false;  ///< its answer is on its way
    bool leaving = false;    ///< its socket was closed to make room; its handler will drop it
    Clock::time_point heard = Clock::now();
    std::list<Client>::iterator self;
  };

  Impl(asio::io_context& io, const std::filesystem::path& where, RpcServerOptions limits)
      : path(where), options(limits), context(io), acceptor(io), again(io) {
    make_way(path);
    error_code error;
    const auto check = [this, &error](const char* what) {
      if (error) throw SystemError(what + path.string(), error.value());
    };
    acceptor.open({}, error);
    check("open a socket for ");
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    const mode_t before = ::umask(0177);  // the socket is the owner's from its first instant
    acceptor.bind(path.string(), error);
    ::umask(before);
    check("listen at ");
    bound = true;
    acceptor.listen(static_cast<int>(options.max_clients), error);
    check("listen at ");
    accept();
  }

  ~Impl() {
    error_code ignored;
    acceptor.close(ignored);
    if (bound) ::unlink(path.c_str());
  }

  void accept() {
    acceptor.async_accept([this](const error_code& error, Socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      admit(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    again.expires_after(kAcceptAgain);
    again.async_wait([this](const error_code& error) {
      if (!error) accept();
    });
  }

  /// A client with many requests must not delay the tick of a daemon.
  size_t poll() {
    context.restart();
    size_t handled = 0;
    while (handled < kMaxEventsPerPoll && context.poll_one() != 0) ++handled;
    return handled;
  }

  void admit(Socket socket) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    const bool too_many = staying() >= options.max_clients && !send_idle_away();
    if (too_many && clients.size() >= 2 * options.max_clients) return;  // not even an answer
    Client& client = clients.emplace_back(*this, std::move(socket));
    client.self = std::prev(clients.end());
    if (too_many) {
      refuse(client, kRpcRefused, "too many clients");
    } else {
      read(client);
    }
  }

  size_t staying() const {
    return static_cast<size_t>(std::count_if(clients.begin(), clients.end(),
                                             [](const Client& client) { return !client.leaving; }));
  }

  /// Sends the client away that has been silent for longest, if that is long
  /// enough. False if none is.
  bool send_idle_away() {
    Client* idlest = nullptr;
    for (Client& client : clients) {
      if (client.answering || client.leaving) continue;
      if (idlest == nullptr || client.heard < idlest->heard) idlest = &client;
    }
    if (idlest == nullptr || Clock::now() - idlest->heard < options.idle) return false;
    idlest->leaving = true;
    error_code ignored;
    idlest->socket.close(ignored);  // its read ends with an error, which drops it
    return true;
  }

  void read(Client& client) {
    client.answering = false;
    asio::async_read_until(client.socket, client.input, '\n',
                           [this, &client](const error_code& error, size_t length) {
                             if (error == asio::error::not_found)
                               return refuse(client, kRpcInvalidRequest, "a message is too long");
                             if (error) return drop(client);
                             answer(client, length);
                           });
  }

  void answer(Client& client, size_t length) {
    client.heard = Clock::now();
    const auto data = client.input.data();
    const std::string line(asio::buffers_begin(data),
                           asio::buffers_begin(data) + static_cast<std::ptrdiff_t>(length - 1));
    client.input.consume(length);
    client.output = answer_rpc(line, [this](const std::string& name) {
      const auto found = methods.find(name);
      return found == methods.end() ? nullptr : &found->second;
    });
    if (after_message) after_message();
    if (client.output.empty()) return read(client);
    client.output += '\n';
    write(client);
  }

  void refuse(Client& client, int code, const std::string& message) {
    client.output = refusal(code, message);
    client.close_after_write = true;
    write(client);
  }

  void write(Client& client) {
    client.answering = true;
    asio::async_write(client.socket, asio::buffer(client.output),
                      [this, &client](const error_code& error, size_t) {
                        if (error || client.close_after_write) return drop(client);
                        read(client);
                      });
  }

  void drop(Client& client) { clients.erase(client.self); }

  std::filesystem::path path;
  RpcServerOptions options;
  asio::io_context& context;
  Acceptor acceptor;
  asio::steady_timer again;
  bool bound = false;
  std::function<void()> after_message;
  std::map<std::string, RpcMethod> methods;
  std::list<Client> clients;
};

RpcServer::RpcServer(asio::io_context& io, const std::filesystem::path& path,
                     RpcServerOptions options)
    : impl_(std::make_unique<Impl>(io, path, options)) {}
RpcServer::~RpcServer() = default;
RpcServer::RpcServer(RpcServer&&) noexcept = default;

void RpcServer::method(const std::string& name, RpcMethod method) {
  impl_->methods[name] = std::move(method);
}

size_t RpcServer::poll() { return impl_->poll(); }

void RpcServer::after_message(std::function<void()> call) {
  impl_->after_message = std::move(call);
}

size_t RpcServer::clients() const { return impl_->clients.size(); }

}  // namespace mrclab::netio
