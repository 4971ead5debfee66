#include "analysis/report/report.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/report/page_files.h"
#include "fabric/text/json_text.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const std::string& text, const char* what) {
  auto json = parse_json<Json>(text);
  if (json.is_discarded()) throw std::invalid_argument(std::string(what) + " is no JSON");
  return json;
}

Json data_of(const ReportedRun& run) {
  return {{"run", run.run},
          {"verdict", parsed(run.verdict, "the verdict")},
          {"origin",
           {{"about", run.origin.about},
            {"command", run.origin.command},
            {"started", run.origin.started},
            {"drawing", run.origin.drawing}}},
          {"sections", run.sections.empty() ? Json(nullptr) : parsed(run.sections, "the sections")},
          {"picture", run.picture.empty() ? Json(nullptr) : parsed(run.picture, "the picture")}};
}

/// JSON that can stand in a <script>: nothing in it ends the element or opens a comment.
std::string for_script(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// What a browser would look for elsewhere: a map of the minified script for debuggers.
std::string_view without_source_map(std::string_view script) {
  return script.substr(0, script.rfind("//# sourceMappingURL"));
}
std::string_view without_source_map_of_style(std::string_view style) {
  return style.substr(0, style.rfind("/*# sourceMappingURL"));
}

/// A module of the live page, to stand in one function with the others.
std::string without_exports(std::string_view module) {
  constexpr std::string_view kExport = "\nexport ";
  std::string script(module);
  for (size_t at = 0; (at = script.find(kExport, at)) != std::string::npos;) {
    script.erase(at + 1, kExport.size() - 1);
  }
  return script;
}

/// The frame with each @NAME@ replaced, once, left to right: what is put in is not looked at.
std::string page_of(const Json& data) {
  const std::string text = for_script(data), shared = without_exports(page::shared);
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"@CHART_STYLE@", without_source_map_of_style(page::chart_style)},
      {"@PAGE_STYLE@", page::style},
      {"@CHARTS@", without_source_map(page::charts)},
      {"@SYNCHRONIZER@", without_source_map(page::synchronizer)},
      {"@DATA@", text},
      {"@SHARED@", shared},
      {"@COMMON@", page::common},
      {"@MATRIX@", page::matrix},
      {"@WINDOWS@", page::windows},
      {"@JOBS@", page::jobs},
      {"@REPORT@", page::report},
      {"@COMPARE@", page::compare},
      {"@TRANSPORTS@", page::transports},
      {"@MAIN@", page::main_part}};
  std::string out;
  std::string_view rest = page::html;
  for (const auto& [name, content] : parts) {
    const size_t at = rest.find(name);
    if (at == std::string_view::npos) throw std::logic_error("report.html: parts are missing");
    out += rest.substr(0, at);
    out += content;
    rest.remove_prefix(at + name.size());
  }
  out += rest;
  return out;
}

}  // namespace

std::string to_html(const ReportedRun& run) { return page_of(data_of(run)); }

std::string to_html(const ReportedRun& a, const ReportedRun& b, const std::string& history) {
  return page_of({{"a", data_of(a)}, {"b", data_of(b)}, {"history", history}});
}

std::string to_html(const std::vector<TransportRun>& runs, const std::string& headline) {
  Json transports = Json::array();
  for (const TransportRun& run : runs) {
    Json data = data_of(run.run);
    data["transport"] = run.transport;
    data["about"] = run.about;
    data["said"] = run.said;
    data["checks_met"] = run.checks_met;
    data["share_of_first"] = run.share_of_first ? Json(*run.share_of_first) : Json();
    transports.push_back(std::move(data));
  }
  return page_of({{"transports", std::move(transports)}, {"headline", headline}});
}

}  // namespace mrclab::analysis
