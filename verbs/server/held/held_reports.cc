#include "verbs/server/held/held_reports.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace mrclab::verbs {
namespace {

using Json = nlohmann::json;

FabricTime time_of(const Json& json, const char* key) {
  return FabricTime::from_ps(json.at(key).get<int64_t>());
}

/// Calls `read` for each entry of the list.
template <class Value, class Read>
std::vector<Value> read_list(std::string_view text, const char* what, Read read) {
  try {
    std::vector<Value> all;
    for (const Json& entry : Json::parse(text)) all.push_back(read(entry));
    return all;
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string(what) + ": " + error.what());
  }
}

/// What a program calls itself need not be UTF-8.
std::string line_of(const Json& list) {
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string declared_text(const std::vector<DeclaredProgram>& programs) {
  Json list = Json::array();
  for (const DeclaredProgram& program : programs) {
    list.push_back({{"number", program.number},
                    {"host", program.host},
                    {"number_in_host", program.number_in_host},
                    {"at_ps", program.at.ps()},
                    {"seed", program.seed},
                    {"socket", program.socket},
                    {"command", program.command}});
  }
  return line_of(list);
}

std::vector<DeclaredProgram> read_declared(std::string_view text) {
  return read_list<DeclaredProgram>(text, "held programs", [](const Json& entry) {
    DeclaredProgram program;
    entry.at("number").get_to(program.number);
    entry.at("host").get_to(program.host);
    entry.at("number_in_host").get_to(program.number_in_host);
    program.at = time_of(entry, "at_ps");
    entry.at("seed").get_to(program.seed);
    entry.at("socket").get_to(program.socket);
    entry.at("command").get_to(program.command);
    return program;
  });
}

std::string reports_text(const std::vector<HeldReport>& reports) {
  Json list = Json::array();
  for (const HeldReport& report : reports) {
    list.push_back({{"number", report.number},
                    {"host", report.host},
                    {"program", report.program},
                    {"started_ps", report.started.ps()},
                    {"ended_ps", report.ended.ps()},
                    {"not_held", report.not_held},
                    {"not_held_ps", report.not_held_at.ps()}});
  }
  return line_of(list);
}

std::vector<HeldReport> read_reports(std::string_view text) {
  return read_list<HeldReport>(text, "reports of held programs", [](const Json& entry) {
    HeldReport report;
    entry.at("number").get_to(report.number);
    entry.at("host").get_to(report.host);
    entry.at("program").get_to(report.program);
    report.started = time_of(entry, "started_ps");
    report.ended = time_of(entry, "ended_ps");
    entry.at("not_held").get_to(report.not_held);
    report.not_held_at = time_of(entry, "not_held_ps");
    return report;
  });
}

}  // namespace mrclab::verbs
