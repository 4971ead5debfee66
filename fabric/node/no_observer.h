#pragma once
// For nodes whose packets and events nobody looks at.

#include "fabric/node/node.h"

namespace mrclab {

class NoObserver : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

}  // namespace mrclab
