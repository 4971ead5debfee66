// A fabric whose switches have FRR, BIRD and our speaker beside them, from `run` and `up` to the last process.

#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "netio/system/file_descriptor.h"
#include "peer_bench.h"

using namespace mrclab;
using namespace mrclab::lab;
using namespace mrclab::lab::test;

namespace {

std::string said(const std::string& words) {
  return netio::test::output_of(std::string(MRCLAB_BINARY_DIR) + "/mrclab-cli " + words);
}

/// A file with one part of its text replaced.
void write_changed(const char* from, const std::string& part, const std::string& by,
                   const std::filesystem::path& to) {
  std::string text = netio::read_file(from, 1 << 20);
  REQUIRE(text.find(part) != std::string::npos);
  text.replace(text.find(part), part.size(), by);
  std::ofstream(to) << text;
}

bool can_run() {
  return !missing_speaker(SpeakerProgram::kFrr) && !missing_speaker(SpeakerProgram::kBird);
}

/// Does it run, and not only wait for its parent?
bool is_alive(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end + 2, 1, "Z") != 0;
}

std::vector<std::string> pids_in(const std::filesystem::path& folder) {
  std::vector<std::string> pids;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".pid") continue;
    std::ifstream in(file.path());
    std::string pid;
    if (in >> pid) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

TEST_SUITE("root: BGP speakers of a fabric") {
  TEST_CASE("packets go where FRR, BIRD and ours say, also past a link that goes down") {
    if (!can_run()) return;
    Folder out;
    const std::string text = said("run " MRCLAB_SOURCE_DIR "/tests/scenarios/speakers.yaml --out " +
                                  out.path().string());
    CHECK_MESSAGE(text.find("PASS  speakers") != std::string::npos, text);
    CHECK(netio::list_namespaces("mrclab-speakers-").empty());
    CHECK_FALSE(std::filesystem::exists("/run/mrclab/speakers"));
  }

  TEST_CASE(
      "ExaBGP in the place of a T0's speaker tells of its hosts, whose packets go up by any link") {
    if (!can_run() || missing_speaker(SpeakerProgram::kExabgp)) return;
    Folder out;
    const std::filesystem::path fabric = out.path() / "fabric.yaml";
    const std::filesystem::path scenario = out.path() / "scenario.yaml";
    write_changed(MRCLAB_SOURCE_DIR "/topologies/fabrics/speakers.yaml", "\"p1.t0-1\": bird",
                  "\"p1.t0-1\": exabgp", fabric);
    write_changed(MRCLAB_SOURCE_DIR "/tests/scenarios/speakers.yaml", "fabric: speakers",
                  "fabric: " + fabric.string(), scenario);
    const std::string text = said("run " + scenario.string() + " --out " + out.path().string());
    CHECK_MESSAGE(text.find("PASS  speakers") != std::string::npos, text);
    CHECK(netio::list_namespaces("mrclab-speakers-").empty());
  }

  TEST_CASE(
      "when the lab's owner is killed, `down` ends its speakers, those of other users' rights as "
      "well") {
    if (!can_run()) return;
    const std::string up = said("up speakers --name spk");
    REQUIRE_MESSAGE(up.find("is up") != std::string::npos, up);
    const std::vector<std::string> pids = pids_in("/run/mrclab/spk/speakers");
    // Three of FRR with two processes each and, where hosts are, a third; two of BIRD.
    CHECK(pids.size() == 9);
    for (const std::string& pid : pids) CHECK(is_alive(pid));
    std::ifstream record("/run/mrclab/spk/record.json");
    const pid_t owner = nlohmann::json::parse(record).at("owner").at("pid").get<pid_t>();
    REQUIRE(::kill(owner, SIGKILL) == 0);
    const std::string down = said("down spk");
    CHECK_MESSAGE(down.find("is down") != std::string::npos, down);
    for (const std::string& pid : pids) CHECK_FALSE(is_alive(pid));
    CHECK(netio::list_namespaces("mrclab-spk-").empty());
    CHECK_FALSE(std::filesystem::exists("/run/mrclab/spk"));
  }
}
