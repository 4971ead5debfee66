#include "lab/serve/metrics_server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <optional>

#include "fabric/text/input_error.h"
#include "lab/serve/page_host.h"
#include "lab/serve/query_text.h"
#include "telemetry/open_metrics.h"

namespace mrclab::lab {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using error_code = boost::system::error_code;

http::response<http::string_body> answer_to(const http::request<http::empty_body>& request,
                                            const MakeMetrics& make) {
  http::response<http::string_body> response{http::status::ok, 11};
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.set(http::field::cache_control, "no-store");
  response.keep_alive(false);
  const std::string target(request.target());
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    response.result(http::status::method_not_allowed);
    response.set(http::field::allow, "GET, HEAD");
    response.body() = "GET /metrics is all there is\n";
  } else if (target.substr(0, target.find('?')) != "/metrics") {
    response.result(http::status::not_found);
    response.body() = "metrics are at /metrics, of some nodes at /metrics?node=PATTERN\n";
  } else {
    try {
      response.body() = make(query_value(target, "node"));
      response.set(http::field::content_type, std::string(telemetry::kOpenMetricsType));
    } catch (const InputError& error) {
      response.result(http::status::bad_request);
      response.body() = fmt::format("{}\n", error.what());
    } catch (const std::exception& error) {
      response.result(http::status::service_unavailable);
      response.body() = fmt::format("{}\n", error.what());
    }
  }
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

/// One scraper: a request, an answer, the end.
class Scrape : public std::enable_shared_from_this<Scrape> {
 public:
  Scrape(tcp::socket socket, const MakeMetrics& make, size_t& open)
      : stream_(std::move(socket)), make_(make), open_(open) {
    ++open_;
  }
  ~Scrape() { --open_; }

  void read() {
    parser_.header_limit(kMaxScrapeBytes);
    parser_.body_limit(0);
    stream_.expires_after(kScrapeTime);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    response_ = answer_to(parser_.get(), make_);
    stream_.expires_after(kScrapeTime);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  const MakeMetrics& make_;
  size_t& open_;
  beast::flat_buffer buffer_{kMaxScrapeBytes};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

struct MetricsServer::Impl {
  MakeMetrics make;
  size_t open = 0;  // outlives the connections, which end with the context
  asio::io_context context;
  tcp::acceptor acceptor{context};
  asio::steady_timer again{context};

  void listen(const std::string& address, uint16_t port) {
    error_code error;
    const auto at = asio::ip::make_address(address, error);
    if (error)
      throw InputError(fmt::format("--listen: found \"{}\", expected an address", address));
    const tcp::endpoint endpoint(at, port);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw InputError(
          fmt::format("cannot listen on {}: {}", host_text(address, port), error.message()));
    }
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      if (open < kMaxScrapers) std::make_shared<Scrape>(std::move(socket), make, open)->read();
      accept();
    });
  }
  /// Without descriptors for a connection the next attempt would fail at once, too.
  void accept_later() {
    again.expires_after(std::chrono::milliseconds(100));
    again.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }
};

MetricsServer::MetricsServer(const std::string& address, uint16_t port, MakeMetrics make)
    : impl_(std::make_unique<Impl>()) {
  impl_->make = std::move(make);
  impl_->listen(address, port);
  impl_->accept();
}

MetricsServer::~MetricsServer() = default;

std::string MetricsServer::link() const {
  const tcp::endpoint at = impl_->acceptor.local_endpoint();
  return fmt::format("http://{}/metrics", host_text(at.address().to_string(), at.port()));
}

void MetricsServer::serve_for(std::chrono::milliseconds time) { impl_->context.run_for(time); }

}  // namespace mrclab::lab
