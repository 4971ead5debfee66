#include "lab/compare/comparison_page.h"

#include <fmt/format.h>

#include "lab/compare/comparison_story.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/run/run_report.h"

namespace mrclab::lab {

std::filesystem::path write_comparison_page(const Comparison& comparison) {
  const ComparedRun& first = comparison.runs.front();
  std::vector<analysis::TransportRun> runs;
  for (const ComparedRun& run : comparison.runs) {
    runs.push_back({run.transport, run.about, story_of(comparison, run), checks_met(run),
                    share_of_first(first, run), read_page(run.folder).reported()});
  }
  const std::filesystem::path page = first.folder / "compare.html";
  netio::write_file(page, analysis::to_html(runs, headline_of(comparison).said));
  renew_in_manifest(first.folder, page);
  return page;
}

}  // namespace mrclab::lab
