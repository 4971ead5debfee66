#pragma once
// Collectives as the messages that ranks exchange for them, so that whoever runs a job needs to know computing, sends and
// receives alone.
//
//   all_reduce      ring: n - 1 reducing steps, then n - 1 gathering ones, a chunk of 1/n to the right neighbour each
//                   tree: each half of the vector up one of two binary trees and down again, in kTreeParts parts that
//                   follow each other (Sanders, Speck and Traeff, 2009: who is within one tree is a leaf of the other)
//   reduce_scatter  the reducing steps; all_gather the gathering ones
//   all_to_all      n - 1 messages at once, of 1/n or of the receivers' shares
//   broadcast       a chain from the root through the group in order, in kBroadcastParts parts that follow each other
//   barrier         dissemination: in round k a word to the rank 2^k further (Hensgen, Finkel and Manber, 1988)
//
// Where an operation waits for one of another rank, a word of kWordBytes goes from there.
//
// In each rank the collective begins and ends with an operation that takes no time, so that what waited for it, or it for
// others, keeps one dependency.

#include <cstdint>
#include <vector>

#include "job/graph/op_graph.h"

namespace mrclab::job {

inline constexpr size_t kMaxMessageOps = 16'000'000;
/// A chunk of a vector may be larger than what a file may send as one message: a job runs scaled down.
inline constexpr uint64_t kMaxMessagePart = uint64_t{1} << 53;
inline constexpr uint32_t kBroadcastParts = 8;
inline constexpr uint32_t kTreeParts = 4;  ///< of a half; our choice, NCCL's depend on its buffers
inline constexpr uint64_t kWordBytes = 8;
/// Tags of a collective's messages lie above those of files.
inline constexpr uint32_t kFirstCollectiveTag = 0x8000'0000;
inline constexpr uint32_t kFirstNoticeTag = 0xC000'0000;

struct MessageGraph {
  OpGraph graph;
  std::vector<uint32_t> origin;  ///< by operation: the one of the job that it is a part of
};

/// `job` has passed check_graph(). A vector that n does not divide goes in chunks rounded up to 4 bytes, as an element
/// cannot be split; its last chunks are then shorter, or empty and not sent. Throws InputError where a bound is passed.
MessageGraph message_graph(const OpGraph& job);

}  // namespace mrclab::job
