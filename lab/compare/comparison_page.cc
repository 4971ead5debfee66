#include "lab/compare/comparison_page.h"

#include "lab/compare/comparison_text.h"
#include "lab/recorded/run_report.h"
#include "lab/run/run_manifest.h"
#include "netio/kernel/file_descriptor.h"

namespace mrclab::lab {

std::filesystem::path write_comparison_page(const Comparison& comparison) {
  const ComparedRun& first = comparison.runs.front();
  std::vector<analysis::TransportRun> runs;
  for (const ComparedRun& run : comparison.runs) {
    const std::string said = &run == &first ? "" : difference_sentence(first, run);
    runs.push_back({run.transport, said, read_page(run.folder).reported()});
  }
  const std::filesystem::path page = first.folder / "compare.html";
  netio::write_file(page, analysis::to_html(runs));
  renew_in_manifest(first.folder, page);
  return page;
}

}  // namespace mrclab::lab
