#include "netio/rpc/timed_stream.h"

#include <fcntl.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;
using AnySocket = asio::generic::stream_protocol::socket;

constexpr std::chrono::milliseconds kConnectAgain{2};   // to a program that has too many clients
constexpr std::chrono::milliseconds kNotListening{20};  // to a program that is not up yet

[[noreturn]] void fail(const std::string& what, const error_code& error) {
  throw SystemError(what, error.value());
}

void pause(std::chrono::milliseconds span) {
  asio::io_context context;
  asio::steady_timer(context, span).wait();
}

}  // namespace

struct TimedStream::Impl {
  Impl() : socket(context) {}

  /// Runs what was started until its handler has set `error`, or `until`: then it is cancelled, and
  /// `error` is timed_out.
  void run(error_code& error, Deadline until) {
    error = asio::error::would_block;
    context.restart();
    while (error == asio::error::would_block && context.run_one_until(until) != 0) {
    }
    if (error != asio::error::would_block) return;
    error_code ignored;
    socket.cancel(ignored);
    context.restart();
    context
        .run();  // the handler reports a cancelled operation, or one that ended in the last moment
    if (error == asio::error::operation_aborted) error = asio::error::timed_out;
  }

  /// The kernel's error, or none.
  error_code connect_once(const tcp::endpoint& where, Deadline until) {
    error_code error, ignored;
    socket.close(ignored);
    socket.async_connect(where, [&error](const error_code& e) { error = e; });
    run(error, until);
    return error;
  }

  void adopt(tcp::socket&& connected) {
    connected.set_option(tcp::no_delay(true));
    socket = std::move(connected);
  }

  /// Takes in what comes next. False when nothing came until then.
  bool read_some(Deadline until) {
    error_code error;
    size_t length = 0;
    socket.async_read_some(asio::buffer(chunk), [&](const error_code& e, size_t n) {
      error = e;
      length = n;
    });
    run(error, until);
    received.append(chunk.data(), length);
    if (error == asio::error::timed_out) return length > 0;
    if (error) closed = true;
    return true;
  }

  asio::io_context context{1};
  AnySocket socket;
  std::array<char, 16384> chunk{};
  std::string received;
  bool closed = false;
};

TimedStream::TimedStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TimedStream::TimedStream(TimedStream&& other) noexcept = default;
TimedStream::~TimedStream() = default;

TimedStream TimedStream::connect_local(const std::filesystem::path& path, Deadline until) {
  const std::string what = "connect to " + path.string();
  if (path.native().size() >= sizeof(sockaddr_un::sun_path)) throw SystemError(what, ENAMETOOLONG);
  auto impl = std::make_unique<Impl>();
  for (;;) {
    Local::socket socket(impl->context);
    error_code error;
    socket.open({}, error);
    if (error) fail("open a socket", error);
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    socket.native_non_blocking(true, error);
    socket.connect(path.string(), error);
    if (!error) {
      impl->socket = std::move(socket);
      return TimedStream(std::move(impl));
    }
    // Asio's word for EAGAIN: the queue of clients that wait to be accepted is full.
    if (error != asio::error::no_buffer_space) fail(what, error);
    if (std::chrono::steady_clock::now() > until) throw SystemError(what, EAGAIN);
    pause(kConnectAgain);
  }
}

TimedStream TimedStream::connect_tcp(const std::string& host, uint16_t port, Deadline until) {
  auto impl = std::make_unique<Impl>();
  error_code error;
  const auto found = tcp::resolver(impl->context).resolve(host, std::to_string(port), error);
  if (error) throw std::invalid_argument("cannot resolve \"" + host + "\": " + error.message());
  do {
    for (const auto& where : found) {
      if (impl->connect_once(where.endpoint(), until)) continue;
      ::fcntl(impl->socket.native_handle(), F_SETFD, FD_CLOEXEC);
      impl->socket.set_option(tcp::no_delay(true));
      return TimedStream(std::move(impl));
    }
    pause(kNotListening);
  } while (std::chrono::steady_clock::now() < until);
  throw SystemError("connect to " + host + " port " + std::to_string(port), ETIMEDOUT);
}

namespace {

/// Peers that have connected and have not sent their first line.
class Callers {
 public:
  Callers(asio::io_context& context, size_t limit, const TimedStream::IsWanted& is_wanted)
      : limit_(limit), is_wanted_(is_wanted), listener_(context), again_(context) {}

  /// The kernel's error, or none.
  error_code listen(const tcp::endpoint& here, std::string& what) {
    error_code error;
    const auto tried = [&](const char* step) {
      what = step;
      return static_cast<bool>(error);
    };
    listener_.open(here.protocol(), error);
    if (tried("open a TCP socket")) return error;
    ::fcntl(listener_.native_handle(), F_SETFD, FD_CLOEXEC);
    listener_.set_option(tcp::acceptor::reuse_address(true), error);
    if (tried("reuse an address")) return error;
    listener_.bind(here, error);
    if (tried("bind")) return error;
    listener_.listen(static_cast<int>(TimedStream::kMaxCallers), error);
    if (tried("listen")) return error;
    accept();
    return error;
  }
  /// A peer has sent a valid first line: its socket and what came in.
  bool found() const { return found_ != nullptr; }
  tcp::socket& socket() { return found_->socket; }
  std::string& received() { return found_->received; }

 private:
  struct Caller {
    explicit Caller(tcp::socket connected) : socket(std::move(connected)) {}
    tcp::socket socket;
    std::string received;
  };
  using CallerPointer = std::shared_ptr<Caller>;  // shared with the handler that reads from it

  void accept() {
    listener_.async_accept(
        [this, alive = std::weak_ptr(alive_)](const error_code& error, tcp::socket socket) {
          if (alive.expired() || error == asio::error::operation_aborted) return;
          if (error) {  // out of descriptors it would fail again at once
            again_.expires_after(kNotListening);
            again_.async_wait([this, alive = std::weak_ptr(alive_)](const error_code& outcome) {
              if (!alive.expired() && !outcome) accept();
            });
            return;
          }
          ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
          if (callers_.size() >= TimedStream::kMaxCallers) drop(callers_.front());
          callers_.push_back(std::make_shared<Caller>(std::move(socket)));
          read(callers_.back());
          accept();
        });
  }

  void read(const CallerPointer& caller) {
    asio::async_read_until(
        caller->socket, asio::dynamic_buffer(caller->received, limit_ + 1), '\n',
        [this, caller, alive = std::weak_ptr(alive_)](const error_code& error, size_t length) {
          if (alive.expired()) return;
          if (error == asio::error::operation_aborted) return;
          const bool wanted = !error && is_wanted_(caller->received.substr(0, length - 1));
          if (wanted && found_ == nullptr) {
            found_ = caller;
          } else {
            drop(caller);
          }
        });
  }

  void drop(CallerPointer caller) {
    error_code ignored;
    caller->socket.close(ignored);
    std::erase(callers_, caller);
  }

  size_t limit_;
  const TimedStream::IsWanted& is_wanted_;
  tcp::acceptor listener_;
  asio::steady_timer again_;
  std::vector<CallerPointer> callers_;  ///< the one that has been silent for longest first
  CallerPointer found_;
  std::shared_ptr<void> alive_ = std::make_shared<char>();  ///< for operations that outlive this
};

}  // namespace

TimedStream TimedStream::accept_tcp(const std::string& address, uint16_t port, size_t limit,
                                    const IsWanted& is_wanted, Deadline until) {
  error_code error;
  const auto where = asio::ip::make_address(address, error);
  if (error) throw std::invalid_argument("cannot resolve \"" + address + "\": " + error.message());
  auto impl = std::make_unique<Impl>();
  Callers callers(impl->context, limit, is_wanted);
  std::string what;
  error = callers.listen({where, port}, what);
  if (error) fail(what + " on " + address + " port " + std::to_string(port), error);
  while (!callers.found() && impl->context.run_one_until(until) != 0) {
  }
  if (!callers.found()) {
    throw SystemError("wait for a peer on port " + std::to_string(port), ETIMEDOUT);
  }
  impl->received = std::move(callers.received());
  impl->adopt(std::move(callers.socket()));
  return TimedStream(std::move(impl));
}

void TimedStream::send(std::string_view bytes, const std::string& what, Deadline until) {
  error_code error;
  asio::async_write(impl_->socket, asio::buffer(bytes.data(), bytes.size()),
                    [&error](const error_code& e, size_t) { error = e; });
  impl_->run(error, until);
  if (error) fail(what, error);
}

TimedStream::Line TimedStream::receive_line(std::string& line, size_t limit, Deadline until) {
  std::string& received = impl_->received;
  for (size_t searched = 0;;) {
    const size_t end = received.find('\n', searched);
    if (std::min(end, received.size()) > limit) return Line::kTooLong;
    if (end != std::string::npos) {
      line = received.substr(0, end);
      received.erase(0, end + 1);
      return Line::kRead;
    }
    searched = received.size();
    if (impl_->closed) return Line::kClosed;
    if (!impl_->read_some(until)) return Line::kTimedOut;
  }
}

bool TimedStream::has_line(size_t limit) {
  const std::string& received = impl_->received;
  while (!impl_->closed && received.find('\n') == std::string::npos && received.size() <= limit) {
    if (!impl_->read_some(std::chrono::steady_clock::now())) return false;
  }
  return true;
}

}  // namespace mrclab::netio
