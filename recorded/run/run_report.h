#pragma once
// `mrclab report`: the page of a run made again from its folder, alone or beside another run.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/report/report.h"
#include "recorded/diff/recorded_run.h"

namespace mrclab::lab {

/// A run folder as its page needs it. The verdict is the one in the folder, not judged again; what is
/// drawn is read from the captures, records and events once more.
struct RunPage {
  RecordedRun run;
  nlohmann::ordered_json verdict;
  std::string picture;
  std::string sections;  ///< what the captures show of RoCEv2; empty: none
  analysis::ReportedRun reported() const;
};

/// Throws InputError that names what is missing or wrong.
RunPage read_page(const std::filesystem::path& folder);

struct ReportOptions {
  std::filesystem::path run;
  std::filesystem::path compare;  ///< the other run; empty: none
  std::filesystem::path out;      ///< the page; empty: in the folder of `run`
  bool json = false;
};

/// Makes the page and prints its path. Returns 0; throws InputError, std::runtime_error.
int report_command(const ReportOptions& options);

/// Two verdicts side by side, 80 columns wide.
std::string compare_text(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);
/// The same as data: [{"what", "a", "b", "difference", "unit"}] of metrics and checks.
nlohmann::ordered_json compare_json(const nlohmann::ordered_json& a,
                                    const nlohmann::ordered_json& b);

}  // namespace mrclab::lab
