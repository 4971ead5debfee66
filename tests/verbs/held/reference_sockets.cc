// Waiting and the management network of the reference server.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "tests/verbs/held/reference_server.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::test {

using namespace verbs;

bool ReferenceServer::is_ready(const Program& program, uint32_t number) const {
  const auto found = program.sockets.find(number);
  if (found == program.sockets.end()) return false;
  const Connection& socket = connections_.at(found->second);
  switch (socket.state) {
    case Socket::kConnecting: return false;
    case Socket::kRefused:
    case Socket::kAnswered: return true;
    case Socket::kListening: return !socket.waiting.empty();
    case Socket::kOpen: return socket.arrived > 0 || socket.ended;
  }
  return false;
}

void ReferenceServer::begin_wait(size_t index, uint64_t until_ps) {
  Program& program = programs_[index];
  WaitReply ready{};
  for (uint32_t i = 0; i < program.handles.size(); ++i)
    if (is_ready(program, program.handles[i])) ready.ready[ready.count++] = i;
  const bool is_wait = program.op == Op::kWait;
  // What changed while the program used up time by itself it has not seen.
  if (ready.count > 0 || (program.wants_memory && program.changed) || until_ps <= now_ps_)
    return is_wait ? reply(index, 0, &ready, sizeof ready) : reply(index, 0);
  program.waits = true;
  const uint64_t number = ++program.wait_number;
  if (until_ps == UINT64_MAX) return;
  at(until_ps, 2000, [=, this] {
    Program& late = programs_[index];
    const WaitReply none{};
    if (late.waits && late.wait_number == number)
      is_wait ? reply(index, 0, &none, sizeof none) : reply(index, 0);
  });
}

void ReferenceServer::wake_owner(uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Program& program = programs_[found->second.owner];
  if (!program.waits || program.op != Op::kWait) return;
  WaitReply ready{};
  for (uint32_t i = 0; i < program.handles.size(); ++i) {
    const auto socket = program.sockets.find(program.handles[i]);
    if (socket != program.sockets.end() && socket->second == id) ready.ready[ready.count++] = i;
  }
  if (ready.count > 0) reply(found->second.owner, 0, &ready, sizeof ready);
}

ReferenceServer::Connection* ReferenceServer::find(Program& program, uint32_t number) {
  const auto found = program.sockets.find(number);
  return found == program.sockets.end() ? nullptr : &connections_.at(found->second);
}

void ReferenceServer::end_connection(uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const uint64_t peer = found->second.peer;
  for (const uint64_t waiting : std::deque<uint64_t>(found->second.waiting))
    end_connection(waiting);
  if (peer == 0) return;
  at(now_ps_ + kManagementDelayPs, found->second.owner, [=, this] {
    const auto other = connections_.find(peer);
    if (other == connections_.end()) return;
    other->second.ended = true;
    wake_owner(peer);
  });
}

void ReferenceServer::handle_socket(size_t index, const SocketRequest& request) {
  Program& program = programs_[index];
  SocketReply answer{};
  const auto done = [&](int status) { reply(index, status, &answer, sizeof answer); };
  const auto later = [&](auto what) { at(now_ps_ + kManagementDelayPs, index, what); };
  Connection* const socket = find(program, request.socket);
  if (request.what == SocketOp::kListen || request.what == SocketOp::kConnect) {
    const uint64_t id = socket != nullptr ? program.sockets[request.socket] : next_id_++;
    Connection& made = connections_[id] = Connection{};
    program.sockets[request.socket] = id;
    made.owner = index;
    made.address = management_address(program.host);
    if (request.what == SocketOp::kListen) {
      made.state = Socket::kListening;
      made.port = request.port;
      return done(0);
    }
    made.state = Socket::kConnecting;
    made.port = request.local_port;
    made.peer_address = request.address;
    made.peer_port = request.port;
    later([=, this] {
      const bool listens =
          std::any_of(connections_.begin(), connections_.end(), [&](const auto& one) {
            return one.second.state == Socket::kListening &&
                   one.second.address == request.address && one.second.port == request.port;
          });
      at(now_ps_ + kManagementDelayPs, index, [=, this] {
        const auto found = connections_.find(id);
        if (found == connections_.end()) return;
        found->second.state = listens ? Socket::kAnswered : Socket::kRefused;
        wake_owner(id);
      });
    });
    return done(0);
  }
  if (socket == nullptr) return done(EBADF);
  const uint64_t id = program.sockets[request.socket];
  switch (request.what) {
    case SocketOp::kConnected:
      socket->state = Socket::kOpen;
      later([=, this] {
        Connection& from = connections_.at(id);
        for (auto& [listener, one] : connections_) {
          if (one.state != Socket::kListening || one.address != from.peer_address ||
              one.port != from.peer_port)
            continue;
          const uint64_t made = next_id_++;
          from.peer = made;
          one.waiting.push_back(made);
          Connection& accepted = connections_[made];
          accepted.state = Socket::kOpen;
          accepted.owner = one.owner;
          accepted.peer = id;
          accepted.address = from.peer_address;
          accepted.port = from.peer_port;
          accepted.peer_address = from.address;
          accepted.peer_port = from.port;
          return wake_owner(listener);
        }
        from.ended = true;
        wake_owner(id);
      });
      return done(0);
    case SocketOp::kAccept: {
      if (socket->waiting.empty()) return done(EAGAIN);
      if (request.bytes == 0) return done(0);
      const uint64_t accepted = socket->waiting.front();
      socket->waiting.pop_front();
      program.sockets[static_cast<uint32_t>(request.bytes)] = accepted;
      answer.address = connections_.at(accepted).peer_address;
      answer.port = connections_.at(accepted).peer_port;
      answer.local_port = connections_.at(accepted).port;
      return done(0);
    }
    case SocketOp::kSent: {
      if (socket->ended) return done(EPIPE);
      const uint64_t room = kSocketWindow - socket->unread;
      if (room == 0) return done(EAGAIN);
      if (request.bytes == 0) return done(0);
      answer.bytes = std::min(room, request.bytes);
      socket->unread += answer.bytes;
      const uint64_t bytes = answer.bytes;
      later([=, this] {
        const uint64_t peer = connections_.at(id).peer;
        if (const auto found = connections_.find(peer); found != connections_.end()) {
          found->second.arrived += bytes;
          wake_owner(peer);
        }
      });
      return done(0);
    }
    case SocketOp::kReceive: {
      if (socket->state == Socket::kConnecting) return done(EINPROGRESS);
      if (socket->state == Socket::kRefused) return done(ECONNREFUSED);
      if (socket->arrived == 0 && !socket->ended) return done(EAGAIN);
      answer.closed = socket->ended && request.bytes >= socket->arrived ? 1 : 0;
      answer.bytes =
          request.bytes == 0 ? socket->arrived : std::min(socket->arrived, request.bytes);
      if (request.bytes > 0) {
        socket->arrived -= answer.bytes;
        const uint64_t bytes = answer.bytes, peer = socket->peer;
        later([=, this] {
          if (const auto found = connections_.find(peer); found != connections_.end()) {
            found->second.unread -= bytes;
            wake_owner(peer);
          }
        });
      }
      return done(0);
    }
    case SocketOp::kShutdown:
      if (request.bytes != SHUT_RD) end_connection(id);
      return done(0);
    case SocketOp::kClose:
      end_connection(id);
      if (socket->state == Socket::kListening) socket->state = Socket::kRefused;
      program.sockets.erase(request.socket);
      return done(0);
    default: return done(EINVAL);
  }
}

}  // namespace mrclab::test
