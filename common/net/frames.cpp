#include "common/net/frames.h"

namespace ballast {

// False if the frame cannot be queued; then it is the caller's still. A signal is no reason to leave a message half
// sent.
bool send_frame(zmq::socket_t& socket, zmq::message_t& frame, bool more) {
  const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
  while (zmq_msg_send(frame.handle(), socket.handle(), flags) < 0) {
    const int reason = zmq_errno();
    if (reason == EAGAIN || reason == EHOSTUNREACH) {
      return false;
    }
    if (reason != EINTR) {
      throw zmq::error_t();
    }
  }
  return true;
}

// False if no frame is there.
bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame) {
  while (zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) < 0) {
    const int reason = zmq_errno();
    if (reason == EAGAIN) {
      return false;
    }
    if (reason != EINTR) {
      throw zmq::error_t();
    }
  }
  return true;
}

}  // namespace ballast
