#pragma once
// report.html: one self-contained file that opens without a network. All that it shows is one JSON
// object in it, the run's verdict.json as it is and its picture (picture.h); the files of
// analysis/page/ turn that into a page.

#include <optional>
#include <string>
#include <vector>

namespace mrclab::analysis {

/// Where a run comes from; what is not known is empty.
struct RunOrigin {
  std::string about;    ///< the scenario's description
  std::string command;  ///< what was typed
  std::string started;  ///< "2026-11-25 18:22:01 UTC"
  std::string drawing;  ///< the fabric, as one SVG element
};

struct ReportedRun {
  std::string run;      ///< its folder, absolute, for commands that people copy
  std::string verdict;  ///< verdict.json
  std::string picture;  ///< picture_of(); empty: the page has no charts
  RunOrigin origin = {};
  std::string sections =
      {};  ///< tables of RoCEv2 (recorded/traffic/report_sections.h); empty: none
};

/// Throws std::invalid_argument if a part is no JSON.
std::string to_html(const ReportedRun& run);

/// Two runs side by side. `history` is the sentence on whether their packets are the same.
std::string to_html(const ReportedRun& a, const ReportedRun& b, const std::string& history);

/// A scenario's run under one of several transports.
struct TransportRun {
  std::string transport;
  std::string about;                     ///< what the transport is
  std::vector<std::string> said;         ///< what happened, in sentences
  std::string checks_met;                ///< "4 of 5"
  std::optional<double> share_of_first;  ///< this run's headline in percent of the first run's
  ReportedRun run;
};

/// All of them in one chart, with their headlines; `headline` names the quantity.
std::string to_html(const std::vector<TransportRun>& runs, const std::string& headline);

}  // namespace mrclab::analysis
