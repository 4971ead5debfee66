#pragma once
// Of a node nothing is kept but the digest of its history, and what another observer keeps.

#include "fabric/history/history.h"
#include "fabric/node/node.h"

namespace mrclab {

class DigestObserver : public NodeObserver {
 public:
  /// `topology` and `next` outlive it. As HistoryDigest, it takes nothing from `end` on.
  DigestObserver(const Topology& topology, NodeId node, FabricTime end, NodeObserver& next)
      : history_(topology, node, end), next_(next) {}
  void packet(const PacketRecord& record) override {
    history_.packet(record);  // which leaves the hash of the content with the frame, for `next`
    next_.packet(record);
  }
  void event(const EventRecord& record) override { next_.event(record); }
  void window(const WindowRecord& record) override { next_.window(record); }
  void fetch() const override {
    history_.fetch();
    next_.fetch();
  }
  const HistoryDigest& history() const { return history_; }

 private:
  HistoryDigest history_;
  NodeObserver& next_;
};

}  // namespace mrclab
