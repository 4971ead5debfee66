#pragma once
// The connection to pages: messages from browsers and to them. The server has one for all that connect
// to it; an exported page one for itself.

#include <chrono>
#include <cstdint>
#include <string>

namespace mrclab::lab {

using ClientId = uint64_t;

/// Who joins the server of a class.
struct PageVisitor {
  std::string name;      ///< of the student; hostile until looked at
  std::string key;       ///< a secret of the student's browser, by which it comes back
  bool teacher = false;  ///< has the teacher's token
};

/// What a browser did.
struct PageInput {
  enum class What : uint8_t { kJoined, kText, kLeft };
  ClientId client = 0;
  What what = What::kText;
  std::string text = {};
  PageVisitor visitor = {};  ///< of kJoined
};

class PageConnections {
 public:
  virtual ~PageConnections() = default;
  PageConnections() = default;
  PageConnections(const PageConnections&) = delete;
  PageConnections& operator=(const PageConnections&) = delete;

  /// The next thing that a browser did; waits for at most so long, and returns false then.
  virtual bool next(PageInput& input, std::chrono::milliseconds at_most) = 0;
  /// Bytes that this browser has not been sent yet; to be asked before much is sent.
  virtual size_t waiting_bytes(ClientId client) const = 0;
  virtual void send_text(ClientId client, std::string text) = 0;
  virtual void send_binary(ClientId client, std::string bytes) = 0;
};

}  // namespace mrclab::lab
