// The way in of a listening socket, which can be shut without a word to those who are in.
#pragma once

namespace ballast {

// ZeroMQ accepts by itself. While no file descriptor is free it can't, and tries again at once, for ever; and to unbind
// the address would cut every connection that was accepted there. So the listening socket stays, and the kernel is told
// to drop whoever asks for a connection (they ask again by themselves, after 1 s, 2 s, ...). Those that wait to be
// accepted already, and the unix sockets that this does not hold for, are accepted here and closed.
// Thread-safe but for the destructor.
class Gate {
 public:
  // `listening` is a socket that listens, and stays its owner's: this takes another descriptor of it. Throws
  // std::system_error if there is none.
  explicit Gate(int listening);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void shut();
  void open();
  // Closes the connections that wait to be accepted. False if one is left because no descriptor is free.
  bool turn_away();
  // Readable while a connection waits.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace ballast
