// The folder of a run that is over, with each of its files cut, damaged and taken away: no verb
// answers out of what is left, and where the hashes were made anew none ends but with an error that
// names the file, nor reports that the run passed.

#include <doctest/doctest.h>

#include <fstream>

#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/run/run_report.h"
#include "tests/lab/support/evidence_cuts.h"
#include "tests/lab/support/less_evidence.h"
#include "tests/lab/support/run_readers.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using test::FileKind;
using test::RunReader;

/// A link dies, so that it fails; all that a simulated run can leave is there.
Scenario failing_scenario() {
  return parse_scenario(read_yaml_text(R"(
name: failing
fabric: pair
seed: 3
captures: all
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 5us, link_down: {link: "p0.t0-0:u0", for: 5us}}
end: 20us
expect:
  - losses: {at_most: 0}
  - memory_intact
)",
                                       "failing.yaml"));
}

FileKind kind_of_file(const std::string& name) {
  if (name.ends_with(".pcapng")) return FileKind::kCapture;
  if (name.ends_with(".bin")) return FileKind::kRecords;
  return name == "events.jsonl" ? FileKind::kEvents : FileKind::kText;
}

/// A run, and a copy of it that has one file less or a damaged one at a time.
class DamagedRun {
 public:
  DamagedRun() : untouched_(runs_.run(scenario_).folder.path), copy_(runs_.path() / "copy") {
    fs::copy(untouched_, copy_, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(untouched_)) {
      if (entry.is_regular_file()) files_.push_back(entry.path().lexically_relative(untouched_));
    }
  }

  const fs::path& copy() const { return copy_; }
  std::vector<RunReader> readers() const { return test::run_readers(scenario_, untouched_); }

  /// Calls `look` for each file but the hashes, damaged in each way at some places.
  void for_each_damage(const std::function<void(const std::string& file, test::Cut cut)>& look) {
    for (int place = 0; place < (test::nightly() ? 20 : 2); ++place) {
      for (const std::string& file : files_) {
        if (file == kManifestFile) continue;
        for (const test::Cut cut : test::cuts_of(kind_of_file(file))) {
          CAPTURE(file);
          CAPTURE(cut_name(cut));
          if (damage(file, cut)) look(file, cut);
          restore(file);
        }
      }
    }
  }

 private:
  static constexpr size_t kBytesMax = size_t{1} << 30;

  /// False for an empty file, of which there is nothing to take.
  bool damage(const std::string& file, test::Cut cut) {
    const std::string bytes = netio::read_file(untouched_ / file, kBytesMax);
    if (bytes.empty()) return false;
    const auto left = test::without(kind_of_file(file), bytes, cut, random_);
    fs::remove(copy_ / file);
    if (left) std::ofstream(copy_ / file, std::ios::binary) << *left;
    return true;
  }
  void restore(const std::string& file) {
    for (const fs::path& name : {fs::path(file), fs::path(kManifestFile)}) {
      fs::copy_file(untouched_ / name, copy_ / name, fs::copy_options::overwrite_existing);
    }
  }

  const test::TemporaryRuns runs_;
  const Scenario scenario_ = failing_scenario();
  const fs::path untouched_, copy_;
  std::vector<std::string> files_;
  std::mt19937_64 random_{1};
};

bool rests_on(const RunReader& reader, const std::string& file) {
  return std::find(reader.files.begin(), reader.files.end(), file) != reader.files.end();
}

bool names_file(const std::string& said, const std::string& file) {
  return said.find(file) != std::string::npos;
}

TEST_SUITE("whole run") {
  TEST_CASE("no verb answers out of a run's file that was cut, damaged or taken away") {
    DamagedRun run;
    const std::vector<RunReader> readers = run.readers();
    test::Tallies tallies;
    run.for_each_damage([&](const std::string& file, test::Cut cut) {
      CHECK(RunManifest(run.copy()).altered({file}).size() == 1);
      test::Tally& tally = tallies[{file, cut_name(cut)}];
      for (const RunReader& reader : readers) {
        if (!rests_on(reader, file)) continue;
        CAPTURE(reader.verb);
        const std::string said = test::error_of([&] { reader.read(run.copy()); });
        CAPTURE(said);
        const bool named = names_file(said, '"' + file + "\" was altered") ||
                           names_file(said, '"' + file + "\" is missing");
        CHECK(named);
        ++tally.cuts;
        tally.refused += named ? 1 : 0;
      }
    });
    test::show(tallies);
  }

  TEST_CASE("with hashes made anew, what is left of a run is refused by name, or passes nothing") {
    DamagedRun run;
    const std::vector<RunReader> readers = run.readers();
    REQUIRE(read_page(run.copy()).verdict.at("result") == "fail");
    test::Tallies tallies;
    run.for_each_damage([&](const std::string& file, test::Cut cut) {
      write_manifest(run.copy());
      test::Tally& tally = tallies[{file, cut_name(cut)}];
      for (const RunReader& reader : readers) {
        const bool runs = reader.verb == "shrink" || reader.verb == "replay";  // whatever is left
        if (runs || !rests_on(reader, file)) continue;
        CAPTURE(reader.verb);
        const std::string said = test::error_of([&] { reader.read(run.copy()); });
        CAPTURE(said);
        const bool refused = said != "no error";
        const fs::path path = file;  // of one that is gone its folder is empty
        const bool named = names_file(said, path.filename()) ||
                           (path.has_parent_path() && names_file(said, path.parent_path()));
        if (refused) CHECK(named);
        ++tally.cuts;
        ++(refused ? tally.refused : tally.same);
      }
      const std::string result = [&]() -> std::string {
        try {
          return read_page(run.copy()).verdict.at("result");
        } catch (const InputError&) {
          return "refused";
        }
      }();
      CHECK(result != "pass");
      if (file != "verdict.json" && result != "refused") CHECK(result == "fail");
    });
    test::show(tallies);
  }
}

}  // namespace
}  // namespace mrclab::lab
