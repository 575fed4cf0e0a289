#include "common/net/router.h"

#include <cerrno>
#include <stdexcept>

#include "common/net/address.h"
#include "common/net/address_fault.h"
#include "common/text/endpoint.h"

namespace ballast {

namespace {

// A peer that is not encrypted is not told apart by ZeroMQ's authentication, which asks for those of this domain.
const std::string kDomain = "ballast";

}  // namespace

// A name that another connection has is not taken over (ROUTER_HANDOVER): ZeroMQ would do so before anybody sees whose
// key that is. So whoever comes back has another name (dealer.h).
Router::Router(zmq::context_t& context, const SocketOptions& options, const std::string& secret_key)
    : Socket(context, zmq::socket_type::router, options) {
  raw().set(zmq::sockopt::router_mandatory, 1);
  if (!secret_key.empty()) {
    raw().set(zmq::sockopt::curve_server, 1);
    raw().set(zmq::sockopt::curve_secretkey, secret_key);
    raw().set(zmq::sockopt::zap_domain, options.intake ? options.intake->begin().domain() : kDomain);
  }
}

Router::~Router() { callers_.reset(); }

std::string Router::bind(const std::string& address) {
  // ZeroMQ takes a port's last 16 bits.
  if (const auto fault = bind_fault(address); is_tcp(address) && !fault.empty()) {
    throw std::runtime_error("cannot bind: " + fault);
  }
  if (const auto why = why_ipc_not_bindable(address); !why.empty()) {
    throw std::runtime_error("cannot bind " + address + ": " + why);
  }
  callers_ = std::make_unique<Callers>(context(), raw(), options().tells_connections);
  try {
    raw().set(zmq::sockopt::ipv6, address.find('[') != std::string::npos);
    raw().bind(address);
  } catch (const zmq::error_t& error) {
    callers_.reset();
    // Names are looked up for those who connect only.
    const auto* const remedy = error.num() == ENODEV ? "; listen on a number or an interface of this machine, e.g. "
                                                       "tcp://127.0.0.1:PORT or tcp://eth0:PORT"
                                                     : "";
    throw std::runtime_error("cannot bind " + address + ": " + why_not_taken(error) + remedy);
  }
  if (const auto descriptor = callers_->listening()) {
    gate_ = std::make_shared<Gate>(*descriptor);
  }
  endpoint_ = raw().get(zmq::sockopt::last_endpoint);
  if (options().intake) {
    options().intake->bound(endpoint_);
  }
  return endpoint_;
}

// ZeroMQ's thread closes the listening socket, and over ipc removes its file then: not before that is told may the next
// one make the file anew.
void Router::leave() {
  constexpr int kPatienceMs = 2'000;
  gate_.reset();
  callers_.reset();
  {
    Monitor closed(context(), raw(), ZMQ_EVENT_CLOSED | ZMQ_EVENT_CLOSE_FAILED);
    if (zmq_unbind(raw().handle(), endpoint_.c_str()) == 0) {
      zmq_pollitem_t told{closed.raw().handle(), 0, ZMQ_POLLIN, 0};
      zmq_poll(&told, 1, kPatienceMs);
    }
  }
  raw().set(zmq::sockopt::linger, 0);
  close();
}

void Router::close() {
  gate_.reset();
  callers_.reset();
  Socket::close();
}

}  // namespace ballast
