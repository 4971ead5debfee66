#pragma once
// A host's side without a host: it speaks the protocol of verbs/protocol, and its queue pairs reach each other in memory
// at once. For tests of the library in a program: what it offers is told apart from what a device does with it, and its
// replies can be spoilt. One thread; programs are other processes, or other threads of the same.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "verbs/protocol/messages.h"
#include "verbs/protocol/ring.h"

namespace mrclab::verbs::client_test {

struct LoopbackOptions {
  uint32_t capabilities = kCanWrite | kCanSend | kCanRead | kCanAtomic;
  const char* device = "roce0";
  uint32_t transport = 1;
  /// May change each reply (header and body) before it is sent; an empty one is not sent, and the connection is closed.
  std::function<void(Op, std::vector<uint8_t>&)> spoil;
};

class LoopbackServer {
 public:
  LoopbackServer(std::string path, LoopbackOptions options);
  ~LoopbackServer();
  /// Serves until `stop`.
  void run(const std::atomic<bool>& stop);
  /// One look at sockets and rings.
  void tick(int wait_ms);
  /// Tells every program this asynchronous event.
  void send_event(AsyncEventWire event);
  /// Whether a program has queue pairs.
  bool has_pairs() const { return !connections_.empty() && !connections_.front()->pairs.empty(); }
  /// Of the last message that had one, as it stood in its record.
  uint32_t last_immediate() const { return last_immediate_; }
  /// Closes every connection.
  void hang_up();

 private:
  struct Region {
    uint64_t address, length, iova;
    uint32_t access, domain;
  };
  struct Channel {
    int read_end, write_end;
  };
  struct Queue {
    CompletionRing* ring;
    size_t mapped;
    uint32_t depth, channel;
    uint32_t armed;  ///< 0, 1: any completion, 2: solicited or an error
    uint64_t written;
  };
  struct Work {
    WorkRecord head;
    std::vector<WorkSge> list;
    std::vector<uint8_t> data;
    uint64_t tries = 0;
  };
  struct Pair {
    uint32_t send_cq, recv_cq, srq, domain, qpn, state;
    QpAttributesWire attributes;
    std::deque<Work> sends, receives;
    bool started;  ///< the first of `sends` waited already
  };
  struct SharedQueue {
    uint32_t max_wr, max_sge, limit, domain;
    std::deque<Work> receives;
  };
  struct Connection {
    int socket = -1, memory = -1;
    int events[2] = {-1, -1};
    WorkRing* work = nullptr;
    std::map<uint32_t, Region> regions;
    std::map<uint32_t, Channel> channels;
    std::map<uint32_t, Queue> queues;
    std::map<uint32_t, Pair> pairs;
    std::map<uint32_t, SharedQueue> shared;
    uint32_t next_handle = 1;
    bool ended = false;
  };

  void accept_one();
  void serve_message(Connection& from);
  int answer(Connection& from, Op op, std::span<const uint8_t> body, std::vector<uint8_t>& reply,
             std::vector<int>& descriptors);
  int hello(Connection& from, std::vector<uint8_t>& reply, std::vector<int>& descriptors);
  int create_cq(Connection& from, const CqRequest& request, std::vector<uint8_t>& reply,
                std::vector<int>& descriptors);
  int create_qp(Connection& from, const QpRequest& request, std::vector<uint8_t>& reply);
  int modify_qp(Connection& from, const ModifyRequest& request);
  void take_work(Connection& from);
  void progress(Connection& from);
  bool execute(Connection& from, Pair& pair, Work& work);
  uint32_t execute_on(Connection& from, Pair& pair, Work& work, Connection& to, Pair& peer,
                      bool& wait);
  uint32_t deliver(Connection& to, Pair& peer, const std::vector<uint8_t>& data, const Work& work,
                   bool& wait);
  void fail(Connection& of, Pair& pair);
  void complete(Connection& of, uint32_t cq, CompletionEntry entry, bool solicited);
  bool copy_local(Connection& of, uint32_t domain, const std::vector<WorkSge>& list,
                  std::vector<uint8_t>& data, bool store, uint32_t access);
  bool copy_remote(Connection& of, uint32_t domain, uint32_t rkey, uint64_t address,
                   std::vector<uint8_t>& data, bool store, uint32_t access);
  void end(Connection& of);

  std::string path_;
  LoopbackOptions options_;
  int listener_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  uint32_t next_qpn_ = 0x100;
  uint32_t next_key_ = 0x1000;
  uint64_t ticks_ = 0;
  uint32_t last_immediate_ = 0;
};

}  // namespace mrclab::verbs::client_test
