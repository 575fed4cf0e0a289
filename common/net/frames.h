// Single frames of ZeroMQ, without waiting.
#pragma once

#include <zmq.hpp>

namespace ballast {

// False if the frame cannot be queued; then it is the caller's still. A signal is no reason to leave a message half
// sent.
bool send_frame(zmq::socket_t& socket, zmq::message_t& frame, bool more);

// False if no frame is there.
bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame);

}  // namespace ballast
