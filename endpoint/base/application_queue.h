#pragma once
// What applications see of a queue pair, whichever transport carries it.

#include <cstdint>
#include <string_view>

#include "endpoint/base/application.h"
#include "endpoint/base/receive_queue.h"
#include "endpoint/base/work_ledger.h"
#include "fabric/base/ids.h"

namespace mrclab::endpoint {

class ApplicationQueue {
 public:
  static constexpr uint32_t kNoApplication = 0xFFFF'FFFF;

  virtual ~ApplicationQueue() = default;
  virtual QpHandle handle() const = 0;
  /// False if the request is refused (Verbs::post_write).
  virtual bool post(const WriteRequest& request, FabricTime now) = 0;
  /// False if the queue pair has failed or its receive queue is full.
  virtual bool post_receive(const PostedReceive& receive) = 0;
  virtual Qpn number() const = 0;
  /// Ends it, for a reason that must outlive it. Everything outstanding is flushed.
  virtual void fail(std::string_view reason) = 0;

  uint32_t application = kNoApplication;  ///< index in the host
  /// The application wants to have a notice of the first request (ReadyToReceiveAttributes).
  bool awaits_request = false;
};

}  // namespace mrclab::endpoint
