#include "analysis/trace/qlog.h"
#include "fabric/node/event_kind.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRecordSeparator = '\x1e';  // RFC 7464 §2.2

/// A transmission's start is counted back from its end, which captures round: never before zero.
double in_ms(FabricTime t) { return static_cast<double>(std::max<int64_t>(t.ps(), 0)) * 1e-9; }

std::string record(const Json& json) {
  // Texts of events.jsonl may be anything.
  return kRecordSeparator + json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json header_of(const RunTrace& trace) {
  return {{"file_schema", "urn:ietf:params:qlog:file:sequential"},
          {"serialization_format", "application/qlog+json-seq"},
          {"title", trace.title},
          {"trace",
           {{"title", trace.title},
            {"description", "Packets on fabric " + trace.topology.name + ", from captures"},
            {"event_schemas", Json::array({"urn:mrclab:qlog:events:mrc-1"})},
            {"vantage_point", {{"name", trace.topology.name}, {"type", "network"}}},
            {"common_fields",
             {{"time_format", "relative_to_epoch"},
              {"reference_time",
               {{"clock_type", "monotonic"}, {"epoch", "unknown"}, {"about", "fabric time"}}}}}}}};
}

/// Walks the moments and writes an event for each.
class QlogWriter {
 public:
  QlogWriter(const RunTrace& trace, BoundedOutput& out) : trace_(trace), out_(out) {
    for (const Flow& flow : trace.packets.flows()) flows_.push_back({flow_name(trace, flow)});
  }

  void write(const Moment& moment) {
    switch (moment.kind) {
      case MomentKind::kFaultStarts: return fault("mrc:fault_started", moment);
      case MomentKind::kFaultHealed: return fault("mrc:fault_healed", moment);
      case MomentKind::kSent: return sent(moment);
      case MomentKind::kEnded: return ended(moment);
      case MomentKind::kAcknowledged: return acknowledged(moment);
      case MomentKind::kAnswer: return answer(moment);
      case MomentKind::kEvent: return event(moment);
    }
  }

 private:
  struct FlowState {
    std::string name;
    uint64_t in_flight = 0;  ///< bytes sent and not acknowledged
    FabricTime last_metrics = FabricTime::from_ps(INT64_MIN / 2);
  };

  void put(FabricTime t, const char* name, Json data, const std::string& group = {}) {
    Json json{{"time", in_ms(t)}, {"name", name}, {"data", std::move(data)}};
    if (!group.empty()) json["group_id"] = group;
    out_.put(record(json), t);
  }

  Json packet_data(const Attempt& attempt) const {
    const Packet& packet = trace_.packets.packets()[attempt.packet];
    Json data{{"header", {{"packet_type", "write"}, {"packet_number", packet.psn.value()}}},
              {"raw", {{"payload_length", packet.payload}}},
              {"ev", attempt.ev.value},
              {"attempt", attempt.attempt}};
    if (const auto path = path_of(attempt.ev)) data["path"] = to_string(*path);
    return data;
  }
  FlowState& flow_of(const Attempt& attempt) {
    return flows_[trace_.packets.packets()[attempt.packet].flow];
  }

  void sent(const Moment& moment) {
    const Attempt& attempt = trace_.packets.attempts()[moment.index];
    FlowState& flow = flow_of(attempt);
    if (attempt.attempt == 0) flow.in_flight += trace_.packets.packets()[attempt.packet].payload;
    Json data = packet_data(attempt);
    if (attempt.attempt > 0) data["trigger"] = "retransmit";
    put(moment.t, "transport:packet_sent", std::move(data), flow.name);
  }

  void ended(const Moment& moment) {
    const Attempt& attempt = trace_.packets.attempts()[moment.index];
    Json data = packet_data(attempt);
    const std::string& group = flow_of(attempt).name;
    if (attempt.fate == Fate::kDelivered) {
      return put(moment.t, "transport:packet_received", std::move(data), group);
    }
    if (const std::string where = place_of(trace_, attempt); !where.empty()) data["where"] = where;
    if (attempt.fate == Fate::kTrimmed) {
      return put(moment.t, "mrc:packet_trimmed", std::move(data), group);
    }
    data["cause"] = mrclab::name_of(attempt.cause);
    put(moment.t, "mrc:packet_dropped", std::move(data), group);
  }

  /// Once per base RTT of a flow.
  void acknowledged(const Moment& moment) {
    const Packet& packet = trace_.packets.packets()[moment.index];
    FlowState& flow = flows_[packet.flow];
    flow.in_flight -= std::min<uint64_t>(flow.in_flight, packet.payload);
    if (moment.t - flow.last_metrics < trace_.topology.base_rtt) return;
    flow.last_metrics = moment.t;
    Json data{{"bytes_in_flight", flow.in_flight}};
    if (packet.attempts == 1 && packet.last != Attempt::kNone) {
      const Attempt& only = trace_.packets.attempts()[packet.last];
      if (only.start_seen) data["latest_rtt"] = in_ms(moment.t - only.start);
    }
    put(moment.t, "recovery:metrics_updated", std::move(data), flow.name);
  }

  /// Written in the trace of the host whose packet it answers.
  void answer(const Moment& moment) {
    const RunAnswer& answer = trace_.answers.list[moment.index];
    const SeenAnswer& said = answer.said;
    Json data{
        {"node", trace_.topology.node(answer.node).name}, {"qp", answer.qp}, {"ev", said.ev.value}};
    if (const auto path = path_of(said.ev)) data["path"] = to_string(*path);
    if (said.kind == SeenAnswer::Kind::kNack) {
      data["psn"] = said.trigger.value();
      data["reason"] = mrclab::name_of(static_cast<NackReason>(said.nack_reason));
      return put(moment.t, "mrc:nack_received", std::move(data));
    }
    data["cumulative"] = said.cumulative.value();
    data["bitmap_from"] = (said.cumulative + said.bitmap_offset).value();
    std::array<char, 20> bitmap{};
    std::snprintf(bitmap.data(), bitmap.size(), "0x%016llx",
                  static_cast<unsigned long long>(said.bitmap));
    data["bitmap"] = bitmap.data();
    data["out_of_order"] = said.out_of_order;
    if (said.mark != SackMark::kNone) data["mark"] = mrclab::name_of(said.mark);
    put(moment.t, "mrc:sack_received", std::move(data));
  }

  void event(const Moment& moment) {
    const RunEvent& event = trace_.events.list[moment.index];
    Json data{{"node", event.node}};
    const auto text = [&](const char* key, const std::string& value) {
      if (!value.empty()) data[key] = value;
    };
    text("port", event.port);
    if (event.qp) data["qp"] = *event.qp;
    if (event.ev) {
      data["ev"] = *event.ev;
      if (const auto path = path_of(EntropyValue{*event.ev})) data["path"] = to_string(*path);
    }
    if (event.kind == event_kind::kLossDetected) {
      if (event.psn) data["header"] = {{"packet_type", "write"}, {"packet_number", *event.psn}};
      text("trigger", event.cause);
      return put(moment.t, "recovery:packet_lost", std::move(data));
    }
    if (event.psn) data["psn"] = *event.psn;
    text(event.kind == event_kind::kEvState ? "new" : "cause", event.cause);
    text("detail", event.detail);
    const bool is_state = event.kind == event_kind::kEvState;
    if (!is_state) data["kind"] = event.kind;
    put(moment.t, is_state ? "mrc:ev_state_updated" : "mrc:event", std::move(data));
  }

  void fault(const char* name, const Moment& moment) {
    const FaultSpan& span = trace_.faults[moment.index];
    put(moment.t, name, {{"kind", span.kind}, {"description", span.description}});
  }

  const RunTrace& trace_;
  BoundedOutput& out_;
  std::vector<FlowState> flows_;
};

}  // namespace

void write_qlog(const RunTrace& trace, BoundedOutput& out) {
  out.finish(record(header_of(trace)));
  QlogWriter writer(trace, out);
  for (const Moment& moment : moments_of(trace)) writer.write(moment);
  if (out.left_out() == 0) return;
  const FabricTime t = out.complete_until();
  out.finish(record({{"time", in_ms(t)},
                     {"name", "mrc:file_ends_early"},
                     {"data", {{"events_left_out", out.left_out()}}}}));
}

}  // namespace mrclab::analysis
