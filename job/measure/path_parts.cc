#include "job/measure/path_parts.h"

#include <fmt/format.h>

#include <map>

namespace mrclab::job {

std::string text_of(const PathPart& part) {
  switch (part.kind) {
    case PathPart::Kind::kCompute: return "compute";
    case PathPart::Kind::kExchange: return "exchange " + part.group;
    case PathPart::Kind::kWaitFor: return fmt::format("wait for rank {}", part.rank);
    case PathPart::Kind::kIdle: break;
  }
  return "idle";
}

std::vector<PathPart> path_parts(const PlannedJob& plan, const JobProgram& program,
                                 const OpTimes& times, uint32_t last, FabricTime from) {
  const uint32_t own = program.graph().op(last).rank;
  std::map<PathPart, FabricTime> sums;  // by the part without its time
  for (const PathPiece& piece : critical_path(program.messages(), times, last, from)) {
    PathPart part;
    const Op& op = program.graph().op(piece.op);
    switch (piece.kind) {
      case PathPiece::Kind::kMessage:
        part.kind = PathPart::Kind::kExchange;
        part.group = message_group(plan, program, piece.op);
        break;
      case PathPiece::Kind::kCompute:
        if (is_within_node(op)) {
          part.kind = PathPart::Kind::kExchange;
          part.group = message_group(plan, program, piece.op);
          break;
        }
        part.kind = !computes(op)    ? PathPart::Kind::kIdle
                    : op.rank == own ? PathPart::Kind::kCompute
                                     : PathPart::Kind::kWaitFor;
        if (part.kind != PathPart::Kind::kIdle) part.rank = op.rank;
        break;
      case PathPiece::Kind::kWait: part.kind = PathPart::Kind::kIdle; break;
    }
    sums[part] += piece.end - piece.begin;
  }
  std::vector<PathPart> parts;
  for (const auto& [part, time] : sums) {
    parts.push_back(part);
    parts.back().time = time;
  }
  return parts;
}

}  // namespace mrclab::job
