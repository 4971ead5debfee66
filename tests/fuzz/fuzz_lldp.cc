// Any bytes as an LLDP frame: parsed, named, and taken by an agent.

#include <algorithm>
#include <string>

#include "fabric/neighbours/neighbour_agent.h"
#include "fabric/text/visible_text.h"
#include "tests/fuzz/must.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology topology = [] {
    Topology made = test::octet();
    made.orchestrator.on = true;
    return made;
  }();
  std::vector<uint8_t> frame{1, 0x80, 0xC2, 0, 0, 0xE, 2, 0, 0, 0, 0, 1, 0x88, 0xCC};
  frame.insert(frame.end(), data, data + size);
  LldpFrame read;
  const LldpError error = parse_lldp(frame, read);
  parse_lldp({data, size}, read);
  NeighbourAgent agent(topology, topology.t0(0, 0));
  agent.start(FabricTime::zero());
  agent.run(FabricTime::zero());
  MUST(agent.receive(PortId{4}, frame, FabricTime::from_ns(1)) == error);
  MUST(agent.malformed() == (error == LldpError::kNone ? 0 : 1));
  const std::vector<NeighbourNews> news = agent.take_news();
  MUST(news.size() <= 1);
  if (!news.empty()) {
    MUST(error == LldpError::kNone);
    MUST(news[0].who == visible(news[0].who));
    MUST(agent.who(PortId{4}) == news[0].who);
  }
  agent.run(FabricTime::from_ms(1000));
  return 0;
}
