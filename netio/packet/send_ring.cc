#include "netio/packet/send_ring.h"

#include <liburing.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "netio/packet/frame_message.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr unsigned kFramesAtOnce = 1024;

/// liburing returns what a system call would have set errno to, negative.
int check_uring(const char* attempt, int result) {
  if (result < 0) throw SystemError(attempt, -result);
  return result;
}

}  // namespace

class SendRing::Impl {
 public:
  Impl() {
    // Linux 6.0 has less to lock where one thread alone uses the ring.
    if (::io_uring_queue_init(kFramesAtOnce, &ring_, IORING_SETUP_SINGLE_ISSUER) < 0) {
      check_uring("set up io_uring", ::io_uring_queue_init(kFramesAtOnce, &ring_, 0));
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { ::io_uring_queue_exit(&ring_); }

  void queue_frame(int socket, uint32_t ifindex, const FramePieces& frame, uint64_t tag) {
    waiting_.push_back({socket, ifindex, frame, tag});
  }

  void send(const Refused& refused) {
    const std::span<const Waiting> all(waiting_);
    for (size_t first = 0; first < all.size(); first += kFramesAtOnce) {
      send_some(all.subspan(first, std::min<size_t>(kFramesAtOnce, all.size() - first)), refused);
    }
    waiting_.clear();
  }

 private:
  /// The kernel reads it when the frame is submitted.
  struct SentMessage {
    msghdr header;
    FrameMessage rest;
  };
  struct Waiting {
    int socket;
    uint32_t ifindex;
    FramePieces frame;
    uint64_t tag;
  };

  void send_some(std::span<const Waiting> frames, const Refused& refused) {
    // Each is prepared once, when so many are first sent at once: a daemon of one node never needs most of them.
    for (; prepared_ < frames.size(); ++prepared_) {
      messages_[prepared_].rest.prepare(messages_[prepared_].header);
    }
    for (size_t i = 0; i < frames.size(); ++i) {
      SentMessage& message = messages_[i];
      message.rest.set(message.header, frames[i].ifindex, frames[i].frame);
      io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);  // there are kFramesAtOnce, all free
      ::io_uring_prep_sendmsg(entry, frames[i].socket, &message.header, MSG_DONTWAIT);
      ::io_uring_sqe_set_data64(entry, i);
    }
    const auto count = static_cast<unsigned>(frames.size());
    for (unsigned submitted = 0; submitted < count;) {
      const int done = ::io_uring_submit(&ring_);
      if (done == -EINTR) continue;
      submitted += static_cast<unsigned>(check_uring("submit frames to io_uring", done));
    }
    // Since no frame may wait, each has been sent, or refused, as it was submitted.
    for (unsigned completed = 0; completed < count; ++completed) {
      io_uring_cqe* completion = nullptr;
      int error = -EINTR;
      while (error == -EINTR) error = ::io_uring_wait_cqe(&ring_, &completion);
      check_uring("learn from io_uring what was sent", error);
      const int result = completion->res;
      const uint64_t tag = frames[completion->user_data].tag;
      ::io_uring_cqe_seen(&ring_, completion);
      if (result < 0) refused(tag, -result);
    }
  }

  io_uring ring_{};
  std::unique_ptr<SentMessage[]> messages_ =
      std::make_unique_for_overwrite<SentMessage[]>(kFramesAtOnce);
  size_t prepared_ = 0;
  std::vector<Waiting> waiting_;
};

SendRing::SendRing() : impl_(std::make_unique<Impl>()) {}
SendRing::SendRing(SendRing&&) noexcept = default;
SendRing::~SendRing() = default;

void SendRing::queue_frame(int socket, uint32_t ifindex, const FramePieces& frame, uint64_t tag) {
  impl_->queue_frame(socket, ifindex, frame, tag);
}

void SendRing::send(const Refused& refused) { impl_->send(refused); }

}  // namespace mrclab::netio
