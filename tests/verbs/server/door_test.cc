// The doors of hosts: who is let in, and what becomes of those who leave.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "netio/system/message_socket.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/verbs/support/test_program.h"
#include "verbs/server/door.h"

using namespace mrclab;
using namespace mrclab::test;
using netio::MessageSocket;
using verbs::Op;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/mrclab-test-door-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

/// Two hosts with doors, served by the thread of the test.
struct Lab {
  Lab() : fabric(two_rows(), {}) {
    fabric.stop_when_finished = false;
    for (uint32_t host = 0; host < 2; ++host) {
      doors.open(path(host), fabric.host(host).device(),
                 verbs::host_facts(fabric.topology, host, endpoint::TransportKind::kMrc));
    }
  }
  std::filesystem::path path(uint32_t host) const {
    return verbs::door_of(folder.path, "h" + std::to_string(host));
  }
  void turn() {
    doors.serve(1000);
    fabric.run_until(fabric.now() + FabricTime::from_us(1));
  }
  /// A program at the door of `host`, which serves while it waits for an answer.
  TestProgram enter(uint32_t host) {
    auto socket = std::make_shared<MessageSocket>(MessageSocket::connect(path(host)));
    return TestProgram([this, socket](std::vector<uint8_t> message,
                                      std::vector<netio::FileDescriptor> descriptors) {
      std::vector<int> passed;
      for (const auto& descriptor : descriptors) passed.push_back(descriptor.get());
      TestProgram::Reply reply;
      if (!socket->send(message, passed)) return reply;
      std::vector<uint8_t> room(verbs::kMaxMessage);
      for (int i = 0; i < 100; ++i) {
        turn();
        auto got = socket->receive(room, 0);
        if (got.outcome == MessageSocket::Outcome::kNothing) continue;
        if (got.outcome != MessageSocket::Outcome::kMessage) return reply;
        verbs::ReplyHeader header;
        std::memcpy(&header, room.data(), sizeof header);
        reply.status = header.status;
        reply.body.assign(room.begin() + sizeof header,
                          room.begin() + static_cast<std::ptrdiff_t>(got.size));
        reply.descriptors = std::move(got.descriptors);
        CHECK(header.rate == 1000);
        return reply;
      }
      throw std::runtime_error("no answer");
    });
  }

  Folder folder;
  SimFabric fabric;
  verbs::Doors doors;  // before the hosts it goes
};

}  // namespace

TEST_CASE("programs come through the doors of two hosts and write to each other") {
  Lab lab;
  TestProgram a = lab.enter(0), b = lab.enter(1);
  CHECK(std::string(a.greet().host) == "h0");
  CHECK(std::string(b.greet().host) == "h1");
  std::vector<uint8_t> from(5000, 7), to(5000);
  const auto mine = a.region(from), theirs = b.region(to);
  const uint32_t cq = a.cq(16), other = b.cq(16);
  const auto qp = a.qp(cq, cq), peer = b.qp(other, other);
  REQUIRE(a.connect(qp, b.hello.gid, peer.qpn) == 0);
  REQUIRE(b.connect(peer, a.hello.gid, qp.qpn) == 0);
  REQUIRE(
      a.write(qp.handle, 5, from, mine.lkey, reinterpret_cast<uint64_t>(to.data()), theirs.rkey));
  for (int i = 0; i < 100 && a.ring(cq).written.load() == 0; ++i) lab.turn();
  const auto done = a.poll(cq);
  REQUIRE(done);
  CHECK(done->wr_id == 5);
  CHECK(to == from);
}

TEST_CASE("a door has the mode 0600 and goes with its lab, and what a dead one left is replaced") {
  std::filesystem::path left;
  {
    Lab lab;
    struct stat status {};
    REQUIRE(::stat(lab.path(0).c_str(), &status) == 0);
    CHECK(S_ISSOCK(status.st_mode));
    CHECK((status.st_mode & 0777) == 0600);
    left = lab.path(0);
    CHECK_THROWS_AS(netio::MessageListener{lab.path(0)}, netio::SystemError);  // somebody listens
  }
  CHECK_FALSE(std::filesystem::exists(left));
  Folder folder;
  const auto path = folder.path / "door";
  const pid_t child = ::fork();
  if (child == 0) {
    const netio::MessageListener listener(path);
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(std::filesystem::exists(path));
  CHECK_NOTHROW(netio::MessageListener{path});
}

TEST_CASE("a door opens however long its path is") {
  Folder folder;
  const auto path = folder.path / std::string(100, 'x') / std::string(100, 'y') / "door";
  std::filesystem::create_directories(path.parent_path());
  netio::MessageListener listener(path);
  MessageSocket guest = MessageSocket::connect(path);
  CHECK(listener.accept());
}

TEST_CASE("who says nothing makes room for others, and no more than the bound come in") {
  Lab lab;
  std::vector<MessageSocket> silent;
  for (size_t i = 0; i < verbs::Doors::kMaxSilent + 3; ++i) {
    silent.push_back(MessageSocket::connect(lab.path(0)));
    lab.turn();
  }
  std::vector<uint8_t> room(64);
  size_t closed = 0;
  for (auto& socket : silent) {
    closed += socket.receive(room, 0).outcome == MessageSocket::Outcome::kClosed ? 1 : 0;
  }
  CHECK(closed == 3);
  std::vector<TestProgram> programs;
  for (size_t i = 0; i + verbs::Doors::kMaxSilent < verbs::Doors::kMaxPrograms; ++i) {
    programs.push_back(lab.enter(0));
    REQUIRE_NOTHROW(programs.back().greet());
  }
  const auto late = std::make_shared<int>();
  MessageSocket refused = MessageSocket::connect(lab.path(0));
  lab.turn();
  lab.turn();
  // One of the silent ones went for it, or it was closed: the number stays.
  CHECK(lab.doors.anybody());
}

TEST_CASE("a program that is killed in the middle of its work leaves its host clean") {
  Lab lab;
  TestProgram peer = lab.enter(1);
  peer.greet();
  std::vector<uint8_t> to(1 << 20);
  const auto theirs = peer.region(to);
  const uint32_t peer_cq = peer.cq(16);
  const auto peer_qp = peer.qp(peer_cq, peer_cq);
  {
    TestProgram a = lab.enter(0);
    a.greet();
    std::vector<uint8_t> from(1 << 20, 1);
    const auto mine = a.region(from);
    const uint32_t cq = a.cq(16);
    const auto qp = a.qp(cq, cq);
    REQUIRE(a.connect(qp, peer.hello.gid, peer_qp.qpn) == 0);
    REQUIRE(peer.connect(peer_qp, a.hello.gid, qp.qpn) == 0);
    REQUIRE(
        a.write(qp.handle, 1, from, mine.lkey, reinterpret_cast<uint64_t>(to.data()), theirs.rkey));
    lab.turn();
    CHECK(lab.fabric.host(0).queues().size() == 1);
  }
  lab.turn();
  lab.turn();
  CHECK(lab.fabric.host(0).stats().qps == 0);
  CHECK(lab.enter(0).greet().max_qp > 0);
}

TEST_CASE("messages that are too long, too short or carry too much end their connection alone") {
  Lab lab;
  TestProgram good = lab.enter(0);
  good.greet();
  const auto ends = [&](std::vector<uint8_t> message, size_t descriptors) {
    MessageSocket socket = MessageSocket::connect(lab.path(0));
    const std::vector<int> passed(descriptors, 0);
    REQUIRE(socket.send(message, passed));
    lab.turn();
    lab.turn();
    std::vector<uint8_t> room(64);
    return socket.receive(room, 0).outcome == MessageSocket::Outcome::kClosed;
  };
  CHECK(ends(std::vector<uint8_t>(verbs::kMaxMessage + 1), 0));
  CHECK(ends({1}, 0));
  CHECK(ends(std::vector<uint8_t>(24), 4));
  CHECK(good.call(Op::kQueryPort).status == 0);
}
