#include "lab/persistent/clock_text.h"

#include <fmt/format.h>

#include "lab/persistent/fault_text.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

FabricTime time_of(const json& value, const char* key) {
  return FabricTime::from_ps(value.at(key).get<int64_t>());
}

std::string number(const json& record, const char* key, const char* format) {
  if (!record.contains(key)) return "";
  return fmt::format(fmt::runtime(format), record.at(key).get<uint64_t>());
}

std::string place(const json& record) {
  const auto node = record.at("node").get<std::string>();
  return record.contains("port") ? node + ":" + record.at("port").get<std::string>() : node;
}

/// "no_receiver", "wire_down": why; else what became of the packet where that is not plain.
std::string fate(const json& packet) {
  const auto event = packet.at("event").get<std::string>();
  if (event == "dropped") return " dropped: " + packet.value("cause", "");
  std::string text = event == "trimmed" ? " trimmed" : "";
  if (packet.value("retransmission", false)) text += " rtx";
  return text;
}

const char* why_not_found(const std::string& result) {
  if (result == "nothing_pending") return "no event is pending in the whole lab";
  if (result == "too_many") return "gave up: too many instants without it";
  if (result == "at_most") return "gave up: 10 ms of fabric time without it";
  return nullptr;
}

}  // namespace

std::string clock_line(const json& state) {
  const auto word = state.at("state").get<std::string>();
  std::string line = in_microseconds(time_of(state, "fabric_ps")) + ", " + word;
  if (word == "until") line += " " + in_microseconds(time_of(state, "until_ps"));
  if (word == "running" || word == "until") {
    line += fmt::format(", k {:.0f}", state.at("dilation").get<double>());
  }
  return line;
}

std::string record_line(const json& record) {
  const std::string at = in_microseconds(time_of(record, "t_ps"));
  if (record.contains("kind")) {
    std::string text = record.at("kind").get<std::string>();
    text += number(record, "qp", " qp {:#08x}") + number(record, "psn", " psn {}");
    if (record.contains("path")) text += " " + record.at("path").get<std::string>();
    for (const char* key : {"cause", "detail"}) {
      if (record.contains(key)) text += " " + record.at(key).get<std::string>();
    }
    return fmt::format("{:>14}  {:<11}     {}", at, place(record), text);
  }
  std::string text = record.at("packet").get<std::string>();
  text += number(record, "qp", " qp {:#08x}") + number(record, "psn", " psn {}");
  if (record.contains("path")) text += " " + record.at("path").get<std::string>();
  return fmt::format("{:>14}  {:<11} {:<3} {}{}", at, place(record),
                     record.at("direction").get<std::string>(), text, fate(record));
}

std::string outcome_text(const json& state, size_t max_records) {
  const json& outcome = state.at("outcome");
  std::string text;
  for (const json& fault : outcome.value("faults", json::array())) text += fault_text(fault);
  for (const json& effect : outcome.value("effects", json::array())) {
    text += "  " + effect.get<std::string>() + "\n";
  }
  const json records = outcome.value("records", json::array());
  for (size_t i = 0; i < records.size() && i < max_records; ++i) {
    text += record_line(records[i]) + "\n";
  }
  const uint64_t hidden = outcome.value("left_out", uint64_t{0}) +
                          (records.size() > max_records ? records.size() - max_records : 0);
  if (hidden > 0) text += fmt::format("and {} more\n", hidden);
  const auto result = outcome.at("result").get<std::string>();
  if (const char* why = why_not_found(result)) text += std::string(why) + "\n";
  if (outcome.contains("problem")) text += outcome.at("problem").get<std::string>() + "\n";
  return text + clock_line(state) + "\n";
}

std::string history_text(const json& history) {
  uint64_t records = 0;
  for (const auto& [stream, count] : history.at("records").items())
    records += count.get<uint64_t>();
  std::string text =
      fmt::format("at         {}{}\nrecords    {}\nhistory    {}\n",
                  in_microseconds(time_of(history, "fabric_ps")),
                  history.at("complete").get<bool>() ? ", past the scenario's end" : "", records,
                  history.at("history_sha256").get<std::string>());
  for (const json& reason : history.at("not_faithful")) {
    text += "NOT FAITHFUL: " + reason.get<std::string>() + "\n";
  }
  return text;
}

}  // namespace mrclab::lab
