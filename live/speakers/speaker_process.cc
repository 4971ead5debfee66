#include "live/speakers/speaker_process.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/process_sockets.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

constexpr std::chrono::milliseconds kSpeakerGrace{3000}, kSpeakerPatience{20000};
constexpr size_t kMaxAnswer = 16 << 20;
constexpr const char* kFrrUser = "frr";
/// FRR writes crash logs there; it has no option for it.
constexpr const char* kFrrCrashFolder = "/var/tmp";

struct ProgramNames {
  std::vector<std::string> programs;
  std::string package;
};

ProgramNames names_of(SpeakerProgram program) {
  switch (program) {
    case SpeakerProgram::kFrr: return {{"zebra", "staticd", "bgpd", "vtysh"}, "frr"};
    case SpeakerProgram::kBird: return {{"bird", "birdc"}, "bird2"};
    case SpeakerProgram::kExabgp: return {{"exabgp"}, "exabgp"};
    case SpeakerProgram::kBgpd: break;
  }
  return {};
}

/// What a program prints, with its errors; cut at kMaxAnswer.
std::string output_of_program(std::vector<std::string> command,
                              const std::filesystem::path& folder) {
  const std::filesystem::path output = folder / fmt::format("answer.{}", ::getpid());
  std::filesystem::remove(output);
  netio::ChildOptions options;
  options.argv = std::move(command);
  options.argv.front() = netio::find_program(options.argv.front()).value_or(options.argv.front());
  options.stdout_file = output;
  netio::ChildProcess child = netio::ChildProcess::spawn(options);
  const auto status = child.wait(kSpeakerPatience);
  std::string text = netio::read_file(output, kMaxAnswer);
  std::filesystem::remove(output);
  if (!status) throw netio::SystemError(options.argv.front(), ETIMEDOUT, "no end");
  return text;
}

}  // namespace

std::optional<MissingSpeaker> missing_speaker(SpeakerProgram program) {
  MissingSpeaker missing{{}, names_of(program).package};
  for (const std::string& name : names_of(program).programs) {
    if (!netio::find_program(name)) missing.programs.push_back(name);
  }
  return missing.programs.empty() ? std::nullopt : std::optional(missing);
}

std::string speaker_version(SpeakerProgram program) {
  if (program == SpeakerProgram::kBgpd || missing_speaker(program)) return "";
  const std::string name = names_of(program).programs.size() > 1 && program == SpeakerProgram::kFrr
                               ? "bgpd"
                               : names_of(program).programs.front();
  const std::string text =
      output_of_program({name, "--version"}, std::filesystem::temp_directory_path());
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("[0-9]+\\.[0-9]+(\\.[0-9]+)?"))) return "";
  const std::string_view title = program == SpeakerProgram::kFrr    ? "FRRouting "
                                 : program == SpeakerProgram::kBird ? "BIRD "
                                                                    : "ExaBGP ";
  return std::string(title) + found.str();
}

SpeakerProcess::SpeakerProcess(const SpeakerPlan& plan, SpeakerProgram program,
                               const SpeakerPlace& place)
    : program_(program), place_(place) {
  if (const auto missing = missing_speaker(program)) {
    throw InputError(
        fmt::format("{}: found no {}: expected the package {} for \"speaker: {}\"; "
                    "apt-get install {}",
                    plan.name, missing->programs.front(), missing->package, name_of(program),
                    missing->package));
  }
  std::filesystem::create_directories(place_.folder);
  const std::string config = place.config.empty() ? speaker_config(plan, program) : place.config;
  switch (program) {
    case SpeakerProgram::kFrr: start_frr(plan, config); break;
    case SpeakerProgram::kBird:
      write("bird.conf", config);
      start("bird", {"-f", "-c", path("bird.conf"), "-s", path("bird.ctl"), "-P", path("bird.pid")},
            "bird.ctl");
      break;
    case SpeakerProgram::kExabgp:
      write("exabgp.conf", config);
      start("exabgp", {path("exabgp.conf")}, "");
      break;
    case SpeakerProgram::kBgpd:
      write("bgpd.yaml", config);
      start(place_.own_programs / "mrc-bgpd", {path("bgpd.yaml")}, "");
      break;
  }
}

SpeakerProcess::~SpeakerProcess() {
  // The last one first: bgpd takes its routes back from zebra.
  while (!children_.empty()) {
    children_.back()->stop(kSpeakerGrace);
    children_.pop_back();
  }
  std::error_code ignored;
  std::filesystem::remove_all(place_.folder, ignored);
}

void SpeakerProcess::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
}

/// Its daemons give their rights away to a user of their own, who must be able to write into a folder; root writes
/// into none that is another user's.
void SpeakerProcess::start_frr(const SpeakerPlan& plan, const std::string& config) {
  const passwd* user = ::getpwnam(kFrrUser);
  if (user == nullptr)
    throw netio::SystemError("find the user frr", ENOENT, "the package frr makes it");
  const std::string theirs = path(kFrrUser);
  std::filesystem::create_directory(theirs);
  netio::check_system_call("give " + theirs + " to frr",
                           ::chown(theirs.c_str(), user->pw_uid, user->pw_gid));
  // An option of bgpd in zebra's file is an error, and the reverse.
  write("zebra.conf", "no zebra nexthop kernel enable\n");
  write("bgpd.conf", config);
  const auto common = [&](const std::string& name) {
    const std::string there = theirs + "/" + name;
    return std::vector<std::string>{"--vty_socket", theirs,
                                    "-f",           path(name + ".conf"),
                                    "-i",           there + ".pid",
                                    "-z",           theirs + "/zserv.api",
                                    "-P",           "0",
                                    "--log",        "file:" + there + ".log"};
  };
  if (plan.kernel_routes) start("zebra", common("zebra"), "frr/zserv.api");
  if (has_devices(plan)) {
    write("staticd.conf", frr_static_config(plan));
    start("staticd", common("staticd"), "frr/staticd.vty");
  }
  std::vector<std::string> arguments = common("bgpd");
  if (!plan.kernel_routes) arguments.insert(arguments.end(), {"-Z", "-n"});
  // Only at the addresses of its sessions.
  for (const SpeakerPlan::Neighbour& neighbour : plan.neighbours) {
    const std::string local = to_string(neighbour.local);
    if (std::find(arguments.begin(), arguments.end(), local) != arguments.end()) continue;
    arguments.insert(arguments.end(), {"-l", local});
  }
  start("bgpd", arguments, "frr/bgpd.vty");
}

void SpeakerProcess::start(const std::string& program, std::vector<std::string> arguments,
                           const std::string& ready) {
  netio::ChildOptions options;
  options.argv = {netio::find_program(program).value_or(program)};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = place_.environment;
  const std::string name = std::filesystem::path(program).filename();
  options.stdout_file = path(name + ".out");
  if (program_ == SpeakerProgram::kExabgp) {
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"exabgp.daemon.user", "root"},
             {"exabgp.daemon.daemonize", "false"},
             {"exabgp.daemon.pid", path("exabgp.pid")},
             {"exabgp.api.cli", "false"},
             {"exabgp.log.destination", "stdout"}}) {
      options.environment.emplace_back(key, value);
    }
  }
  const netio::NetworkNamespace& where = place_.where;
  const bool frr = program_ == SpeakerProgram::kFrr;
  options.before_exec = [&where, frr] {
    where.enter();
    if (frr) netio::hide_folder(kFrrCrashFolder);
  };
  children_.push_back(std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(options)));
  if (place_.started) place_.started(children_.back()->pid(), name);
  if (ready.empty()) return;
  const auto until = std::chrono::steady_clock::now() + kSpeakerPatience;
  while (!std::filesystem::exists(path(ready))) {
    if (const auto ended = children_.back()->wait(std::chrono::milliseconds(5))) {
      throw netio::SystemError(
          name, EIO, to_string(*ended) + ": " + netio::read_file(path(name + ".out"), 2000));
    }
    if (std::chrono::steady_clock::now() > until) {
      throw netio::SystemError(name, ETIMEDOUT, "no " + path(ready));
    }
  }
}

std::optional<std::string> SpeakerProcess::check() {
  for (const auto& child : children_) {
    if (const auto ended = child->wait(std::chrono::milliseconds(0))) {
      return child->name() + ": " + to_string(*ended);
    }
  }
  return std::nullopt;
}

std::string SpeakerProcess::take_stops() {
  for (const auto& child : children_) {
    if (const std::string stops = child->take_stops(); !stops.empty()) {
      return child->name() + " " + stops;
    }
  }
  return "";
}

std::set<uint32_t> SpeakerProcess::netlink_ports() const {
  std::set<uint32_t> ports;
  for (const auto& child : children_) ports.merge(netio::netlink_ports_of(*child));
  return ports;
}

std::string SpeakerProcess::ask(const std::string& command) const {
  switch (program_) {
    case SpeakerProgram::kFrr:
      return output_of_program({"vtysh", "--vty_socket", path(kFrrUser), "-c", command},
                               place_.folder);
    case SpeakerProgram::kBird: {
      std::vector<std::string> words{"birdc", "-r", "-s", path("bird.ctl")};
      words.push_back(command);
      return output_of_program(words, place_.folder);
    }
    case SpeakerProgram::kExabgp:
    case SpeakerProgram::kBgpd: break;
  }
  const char* file = program_ == SpeakerProgram::kBgpd ? "mrc-bgpd.out" : "exabgp.out";
  return netio::read_file(path(file), kMaxAnswer);
}

}  // namespace mrclab::lab
