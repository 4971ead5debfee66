#include "lab/serve/page_connection.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "lab/serve/page_host.h"
#include "lab/serve/query_text.h"
#include "session/page_files.h"
#include "telemetry/open_metrics.h"

namespace mrclab::lab {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Compares in constant time, so that timing does not reveal a matching prefix.
bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view text_of(beast::string_view text) { return {text.data(), text.size()}; }

bool is_loopback(const asio::ip::address& address) {
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return mapped ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback()
                : address.is_loopback();
}

}  // namespace

std::string plain_text(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  asio::ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, six).to_string();
  six.scope_id(0);
  return six.to_string();
}

void PageConnection::give_way() {
  state_ = State::kLeaving;
  stream_.close();
}

bool PageConnection::names_us(std::string_view host) const {
  return names_page(
      host, {plain_text(address_), server_.local.port(), server_.local.address().is_unspecified(),
             server_.machine, is_loopback(address_)});
}

void PageConnection::read_request() {
  parser_.emplace();
  parser_->header_limit(PageLimits::kMaxRequestBytes);
  parser_->body_limit(0);
  stream_.expires_after(PageLimits::kHandshakeTime);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) {
                     if (self->state_ == State::kLeaving) return;
                     if (!error) return self->answer();
                     if (error == http::error::header_limit || error == http::error::body_limit) {
                       self->refuse(http::status::payload_too_large, "too long");
                     }
                   });
}

void PageConnection::respond(http::response<http::string_body> response) {
  response_ = std::move(response);
  response_.set("Content-Security-Policy", kPolicy);
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("Referrer-Policy", "no-referrer");
  response_.set("Cross-Origin-Opener-Policy", "same-origin");
  response_.set("Cross-Origin-Resource-Policy", "same-origin");
  response_.set(http::field::cache_control, "no-store");
  response_.prepare_payload();
  // The answer to HEAD has the length of that to GET, and ends there (RFC 9110 section 9.3.2).
  if (parser_->get().method() == http::verb::head) response_.body().clear();
  http::async_write(stream_, response_, [self = shared_from_this()](error_code error, size_t) {
    if (error || self->state_ == State::kLeaving) return;
    if (self->response_.keep_alive()) {
      self->state_ = State::kIdle;
      return self->read_request();
    }
    error_code ignored;
    self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  });
}

void PageConnection::refuse(http::status status, const std::string& why) {
  http::response<http::string_body> response{status, 11};
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = why + "\n";
  response.keep_alive(false);
  respond(std::move(response));
}

void PageConnection::answer() {
  const auto& request = parser_->get();
  state_ = State::kAnswered;
  const std::string_view host = text_of(request[http::field::host]);
  if (!names_us(host)) {
    return refuse(http::status::misdirected_request, "this is not the host that was asked for");
  }
  const std::string target(text_of(request.target()));
  const std::string path = target.substr(0, target.find('?'));
  if (websocket::is_upgrade(request)) {
    const std::string_view origin = text_of(request[http::field::origin]);
    const bool ours = origin.starts_with("http://") && names_us(origin.substr(7));
    PageVisitor visitor;
    if (path != "/live" || !ours || !may_join(target, visitor)) {
      return refuse(http::status::forbidden, "wrong origin or token");
    }
    if (server_.sockets.size() >= server_.options.max_clients) {
      return refuse(http::status::service_unavailable, "too many browsers");
    }
    return upgrade(std::move(visitor));
  }
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return refuse(http::status::method_not_allowed, "GET only");
  }
  const std::string_view wanted = path == "/" ? "/index.html" : std::string_view(path);
  for (const PageFile& file : page_files()) {
    // Lessons hold their answers. Browsers are sent them in messages, which need the token.
    if (file.path != wanted || wanted.starts_with(kLessonFolder)) continue;
    http::response<http::string_body> response{http::status::ok, request.version()};
    response.set(http::field::content_type, std::string(media_type(file.path)));
    response.keep_alive(request.keep_alive());
    response.body().assign(file.bytes);
    return respond(std::move(response));
  }
  if (path == "/metrics" && server_.options.metrics) return answer_scrape(target);
  const std::string token = query_value(target, "token");
  if (server_.options.document && same_secret(token, server_.options.teacher_token)) {
    if (auto document = server_.options.document(path)) {
      http::response<http::string_body> response{http::status::ok, request.version()};
      response.set(http::field::content_type, document->media_type);
      response.keep_alive(request.keep_alive());
      response.body() = std::move(document->text);
      return respond(std::move(response));
    }
  }
  refuse(http::status::not_found, "there is no such file");
}

void PageConnection::answer_scrape(const std::string& target) {
  const auto& request = parser_->get();
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view credentials = text_of(request[http::field::authorization]);
  const bool bears = credentials.starts_with(kBearer) &&
                     same_secret(credentials.substr(kBearer.size()), server_.options.token);
  if (!bears && !same_secret(query_value(target, "token"), server_.options.token)) {
    return refuse(http::status::forbidden, "wrong token");
  }
  auto made = server_.options.metrics(query_value(target, "node"));
  if (!made) return refuse(http::status::service_unavailable, "the world is busy: ask again");
  if (made->refused) return refuse(http::status::bad_request, made->text);
  http::response<http::string_body> response{http::status::ok, request.version()};
  response.set(http::field::content_type, std::string(telemetry::kOpenMetricsType));
  response.keep_alive(request.keep_alive());
  response.body() = std::move(made->text);
  respond(std::move(response));
}

/// Whoever has a token may; a teacher's is another one.
bool PageConnection::may_join(const std::string& target, PageVisitor& visitor) const {
  const std::string token = query_value(target, "token");
  visitor = {
      query_value(target, "name"), query_value(target, "key"),
      !server_.options.teacher_token.empty() && same_secret(token, server_.options.teacher_token)};
  return visitor.teacher || same_secret(token, server_.options.token);
}

void PageConnection::upgrade(PageVisitor visitor) {
  state_ = State::kKnown;
  stream_.expires_never();
  socket_.emplace(std::move(stream_));
  socket_->set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
  socket_->read_message_max(PageLimits::kMaxTextBytes);
  socket_->async_accept(parser_->get(), [self = shared_from_this(),
                                         visitor = std::move(visitor)](error_code error) mutable {
    if (error) return;
    self->id_ = ++self->server_.newest;
    self->server_.sockets[self->id_] = self;
    self->server_.take({self->id_, PageInput::What::kJoined, {}, std::move(visitor)});
    self->read_text();
  });
}

void PageConnection::read_text() {
  buffer_.clear();
  socket_->async_read(buffer_, [self = shared_from_this()](error_code error, size_t) {
    if (error) return self->leave();
    if (!self->socket_->got_text()) return self->close();
    std::string text = beast::buffers_to_string(self->buffer_.data());
    if (!self->server_.take({self->id_, PageInput::What::kText, std::move(text)})) {
      return self->close();
    }
    self->read_text();
  });
}

void PageConnection::send(std::shared_ptr<const std::string> bytes, bool text) {
  outgoing_bytes_ += bytes->size();
  if (outgoing_bytes_ > PageLimits::kMaxOutgoingBytes) return close();
  outgoing_.push_back({std::move(bytes), text});
  if (outgoing_.size() == 1) write_next();
}

void PageConnection::write_next() {
  socket_->text(outgoing_.front().text);
  socket_->async_write(asio::buffer(*outgoing_.front().bytes),
                       [self = shared_from_this()](error_code error, size_t) {
                         if (error) return self->leave();
                         const size_t size = self->outgoing_.front().bytes->size();
                         self->outgoing_bytes_ -= size;
                         self->outgoing_.pop_front();
                         {
                           const std::lock_guard lock(self->server_.mutex);
                           const auto found = self->server_.waiting.find(self->id_);
                           if (found != self->server_.waiting.end()) found->second -= size;
                         }
                         self->server_.fewer.notify_all();
                         if (!self->outgoing_.empty()) return self->write_next();
                         if (self->finishing_) self->close();
                       });
}

void PageConnection::finish() {
  finishing_ = true;
  if (outgoing_.empty()) close();
}

void PageConnection::close() {
  beast::get_lowest_layer(*socket_).close();  // what reads or writes ends with an error, and leaves
}

void PageConnection::leave() {
  if (server_.sockets.erase(id_) == 0) return;
  {
    const std::lock_guard lock(server_.mutex);
    server_.waiting.erase(id_);
  }
  server_.fewer.notify_all();
  server_.take({id_, PageInput::What::kLeft});
}

}  // namespace mrclab::lab
