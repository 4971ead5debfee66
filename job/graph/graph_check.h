#pragma once
// What makes a graph one that can be run.

#include "job/graph/op_graph.h"

namespace mrclab::job {

/// Throws InputError with the operations concerned, by their lines, where
///   - an operation depends on one that does not exist, or on itself over others (the circle is named);
///   - a rank, peer, root or group is none;
///   - a send has no receive of its rank, peer and tag, or a receive no send, or their sizes differ;
///   - the ranks of a group do not agree: on how many collectives, which or how large the n-th is.
void check_graph(const OpGraph& graph);

/// For every send the receive that it ends in, and for every receive its send; others have themselves. To be called for a
/// graph that check_graph() has passed: k-th send with k-th receive of the same (from, to, tag), then what receives of
/// any peer or tag take, in the order of the file.
std::vector<uint32_t> message_partners(const OpGraph& graph);

}  // namespace mrclab::job
