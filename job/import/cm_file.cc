#include "job/import/cm_file.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "job/import/line_words.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kMaxStart = uint64_t{1} << 53;
constexpr uint64_t kMaxId = 0xFFFF'FFFF;

struct Flow {
  uint32_t line = 0, from = 0, to = 0;
  uint64_t bytes = 0, start = 0;
  std::optional<uint32_t> trigger, on_sent, on_received;
};
struct Trigger {
  uint32_t line = 0;
  bool barrier = false;
  uint64_t count = 1;
};

class CmReader {
 public:
  CmReader(std::string_view text, const std::string& name, const TraceOptions& options)
      : lines_(text, name), name_(name), options_(options) {}

  Trace read() {
    while (lines_.next()) read_line();
    if (nodes_ == 0) throw InputError(name_ + ": no \"Nodes\" line: expected the number of hosts");
    check_count("Connections", connections_, flows_.size());
    check_count("Triggers", declared_triggers_, triggers_.size());
    return made();
  }

 private:
  void read_line() {
    const std::string_view first = lines_.word(0);
    if (first.starts_with('#')) return;
    if (first == "Nodes") {
      nodes_ = static_cast<uint32_t>(lines_.count(1, "hosts", kMaxRanks, 1));
    } else if (first == "Connections") {
      connections_ = lines_.count(1, "flows", kMaxOps / 2);
    } else if (first == "Triggers") {
      declared_triggers_ = lines_.count(1, "triggers", kMaxOps);
    } else if (first == "Failures") {
      if (lines_.count(1, "failures", kMaxOps) > 0) refuse_failures();
    } else if (first == "failure") {
      refuse_failures();
    } else if (first == "trigger") {
      read_trigger();
    } else {
      read_flow();
    }
  }

  [[noreturn]] void refuse_failures() const {
    lines_.fail("failures of links are no part of a job: write them under faults: of the scenario");
  }

  void read_trigger() {
    if (lines_.word(1) != "id") lines_.fail("expected \"trigger id N oneshot|multishot|barrier\"");
    Trigger trigger;
    trigger.line = lines_.number();
    const auto id = static_cast<uint32_t>(lines_.count(2, "a trigger's number", kMaxId, 1));
    const std::string_view kind = lines_.word(3);
    trigger.barrier = kind == "barrier";
    if (!trigger.barrier && kind != "oneshot" && kind != "multishot") {
      lines_.fail(fmt::format("found \"{}\": expected oneshot, multishot or barrier", kind));
    }
    if (lines_.word(4) == "count") trigger.count = lines_.count(5, "a count", kMaxOps, 1);
    if (!triggers_.emplace(id, trigger).second) lines_.fail(fmt::format("trigger {} twice", id));
  }

  void read_flow() {
    if (nodes_ == 0) lines_.fail("a flow before the \"Nodes\" line");
    Flow flow;
    flow.line = lines_.number();
    const std::string ends(lines_.word(0));
    const size_t arrow = ends.find("->");
    if (arrow == std::string::npos) {
      lines_.fail(
          fmt::format("found \"{}\": expected a flow (\"0->1 id 1 start 0 size 8192\") or a "
                      "trigger",
                      ends.substr(0, 40)));
    }
    flow.from = host(ends.substr(0, arrow));
    flow.to = host(ends.substr(arrow + 2));
    if (flow.from == flow.to) lines_.fail("a flow of a host to itself");
    bool started = false, sized = false;
    for (size_t i = 1; i < lines_.words().size(); i += 2) {
      const std::string_view key = lines_.word(i);
      if (key == "start") {
        flow.start = lines_.count(i + 1, "a start", kMaxStart);
        started = true;
      } else if (key == "size") {
        flow.bytes = lines_.count(i + 1, "bytes", kMaxMessage, 1);
        sized = true;
      } else if (key == "trigger") {
        flow.trigger = trigger_id(i);
      } else if (key == "send_done_trigger") {
        flow.on_sent = trigger_id(i);
      } else if (key == "recv_done_trigger") {
        flow.on_received = trigger_id(i);
      } else if (key == "id" || key == "prio" || key == "msg") {
        lines_.count(i + 1, "a number", kMaxId);  // numbers of htsim's own
      } else {
        lines_.fail(
            fmt::format("found \"{}\": expected id, start, trigger, size, send_done_trigger, "
                        "recv_done_trigger, prio or msg",
                        key.substr(0, 40)));
      }
    }
    if (!sized) lines_.fail("a flow without size");
    if (started == flow.trigger.has_value()) {
      lines_.fail("a flow needs a start or a trigger, and not both");
    }
    if (flows_.size() >= kMaxOps / 2) lines_.fail("too many flows");
    flows_.push_back(flow);
  }

  uint32_t trigger_id(size_t place) const {
    return static_cast<uint32_t>(lines_.count(place + 1, "a trigger's number", kMaxId, 1));
  }

  uint32_t host(const std::string& text) const {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
        value >= nodes_) {
      lines_.fail(
          fmt::format("found host \"{}\": expected 0 to {}", text.substr(0, 20), nodes_ - 1));
    }
    return value;
  }

  void check_count(std::string_view what, std::optional<uint64_t> declared, size_t found) const {
    if (declared && *declared != found) {
      throw InputError(fmt::format("{}: {} {}, found {}", name_, what, *declared, found));
    }
  }

  FabricTime start_of(const Flow& flow) const {
    if (flow.start == 0) return {};
    if (!options_.time_unit) {
      throw InputError(fmt::format(
          "{}:{}: start {} without a unit: the simulator reads picoseconds, its generators write "
          "microseconds; say which (time_unit: ps, ns or us)",
          name_, flow.line, flow.start));
    }
    const uint64_t ps = *options_.time_unit == TimeUnit::kPicoseconds   ? 1
                        : *options_.time_unit == TimeUnit::kNanoseconds ? 1'000
                                                                        : 1'000'000;
    if (flow.start > static_cast<uint64_t>(FabricTime::never().ps()) / 2 / ps) {
      throw InputError(
          fmt::format("{}:{}: start {} is too far away", name_, flow.line, flow.start));
    }
    return FabricTime::from_ps(static_cast<int64_t>(flow.start * ps));
  }

  /// The operations whose ends fire each trigger: the send of flow i is operation 2 i, its receive 2 i + 1.
  std::map<uint32_t, std::vector<Dependency>> causes() const {
    std::map<uint32_t, std::vector<Dependency>> of_trigger;
    for (uint32_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].on_sent) of_trigger[*flows_[i].on_sent].push_back({2 * i});
      if (flows_[i].on_received) of_trigger[*flows_[i].on_received].push_back({2 * i + 1});
    }
    for (const auto& [id, list] : of_trigger) {
      if (!triggers_.contains(id)) {
        throw InputError(fmt::format("{}: trigger {} is fired and not declared", name_, id));
      }
    }
    return of_trigger;
  }

  Trace made() const {
    Trace trace{TraceFormat::kCm, OpGraph(nodes_)};
    const auto fired_by = causes();
    for (const Flow& flow : flows_) {
      std::vector<Dependency> waits;
      if (flow.trigger) waits = causes_of(flow, fired_by);
      Op send;
      send.kind = OpKind::kSend;
      send.rank = flow.from;
      send.peer = flow.to;
      send.bytes = flow.bytes;
      send.line = flow.line;
      send.tag = flow.line;  // each flow is a message of its own
      send.not_before = start_of(flow);
      trace.graph.add(send, waits);
      Op receive = send;
      receive.kind = OpKind::kReceive;
      receive.rank = flow.to;
      receive.peer = flow.from;
      receive.not_before = {};
      trace.graph.add(receive);
    }
    return trace;
  }

  std::vector<Dependency> causes_of(
      const Flow& flow, const std::map<uint32_t, std::vector<Dependency>>& fired_by) const {
    const auto declared = triggers_.find(*flow.trigger);
    const auto fired = fired_by.find(*flow.trigger);
    const auto reject = [&](const std::string& what) {
      throw InputError(fmt::format("{}:{}: trigger {} {}", name_, flow.line, *flow.trigger, what));
    };
    if (declared == triggers_.end()) reject("is not declared");
    if (fired == fired_by.end()) reject("is fired by nothing: the flow would never start");
    const Trigger& trigger = declared->second;
    if (trigger.barrier && trigger.count != fired->second.size()) {
      reject(fmt::format("waits for {} of {} flows: only all of them can be waited for",
                         trigger.count, fired->second.size()));
    }
    if (!trigger.barrier && fired->second.size() > 1) {
      reject(
          fmt::format("is fired by {} flows and is no barrier: which is first depends on the run",
                      fired->second.size()));
    }
    return fired->second;
  }

  LineWords lines_;
  const std::string& name_;
  const TraceOptions& options_;
  uint32_t nodes_ = 0;
  std::optional<uint64_t> connections_, declared_triggers_;
  std::vector<Flow> flows_;
  std::map<uint32_t, Trigger> triggers_;
};

}  // namespace

Trace read_cm(std::string_view text, const std::string& name, const TraceOptions& options) {
  return CmReader(text, name, options).read();
}

}  // namespace mrclab::job
