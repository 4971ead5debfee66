#include "verbs/server/wall_program.h"

namespace mrclab::verbs {

WallProgram::WallProgram(HostPrograms& programs, netio::MessageSocket connection)
    : connection_(std::move(connection)), session_(programs) {}

bool WallProgram::receive(uint64_t rate) {
  alignas(RequestHeader) std::array<uint8_t, kMaxMessage> room;
  session_.set_rate(rate);
  for (int count = 0; count < kMaxMessages; ++count) {
    netio::MessageSocket::Received received = connection_.receive(room, 0);
    switch (received.outcome) {
      case netio::MessageSocket::Outcome::kNothing: return count > 0;
      case netio::MessageSocket::Outcome::kClosed:
      case netio::MessageSocket::Outcome::kBroken: gone_ = true; return true;
      case netio::MessageSocket::Outcome::kMessage: break;
    }
    gone_ = !answer(std::span(room).first(received.size), std::move(received.descriptors));
    if (gone_) return true;
  }
  return true;
}

bool WallProgram::answer(std::span<const uint8_t> message,
                         std::vector<netio::FileDescriptor> descriptors) {
  const VerbsSession::Answer answer = session_.handle(message, std::move(descriptors));
  return !answer.broken && send(answer);
}

bool WallProgram::send(const VerbsSession::Answer& answer) {
  std::array<int, netio::MessageSocket::kMaxDescriptors> passed{};
  size_t count = 0;
  for (const netio::FileDescriptor& descriptor : answer.descriptors) {
    passed[count++] = descriptor.get();
  }
  // A library has one request under way, so there is room for its answer; who sends more without reading is cut off.
  return connection_.send(answer.message, std::span(passed).first(count));
}

}  // namespace mrclab::verbs
