// Names of what the verbs return.

#include "endpoint/device/verbs_types.h"

namespace mrclab::endpoint {

std::string_view name_of(WorkStatus status) {
  switch (status) {
    case WorkStatus::kSuccess: return "success";
    case WorkStatus::kRemoteInvalidRequest: return "remote invalid request error";
    case WorkStatus::kRetryExceeded: return "retry counter exceeded";
    case WorkStatus::kRnrRetryExceeded: return "RNR retry counter exceeded";
    case WorkStatus::kRemoteAccessError: return "remote access error";
    case WorkStatus::kRemoteOperationError: return "remote operation error";
    case WorkStatus::kFlushError: return "flushed";
    case WorkStatus::kLocalLength: return "local length error";
    case WorkStatus::kLocalQpOperation: return "local QP operation error";
    case WorkStatus::kLocalProtection: return "local protection error";
    case WorkStatus::kLocalAccess: return "local access error";
  }
  return "unknown";
}

std::string_view name_of(QpState state) {
  switch (state) {
    case QpState::kReset: return "RESET";
    case QpState::kInit: return "INIT";
    case QpState::kReadyToReceive: return "RTR";
    case QpState::kReadyToSend: return "RTS";
    case QpState::kError: return "ERROR";
  }
  return "unknown";
}

std::string_view name_of(AsyncEvent::Kind kind) {
  switch (kind) {
    case AsyncEvent::Kind::kQpFatal: return "qp fatal";
    case AsyncEvent::Kind::kQpRequestError: return "qp request error";
    case AsyncEvent::Kind::kQpAccessError: return "qp access error";
    case AsyncEvent::Kind::kCommEstablished: return "communication established";
    case AsyncEvent::Kind::kCqError: return "cq error";
    case AsyncEvent::Kind::kSrqLimit: return "srq limit";
    case AsyncEvent::Kind::kLastWqe: return "last wqe reached";
    case AsyncEvent::Kind::kPortActive: return "port active";
    case AsyncEvent::Kind::kPortError: return "port error";
    case AsyncEvent::Kind::kGidChange: return "gid change";
    case AsyncEvent::Kind::kEvGood: return "ev good";
    case AsyncEvent::Kind::kEvAssumedBad: return "ev assumed bad";
    case AsyncEvent::Kind::kEvDenied: return "ev denied";
  }
  return "unknown";
}

}  // namespace mrclab::endpoint
