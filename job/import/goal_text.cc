#include <fmt/format.h>

#include <map>

#include "job/import/goal_file.h"
#include "job/import/line_words.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kMaxCalc = uint64_t{1} << 50;  // of nanoseconds
constexpr uint64_t kMaxLane = 0xFF;
constexpr uint64_t kMaxTag = 0xFFFF'FFFE;

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

/// The text without what stands between /* and */ and behind //, its lines kept.
std::string without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    while (!line.empty()) {
      if (inside) {
        const size_t close = line.find("*/");
        inside = close == std::string_view::npos;
        line.remove_prefix(inside ? line.size() : close + 2);
        continue;
      }
      line = without_comment(line);
      const size_t open = line.find("/*");
      out += line.substr(0, open);
      inside = open != std::string_view::npos;
      line.remove_prefix(inside ? open + 2 : line.size());
    }
    out += '\n';
  }
  return out;
}

class GoalReader {
 public:
  GoalReader(std::string_view text, const std::string& name) : lines_(text, name), name_(name) {}

  Trace read() {
    if (!lines_.next() || lines_.word(0) != "num_ranks") lines_.fail("expected \"num_ranks N\"");
    Trace trace{TraceFormat::kGoal,
                OpGraph(static_cast<uint32_t>(lines_.count(1, "ranks", kMaxRanks, 1)))};
    for (uint32_t rank = 0; rank < trace.graph.ranks(); ++rank) read_rank(trace.graph, rank);
    if (lines_.next()) lines_.fail("more than \"num_ranks\" ranks");
    return trace;
  }

 private:
  struct Line {
    Op op;
    std::vector<Dependency> waits;
  };

  void read_rank(OpGraph& graph, uint32_t rank) {
    if (!lines_.next() || lines_.word(0) != "rank" || lines_.word(2) != "{" ||
        lines_.count(1, "the next rank", rank, rank) != rank) {
      lines_.fail(fmt::format("expected \"rank {} {{\"", rank));
    }
    std::vector<Line> ops;
    std::map<std::string, uint32_t, std::less<>> labels;
    const auto first = static_cast<uint32_t>(graph.ops().size());
    while (true) {
      if (!lines_.next()) lines_.fail(fmt::format("rank {} has no \"}}\"", rank));
      if (lines_.word(0) == "}") break;
      if (lines_.word(1) == "requires" || lines_.word(1) == "irequires") {
        const uint32_t after = labelled(labels, 0), before = labelled(labels, 2);
        ops[after].waits.push_back({first + before, lines_.word(1) == "irequires"});
        continue;
      }
      size_t at = 0;
      if (lines_.word(0).ends_with(':')) {
        std::string label(lines_.word(0).substr(0, lines_.word(0).size() - 1));
        if (label.empty() || label.size() > kMaxLabel) lines_.fail("a label of 1 to 128 letters");
        if (!labels.emplace(label, static_cast<uint32_t>(ops.size())).second) {
          lines_.fail("label " + label + " twice");
        }
        at = 1;
      }
      if (ops.size() >= kMaxOps) lines_.fail("too many operations");
      ops.push_back({read_op(rank, at), {}});
    }
    for (const Line& line : ops) graph.add(line.op, line.waits);
  }

  uint32_t labelled(const std::map<std::string, uint32_t, std::less<>>& labels,
                    size_t place) const {
    const auto found = labels.find(lines_.word(place));
    if (found != labels.end()) return found->second;
    lines_.fail(
        fmt::format("label \"{}\" is not defined before", lines_.word(place).substr(0, 40)));
  }

  /// "65536b": the letter is obligatory.
  uint64_t size(size_t place) const {
    const std::string_view text = lines_.word(place);
    uint64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc() || end + 1 != last || *end != 'b' || value > kMaxMessage) {
      lines_.fail(fmt::format("found \"{}\": expected bytes as \"65536b\", at most {}",
                              text.substr(0, 40), kMaxMessage));
    }
    return value;
  }

  Op read_op(uint32_t rank, size_t at) const {
    Op op;
    op.rank = rank;
    op.line = lines_.number();
    const std::string_view what = lines_.word(at);
    if (what == "calc") {
      op.duration =
          FabricTime::from_ns(static_cast<int64_t>(lines_.count(at + 1, "nanoseconds", kMaxCalc)));
      at += 2;
    } else if (what == "send" || what == "recv") {
      const bool sends = what == "send";
      op.kind = sends ? OpKind::kSend : OpKind::kReceive;
      op.bytes = size(at + 1);
      if (lines_.word(at + 2) != (sends ? "to" : "from")) {
        lines_.fail(sends ? "expected \"send Nb to RANK\"" : "expected \"recv Nb from RANK\"");
      }
      const bool any = !sends && lines_.word(at + 3) == "-1";
      op.peer = any ? kAnyPeer : static_cast<uint32_t>(lines_.count(at + 3, "a rank", kMaxRanks));
      at += 4;
    } else {
      lines_.fail(fmt::format("found \"{}\": expected calc, send, recv, or \"a requires b\"",
                              what.substr(0, 40)));
    }
    for (; at < lines_.words().size(); at += 2) {
      const std::string_view key = lines_.word(at);
      if (key == "tag" && op.kind != OpKind::kCompute) {
        const bool any = op.kind == OpKind::kReceive && lines_.word(at + 1) == "-1";
        op.tag = any ? kAnyTag : static_cast<uint32_t>(lines_.count(at + 1, "a tag", kMaxTag));
      } else if (key == "cpu") {
        op.lane = static_cast<uint16_t>(lines_.count(at + 1, "a processor", kMaxLane));
      } else if (key == "nic" && op.kind != OpKind::kCompute) {
        lines_.count(at + 1, "a NIC", kMaxLane);
      } else {
        lines_.fail(fmt::format("found \"{}\": expected tag, cpu or nic", key.substr(0, 40)));
      }
    }
    return op;
  }

  LineWords lines_;
  const std::string& name_;
};

}  // namespace

Trace read_goal_text(std::string_view text, const std::string& name, const TraceOptions&) {
  const std::string plain = without_comments(text);
  return GoalReader(plain, name).read();
}

}  // namespace mrclab::job
