// The blocking client of a control socket.

#include <cerrno>

#include "fabric/text/json_text.h"
#include "netio/rpc/rpc.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{2000};

}  // namespace

RpcClient::RpcClient(const std::filesystem::path& path)
    : path_(path.string()),
      stream_(TimedStream::connect_local(path,
                                         TimedStream::Deadline::clock::now() + kConnectPatience)) {}

Json RpcClient::call(const std::string& method, const Json& params,
                     std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  const uint64_t id = next_id_++;
  Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) request["params"] = params;
  try {
    stream_.send(request.dump() + "\n", "send to " + path_, until);
  } catch (const SystemError& error) {
    // The server has closed, perhaps with an answer that gives the reason.
    const bool closed = error.error_number() == EPIPE || error.error_number() == ECONNRESET;
    if (error.error_number() == ETIMEDOUT)
      throw SystemError("get an answer from " + path_, ETIMEDOUT);
    if (!closed) throw;
  }
  std::string line;
  switch (stream_.receive_line(line, 4 * kMaxMessageBytes, until)) {
    case TimedStream::Line::kRead: break;
    case TimedStream::Line::kTimedOut: throw SystemError("get an answer from " + path_, ETIMEDOUT);
    case TimedStream::Line::kTooLong: throw SystemError("read the answer of " + path_, EMSGSIZE);
    case TimedStream::Line::kClosed:
      throw SystemError("read the answer of " + path_, ECONNRESET,
                        "it is ending, or has too many clients: try again");
  }
  const auto answer = parse_json<Json>(line);
  if (!answer.is_object()) throw SystemError("understand the answer of " + path_, EBADMSG);
  if (const auto error = answer.find("error"); error != answer.end() && error->is_object())
    throw RpcError(error->value("code", kRpcInternalError),
                   error->value("message", std::string("no message")),
                   error->contains("data") ? error->at("data") : Json());
  if (answer.value("id", Json()) != id || !answer.contains("result"))
    throw SystemError("understand the answer of " + path_, EBADMSG);
  return answer.at("result");
}

}  // namespace mrclab::netio
