// What a run left, altered on purpose: each verb that reads it names the file and prints nothing
// else.

#include "recorded/folder/run_manifest.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "fabric/text/yaml.h"
#include "lab/run/replay.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/diff/run_diff.h"
#include "recorded/run/run_report.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/run_readers.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;

constexpr size_t kFileMax = size_t{64} << 20;

Scenario manifest_scenario() {
  return parse_scenario(read_yaml_text(R"(
name: kept
fabric: pair
seed: 3
captures: all
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
end: 20us
)",
                                       "kept.yaml"));
}

void flip_byte(const fs::path& file, size_t at) {
  std::string bytes = netio::read_file(file, kFileMax);
  REQUIRE(bytes.size() > at);
  bytes[at] ^= 0x01;
  netio::write_file(file, bytes);
}

}  // namespace

TEST_CASE("sha256sum takes the manifest, and what a run left is as the run left it") {
  const test::TemporaryRuns runs;
  const fs::path run = runs.run(manifest_scenario()).folder.path;
  const std::string check = "cd " + run.string() + " && sha256sum --strict --quiet -c SHA256SUMS";
  CHECK(std::system(check.c_str()) == 0);
  CHECK(RunManifest(run).altered({"verdict.json", "captures", "history", "logs", "none"}).empty());
  const std::string text = netio::read_file(run / kManifestFile);
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.is_directory() || entry.path().filename() == kManifestFile) continue;
    CHECK(text.find("  " + entry.path().lexically_relative(run).string() + "\n") !=
          std::string::npos);
  }
  flip_byte(run / "history" / "sim.bin", 100);
  CHECK(std::system((check + " 2>/dev/null >&2").c_str()) != 0);
}

TEST_CASE(
    "whoever reads a run refuses each file that its answer rests on, if a bit of it differs") {
  const test::TemporaryRuns runs;
  const Scenario scenario = manifest_scenario();
  const fs::path untouched = runs.run(scenario).folder.path;
  for (const test::RunReader& reader : test::run_readers(scenario, untouched)) {
    CAPTURE(reader.verb);
    for (const std::string& file : reader.files) {
      CAPTURE(file);
      const fs::path copy = runs.path() / "copy";
      fs::remove_all(copy);
      fs::copy(untouched, copy, fs::copy_options::recursive);
      const size_t size = fs::file_size(copy / file);
      if (size > 0) {
        flip_byte(copy / file, size / 2);
      } else {
        netio::write_file(copy / file, "\n");
      }
      CHECK(test::error_of([&] { reader.read(copy); }).find('"' + file + "\" was altered") !=
            std::string::npos);
      fs::remove(copy / file);
      CHECK(test::error_of([&] { reader.read(copy); }).find('"' + file + "\" is missing") !=
            std::string::npos);
    }
    fs::remove_all(runs.path() / "copy");
    fs::copy(untouched, runs.path() / "copy", fs::copy_options::recursive);
    fs::remove(runs.path() / "copy" / kManifestFile);
    CHECK(test::error_of([&] { reader.read(runs.path() / "copy"); }).find("found no SHA256SUMS") !=
          std::string::npos);
  }
}

TEST_CASE("a file that was added, and a link or pipe in place of one, are no evidence") {
  const test::TemporaryRuns runs;
  const fs::path run = runs.run(manifest_scenario()).folder.path;
  const auto said = [&] {
    return test::error_of([&] { RunManifest(run).require({"captures", "history"}); });
  };
  netio::write_file(run / "captures" / "more.pcapng", "");
  CHECK(said().find("\"captures/more.pcapng\" was added") != std::string::npos);
  fs::remove(run / "captures" / "more.pcapng");
  CHECK(said() == "no error");
  fs::rename(run / "history" / "sim.bin", run / "sim.bin");
  fs::create_symlink("../sim.bin", run / "history" / "sim.bin");
  CHECK(said().find("\"history/sim.bin\" was altered") != std::string::npos);
  fs::remove(run / "history" / "sim.bin");
  REQUIRE(::mkfifo((run / "history" / "sim.bin").c_str(), 0600) ==
          0);  // does not wait for a writer
  CHECK(said().find("\"history/sim.bin\" was altered") != std::string::npos);
}

TEST_CASE("a manifest names what it could not hash; names of any bytes come back") {
  const test::TemporaryRuns runs;
  const std::vector<std::string> names{"back\\slash", "new\nline\r", "\xff\xfe", " *x",
                                       "#not a comment"};
  for (const std::string& name : names) netio::write_file(runs.path() / name, name);
  fs::create_symlink("nowhere", runs.path() / "link");
  write_manifest(runs.path());
  CHECK(netio::read_file(runs.path() / kManifestFile).find("# not hashed: link\n") !=
        std::string::npos);
  const RunManifest manifest(runs.path());
  for (const std::string& name : names) {
    CHECK(manifest.altered({name}).empty());
    netio::write_file(runs.path() / name, "x");
    CHECK(manifest.altered({name}).size() == 1);
  }
  CHECK(manifest.altered({"link"}).size() == 1);
}

TEST_CASE("a report that is made again is the manifest's, one made elsewhere is not") {
  const test::TemporaryRuns runs;
  const fs::path run = runs.run(manifest_scenario()).folder.path;
  netio::write_file(run / "report.html", "another");
  CHECK(RunManifest(run).altered({"report.html"}).size() == 1);
  renew_in_manifest(run, run / "report.html");
  netio::write_file(run / "run.sqlog", "new");
  renew_in_manifest(run, run / "run.sqlog");
  netio::write_file(runs.path() / "elsewhere", "x");
  renew_in_manifest(run, runs.path() / "elsewhere");
  CHECK(RunManifest(run).altered({"report.html", "run.sqlog", "captures"}).empty());
  CHECK(netio::read_file(run / kManifestFile).find("elsewhere") == std::string::npos);
}

TEST_CASE("a manifest that is none is refused with its line") {
  const test::TemporaryRuns runs;
  const std::string hash(64, 'a');
  for (const std::string& line :
       {std::string("x"), hash, hash + "  ", hash + " x", std::string(64, 'A') + "  x",
        hash + "  x\n" + hash + "  x", "\\" + hash + "  x\\", "\\" + hash + "  \\q"}) {
    CAPTURE(line);
    netio::write_file(runs.path() / kManifestFile, "# first\n" + line + "\n");
    CHECK(test::error_of([&] { RunManifest manifest(runs.path()); }).find("SHA256SUMS:") !=
          std::string::npos);
  }
}

TEST_CASE("a run of a version whose verdict has another schema is refused, by all who read it") {
  const test::TemporaryRuns runs;
  const Scenario scenario = manifest_scenario();
  const fs::path untouched = runs.run(scenario).folder.path;
  const fs::path run = runs.run(scenario).folder.path;
  std::string verdict = netio::read_file(run / "verdict.json", kFileMax);
  const size_t at = verdict.find("mrclab.verdict/1");
  REQUIRE(at != std::string::npos);
  verdict.replace(at, 16, "mrclab.verdict/9");
  netio::write_file(run / "verdict.json", verdict);
  renew_in_manifest(run, run / "verdict.json");
  for (const test::RunReader& reader : test::run_readers(scenario, untouched)) {
    CAPTURE(reader.verb);
    if (std::find(reader.files.begin(), reader.files.end(), "verdict.json") == reader.files.end()) {
      continue;
    }
    const std::string error = test::error_of([&] { reader.read(run); });
    CHECK(error.find("found mrclab.verdict/9, written by mrclab ") != std::string::npos);
    CHECK(error.find(": expected mrclab.verdict/1; that version reads it") != std::string::npos);
  }
}

TEST_CASE("a run that an earlier version left is read") {
  // Kept as version 0.1.0 wrote it; a change of the model may give its scenario another history, not make it unreadable.
  const RecordedRun run = read_run(data_directory() / "tests/lab/run/old_runs/0.1.0-first");
  CHECK(run.world == "sim");
  CHECK(run.records() > 1'000);
  const RunPage page = read_page(run.folder);
  CHECK(page.verdict["scenario"] == "first");
  CHECK(page.verdict["result"] == "pass");
}

TEST_CASE("a run whose packets an earlier rule digested is not compared with one of this version") {
  const std::filesystem::path old = data_directory() / "tests/lab/run/old_runs/0.1.0-first";
  const test::TemporaryRuns runs;
  const std::filesystem::path now = runs.run(read_run(old).scenario).folder.path;
  const std::string why =
      "0.1.0-first: its packets have digests of version 1, by mrclab 0.1.0, which cannot be "
      "compared with those of version 3: run its scenario.yaml again with this mrclab";
  CHECK(test::error_of([&] { diff_runs(old, now, 4); }).find(why) != std::string::npos);
  CHECK(test::error_of([&] { diff_runs(now, old, 4); }).find(why) != std::string::npos);
  CHECK(test::error_of([&] { replay_command({.run = old, .world = {}}); }).find(why) !=
        std::string::npos);
  CHECK(diff_runs(old, old, 4).same);
}
