#pragma once
// A session of one student of a class: a process of its own, so that the kernel shares the processors between students
// and what one of them does ends no other's session. The server's process hands it what the student's browsers do and
// sends them what it answers. A process is forked before the server has threads, and begins its session when the
// first browser joins.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "netio/system/file_descriptor.h"
#include "session/page_connections.h"
#include "session/session_order.h"

namespace mrclab::lab {

/// What a seat sends.
struct SeatMessage {
  enum class What : uint8_t { kText, kBinary, kNote };
  What what = What::kText;
  ClientId client = 0;  ///< of kText and kBinary
  std::string bytes;    ///< kNote: {"note": note_json(), "yaml"}
};

class ClassSeat {
 public:
  /// Makes the session, in the process of the seat.
  using Begin = std::function<PlayedSession()>;

  /// That many processes, each with at most so many bytes of memory. The caller has one thread. Throws SystemError.
  static std::vector<ClassSeat> start(size_t count, size_t bytes, const Begin& begin);
  ClassSeat(ClassSeat&& other) noexcept;
  ClassSeat& operator=(ClassSeat&&) = delete;
  /// Ends its process.
  ~ClassSeat();

  /// Hands it what a browser did; of the first the text is a Student's JSON. Does not wait: false if the seat has too
  /// much to do already, or has ended.
  bool hand(const PageInput& input) const;
  /// The next thing that it sends; waits for it. Empty: it has ended. One thread calls this.
  std::optional<SeatMessage> receive() const;
  /// receive() of another thread returns nothing any more.
  void hang_up() const;
  pid_t pid() const { return pid_; }

 private:
  ClassSeat() = default;

  pid_t pid_ = -1;
  netio::FileDescriptor inputs_;   // a packet for each input
  netio::FileDescriptor outputs_;  // a stream of messages
};

}  // namespace mrclab::lab
