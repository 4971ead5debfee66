#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "fabric/json_text.h"
#include "netio/rpc/rpc.h"

namespace mrclab::netio {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{2000}, kConnectAgain{2};

}  // namespace

RpcClient::RpcClient(const std::filesystem::path& path) : path_(path.string()) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path)
    throw SystemError("connect to " + path_, ENAMETOOLONG);
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  fd_ = FileDescriptor(check_system_call(
      "open a socket", ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const auto until = std::chrono::steady_clock::now() + kConnectPatience;
  while (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    // EAGAIN: the queue of clients that wait to be accepted is full, and
    // poll() cannot wait for that.
    if (errno != EAGAIN || std::chrono::steady_clock::now() > until) {
      throw SystemError("connect to " + path_, errno);
    }
    std::this_thread::sleep_for(kConnectAgain);
  }
}

Json RpcClient::call(const std::string& method, const Json& params,
                     std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  const uint64_t id = next_id_++;
  Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) request["params"] = params;
  send(request.dump() + "\n", until);

  const auto answer = parse_json<Json>(receive_line(until));
  if (!answer.is_object()) throw SystemError("understand the answer of " + path_, EBADMSG);
  if (const auto error = answer.find("error"); error != answer.end() && error->is_object())
    throw RpcError(error->value("code", kRpcInternalError),
                   error->value("message", std::string("no message")),
                   error->contains("data") ? error->at("data") : Json());
  if (answer.value("id", Json()) != id || !answer.contains("result"))
    throw SystemError("understand the answer of " + path_, EBADMSG);
  return answer.at("result");
}

void RpcClient::wait_for(short events, std::chrono::steady_clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) throw SystemError("get an answer from " + path_, ETIMEDOUT);
    pollfd watched{fd_.get(), events, 0};
    const int ready =
        ::poll(&watched, 1, static_cast<int>(std::min<int64_t>(left.count(), 60'000)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw SystemError("wait for " + path_, errno);
  }
}

void RpcClient::send(std::string_view bytes, std::chrono::steady_clock::time_point until) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT, until);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return;  // the server has closed, perhaps with an answer that says why
    } else if (errno != EINTR) {
      throw SystemError("send to " + path_, errno);
    }
  }
}

std::string RpcClient::receive_line(std::chrono::steady_clock::time_point until) {
  size_t searched = 0;
  std::array<char, 16384> chunk;
  while (true) {
    if (const size_t end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > 4 * kMaxMessageBytes) throw SystemError("read the answer of " + path_, EMSGSIZE);
    const ssize_t n = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
    if (n > 0) {
      received_.append(chunk.data(), static_cast<size_t>(n));
    } else if (n == 0 || errno == ECONNRESET) {
      throw SystemError("read the answer of " + path_, ECONNRESET,
                        "it is ending, or has too many clients: try again");
    } else if (errno == EAGAIN) {
      wait_for(POLLIN, until);
    } else if (errno != EINTR) {
      throw SystemError("read the answer of " + path_, errno);
    }
  }
}

}  // namespace mrclab::netio
