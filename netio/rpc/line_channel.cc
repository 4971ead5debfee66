#include "netio/rpc/line_channel.h"

#include <cerrno>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSendLimit{10'000};  // for a peer that does not read

TimedStream::Deadline in(milliseconds span) { return TimedStream::Deadline::clock::now() + span; }

}  // namespace

LineChannel LineChannel::accept(const std::string& address, uint16_t port, milliseconds limit,
                                const TimedStream::IsWanted& is_wanted) {
  return LineChannel(TimedStream::accept_tcp(address, port, kMaxLineBytes, is_wanted, in(limit)));
}

LineChannel LineChannel::connect(const std::string& host, uint16_t port, milliseconds limit) {
  return LineChannel(TimedStream::connect_tcp(host, port, in(limit)));
}

void LineChannel::send(const std::string& line) {
  stream_.send(line + "\n", "send to the peer", in(kSendLimit));
}

std::string LineChannel::receive(milliseconds limit) {
  std::string line;
  switch (stream_.receive_line(line, kMaxLineBytes, in(limit))) {
    case TimedStream::Line::kRead: return line;
    case TimedStream::Line::kTimedOut: throw SystemError("wait for a line of the peer", ETIMEDOUT);
    case TimedStream::Line::kTooLong: throw SystemError("read a line of the peer", EMSGSIZE);
    case TimedStream::Line::kClosed: break;
  }
  throw SystemError("read a line of the peer", ECONNRESET);
}

bool LineChannel::ready() { return stream_.has_line(kMaxLineBytes); }

}  // namespace mrclab::netio
