// The socket of a loop that others connect to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/net/callers.h"
#include "common/net/gate.h"
#include "common/net/socket.h"

namespace ballast {

class Router : public Socket {
 public:
  // `secret_key`, that of the server: who connects must know the public one, and is encrypted to; which keys are let in
  // is said by the context's authenticator, which must be there before bind(). Empty: anybody is let in.
  explicit Router(zmq::context_t& context, const SocketOptions& options = {}, const std::string& secret_key = {});
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Binds tcp://HOST:PORT (PORT * takes a free one) or ipc://PATH, and returns the address with the port filled in. A
  // socket file that a dead process left behind is replaced, one that a live process listens on is not. Throws
  // std::runtime_error with the address, the reason and the remedy. Once.
  std::string bind(const std::string& address);
  // Where it is bound, with the port filled in.
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  // Leaves the address, so that another Router can bind it, cuts all who are connected, and closes: what they had sent
  // and was not read is freed, also the parts of messages that have not ended, and what they were to be sent is not.
  // Waits for ZeroMQ to let go of the address, a moment as a rule, two seconds at most. Whoever has another hold of
  // gate() must let go of it as well.
  void leave();
  // The way in, once it is bound; null if ZeroMQ does not tell which socket listens.
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return gate_; }
  // Who is connected and who was refused; from bind() on. To be taken at every turn or tick of the loop.
  [[nodiscard]] Callers& callers() { return *callers_; }
  // Once nobody takes that any more. Connections go on.
  void forget_callers() { callers_.reset(); }
  void close();

 private:
  std::string endpoint_;
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<Callers> callers_;
};

}  // namespace ballast
