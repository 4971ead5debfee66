#include "recorded/counters/series_files.h"

#include "netio/system/file_descriptor.h"
#include "recorded/counters/recorded_counters.h"
#include "recorded/folder/run_manifest.h"
#include "telemetry/ipfix_export.h"

namespace mrclab::lab {

std::vector<std::filesystem::path> write_series(const RecordedRun& run, FabricTime step) {
  const telemetry::CounterSeries series = recorded_counters(run, step);
  const telemetry::IpfixExport ipfix = telemetry::ipfix_of(series, run.scenario.topology);
  std::vector<std::filesystem::path> files;
  const auto write = [&](const char* name, const std::string& text) {
    files.push_back(run.folder / name);
    netio::write_file(files.back(), text);
    renew_in_manifest(run.folder, files.back());
  };
  write("series.csv", series.csv());
  write("series.om", series.open_metrics());
  write("series.ipfix", ipfix.bytes);
  write("series.ipfix.csv", ipfix.objects);
  return files;
}

}  // namespace mrclab::lab
