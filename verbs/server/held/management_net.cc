#include "verbs/server/held/management_net.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "verbs/protocol/management_address.h"

namespace mrclab::verbs {

ManagementNet::ManagementNet(uint32_t hosts, Arrives arrives)
    : hosts_(hosts), arrives_(std::move(arrives)) {}

std::optional<uint64_t> ManagementNet::number_of(uint32_t host, SocketName name) const {
  const auto found = hosts_[host].numbers.find(name);
  if (found == hosts_[host].numbers.end()) return std::nullopt;
  return found->second;
}

ManagementNet::Socket* ManagementNet::at(uint32_t host, uint64_t number) {
  const auto found = hosts_[host].sockets.find(number);
  return found == hosts_[host].sockets.end() ? nullptr : &found->second;
}

/// Empty: the program has as many as it may.
std::optional<uint64_t> ManagementNet::add(uint32_t host, SocketName name) {
  Host& own = hosts_[host];
  const auto first = own.numbers.lower_bound({name.program, 0});
  const auto last = own.numbers.upper_bound({name.program, UINT32_MAX});
  if (static_cast<size_t>(std::distance(first, last)) >= kMaxSockets) return std::nullopt;
  const uint64_t number = own.next_socket++;
  own.numbers[name] = number;
  own.sockets[number].name = name;
  return number;
}

/// False: too much is under way to that host.
bool ManagementNet::post(uint32_t to, const Letter& letter, FabricTime now) {
  Host& host = hosts_[to];
  if (host.inbox.size() >= kMaxLetters) return false;
  const FabricTime arrival = now + kOneWay;
  host.inbox.emplace(Order{arrival, letter.from.host, hosts_[letter.from.host].next_letter++},
                     letter);
  arrives_(to, arrival);
  return true;
}

void ManagementNet::deliver(uint32_t host, FabricTime now) {
  std::map<Order, Letter>& inbox = hosts_[host].inbox;
  while (!inbox.empty() && inbox.begin()->first.at <= now) {
    const Letter letter = inbox.extract(inbox.begin()).mapped();
    take_letter(host, letter, now);
  }
}

void ManagementNet::take_letter(uint32_t host, const Letter& letter, FabricTime now) {
  using What = Letter::What;
  if (letter.what == What::kRequest) return take_request(host, letter, now);
  if (letter.what == What::kAnswer) return take_answer(host, letter, now);
  if (letter.what == What::kConfirmed) return take_confirmed(host, letter, now);
  Socket* const socket = at(host, letter.to);
  if (socket == nullptr) return;
  if (letter.what == What::kBytes) {
    socket->unread += letter.bytes;
  } else if (letter.what == What::kTaken) {
    socket->sent -= std::min(socket->sent, letter.bytes);
  } else {
    socket->came_to_end = true;
    socket->peer_gone |= letter.no;
    // One that is half made stays so: who asked for it has gone without an end.
    if (socket->listener) hosts_[host].sockets.erase(letter.to);
  }
}

void ManagementNet::take_request(uint32_t host, const Letter& letter, FabricTime now) {
  Host& own = hosts_[host];
  Letter answer{Letter::What::kAnswer, {host, 0}, letter.from.number, 0, 0, true};
  const auto port = static_cast<uint16_t>(letter.to);
  if (const auto listener = own.listeners.find(port); listener != own.listeners.end()) {
    const uint64_t number = own.next_socket++;
    Socket& socket = own.sockets[number];
    socket.state = Socket::State::kConnected;
    socket.peer = letter.from;
    socket.port = letter.port;
    socket.local_port = port;
    socket.listener = listener->second;
    answer.from.number = number;
    answer.no = false;
  }
  post(letter.from.host, answer, now);
}

void ManagementNet::take_answer(uint32_t host, const Letter& letter, FabricTime now) {
  Socket* const socket = at(host, letter.to);
  if (socket == nullptr) {  // it was closed meanwhile
    const Letter end{Letter::What::kEnd, {host, letter.to}, letter.from.number, 0, 0, true};
    if (!letter.no) post(letter.from.host, end, now);
    return;
  }
  socket->state = letter.no ? Socket::State::kRefused : Socket::State::kAnswered;
  socket->peer = letter.from;
}

void ManagementNet::take_confirmed(uint32_t host, const Letter& letter, FabricTime now) {
  Socket* const socket = at(host, letter.to);
  if (socket == nullptr || !socket->listener) return;
  Socket* const listener = at(host, *std::exchange(socket->listener, std::nullopt));
  if (listener == nullptr || listener->waiting.size() >= listener->backlog) {
    remove(host, letter.to, now);
    return;
  }
  listener->waiting.push_back(letter.to);
}

/// Closes it: the peer gets an end.
void ManagementNet::remove(uint32_t host, uint64_t number, FabricTime now) {
  Host& own = hosts_[host];
  const auto found = own.sockets.find(number);
  if (found == own.sockets.end()) return;
  const Socket socket = std::move(found->second);
  own.sockets.erase(found);
  if (socket.name) own.numbers.erase(*socket.name);
  using State = Socket::State;
  if (socket.state == State::kListening) own.listeners.erase(socket.local_port);
  for (const uint64_t waiting : socket.waiting) remove(host, waiting, now);
  if (socket.state == State::kConnected || socket.state == State::kAnswered) {
    post(socket.peer.host, {Letter::What::kEnd, {host, number}, socket.peer.number, 0, 0, true},
         now);
  }
}

void ManagementNet::close_all(uint32_t host, uint32_t program, FabricTime now) {
  std::map<SocketName, uint64_t>& numbers = hosts_[host].numbers;
  for (auto next = numbers.lower_bound({program, 0});
       next != numbers.end() && next->first.program == program;
       next = numbers.lower_bound({program, 0})) {
    remove(host, next->second, now);
  }
}

ManagementNet::Answer ManagementNet::handle(uint32_t host, uint32_t program,
                                            const SocketRequest& request, FabricTime now) {
  const SocketName name{program, request.socket};
  if (request.socket == 0) return {EBADF};
  if (request.what == SocketOp::kListen) return {listen(host, name, request)};
  if (request.what == SocketOp::kConnect) return {connect(host, name, request, now)};
  const std::optional<uint64_t> number = number_of(host, name);
  if (!number) return {request.what == SocketOp::kClose ? EBADF : ENOTCONN};
  Socket& socket = *at(host, *number);
  switch (request.what) {
    case SocketOp::kConnected: return {confirm(host, *number, now)};
    case SocketOp::kAccept: return accept(host, program, socket, request.bytes);
    case SocketOp::kSent: return send(host, *number, request.bytes, now);
    case SocketOp::kReceive: return receive(host, *number, request.bytes, now);
    case SocketOp::kShutdown:  // SHUT_RD is the program's own business
      return {request.bytes == 0 ? 0 : shut_down(host, *number, now)};
    case SocketOp::kClose: remove(host, *number, now); return {};
    default: return {EINVAL};
  }
}

int ManagementNet::listen(uint32_t host, SocketName name, const SocketRequest& request) {
  const uint64_t backlog = std::clamp<uint64_t>(request.bytes, 1, kMaxWaiting);
  if (const auto known = number_of(host, name)) {
    Socket& socket = *at(host, *known);
    if (socket.state != Socket::State::kListening || socket.local_port != request.port) {
      return EINVAL;
    }
    socket.backlog = backlog;
    return 0;
  }
  if (hosts_[host].listeners.contains(request.port)) return EADDRINUSE;
  const auto number = add(host, name);
  if (!number) return ENFILE;
  Socket& socket = *at(host, *number);
  socket.state = Socket::State::kListening;
  socket.local_port = request.port;
  socket.backlog = backlog;
  hosts_[host].listeners[request.port] = *number;
  return 0;
}

int ManagementNet::connect(uint32_t host, SocketName name, const SocketRequest& request,
                           FabricTime now) {
  const bool itself = request.address == 0 || request.address >> 24 == 127;
  const uint32_t to = itself ? host : managed_host(request.address);
  if (to >= hosts_.size()) return ENETUNREACH;
  if (const auto known = number_of(host, name)) {
    const Socket& socket = *at(host, *known);
    if (socket.state == Socket::State::kAsking) return EALREADY;
    if (socket.state != Socket::State::kRefused) return EISCONN;
    remove(host, *known, now);
  }
  const auto number = add(host, name);
  if (!number) return ENFILE;
  Socket& socket = *at(host, *number);
  socket.state = Socket::State::kAsking;
  socket.port = request.port;
  socket.local_port = request.local_port;
  const Letter letter{
      Letter::What::kRequest, {host, *number}, request.port, 0, request.local_port, false};
  return post(to, letter, now) ? 0 : ENOBUFS;
}

int ManagementNet::confirm(uint32_t host, uint64_t number, FabricTime now) {
  Socket& socket = *at(host, number);
  if (socket.state != Socket::State::kAnswered) return EINVAL;
  socket.state = Socket::State::kConnected;
  const Letter letter{Letter::What::kConfirmed, {host, number}, socket.peer.number, 0, 0, false};
  return post(socket.peer.host, letter, now) ? 0 : ENOBUFS;
}

ManagementNet::Answer ManagementNet::accept(uint32_t host, uint32_t program, Socket& listener,
                                            uint64_t as) {
  if (listener.state != Socket::State::kListening) return {EINVAL};
  if (listener.waiting.empty()) return {EAGAIN};
  if (as == 0) return {};
  const SocketName name{program, static_cast<uint32_t>(as)};
  if (as > UINT32_MAX || number_of(host, name)) return {EINVAL};
  const uint64_t number = listener.waiting.front();
  listener.waiting.pop_front();
  Socket& socket = *at(host, number);
  socket.name = name;
  hosts_[host].numbers[name] = number;
  Answer answer;
  answer.reply.address = management_address(socket.peer.host);
  answer.reply.port = socket.port;
  answer.reply.local_port = socket.local_port;
  return answer;
}

ManagementNet::Answer ManagementNet::send(uint32_t host, uint64_t number, uint64_t bytes,
                                          FabricTime now) {
  Socket& socket = *at(host, number);
  if (socket.state != Socket::State::kConnected) return {ENOTCONN};
  if (socket.shut_down || socket.peer_gone) return {EPIPE};
  const uint64_t room = kSocketWindow - socket.sent;
  socket.wants_room = room == 0;
  if (room == 0) return {EAGAIN};
  Answer answer;
  answer.reply.bytes = bytes == 0 ? room : std::min(bytes, room);
  if (bytes == 0) return answer;
  const Letter letter{
      Letter::What::kBytes, {host, number}, socket.peer.number, answer.reply.bytes, 0, false};
  if (!post(socket.peer.host, letter, now)) return {ENOBUFS};
  socket.sent += answer.reply.bytes;
  return answer;
}

ManagementNet::Answer ManagementNet::receive(uint32_t host, uint64_t number, uint64_t bytes,
                                             FabricTime now) {
  Socket& socket = *at(host, number);
  switch (socket.state) {
    case Socket::State::kAsking: return {EINPROGRESS};
    case Socket::State::kRefused: return {ECONNREFUSED};
    case Socket::State::kListening: return {ENOTCONN};
    case Socket::State::kAnswered:
    case Socket::State::kConnected: break;
  }
  Answer answer;
  answer.reply.bytes = bytes == 0 ? socket.unread : std::min(bytes, socket.unread);
  answer.reply.closed = socket.came_to_end && answer.reply.bytes == socket.unread ? 1 : 0;
  if (socket.unread == 0 && !socket.came_to_end) answer.status = EAGAIN;
  if (bytes == 0 || answer.reply.bytes == 0) return answer;
  socket.unread -= answer.reply.bytes;
  const Letter letter{
      Letter::What::kTaken, {host, number}, socket.peer.number, answer.reply.bytes, 0, false};
  if (!socket.peer_gone) post(socket.peer.host, letter, now);
  return answer;
}

int ManagementNet::shut_down(uint32_t host, uint64_t number, FabricTime now) {
  Socket& socket = *at(host, number);
  if (socket.state != Socket::State::kConnected) return ENOTCONN;
  if (std::exchange(socket.shut_down, true)) return 0;
  const Letter letter{Letter::What::kEnd, {host, number}, socket.peer.number, 0, 0, false};
  return post(socket.peer.host, letter, now) ? 0 : ENOBUFS;
}

bool ManagementNet::ready(uint32_t host, SocketName name) const {
  const auto number = number_of(host, name);
  if (!number) return true;  // whoever waits for it is to find that out
  const Socket& socket = hosts_[host].sockets.at(*number);
  switch (socket.state) {
    case Socket::State::kListening: return !socket.waiting.empty();
    case Socket::State::kAsking: return false;
    case Socket::State::kAnswered:
    case Socket::State::kRefused: return true;
    case Socket::State::kConnected: break;
  }
  const bool room = socket.wants_room && socket.sent < kSocketWindow;
  return socket.unread > 0 || socket.came_to_end || socket.peer_gone || room;
}

}  // namespace mrclab::verbs
