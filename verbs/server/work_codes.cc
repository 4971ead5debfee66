#include "verbs/server/work_codes.h"

namespace mrclab::verbs {
namespace {

/// ibv_wr_opcode.
enum WrOpcode : uint32_t {
  kWrite = 0,
  kWriteImmediate = 1,
  kSend = 2,
  kSendImmediate = 3,
  kRead = 4,
  kCompareSwap = 5,
  kFetchAdd = 6,
};

}  // namespace

std::optional<endpoint::WorkRequest::Opcode> device_opcode(uint32_t opcode) {
  using Opcode = endpoint::WorkRequest::Opcode;
  switch (opcode) {
    case kWrite:
    case kWriteImmediate: return Opcode::kWrite;
    case kSend:
    case kSendImmediate: return Opcode::kSend;
    case kRead: return Opcode::kRead;
    case kCompareSwap: return Opcode::kCompareSwap;
    case kFetchAdd: return Opcode::kFetchAdd;
    default: return std::nullopt;
  }
}

uint32_t completion_opcode(uint32_t opcode) {
  // ibv_wc_opcode: SEND 0, RDMA_WRITE 1, RDMA_READ 2, COMP_SWAP 3, FETCH_ADD 4.
  switch (opcode) {
    case kWrite:
    case kWriteImmediate: return 1;
    case kRead: return 2;
    case kCompareSwap: return 3;
    case kFetchAdd: return 4;
    default: return 0;
  }
}

bool has_immediate(uint32_t opcode) {
  return opcode == kWriteImmediate || opcode == kSendImmediate;
}

bool is_atomic(uint32_t opcode) { return opcode == kCompareSwap || opcode == kFetchAdd; }

bool takes_bytes(uint32_t opcode) { return opcode <= kSendImmediate; }

uint32_t status_code(endpoint::WorkStatus status) {
  switch (status) {
    case endpoint::WorkStatus::kSuccess: return 0;
    case endpoint::WorkStatus::kLocalLength: return 1;
    case endpoint::WorkStatus::kLocalQpOperation: return 2;
    case endpoint::WorkStatus::kLocalProtection: return 4;
    case endpoint::WorkStatus::kFlushError: return 5;
    case endpoint::WorkStatus::kLocalAccess: return 8;
    case endpoint::WorkStatus::kRemoteInvalidRequest: return 9;
    case endpoint::WorkStatus::kRemoteAccessError: return 10;
    case endpoint::WorkStatus::kRemoteOperationError: return 11;
    case endpoint::WorkStatus::kRetryExceeded: return 12;
    case endpoint::WorkStatus::kRnrRetryExceeded: return 13;
  }
  return 21;  // IBV_WC_GENERAL_ERR
}

}  // namespace mrclab::verbs
