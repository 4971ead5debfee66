#pragma once
// A Unix socket of whole messages (SOCK_SEQPACKET), which carry descriptors (SCM_RIGHTS), and its listener. One message
// is one send; a longer one than the reader's room is an error, never half a message.
//
// Bounds: a message has at most kMaxDescriptors; what comes with more is closed by the kernel or here.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class MessageSocket {
 public:
  static constexpr size_t kMaxDescriptors = 4;

  enum class Outcome {
    kMessage,  ///< `size` bytes, which may be 0
    kNothing,  ///< not now, or not within the time
    kClosed,   ///< the other end is gone
    kBroken,   ///< the message was longer than the room, or its descriptors were too many
  };
  struct Received {
    Outcome outcome = Outcome::kNothing;
    size_t size = 0;
    std::vector<FileDescriptor> descriptors;
  };
  struct Peer {
    int process = 0;
    unsigned user = 0;
  };

  /// A pair for tests and for a program's own child.
  static std::pair<MessageSocket, MessageSocket> pair();
  /// Throws SystemError.
  static MessageSocket connect(const std::filesystem::path& path);
  /// None: nothing is sent, and nothing comes.
  MessageSocket() = default;
  explicit MessageSocket(FileDescriptor connected) : fd_(std::move(connected)) {}

  /// Waits at most `wait_ms` (0: not at all, below 0: for ever) for a message, and takes it.
  Received receive(std::span<uint8_t> room, int wait_ms);
  /// False if the other end is gone or, `wait` being false, has no room for it.
  bool send(std::span<const uint8_t> message, std::span<const int> descriptors = {},
            bool wait = false);
  /// Who connected, as the kernel knows it; of a pair: this process.
  Peer peer() const;
  int fd() const { return fd_.get(); }
  FileDescriptor take_fd() { return std::move(fd_); }

 private:
  FileDescriptor fd_;
};

/// Listens at a path (mode 0600), which it removes when it dies. What a dead listener left there is replaced.
class MessageListener {
 public:
  /// Throws SystemError: EADDRINUSE where somebody listens, ENAMETOOLONG, ENOTDIR, ...
  explicit MessageListener(const std::filesystem::path& path);
  MessageListener(MessageListener&& other) noexcept = default;
  MessageListener& operator=(MessageListener&&) = delete;
  ~MessageListener();

  /// The next one that waits; empty: nobody. Never blocks.
  std::optional<MessageSocket> accept();
  int fd() const { return fd_.get(); }

 private:
  std::filesystem::path path_;
  FileDescriptor fd_;
};

/// Which of many descriptors have something to read. One system call for all, and none where there are none.
class ReadySet {
 public:
  ReadySet();
  /// `tag` is returned while there is something to read. Take a descriptor out before it is closed.
  void add(int fd, uint64_t tag);
  void remove(int fd);
  /// At most kMost at once, in no particular order; never blocks.
  std::span<const uint64_t> ready();
  size_t size() const { return size_; }

 private:
  static constexpr size_t kMost = 64;
  FileDescriptor epoll_;
  size_t size_ = 0;
  std::vector<uint64_t> tags_;
};

}  // namespace mrclab::netio
