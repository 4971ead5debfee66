#pragma once
// The two rings that a program and its host's daemon share: work requests, in a ring of bytes, and the completions of
// one completion queue, in a ring of entries. Each has one writer and one reader. Whoever reads believes nothing: a
// position or length that cannot be right ends the connection (server) or fails the call (library).

#include <atomic>
#include <cstdint>

namespace mrclab::verbs {

inline constexpr uint32_t kWorkRingBytes = 1u << 20;  ///< of records, behind the head
inline constexpr uint32_t kMaxSges = 30;
inline constexpr uint32_t kMaxInline = 512;

enum class WorkKind : uint16_t { kSend, kReceive, kSharedReceive };

struct WorkSge {
  uint64_t address;
  uint32_t length, lkey;
};

/// A record: this, then its scatter list, or `inline_bytes` of data; padded to 8 bytes. A record never wraps: where it
/// does not fit before the end, the writer fills up with one whose `kind` is kWorkPadding.
inline constexpr uint16_t kWorkPadding = 0xFFFF;
struct WorkRecord {
  uint32_t bytes;  ///< of the whole record, a multiple of 8
  uint16_t kind;   ///< WorkKind
  uint16_t sges;
  uint64_t at_ps;  ///< kHeld: the program's fabric time when it posted
  uint64_t wr_id;
  uint32_t handle;  ///< of its queue pair, or shared receive queue
  uint16_t opcode;  ///< ibv_wr_opcode
  uint16_t inline_bytes;
  uint32_t flags;      ///< ibv_send_flags
  uint32_t immediate;  ///< in network order, as the program gave it
  uint64_t remote_address;
  uint64_t compare_add, swap;
  uint32_t rkey;
  uint32_t reserved;
};
static_assert(sizeof(WorkRecord) == 72);

/// Positions count bytes since the beginning; modulo kWorkRingBytes they are offsets.
struct alignas(64) WorkRing {
  alignas(64) std::atomic<uint64_t> written;  ///< by the program
  alignas(64) std::atomic<uint64_t> taken;    ///< by the server
  /// Set by a program that sleeps until there is a completion (a futex); the server clears and wakes it.
  alignas(64) std::atomic<uint32_t> sleeping;
  alignas(64) uint8_t records[kWorkRingBytes];
};

struct CompletionEntry {
  uint64_t wr_id;
  uint32_t status;  ///< ibv_wc_status
  uint32_t opcode;  ///< ibv_wc_opcode
  uint32_t vendor_error, bytes;
  uint32_t immediate;  ///< in network order, as the program will see it
  uint32_t qpn, source_qpn;
  uint32_t flags;  ///< ibv_wc_flags
  uint64_t at_ps;  ///< fabric time of the completion
  uint64_t reserved[2];
};
static_assert(sizeof(CompletionEntry) == 64);

/// `depth`, a power of two not below what was asked for, stands in the reply; the mapping has that many entries.
struct alignas(64) CompletionRing {
  alignas(64) std::atomic<uint64_t> written;  ///< entries, by the server
  alignas(64) std::atomic<uint64_t> taken;    ///< entries, by the program
  alignas(64) CompletionEntry entries[1];     ///< in truth `depth`
};

}  // namespace mrclab::verbs
