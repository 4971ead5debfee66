// Any bytes as a frame to a mapper's port: what is read is what is written again.

#include <algorithm>

#include "fabric/probes/mapper_message.h"
#include "fabric/topology/ev_path.h"
#include "tests/fuzz/must.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology topology = test::octet();
  const auto seen = parse_message({data, size});
  if (!seen || !seen->message) return 0;
  if (const auto* list = std::get_if<DeniedList>(&*seen->message)) {
    MUST(list->parts.size() <= DeniedList::kMostParts);
    for (const DeniedPart& part : list->parts) {
      if (has_part(topology, part)) MUST(!name_of(topology, part).empty());
    }
  }
  MessageFrameSpec spec;
  spec.source = seen->source;
  spec.destination = seen->destination;
  spec.session = seen->session;
  std::vector<uint8_t> frame(message_bytes(*seen->message));
  write_message(spec, *seen->message, frame);
  const auto again = parse_message(frame);
  MUST(again && again->message && *again->message == *seen->message);
  MUST(again->session == seen->session);
  return 0;
}
