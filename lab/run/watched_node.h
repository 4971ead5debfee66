#pragma once
// A node of the simulator with two observers: the keeper of its history and its files, which are
// bounded, and the judge, which sees everything.

#include "fabric/node/node.h"

namespace mrclab::lab {

class WatchedNode : public NodeObserver {
 public:
  /// Both outlive it.
  WatchedNode(NodeObserver& keeper, NodeObserver& judge) : keeper_(keeper), judge_(judge) {}
  void packet(const PacketRecord& record) override {
    keeper_.packet(record);
    judge_.packet(record);
  }
  void event(const EventRecord& record) override {
    keeper_.event(record);
    judge_.event(record);
  }
  void window(const WindowRecord& record) override {
    keeper_.window(record);
    judge_.window(record);
  }
  void fetch() const override {
    keeper_.fetch();
    judge_.fetch();
  }

 private:
  NodeObserver& keeper_;
  NodeObserver& judge_;
};

}  // namespace mrclab::lab
