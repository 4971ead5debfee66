#include "netio/kernel/netlink.h"

#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace mrclab::netio {
namespace {

constexpr int kReceiveBuffer = 1 << 20;
constexpr size_t kCoalescedBytes = 32 << 10;  // half of what one sendmsg may surely carry
constexpr size_t kMaxDumpMessages = 1 << 20;

/// The kernel's own words about a refused request (NLMSGERR_ATTR_MSG), if any.
std::string extended_message(const nlmsghdr& header) {
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
  const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(&header));
  size_t skip = sizeof(nlmsgerr);
  if ((header.nlmsg_flags & NLM_F_CAPPED) == 0) skip += error->msg.nlmsg_len - NLMSG_HDRLEN;
  const size_t payload = header.nlmsg_len - NLMSG_HDRLEN;
  if (NLA_ALIGN(skip) >= payload) return {};
  const auto* attributes = reinterpret_cast<const nlattr*>(
      static_cast<const uint8_t*>(NLMSG_DATA(&header)) + NLA_ALIGN(skip));
  const nlattr* found =
      nla_find(attributes, static_cast<int>(payload - NLA_ALIGN(skip)), NLMSGERR_ATTR_MSG);
  if (found == nullptr) return {};
  const auto* text = static_cast<const char*>(nla_data(found));
  return std::string(text, ::strnlen(text, static_cast<size_t>(nla_len(found))));
}

}  // namespace

void NlMsgDeleter::operator()(nl_msg* message) const { nlmsg_free(message); }
void NetlinkSocket::SocketDeleter::operator()(nl_sock* socket) const { nl_socket_free(socket); }

NlMessage make_message(int type, int flags) {
  NlMessage message(nlmsg_alloc_simple(type, flags));
  if (!message) throw SystemError("allocate a netlink message", ENOMEM);
  return message;
}

NetlinkSocket::NetlinkSocket(const NetworkNamespace& ns)
    : socket_(nl_socket_alloc()),
      receive_buffer_(std::make_unique_for_overwrite<uint8_t[]>(kNetlinkReceiveBytes)) {
  if (!socket_) throw SystemError("allocate a netlink socket", ENOMEM);
  const int result = ns.run_in([this] { return nl_connect(socket_.get(), NETLINK_ROUTE); });
  if (result < 0) throw SystemError("open a netlink socket in " + ns.name(), errno);
  const int fd = nl_socket_get_fd(socket_.get());
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
  const int on = 1;  // both only make acknowledgements shorter or clearer
  ::setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  ::setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
}

NetlinkSocket::NetlinkSocket(NetlinkSocket&&) noexcept = default;
NetlinkSocket& NetlinkSocket::operator=(NetlinkSocket&&) noexcept = default;
NetlinkSocket::~NetlinkSocket() = default;

uint32_t NetlinkSocket::port() const { return nl_socket_get_local_port(socket_.get()); }

void NetlinkSocket::queue(NlMessage message, std::string attempted, int tolerated) {
  nlmsghdr* header = nlmsg_hdr(message.get());
  header->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
  header->nlmsg_pid = 0;
  send_soon({0, std::move(message), std::move(attempted), tolerated, 1});
}

void NetlinkSocket::send_soon(Pending request) {
  nlmsghdr* header = nlmsg_hdr(request.message.get());
  header->nlmsg_seq = request.sequence = next_sequence_++;
  const auto* bytes = reinterpret_cast<const uint8_t*>(header);
  outgoing_.insert(outgoing_.end(), bytes, bytes + header->nlmsg_len);
  outgoing_.resize(NLMSG_ALIGN(outgoing_.size()));
  in_flight_.push_back(std::move(request));
  if (outgoing_.size() >= kCoalescedBytes || in_flight_.size() >= kMaxInFlight) {
    send_outgoing();
    while (in_flight_.size() >= kMaxInFlight) receive_acknowledgements();
  }
}

void NetlinkSocket::send_outgoing() {
  if (outgoing_.empty()) return;
  const int fd = nl_socket_get_fd(socket_.get());
  ssize_t sent;
  do {
    sent = ::send(fd, outgoing_.data(), outgoing_.size(), 0);
  } while (sent < 0 && errno == EINTR);
  outgoing_.clear();
  if (sent < 0) {
    const SystemError error("send to the kernel: " + in_flight_.front().attempted, errno);
    in_flight_.clear();
    throw error;
  }
}

void NetlinkSocket::receive_acknowledgements() {
  const int fd = nl_socket_get_fd(socket_.get());
  ssize_t n;
  do {
    n = ::recv(fd, receive_buffer_.get(), kNetlinkReceiveBytes, 0);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    const SystemError error("receive from the kernel: " + in_flight_.front().attempted, errno);
    in_flight_.clear();
    throw error;
  }
  int left = static_cast<int>(n);
  for (auto* header = reinterpret_cast<nlmsghdr*>(receive_buffer_.get()); nlmsg_ok(header, left);
       header = nlmsg_next(header, &left))
    if (header->nlmsg_type == NLMSG_ERROR) acknowledge(*header);
}

void NetlinkSocket::acknowledge(const nlmsghdr& header) {
  const auto* result = static_cast<const nlmsgerr*>(NLMSG_DATA(&header));
  // The kernel answers in order; what stands before the answered one was answered without words.
  while (!in_flight_.empty() &&
         static_cast<int32_t>(in_flight_.front().sequence - header.nlmsg_seq) <= 0) {
    Pending pending = std::move(in_flight_.front());
    in_flight_.pop_front();
    if (pending.sequence != header.nlmsg_seq) continue;
    if (result->error == -ENOMEM && pending.tries < kMaxTries) {
      ++pending.tries;
      again_.push_back(std::move(pending));
    } else if (result->error != 0 && -result->error != pending.tolerated && !first_error_) {
      first_error_ = std::make_unique<SystemError>(pending.attempted, -result->error,
                                                   extended_message(header));
    }
  }
}

void NetlinkSocket::flush() {
  send_outgoing();
  while (!in_flight_.empty()) receive_acknowledgements();
  while (!again_.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (Pending& request : std::exchange(again_, {})) send_soon(std::move(request));
    send_outgoing();
    while (!in_flight_.empty()) receive_acknowledgements();
  }
  if (first_error_) {
    const SystemError error = *first_error_;
    first_error_.reset();
    throw error;
  }
}

void NetlinkSocket::dump(NlMessage request, std::string_view attempted,
                         const std::function<void(const nlmsghdr&)>& each) {
  flush();
  nlmsghdr* header = nlmsg_hdr(request.get());
  header->nlmsg_flags |= NLM_F_REQUEST;
  header->nlmsg_seq = next_sequence_++;
  header->nlmsg_pid = 0;
  const bool single = (header->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP;
  const int fd = nl_socket_get_fd(socket_.get());
  check_system_call(attempted, ::send(fd, header, header->nlmsg_len, 0));
  for (size_t count = 0; count < kMaxDumpMessages;) {
    const ssize_t n = ::recv(fd, receive_buffer_.get(), kNetlinkReceiveBytes, 0);
    if (n < 0 && errno == EINTR) continue;
    int left = static_cast<int>(check_system_call(attempted, n));
    for (auto* answer = reinterpret_cast<nlmsghdr*>(receive_buffer_.get()); nlmsg_ok(answer, left);
         answer = nlmsg_next(answer, &left), ++count) {
      if (answer->nlmsg_seq != header->nlmsg_seq) continue;
      if (answer->nlmsg_type == NLMSG_DONE) return;
      if (answer->nlmsg_type == NLMSG_ERROR) {
        const auto* result = static_cast<const nlmsgerr*>(NLMSG_DATA(answer));
        if (result->error != 0)
          throw SystemError(attempted, -result->error, extended_message(*answer));
        return;
      }
      each(*answer);
      if (single) return;
    }
  }
  throw SystemError(attempted, EMSGSIZE);
}

}  // namespace mrclab::netio
