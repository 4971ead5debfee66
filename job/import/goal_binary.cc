#include <fmt/format.h>

#include <cstring>

#include "fabric/text/input_error.h"
#include "job/import/goal_file.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kMagic = 4223;
constexpr uint32_t kAny = 0xFFFF'FFFF;
constexpr size_t kHeadBytes = 8;   // positions of ranks count from here
constexpr size_t kNodeBytes = 39;  // without padding: see Node

/// Reads little-endian numbers and refuses to read behind the end.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  template <class Number>
  Number take() {
    if (at_ > bytes_.size() || bytes_.size() - at_ < sizeof(Number)) fail("the file ends here");
    Number value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);  // both ends are little-endian
    at_ += sizeof value;
    return value;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: byte {}: {}", name_, at_, what));
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

/// A node of a rank, unaligned: who depends on it stands in the rank's appendix.
struct Node {
  uint32_t waits = 0;  ///< for how many
  uint8_t type = 0;    ///< 1 send, 2 recv, 3 calc
  uint32_t peer = 0;
  uint64_t size = 0;  ///< bytes, or nanoseconds
  uint32_t tag = 0;
  uint8_t cpu = 0, nic = 0;
  uint32_t on_end = 0, first_on_end = 0, on_start = 0, first_on_start = 0;
};

Node read_node(ByteReader& in) {
  Node node;
  node.waits = in.take<uint32_t>();
  node.type = in.take<uint8_t>();
  node.peer = in.take<uint32_t>();
  node.size = in.take<uint64_t>();
  node.tag = in.take<uint32_t>();
  node.cpu = in.take<uint8_t>();
  node.nic = in.take<uint8_t>();
  node.on_end = in.take<uint32_t>();
  node.first_on_end = in.take<uint32_t>();
  node.on_start = in.take<uint32_t>();
  node.first_on_start = in.take<uint32_t>();
  return node;
}

Op op_of(const Node& node, uint32_t rank, const ByteReader& in) {
  Op op;
  op.rank = rank;
  op.lane = node.cpu;
  switch (node.type) {
    case 1:
      op.kind = OpKind::kSend;
      op.peer = node.peer;
      op.tag = node.tag;
      op.bytes = node.size;
      break;
    case 2:
      op.kind = OpKind::kReceive;
      op.peer = node.peer == kAny ? kAnyPeer : node.peer;
      op.tag = node.tag == kAny ? kAnyTag : node.tag;
      op.bytes = node.size;
      break;
    case 3:
      if (node.size > uint64_t{1} << 50) in.fail("a calc of more than 2^50 ns");
      op.duration = FabricTime::from_ns(static_cast<int64_t>(node.size));
      break;
    default: in.fail(fmt::format("type {}: expected 1 (send), 2 (recv) or 3 (calc)", node.type));
  }
  return op;
}

void read_rank(ByteReader& in, OpGraph& graph, uint32_t rank, uint64_t end) {
  const auto count = in.take<uint32_t>();
  const auto roots = in.take<uint32_t>();
  if (count > kMaxOps || roots > count) in.fail("more operations than a job may have");
  if (count > (end - in.at()) / kNodeBytes) in.fail("more operations than bytes for them");
  for (uint32_t i = 0; i < roots; ++i)
    in.take<uint32_t>();  // those that wait for nothing: found by that
  std::vector<Node> nodes(count);
  for (Node& node : nodes) node = read_node(in);
  const size_t appendix = in.at();
  const auto first = static_cast<uint32_t>(graph.ops().size());
  std::vector<std::vector<Dependency>> waits(count);
  const auto add = [&](uint32_t node, uint32_t number, uint32_t from, bool on_start) {
    if (number > count) in.fail("more dependents than operations");
    in.go_to(appendix + size_t{from} * sizeof(uint32_t));
    for (uint32_t k = 0; k < number; ++k) {
      const auto dependent = in.take<uint32_t>();
      if (dependent >= count) in.fail(fmt::format("dependent {} of {}", dependent, count));
      if (waits[dependent].size() >= kMaxDependencies) in.fail("too many dependencies");
      waits[dependent].push_back({first + node, on_start});
    }
  };
  for (uint32_t i = 0; i < count; ++i) {
    add(i, nodes[i].on_end, nodes[i].first_on_end, false);
    add(i, nodes[i].on_start, nodes[i].first_on_start, true);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (waits[i].size() != nodes[i].waits) {
      in.fail(fmt::format("operation {} of rank {} waits for {}, and {} lead to it", i, rank,
                          nodes[i].waits, waits[i].size()));
    }
    graph.add(op_of(nodes[i], rank, in), waits[i]);
  }
}

}  // namespace

bool is_goal_binary(std::string_view bytes) {
  uint64_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kMagic;
}

Trace read_goal_binary(std::string_view bytes, const std::string& name, const TraceOptions&) {
  ByteReader in(bytes, name);
  if (in.take<uint64_t>() != kMagic) in.fail("expected a little-endian 4223");
  const auto ranks = in.take<uint32_t>();
  in.take<uint8_t>();  // processors and NICs of a rank, at most
  in.take<uint8_t>();
  Trace trace{TraceFormat::kGoal, OpGraph(ranks)};
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const auto begin = in.take<uint64_t>();
    const auto end = in.take<uint64_t>();
    if (begin > end || end > bytes.size() - kHeadBytes) in.fail("a rank outside of the file");
    pieces.emplace_back(begin, end);
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    in.go_to(kHeadBytes + pieces[rank].first);
    read_rank(in, trace.graph, rank, kHeadBytes + pieces[rank].second);
  }
  return trace;
}

}  // namespace mrclab::job
