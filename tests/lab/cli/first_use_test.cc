// What people stumble over in their first hour, each with the words that they now meet.

#include <doctest/doctest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lab/verbs/labs/doctor.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

bool says(const CommandResult& result, const std::string& words) {
  return result.output.find(words) != std::string::npos;
}

/// What bash completes after these words, the last of them being begun; in a folder with the file "a.txt".
std::string completed(const std::string& words) {
  const netio::test::TemporaryDirectory folder;
  std::ofstream(folder / "a.txt") << "x";
  const std::string use = mrclab({"completion"}).output + "\ncd " + (folder / "").string() +
                          "\nCOMP_WORDS=(mrclab " + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mrclab; echo "
                          "\"${COMPREPLY[@]}\"";
  return run_command_line({"/bin/bash", "-c", use}).output;
}

TEST_CASE("a verb without files completes none, an option before the word may name one") {
  for (const char* words : {"ls a", "heal a.", "inspect a.", "exec a.", "clock a."}) {
    CAPTURE(words);
    CHECK(completed(words).find("a.txt") == std::string::npos);
  }
  for (const char* words : {"validate a.", "run a.", "analyze a.", "fault --export a."}) {
    CAPTURE(words);
    CHECK(completed(words).find("a.txt") != std::string::npos);
  }
}

TEST_CASE("validate takes what ships by its name, and a wrong name learns of both kinds") {
  CHECK(says(mrclab({"validate", "octet"}), "fabric octet: 8 planes"));
  CHECK(says(mrclab({"validate", "optic-glitch"}), "scenario optic-glitch on octet"));
  CHECK(says(mrclab({"validate", "L5"}), "scenario"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", "nosuch"},
        std::vector<std::string>{"chaos", "nosuch", "--seeds", "1-2"}}) {
    const CommandResult wrong = mrclab(words);
    CAPTURE(wrong.output);
    CHECK(wrong.code == 2);
    CHECK(says(wrong, "names no fabric and no incident"));
    CHECK(says(wrong, "octet"));
    CHECK(says(wrong, "optic-glitch"));
  }
}

TEST_CASE("import writes over no file unless it is told to") {
  const netio::test::TemporaryDirectory folder;
  const std::string out = folder / "mine.yaml";
  const std::string imports = std::string(MRCLAB_SOURCE_DIR) + "/topologies/imports/";
  const std::vector<std::string> words{
      "import", imports + "rack-3.log", "--map", imports + "rack-3.map.yaml", "--out", out};
  CHECK(mrclab(words).code == 0);
  std::ofstream(out) << "# mine\n";
  const CommandResult refused = mrclab(words);
  CHECK(refused.code == 2);
  CHECK(says(refused, "--force"));
  CHECK(netio::read_file(out) == "# mine\n");
  std::vector<std::string> forced = words;
  forced.emplace_back("--force");
  CHECK(mrclab(forced).code == 0);
  CHECK(netio::read_file(out) != "# mine\n");
}

TEST_CASE("a lab's name with a dash is refused with the reason") {
  const CommandResult refused = mrclab({"up", "pair", "--name", "my-lab"});
  CHECK(refused.code == 2);
  CHECK(says(refused, "mrclab-<lab>-<node>"));
  CHECK_FALSE(says(mrclab({"up", "pair", "--name", "My"}), "<node>"));
}

TEST_CASE("doctor promises every lab only where nothing is limited") {
  CHECK(doctor_summary(true, 0).find("every lab") != std::string_view::npos);
  CHECK(doctor_summary(true, 1).find("every lab") == std::string_view::npos);
  CHECK(doctor_summary(true, 1).find("limited") != std::string_view::npos);
  CHECK(doctor_summary(false, 0).find("missing") != std::string_view::npos);
}

TEST_CASE("the wrapper says that it waits for the build of another call") {
  const netio::test::TemporaryDirectory folder;
  fs::copy_file(std::string(MRCLAB_SOURCE_DIR) + "/mrclab", folder / "mrclab");
  std::ofstream(folder / "packages.txt") << "[build]\nbash\n";
  fs::create_directories(folder / "lab/front");
  fs::copy_file(std::string(MRCLAB_SOURCE_DIR) + "/lab/front/verb_rows.inc",
                folder / "lab/front/verb_rows.inc");
  fs::create_directory(folder / "build");
  const auto lock = netio::FileDescriptor::open(folder / "build/.lock", O_RDWR | O_CREAT, 0644);
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  netio::ChildOptions options;
  options.argv = {folder / "mrclab", "--no-install", "version"};
  options.stdout_file = folder / "says";
  netio::ChildProcess wrapper = netio::ChildProcess::spawn(options);
  // It waits for ever, so its output does not depend on when it is read.
  std::string said;
  for (int look = 0; look < 2000 && said.find('\n') == std::string::npos; ++look) {
    CHECK_FALSE(wrapper.wait(std::chrono::milliseconds(10)));
    said = netio::read_file(folder / "says");
  }
  CHECK(said.find("waiting: another call builds in") != std::string::npos);
  wrapper.stop(std::chrono::milliseconds(0));
}

TEST_SUITE_BEGIN("root: first use");

TEST_CASE("another user goes on with what the owner built when packages were installed since") {
  netio::test::TemporaryDirectory folder;
  // The other user has to come this far: a run of all tests has a folder of its own for what is temporary.
  fs::permissions(fs::temp_directory_path(), fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(folder / "", fs::perms(0755));
  fs::copy_file(std::string(MRCLAB_SOURCE_DIR) + "/mrclab", folder / "mrclab");
  std::ofstream(folder / "packages.txt") << "[build]\nbash\n";
  std::ofstream(folder / "CMakeLists.txt") << "";
  fs::create_directory(folder / "build");
  std::ofstream(folder / "build/mrclab-cli") << "#!/bin/sh\necho it runs\n";
  fs::permissions(folder / "build/mrclab-cli", fs::perms(0755));
  // Built a day before the last package was installed, and after the sources.
  const auto installed = fs::last_write_time("/var/lib/dpkg/status");
  fs::last_write_time(folder / "CMakeLists.txt", installed - std::chrono::hours(48));
  std::ofstream(folder / "build/.built-all") << "";
  fs::last_write_time(folder / "build/.built-all", installed - std::chrono::hours(24));
  const CommandResult result =
      run_command_line({"/usr/bin/setpriv", "--reuid=4711", "--regid=4711", "--clear-groups",
                        folder / "mrclab", "--no-install", "version"});
  CAPTURE(result.output);
  CHECK(result.code == 0);
  CHECK(says(result, "it runs"));
}

TEST_CASE("with two labs up every hint and refusal says how to name one") {
  enter_sandbox();
  CHECK_FALSE(says(mrclab({"up", "pair", "--name", "one"}), "--lab"));
  const CommandResult second = mrclab({"up", "pair", "--name", "two"});
  CHECK(says(second, "mrclab exec --lab two h0"));
  CHECK(says(mrclab({"exec", "h0", "--", "true"}), "with --lab"));
  CHECK(says(mrclab({"trace", "h0", "h1"}), "with --lab"));
  CHECK(says(mrclab({"down"}), "as NAME"));
  CHECK(says(mrclab({"fault", "--lab", "two", "link_down", "h0:p0"}), "mrclab heal 0 --lab two"));
  CHECK(mrclab({"exec", "--lab", "two", "h0", "--", "true"}).code == 0);
  CHECK(mrclab({"down", "--all"}).code == 0);
}

TEST_CASE("where /run cannot be written, up says so") {
  enter_sandbox();
  fs::create_directory("/run/mrclab");
  REQUIRE(::mount("tmpfs", "/run/mrclab", "tmpfs", MS_RDONLY, nullptr) == 0);
  const CommandResult up = mrclab({"up", "pair"});
  REQUIRE(::umount2("/run/mrclab", 0) == 0);
  fs::remove("/run/mrclab");
  CAPTURE(up.output);
  CHECK(up.code == 3);
  CHECK(says(up, "mount /run so that it can be written"));
}

TEST_CASE(
    "on a terminal the prompt has the whole name of a node, and exec says which way it goes") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "pair"}).code == 0);
  const netio::test::TemporaryDirectory folder;
  const auto on_terminal = [&](const std::string& words, const std::string& typed) {
    std::ofstream(folder / "typed") << typed;
    return run_command_line({"/bin/bash", "-c",
                             "SHELL=/bin/bash HOME=" + (folder / "").string() + " script -qec '" +
                                 program("mrclab-cli") + " " + words + "' /dev/null < " +
                                 (folder / "typed").string()});
  };
  const CommandResult shell = on_terminal("shell p1.t0-0", "exit\n");
  CAPTURE(shell.output);
  CHECK(says(shell, "p1.t0-0"));
  const CommandResult exec = on_terminal("exec h0 -- ping -c 1 -W 20 h1", "");
  CAPTURE(exec.output);
  CHECK(says(exec, "h0 to h1: 2 ways, each flow over one"));
  CHECK_FALSE(says(mrclab({"exec", "h0", "--", "ping", "-c", "1", "h1"}), "ways"));
  CHECK(mrclab({"down"}).code == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
