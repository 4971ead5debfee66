#include "lab/serve/page_server.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fabric/text/yaml.h"
#include "lab/serve/page_connection.h"
#include "lab/serve/page_host.h"

namespace mrclab::lab {
namespace {

/// When a connection could not be accepted, for lack of descriptors for instance.
constexpr std::chrono::milliseconds kAcceptAgain{100};

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bits;
  if (::RAND_bytes(bits.data(), bits.size()) != 1) throw std::runtime_error("no random numbers");
  std::string text;
  for (const unsigned char byte : bits) text += fmt::format("{:02x}", byte);
  return text;
}

bool PageThread::take(PageInput input) {
  {
    const std::lock_guard lock(mutex);
    // Comings and goings are as few as connections; they are never left out.
    if (input.what == PageInput::What::kText && inbox.size() >= PageLimits::kMaxWaiting)
      return false;
    inbox.push_back(std::move(input));
  }
  filled.notify_one();
  return true;
}

void PageThread::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) return accept_later(error);
    failing = false;
    make_room();
    std::make_shared<PageConnection>(*this, std::move(socket))->read_request();
    accept();
  });
}

/// The connection stays where it waits, so that accepting it would fail again at once.
void PageThread::accept_later(const error_code& error) {
  if (!std::exchange(failing, true)) {
    fmt::print(stderr, "mrclab serve: cannot accept connections: {}\n", error.message());
  }
  again.expires_after(kAcceptAgain);
  again.async_wait([this](error_code outcome) {
    if (!outcome) accept();
  });
}

/// Of the strangers one that has not asked for anything goes first, then one between two requests, then one that
/// takes its time to read an answer.
void PageThread::make_room() {
  using State = PageConnection::State;
  const auto count = [this](State state) {
    return std::count_if(connections.begin(), connections.end(),
                         [state](const PageConnection* one) { return one->state() == state; });
  };
  size_t strangers = 0;
  for (const State state : {State::kAsking, State::kIdle, State::kAnswered}) {
    strangers += static_cast<size_t>(count(state));
  }
  if (strangers < PageLimits::kMaxStrangers) return;
  for (const State state : {State::kAsking, State::kIdle, State::kAnswered}) {
    const auto oldest =
        std::find_if(connections.begin(), connections.end(),
                     [state](const PageConnection* one) { return one->state() == state; });
    if (oldest != connections.end()) return (*oldest)->give_way();
  }
}

PageServer::PageServer(const ServeOptions& options) : thread_(std::make_unique<PageThread>()) {
  thread_->options = options;
  if (options.token.empty()) thread_->options.token = random_token();
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
    thread_->acceptor.open(endpoint.protocol());
    thread_->acceptor.set_option(asio::socket_base::reuse_address(true));
    thread_->acceptor.bind(endpoint);
    thread_->acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw InputError(fmt::format("cannot listen on {} port {}: {}", options.address, options.port,
                                 error.code().message()));
  }
  thread_->local = thread_->acceptor.local_endpoint();
  thread_->machine = machine_name();
  thread_->accept();
  thread_->thread = std::thread([this] { thread_->io.run(); });
}

PageServer::~PageServer() {
  thread_->io.stop();
  thread_->thread.join();
  thread_->sockets.clear();
}

uint16_t PageServer::port() const { return thread_->acceptor.local_endpoint().port(); }

std::vector<std::string> PageServer::links() const {
  const asio::ip::address address = thread_->local.address();
  std::vector<std::string> names{plain_text(address)};
  if (address.is_unspecified()) {
    names = {address.is_v6() ? "::1" : "127.0.0.1"};
    if (!thread_->machine.empty()) names.push_back(thread_->machine);
  }
  std::vector<std::string> links;
  for (const std::string& name : names) {
    links.push_back(fmt::format("http://{}/?token={}", host_text(name, thread_->local.port()),
                                thread_->options.token));
  }
  return links;
}

bool PageServer::next(PageInput& input, std::chrono::milliseconds at_most) {
  std::unique_lock lock(thread_->mutex);
  if (!thread_->filled.wait_for(lock, at_most, [this] { return !thread_->inbox.empty(); }))
    return false;
  input = std::move(thread_->inbox.front());
  thread_->inbox.pop_front();
  return true;
}

size_t PageServer::waiting_bytes(ClientId client) const {
  const std::lock_guard lock(thread_->mutex);
  const auto found = thread_->waiting.find(client);
  return found == thread_->waiting.end() ? 0 : found->second;
}

void PageServer::wait_until_sent(ClientId client, size_t but, const std::atomic<bool>& over) const {
  std::unique_lock lock(thread_->mutex);
  thread_->fewer.wait(lock, [&] {
    const auto found = thread_->waiting.find(client);
    return over || found == thread_->waiting.end() || found->second <= but;
  });
}

void PageServer::end_waits(std::atomic<bool>& over) {
  {
    const std::lock_guard lock(thread_->mutex);
    over = true;
  }
  thread_->fewer.notify_all();
}

namespace {

/// Has the thread of the server send it, if the browser is still there.
void send(PageThread& thread, ClientId client, std::string bytes, bool text) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));  // with the handlers
  {
    const std::lock_guard lock(thread.mutex);
    thread.waiting[client] += shared->size();
  }
  asio::post(thread.io, [&thread, client, shared = std::move(shared), text] {
    const auto found = thread.sockets.find(client);
    if (found != thread.sockets.end()) return found->second->send(shared, text);
    {
      const std::lock_guard lock(thread.mutex);
      thread.waiting.erase(client);
    }
    thread.fewer.notify_all();
  });
}

}  // namespace

void PageServer::send_text(ClientId client, std::string text) {
  send(*thread_, client, std::move(text), true);
}

void PageServer::send_binary(ClientId client, std::string bytes) {
  send(*thread_, client, std::move(bytes), false);
}

void PageServer::finish(ClientId client) {
  asio::post(thread_->io, [&thread = *thread_, client] {
    const auto found = thread.sockets.find(client);
    if (found != thread.sockets.end()) found->second->finish();
  });
}

}  // namespace mrclab::lab
