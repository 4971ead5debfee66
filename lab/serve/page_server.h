#pragma once
// HTTP and WebSocket for the page, on Boost.Beast. Serves the embedded files and takes JSON texts of those
// that have the token. One thread of its own runs it; send() and close() may be called from another.
//
// Everything from outside is bounded (page_limits.h): kMaxClients WebSockets (a class has more), kMaxStrangers other connections,
// kMaxRequestBytes of a request, kMaxTextBytes of a message, kMaxWaiting messages that nobody has taken yet (more end
// the connection), kMaxOutgoingBytes that a slow browser has not read (likewise), and kHandshakeTime to ask for
// something. A stranger is a connection that has not shown the token. One more of them takes the place of one that asks
// for nothing, the oldest first: so none of them, nor all together, keep a page from loading, or end a WebSocket.
//
// A request must name the host that it was sent to (lab/serve/page_host.h); a WebSocket must come from a page of
// this server (`Origin`) and send the token. The page may load nothing from elsewhere, run no inline script
// and stand in no frame (Content-Security-Policy).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/serve/serve_options.h"
#include "session/page_connections.h"

namespace mrclab::lab {

struct PageThread;

class PageServer : public PageConnections {
 public:
  /// Listens. Throws InputError for an address or port that cannot be had.
  explicit PageServer(const ServeOptions& options);
  ~PageServer() override;

  uint16_t port() const;
  /// What people open: "http://127.0.0.1:40123/?token=...". Of a server on all addresses the first is for this machine,
  /// the second for others.
  std::vector<std::string> links() const;

  bool next(PageInput& input, std::chrono::milliseconds at_most) override;
  size_t waiting_bytes(ClientId client) const override;
  /// Waits until all but so many bytes have been sent to this browser, it has left, or end_waits(over).
  void wait_until_sent(ClientId client, size_t but, const std::atomic<bool>& over) const;
  void end_waits(std::atomic<bool>& over);
  void send_text(ClientId client, std::string text) override;
  void send_binary(ClientId client, std::string bytes) override;
  /// Closes the connection when this browser has been sent all that waits for it.
  void finish(ClientId client);

 private:
  std::unique_ptr<PageThread> thread_;
};

/// 128 random bits of the kernel, in hex.
std::string random_token();

}  // namespace mrclab::lab
