#pragma once
// JSON-RPC 2.0 over a Unix stream socket, one message per line. The server waits on an io_context
// of its owner, which runs it or, as a ticking daemon does, polls it; the client blocks with a deadline.
//
// Limits: kMaxMessageBytes per message (then an error and the connection is closed), a bounded
// number of clients (one more takes the place of one that has sent nothing for a while, or gets an
// error and is closed), one line at a time per client: the next is read when the answer has been
// written. A batch holds kMaxBatch requests, JSON nests kMaxJsonDepth levels (fabric/text/json_text.h).

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "netio/rpc/timed_stream.h"

namespace mrclab::netio {

using Json = nlohmann::json;

// JSON-RPC 2.0 specification §5.1.
inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcMethodNotFound = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcInternalError = -32603;
/// The first of the codes left to implementations: the request was understood and refused.
inline constexpr int kRpcRefused = -32000;

inline constexpr size_t kMaxMessageBytes = 4 << 20;
inline constexpr size_t kMaxBatch = 64;

/// An error answer. A method throws it to answer with that code; a client's call() throws it.
class RpcError : public std::runtime_error {
 public:
  RpcError(int code, const std::string& message, Json data = nullptr)
      : std::runtime_error(message), code_(code), data_(std::move(data)) {}
  int code() const { return code_; }
  const Json& data() const { return data_; }

 private:
  int code_;
  Json data_;
};

/// Gets `params` (null when absent) and returns the result. A Json exception answers "invalid
/// params", RpcError its own code, anything else "internal error" with what().
using RpcMethod = std::function<Json(const Json& params)>;

/// Answers one message: the answer's text, or empty for a notification. Any bytes at all.
std::string answer_rpc(std::string_view message,
                       const std::function<const RpcMethod*(const std::string&)>& find);

struct RpcServerOptions {
  size_t max_clients = 16;
  size_t max_message_bytes = kMaxMessageBytes;
  /// A client that has been silent for this long makes room for a new one.
  std::chrono::milliseconds idle = std::chrono::seconds(2);
};

/// Listens at `path` (mode 0600, removed when this dies). A dead server's socket is replaced, a
/// living one is EADDRINUSE.
class RpcServer {
 public:
  /// Its clients wait on `io`, which does nothing for them any more when this has died.
  RpcServer(boost::asio::io_context& io, const std::filesystem::path& path,
            RpcServerOptions options = {});
  ~RpcServer();
  RpcServer(RpcServer&&) noexcept;

  void method(const std::string& name, RpcMethod method);
  /// Does what can be done without waiting, for an owner that does not run `io`; returns the number of
  /// events handled.
  size_t poll();
  /// Called after each message that a client sent was answered.
  void after_message(std::function<void()> call);
  size_t clients() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A blocking client. Every call has a deadline; a missed one throws SystemError with ETIMEDOUT and
/// the connection is of no further use.
class RpcClient {
 public:
  explicit RpcClient(const std::filesystem::path& path);
  Json call(const std::string& method, const Json& params = nullptr,
            std::chrono::milliseconds deadline = std::chrono::seconds(10));

 private:
  std::string path_;
  TimedStream stream_;
  uint64_t next_id_ = 1;
};

}  // namespace mrclab::netio
