#include "analysis/blame/blame.h"

#include <algorithm>

#include "analysis/blame/blame_hosts.h"
#include "analysis/blame/blame_samples.h"
#include "analysis/blame/blamer.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {

std::string_view name_of(Symptom symptom) {
  switch (symptom) {
    case Symptom::kLoses: return "loses";
    case Symptom::kNoLight: return "no light";
    case Symptom::kFlipsBits: return "flips bits";
    case Symptom::kMisroutes: return "misroutes";
    case Symptom::kDuplicates: return "duplicates";
    case Symptom::kMarks: return "marks";
    case Symptom::kBursts: return "bursts";
    case Symptom::kDrainsSlowly: return "drains slowly";
    case Symptom::kPausesWithoutEnd: return "pauses without end";
  }
  return "?";
}

std::string no_blame_because(const Coverage& coverage, uint64_t gaps) {
  for (const Witness witness : {Witness::kPackets, Witness::kEvents}) {
    if (!coverage.whole(witness)) return coverage.why(witness);
  }
  if (gaps == 0) return "";
  return "the kernel lost " + std::to_string(gaps) + (gaps == 1 ? " frame" : " frames") +
         " between nodes, which would look like losses of the fabric";
}

std::string losses_not_told(const Topology& topology, const PacketHistory& packets) {
  const uint64_t count = losses_without_place(topology, packets);
  if (count == 0) return "";
  std::string text =
      std::to_string(count) + (count == 1 ? " packet was" : " packets were") +
      " lost where switches choose the path of each packet: the cause cannot be found in ";
  text += packets.crossings().empty()
              ? "captures of hosts (captures: all shows which path packets took)"
              : "what switches forwarded, for some had no route, or copies of a packet look alike";
  return text;
}

std::vector<Blame> find_blame(const Topology& topology, const PacketHistory& packets,
                              const EventHistory& events) {
  std::vector<Blame> blames;
  const BlameSamples samples = blame_samples(topology, packets, events);
  const PortLight light(topology, packets, events);
  blame_by_samples(topology, events, light, samples.losses, {}, std::nullopt, blames);
  SearchOptions copies;
  copies.question = Question::kWhoCopies;
  blame_by_samples(topology, events, light, samples.copies, copies, Symptom::kDuplicates, blames);
  // What marks without a queue marks everything; a queue behind a packet marks some.
  SearchOptions marks;
  marks.question = Question::kWhoMarks;
  marks.chance = 0.02;
  marks.severities = {0.98};
  blame_by_samples(topology, events, light, samples.marks, marks, Symptom::kMarks, blames);
  blame_bursts(topology, packets, blames);
  blame_receivers(topology, packets, blames);
  blame_pausers(topology, packets, blames);
  std::stable_sort(blames.begin(), blames.end(),
                   [](const Blame& a, const Blame& b) { return a.from < b.from; });
  return blames;
}

}  // namespace mrclab::analysis
