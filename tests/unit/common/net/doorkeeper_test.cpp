#include "common/net/doorkeeper.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "common/net/descriptors.h"
#include "common/net/peer.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;

// This process may have so many descriptors more than it has now, until this goes.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::uint64_t more) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    auto few = before_;
    few.rlim_cur = open_descriptors() + more;
    REQUIRE(few.rlim_cur <= before_.rlim_max);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// A process with so many idle connections to a port of this machine; it asks for them again and again until it has
// them.
class Strangers {
 public:
  Strangers(std::uint16_t port, int count) : pid_(::fork()) {
    if (pid_ == 0) {
      ::close_range(3, ~0U, 0);
      raise_descriptor_limit();
      for (int i = 0; i < count; ++i) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        ::connect(one, reinterpret_cast<sockaddr*>(&to), sizeof(to));
      }
      while (true) {
        ::pause();
      }
    }
  }
  ~Strangers() { end(); }
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;

  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = 0;
    }
  }

 private:
  pid_t pid_;
};

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

bool comes_through(Router& router, Dealer& dealer, const std::string& text) {
  dealer.send({}, bytes_of(text));
  return eventually([&] {
    const auto received = router.receive();
    return received && text_of(received->header) == text;
  });
}

TEST_CASE("the limit of open files is raised to what anybody may have, and what is open is counted") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto low = before;
  low.rlim_cur = open_descriptors() + 20;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(descriptor_limit() == low.rlim_cur);
  CHECK(raise_descriptor_limit() == before.rlim_max);
  CHECK(descriptor_limit() == before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
  const auto open = open_descriptors();
  const int one = ::open("/dev/null", O_RDONLY);
  CHECK(open_descriptors() == open + 1);
  ::close(one);
}

// Of 64 shards with 16 lanes each, and of the lead; each with the two by which ZeroMQ tells how it fares.
constexpr std::size_t kSocketsOfTheLargest = (64 * 16 + 1) * 3;

// Each has one, and what is open beside them has some.
bool may_have_descriptors(std::uint64_t count) {
  constexpr std::uint64_t kBesides = 100;
  return descriptor_limit() >= open_descriptors() + count + kBesides;
}

TEST_CASE("a context takes the sockets of a worker of the largest job, and those that they take the place of") {
  constexpr std::size_t kSockets = 2 * kSocketsOfTheLargest;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  raise_descriptor_limit();
  if (may_have_descriptors(kSockets)) {
    auto context = make_context();
    std::vector<zmq::socket_t> sockets;
    for (std::size_t i = 0; i < kSockets; ++i) {
      sockets.emplace_back(context, zmq::socket_type::dealer);
    }
    CHECK(sockets.size() == kSockets);
  } else {
    MESSAGE("left out: this process may have " << descriptor_limit() << " files open");
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a gate that is shut keeps out who comes, and cuts nobody off who is in") {
  zmq::context_t context;
  Router router(context);
  const auto address = router.bind("tcp://127.0.0.1:*");
  REQUIRE(router.gate() != nullptr);
  Dealer old(context, client_routing_id(1));
  old.connect(address);
  CHECK(comes_through(router, old, "before"));
  router.gate()->shut();
  Dealer late(context, client_routing_id(2));
  late.connect(address);
  late.send({}, bytes_of("late"));
  CHECK(comes_through(router, old, "meanwhile"));
  std::this_thread::sleep_for(milliseconds(300));
  CHECK_FALSE(router.receive());
  CHECK(comes_through(router, old, "still"));
  router.gate()->open();
  CHECK(eventually([&] {
    const auto received = router.receive();
    return received && text_of(received->header) == "late";
  }));
}

TEST_CASE(
    "a flood of connections takes every descriptor: the process does not spin, has its reserve, and lets in again") {
  for (const auto* transport : {"tcp"}) {
    zmq::context_t context;
    Addresses addresses;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    std::atomic<int> shut = 0;
    std::atomic<int> opened = 0;
    Dealer old(context, client_routing_id(1));
    old.connect(address);
    CHECK(comes_through(router, old, "before"));
    const FewDescriptors few(200);
    Doorkeeper keeper(40, [&](bool is_shut) { ++(is_shut ? shut : opened); });
    keeper.guard(router.gate());
    Strangers strangers(port_of(address), 400);
    eventually([&] { return keeper.is_shut(); });
    CHECK(eventually([] { return is_descriptor_free(); }));
    CHECK(comes_through(router, old, "meanwhile"));
    const auto used = processor_seconds();
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(milliseconds(700));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    CHECK(keeper.is_shut());
    CHECK(processor_seconds() - used < passed.count() / 4);  // a loop that spins takes all of it
    strangers.end();
    eventually([&] { return !keeper.is_shut(); });
    Dealer late(context, client_routing_id(2));
    late.connect(address);
    CHECK(comes_through(router, late, "late"));
    CHECK(comes_through(router, old, "after"));
    CHECK(shut >= 1);
    CHECK(opened == shut);
  }
}

// The kernel drops nobody who knocks at a unix socket: they are let in and sent away.
TEST_CASE("over ipc who comes is turned away while no descriptor is free") {
  zmq::context_t context;
  Addresses addresses;
  Router router(context);
  const auto address = router.bind(addresses.make("ipc"));
  Dealer old(context, client_routing_id(1));
  old.connect(address);
  CHECK(comes_through(router, old, "before"));
  Doorkeeper keeper(8, [](bool) {});
  keeper.guard(router.gate());
  std::vector<int> taken;
  {
    const FewDescriptors few(80);
    eventually([&] {
      for (int one = ::open("/dev/null", O_RDONLY); one >= 0; one = ::open("/dev/null", O_RDONLY)) {
        taken.push_back(one);
      }
      return keeper.is_shut();
    });
    CHECK(comes_through(router, old, "meanwhile"));
    for (const int one : taken) {
      ::close(one);
    }
    eventually([&] { return !keeper.is_shut(); });
    Dealer late(context, client_routing_id(2));
    late.connect(address);
    CHECK(comes_through(router, late, "late"));
  }
}

}  // namespace
}  // namespace ballast
