// verdict.json and junit.xml. The table for the terminal is table.cc.

#include "analysis/verdict/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/blame/blame_text.h"
#include "analysis/checks/checks.h"
#include "analysis/mapper/denylist_text.h"
#include "analysis/mapper/mapper_text.h"
#include "analysis/orchestrator/orchestrator_text.h"
#include "analysis/verdict/job_text.h"
#include "fabric/text/schema_id.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the sections for readers

/// Whole numbers without a fraction, others with three digits.
Json number(double value) {
  const double rounded = std::round(value * 1000) / 1000;
  constexpr double kExact = 9e15;
  if (std::abs(rounded) < kExact && rounded == std::floor(rounded)) {
    return static_cast<int64_t>(rounded);
  }
  return rounded;
}

Json optional_number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json optional_ns(const std::optional<FabricTime>& t) { return t ? Json(t->ns()) : Json(nullptr); }

Json timing_json(const TimingReport& timing) {
  return {{"mode", timing.mode == TimingMode::kCarried ? "carried" : "wall"},
          {"faithful", timing.faithful},
          {"late_frames", timing.late_frames},
          {"gaps", timing.gaps},
          {"min_slack_ns", timing.min_slack_ns},
          {"dilation",
           {{"min", number(timing.dilation_min)},
            {"mean", number(timing.dilation_mean)},
            {"max", number(timing.dilation_max)}}},
          {"jumps", timing.jumps},
          {"holds", timing.holds},
          {"reasons", timing.reasons},
          {"disturbances", timing.disturbances}};
}

Json packet_json(const PacketToLookAt& packet) {
  char qp[16];
  std::snprintf(qp, sizeof qp, "0x%x", packet.qp.value);
  Json json{{"source", packet.source},
            {"destination", packet.destination},
            {"qp", qp},
            {"psn", packet.psn.value()}};
  if (packet.frame > 0) {
    json["file"] = packet.file;
    json["frame"] = packet.frame;
  }
  return json;
}

Json check_json(const CheckResult& check) {
  Json json{{"name", check.name},
            {"result", name_of(check.result)},
            {"measured", optional_number(check.measured)},
            {"bound", optional_number(check.bound)},
            {"unit", check.unit},
            {"about", check.about},
            {"note", check.note}};
  if (const auto& looked = check.looked) {
    const bool ends = looked->until() != FabricTime::never();
    json["looked"] = {{"count", looked->count()},
                      {"what", looked->what().many},
                      {"from_ns", looked->from().ns()},
                      {"until_ns", ends ? Json(looked->until().ns()) : Json(nullptr)},
                      {"source", kSourceNames[static_cast<size_t>(looked->source())]},
                      {"text", to_string(*looked)}};
  }
  if (const auto& published = check.published) {
    json["published"] = {{"value", number(published->value)},
                         {"text", published->text},
                         {"figure", published->figure}};
  }
  if (const auto& where = check.where) {
    const bool ends = where->until != FabricTime::never();
    json["where"] = {{"from_ns", where->from.ns()},
                     {"until_ns", ends ? Json(where->until.ns()) : Json(nullptr)},
                     {"who", where->who}};
    if (where->packet) json["where"]["packet"] = packet_json(*where->packet);
  }
  return json;
}

Json dip_json(const Dip& dip) {
  const auto percent = [&](BitRate rate) {
    return number(100 * static_cast<double>(rate.bps) / static_cast<double>(dip.baseline.bps));
  };
  const bool dips = dip.transient > FabricTime::zero();
  return {{"transient_ns", dip.transient.ns()},
          {"transient_rtts", dip.transient / dip.base_rtt},
          {"lowest_percent", dips ? percent(dip.lowest) : Json(nullptr)},
          {"steady_percent", percent(dip.steady)},
          {"text", to_string(dip)}};
}

Json fault_json(const FaultResult& fault) {
  return {{"fault", fault.fault},
          {"kind", fault.kind},
          {"at_ns", fault.at.ns()},
          {"detected_ns", optional_ns(fault.detected)},
          {"recovered_ns", optional_ns(fault.recovered)},
          {"recovery_note", fault.recovery_note},
          {"lost", fault.losses.packets},
          {"last_loss_ns", optional_ns(fault.losses.last)},
          {"session_lost_ns", optional_ns(fault.losses.noticed)},
          {"routed_ns", optional_ns(fault.losses.routed)},
          {"healed", fault.healed},
          {"healed_at_ns", optional_ns(fault.healed_at)},
          {"still_used", fault.still_used},
          {"dip", fault.dip ? dip_json(*fault.dip) : Json(nullptr)},
          {"note", fault.note}};
}

Json pauses_json(const std::optional<PauseUse>& pauses) {
  if (!pauses) return nullptr;
  return {{"ports", pauses->ports},
          {"longest_ns", pauses->longest.ns()},
          {"longest_port", pauses->longest_port},
          {"first_pauser", pauses->first_pauser}};
}

Json spread_json(const std::optional<FlowSpread>& spread) {
  if (!spread) return nullptr;
  return {{"flows", spread->flows},     {"one_path", spread->one_path},
          {"sharing", spread->sharing}, {"most", spread->most},
          {"shared", spread->shared},   {"uplinks_by_flows", spread->uplinks_by_flows},
          {"uplinks", spread->uplinks}, {"used", spread->used},
          {"busiest", spread->busiest}, {"busiest_to_mean", number(spread->busiest_to_mean)}};
}

Json deepest_json(const std::optional<DeepestQueue>& deepest) {
  if (!deepest) return nullptr;
  return {{"bytes", deepest->size.value}, {"port", deepest->port}};
}

Json message_time_json(const std::optional<MessageTimes>& times) {
  if (!times) return nullptr;
  return {{"messages", times->messages}, {"open", times->open},
          {"p50_ns", times->p50.ns()},   {"p99_ns", times->p99.ns()},
          {"max_ns", times->max.ns()},   {"longest_open_ns", times->longest_open.ns()}};
}

Json metrics_json(const Metrics& m) {
  return {{"goodput_bps", number(std::round(m.goodput_bps))},
          {"baseline_bps", optional_number(m.baseline_bps)},
          {"baseline_variation", number(m.baseline_variation)},
          {"no_baseline", m.no_baseline},
          {"data_packets", m.data_packets},
          {"delivered", m.delivered},
          {"delivered_bytes", m.delivered_bytes},
          {"retransmitted", m.retransmitted},
          {"trimmed", m.trimmed},
          {"lost", m.lost},
          {"refused", m.refused},
          {"naks", m.naks},
          {"timeouts", m.timeouts},
          {"cnps", m.cnps},
          {"flows_cut", m.flows_cut},
          {"deepest_queue", deepest_json(m.deepest)},
          {"qps_failed", m.qps_failed},
          {"pauses", pauses_json(m.pauses)},
          {"spread", spread_json(m.spread)},
          {"message_time", message_time_json(m.messages)},
          {"work_ends", m.work_ends},
          {"completed_ns", optional_ns(m.completed)},
          {"captures", m.captures},
          {"capture_records", m.capture_records},
          {"capture_skipped", m.capture_skipped},
          {"history_sha256", m.history_sha256},
          {"history_version", m.history_version}};
}

Json cost_json(const IncidentCost& cost) {
  return {{"delivered_bytes", cost.delivered},
          {"twin_delivered_bytes", cost.twin_delivered},
          {"behind_ns", cost.behind.ns()},
          {"completed_ns", optional_ns(cost.completed)},
          {"twin_completed_ns", optional_ns(cost.twin_completed)},
          {"text", to_string(cost)}};
}

Json taps_json(const TapCost& taps) {
  return {{"interfaces", taps.interfaces},
          {"packets", taps.packets},
          {"bytes", taps.bytes},
          {"missing", taps.missing},
          {"cpu_seconds", taps.cpu_seconds},
          {"open_seconds", taps.open_seconds}};
}

/// Text for XML 1.0: markup escaped; control characters (which XML has no way to write) and what is
/// not UTF-8 (for which readers refuse the whole file) replaced.
std::string xml(std::string_view raw) {
  const std::string text =
      Json::parse(Json(raw).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\n':
      case '\t': out += ' '; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

std::string message_of(const CheckResult& check) {
  std::string message = check.about;
  if (check.measured) {
    message += "; measured " + number(*check.measured).dump();
    if (!check.unit.empty()) message += " " + check.unit;
  }
  if (!check.note.empty()) message += "; " + check.note;
  return message;
}

}  // namespace

bool published_any(const Verdict& verdict) {
  return std::any_of(verdict.checks.begin(), verdict.checks.end(),
                     [](const CheckResult& check) { return check.published.has_value(); });
}

std::string circumstances(const Verdict& verdict) {
  std::string text = verdict.payload_elided ? ", payload elided" : "";
  for (size_t i = 0; i < verdict.without.size(); ++i) {
    text += (i == 0 ? ", without " : ", ") + verdict.without[i];
  }
  return text;
}

void add_check(Verdict& verdict, CheckResult check) {
  verdict.checks.push_back(as_sound_as(verdict.timing, std::move(check)));
  const Result all = overall_result(verdict.checks, verdict.timing);
  // Evidence that was incomplete does not become whole.
  const bool incomplete = verdict.result == Result::kInconclusive && all == Result::kPass;
  if (!incomplete) verdict.result = all;
}

std::string to_json(const Verdict& verdict) {
  Json json = {{"schema", schema_id("verdict")},
               {"scenario", verdict.scenario},
               {"world", verdict.world},
               {"seed", verdict.seed},
               {"payload", verdict.payload_elided ? "elided" : "real"},
               {"version", verdict.version},
               {"commit", verdict.build.commit},
               {"build_type", verdict.build.type},
               {"result", name_of(verdict.result)}};
  if (!verdict.without.empty()) json["without"] = verdict.without;
  json["timing"] = timing_json(verdict.timing);
  json["checks"] = Json::array();
  for (const CheckResult& check : verdict.checks) json["checks"].push_back(check_json(check));
  json["faults"] = Json::array();
  for (const FaultResult& fault : verdict.faults) json["faults"].push_back(fault_json(fault));
  json["blame"] = Json::array();
  for (const Blame& blame : verdict.blame) json["blame"].push_back(to_json(blame));
  if (!verdict.no_blame.empty()) json["no_blame"] = verdict.no_blame;
  if (!verdict.losses_not_told.empty()) json["losses_not_told"] = verdict.losses_not_told;
  if (verdict.mapper) json["mapper"] = to_json(*verdict.mapper);
  if (verdict.orchestrator) json["orchestrator"] = to_json(*verdict.orchestrator);
  if (verdict.denylist) json["denylist"] = to_json(*verdict.denylist);
  for (const JobResult& job : verdict.jobs) json["jobs"].push_back(to_json(job));
  json["metrics"] = metrics_json(verdict.metrics);
  if (!verdict.loss_timers.empty()) json["loss_timers"] = verdict.loss_timers;
  if (verdict.cost) json["cost"] = cost_json(*verdict.cost);
  if (verdict.taps) json["taps"] = taps_json(*verdict.taps);
  if (!verdict.depends_on.empty()) json["depends_on"] = verdict.depends_on;
  json["notes"] = verdict.notes;
  // Names come from files and may hold any bytes: replace what is not UTF-8 rather than throw.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_junit(const Verdict& verdict) {
  size_t failures = 0, skipped = 0;
  std::string cases;
  std::map<std::string, int> seen;
  // Readers ask for a time of each case; judging takes none that would mean anything.
  const auto open_case = [&](const std::string& name) {
    const int times = ++seen[name];  // they take two of one name for one that ran twice
    return "    <testcase classname=\"" + xml(verdict.scenario) + "\" name=\"" +
           xml(name + (times > 1 ? " (" + std::to_string(times) + ")" : "")) + "\" time=\"0\"";
  };
  for (const CheckResult& check : verdict.checks) {
    cases += open_case(check.about.empty() ? check.name : check.about);
    const std::string message = xml(message_of(check));
    if (check.result == Result::kPass) {
      cases += "/>\n";
    } else if (check.result == Result::kInconclusive) {
      ++skipped;
      cases += ">\n      <skipped message=\"" + message + "\"/>\n    </testcase>\n";
    } else {
      ++failures;
      // The type is what CI systems group failures by; some show the text, others the message.
      cases += ">\n      <failure type=\"" + xml(check.name) + "\" message=\"" + message + "\">" +
               message + (check.where ? "\nwhere: " + xml(to_string(*check.where)) : "") +
               "</failure>\n    </testcase>\n";
    }
  }
  if (verdict.checks.empty()) {
    ++skipped;
    cases += open_case("checks") + ">\n      <skipped message=\"" + std::string(kNothingChecked) +
             "\"/>\n    </testcase>\n";
  }
  const TimingReport& timing = verdict.timing;
  cases += open_case("faithful");
  if (!timing.sound()) {
    ++skipped;
    std::string why = timing.mode == TimingMode::kCarried ? "NOT FAITHFUL" : "DISTURBED";
    for (const std::string& reason : timing.reasons) why += "; " + reason;
    cases += ">\n      <skipped message=\"" + xml(why) + "\"/>\n    </testcase>\n";
  } else {
    cases += "/>\n";
  }
  const std::string counts = "tests=\"" +
                             std::to_string(std::max<size_t>(verdict.checks.size(), 1) + 1) +
                             "\" failures=\"" + std::to_string(failures) + "\" skipped=\"" +
                             std::to_string(skipped) + "\" errors=\"0\" time=\"0\"";
  const auto property = [](const char* name, const std::string& value) {
    return std::string("      <property name=\"") + name + "\" value=\"" + xml(value) + "\"/>\n";
  };
  const std::string properties =
      "    <properties>\n" + property("world", verdict.world) +
      property("seed", std::to_string(verdict.seed)) + property("version", verdict.version) +
      property("history_sha256", verdict.metrics.history_sha256) + "    </properties>\n";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts +
         ">\n  <testsuite name=\"" + xml(verdict.scenario) + "\" " + counts + ">\n" + properties +
         cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace mrclab::analysis
