#pragma once
// For nodes whose packets and events a test does not look at.

#include "fabric/node/node.h"

namespace mrclab::test {

class NoObserver : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

}  // namespace mrclab::test
