// Who is let in, and what a key that is let in is good for.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/peer.h"
#include "server/handshakes.h"
#include "server/known_peers.h"
#include "server/server_keys.h"
#include "server/worker_connections.h"
#include "tests/unit/common/net/net_test.h"
#include "tests/unit/log_file.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

void replace_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path.string() + ".new") << text;
  std::filesystem::rename(path.string() + ".new", path);
}

// A folder of keys, as servers have them.
class KeyFolder {
 public:
  KeyFolder() {
    allowed_ = line_of(KeyRole::shard, server_.public_key, "server");
    replace_file(path() / kServerKeyFile, format_keys({server_, {server_.public_key}}, "servers"));
    write();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] const KeyPair& server() const { return server_; }

  // The keys of a process, which know the server by this key.
  std::unique_ptr<ClientKeys> make(const std::string& name, const std::string& server_key) {
    const auto pair = make_key_pair();
    pairs_[name] = pair;
    replace_file(path() / name, format_keys({pair, {server_key}}, name));
    return std::make_unique<ClientKeys>(path() / name);
  }
  std::unique_ptr<ClientKeys> allow(KeyRole role, const std::string& name) {
    auto keys = make(name, server_.public_key);
    lines_[name] = line_of(role, pairs_[name].public_key, name);
    write();
    return keys;
  }
  void revoke(const std::string& name) {
    lines_.erase(name);
    write();
  }
  const std::string& public_key(const std::string& name) { return pairs_[name].public_key; }

 private:
  void write() {
    auto text = allowed_;
    for (const auto& [name, line] : lines_) {
      text += line;
    }
    replace_file(path() / kAllowedKeysFile, text);
  }

  TemporaryFolder folder_;
  KeyPair server_ = make_key_pair();
  std::string allowed_;
  std::map<std::string, KeyPair> pairs_;
  std::map<std::string, std::string> lines_;
};

PeerConnection from(const std::string& id) { return parse_routing_id(id).value(); }

TEST_CASE("without keys everybody is who he says, and is reached by his newest connection in his version") {
  constexpr auto kPrevious = kProtocolVersion - 1;
  KnownPeers peers(nullptr);
  const auto first = session_routing_id(7);
  CHECK(peers.reached_by(first) == first);
  CHECK(peers.version_of(first) == kProtocolVersion);
  CHECK(peers.heard(from(routing_id_of(first, 2)), "").empty());
  CHECK_FALSE(peers.speaks(from(routing_id_of(first, 2)), kProtocolVersion));
  CHECK(peers.speaks(from(routing_id_of(first, 2)), kPrevious));
  CHECK_FALSE(peers.speaks(from(routing_id_of(first, 2)), kPrevious));
  CHECK(peers.heard(from(routing_id_of(first, 1)), "").empty());  // late
  CHECK_FALSE(peers.speaks(from(routing_id_of(first, 1)), kProtocolVersion));
  CHECK(peers.reached_by(first) == routing_id_of(first, 2));
  CHECK(peers.version_of(first) == kPrevious);
  for (const auto unknown : {0U, kOldestProtocolVersion - 1, kProtocolVersion + 1}) {
    CHECK_FALSE(peers.speaks(from(routing_id_of(first, 2)), unknown));
    CHECK(peers.version_of(first) == kPrevious);
  }
  CHECK(peers.heard(from(routing_id_of(first, 3)), "").empty());
  CHECK(peers.reached_by(first) == routing_id_of(first, 3));
  CHECK(peers.version_of(first) == kProtocolVersion);
}

TEST_CASE("a frame that is sent to a peer says which of its frames was heard last, over its newest connection") {
  KnownPeers peers(nullptr);
  const auto first = session_routing_id(7);
  CHECK(peers.clock_for(first, 100) == FrameClock{100, 0, 0});
  CHECK(peers.heard(from(first), "").empty());
  peers.tells_time(from(first), {5'000, 0, 0}, 200);
  CHECK(peers.clock_for(first, 250) == FrameClock{250, 5'000, 50});
  peers.tells_time(from(first), {}, 300);  // of version 13
  CHECK(peers.clock_for(first, 350) == FrameClock{350, 5'000, 150});
  const auto second = routing_id_of(first, 2);
  CHECK(peers.heard(from(second), "").empty());
  CHECK(peers.clock_for(first, 400) == FrameClock{400, 0, 0});
  peers.tells_time(from(first), {9'000, 0, 0}, 450);  // the older one
  CHECK(peers.clock_for(first, 500) == FrameClock{500, 0, 0});
  peers.tells_time(from(second), {9'500, 0, 0}, 550);
  CHECK(peers.clock_for(first, 600) == FrameClock{600, 9'500, 50});
}

TEST_CASE("a key speaks for its role alone, and for nobody that another has named first") {
  KeyFolder folder;
  for (const std::string name : {"one", "two"}) {
    folder.allow(KeyRole::worker, name);
  }
  folder.allow(KeyRole::command, "boss");
  zmq::context_t context;
  const Authenticator authenticator(context, folder.path() / kAllowedKeysFile, folder.server().public_key);
  KnownPeers peers(&authenticator);
  const auto said = [&](const std::string& id, const std::string& name) {
    return peers.heard(from(id), name == "server" ? folder.server().public_key : folder.public_key(name));
  };
  const auto lane = lane_routing_id({1, 0}, 5);
  CHECK(said(session_routing_id(7), "one").empty());
  CHECK(said(session_routing_id(8), "two").empty());
  CHECK(said(lane, "server").empty());
  CHECK(said(client_routing_id(9), "boss").empty());
  const auto is_refused = [&](const std::string& why, const std::string& part) {
    CAPTURE(why);
    CHECK(why.find(part) != std::string::npos);
  };
  is_refused(said(session_routing_id(7), "two"), "session 7 has another key");
  is_refused(said(routing_id_of(session_routing_id(7), 4), "two"), "session 7 has another key");
  CHECK(peers.reached_by(session_routing_id(7)) == session_routing_id(7));
  CHECK(peers.key_of(session_routing_id(7)) == "one");
  CHECK(peers.key_of(session_routing_id(70)).empty());
  is_refused(said(lane_routing_id({1, 0}, 6), "one"), "the key one is of role worker");
  is_refused(said(client_routing_id(1), "one"), "needs one of role operator");
  is_refused(said(client_routing_id(1), "server"), "the key server is of role shard");
  is_refused(said(session_routing_id(3), "boss"), "the key boss is of role operator");
  is_refused(peers.heard(from(session_routing_id(4)), make_key_pair().public_key), "no longer allowed");
  is_refused(peers.heard(from(session_routing_id(4)), ""), "no longer allowed");
}

TEST_CASE("a key that is taken out of the file is refused from the next message on, and another one is let in") {
  KeyFolder folder;
  folder.allow(KeyRole::worker, "one");
  zmq::context_t context;
  const Authenticator authenticator(context, folder.path() / kAllowedKeysFile, folder.server().public_key);
  KnownPeers peers(&authenticator);
  CHECK(peers.heard(from(session_routing_id(7)), folder.public_key("one")).empty());
  folder.revoke("one");
  eventually([&] { return authenticator.edition() == 1; });
  CHECK(peers.heard(from(session_routing_id(7)), folder.public_key("one")).find("its key (one) is no longer allowed") !=
        std::string::npos);
  folder.allow(KeyRole::worker, "two");
  eventually([&] { return authenticator.edition() == 2; });
  CHECK(peers.heard(from(session_routing_id(8)), folder.public_key("two")).empty());
  // What cannot be read, or is not whole, changes nothing.
  const auto of_others = line_of(KeyRole::shard, make_key_pair().public_key, "server");
  for (const auto& text : {std::string("nonsense"), std::string(), std::string("# nobody\n"), of_others}) {
    replace_file(folder.path() / kAllowedKeysFile, text);
    ::usleep(700'000);
    CHECK(authenticator.edition() == 2);
  }
  CHECK(peers.heard(from(session_routing_id(8)), folder.public_key("two")).empty());
}

TEST_CASE("who names peers without end makes only names of its own key be forgotten") {
  KeyFolder folder;
  for (const std::string name : {"one", "two"}) {
    folder.allow(KeyRole::worker, name);
  }
  zmq::context_t context;
  const Authenticator authenticator(context, folder.path() / kAllowedKeysFile, folder.server().public_key);
  KnownPeers peers(&authenticator);
  const auto honest = routing_id_of(session_routing_id(1), 5);
  CHECK(peers.heard(from(honest), folder.public_key("one")).empty());
  for (SessionId session = 2; session < 2 * KnownPeers::kMost; ++session) {
    peers.heard(from(session_routing_id(session)), folder.public_key("two"));
  }
  CHECK(peers.size() <= KnownPeers::kMost);
  CHECK(peers.reached_by(session_routing_id(1)) == honest);
  CHECK_FALSE(peers.heard(from(session_routing_id(1)), folder.public_key("two")).empty());
}

// ---- over sockets

// What a lane hears and refuses.
class KeptLane {
 public:
  KeptLane(KeyFolder& folder, const std::string& address)
      : keys_(context_, folder.path()), connections_(context_, 0, address, "", keys_, intake_) {}
  ~KeptLane() {
    connections_.close();
    keys_ = {};
    context_.close();
  }
  KeptLane(const KeptLane&) = delete;
  KeptLane& operator=(const KeptLane&) = delete;

  [[nodiscard]] std::string address() const { return connections_.address(); }
  [[nodiscard]] const Intake& intake() const { return *intake_; }
  Authenticator& authenticator() { return *keys_.authenticator(); }
  Callers& callers() { return connections_.callers(); }
  void renew() { connections_.renew(); }
  // Reads whatever comes, until something holds.
  template <typename Holds>
  void read_until(Holds holds) {
    Turn turn;
    eventually([&] {
      while (connections_.receive(turn)) {
      }
      return holds();
    });
  }
  // Whether a message comes through in the time; of one that does not, nothing is said. Of whoever may have more on its
  // way, unless it is told whose counts.
  bool hears(Dealer& dealer, std::chrono::milliseconds span = std::chrono::seconds(10),
             std::optional<SessionId> session = std::nullopt) {
    Encoder encoder;
    Turn turn;
    const auto until = std::chrono::steady_clock::now() + span;
    while (std::chrono::steady_clock::now() < until) {
      dealer.tick(monotonic_micros());
      dealer.send("", encoder.encode(LaneHello{}));
      ::usleep(5000);
      take_refusals();
      while (const auto received = connections_.receive(turn)) {
        const auto* incoming = std::get_if<WorkerConnections::Incoming>(&*received);
        if (incoming != nullptr && incoming->session == session.value_or(incoming->session)) {
          return true;
        }
      }
    }
    return false;
  }
  // Until something that it says is refused.
  void await_refusal(Dealer& dealer) {
    Encoder encoder;
    Turn turn;
    eventually([&] {
      dealer.tick(monotonic_micros());
      dealer.send("", encoder.encode(LaneHello{}));
      while (const auto received = connections_.receive(turn)) {
        if (std::holds_alternative<WorkerConnections::Unreadable>(*received)) {
          return true;
        }
      }
      return false;
    });
  }
  // Who answers for what the session says over this connection.
  PayerId payer_of(Dealer& dealer, SessionId session) {
    std::optional<PayerId> payer;
    Encoder encoder;
    Turn turn;
    eventually([&] {
      dealer.tick(monotonic_micros());
      dealer.send("", encoder.encode(LaneHello{}));
      while (const auto received = connections_.receive(turn)) {
        const auto* incoming = std::get_if<WorkerConnections::Incoming>(&*received);
        payer = incoming != nullptr && incoming->session == session ? std::optional(incoming->payer) : payer;
      }
      return payer.has_value();
    });
    return *payer;
  }
  std::map<RefusedHandshake, std::uint64_t>& refusals() {
    take_refusals();
    return refusals_;
  }
  // Of which reasons there were some, and how many.
  std::map<RefusedHandshake, std::uint64_t> some_refusals() {
    auto some = refusals();
    std::erase_if(some, [](const auto& refused) { return refused.second == 0; });
    return some;
  }

 private:
  void take_refusals() {
    const auto refusals = connections_.callers().refusals();
    for (const auto& refusal : refusals.told) {
      ++refusals_[refusal.reason];
    }
    for (std::size_t i = 0; i < refusals.more.size(); ++i) {
      refusals_[static_cast<RefusedHandshake>(i)] += refusals.more[i];
    }
  }

  zmq::context_t context_ = make_context();
  ServerKeys keys_;
  std::shared_ptr<Intake> intake_ = std::make_shared<Intake>();
  WorkerConnections connections_;
  std::map<RefusedHandshake, std::uint64_t> refusals_;
};

constexpr std::chrono::milliseconds kBriefly{400};

TEST_CASE("only who has an allowed key and knows the server's is let in, and others are counted by what they lack") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    KeyFolder folder;
    Addresses addresses;
    const auto good = folder.allow(KeyRole::worker, "good");
    const auto stranger = folder.make("stranger", folder.server().public_key);
    const auto misled = folder.make("misled", make_key_pair().public_key);
    KeptLane lane(folder, addresses.make(transport));
    zmq::context_t others;
    struct {
      ClientKeys* keys;
      RefusedHandshake reason;
      std::string told;
    } const cases[] = {{stranger.get(), RefusedHandshake::unknown_key, "does not allow the key"},
                       {misled.get(), RefusedHandshake::other_server, "none of the server keys in"},
                       {nullptr, RefusedHandshake::unencrypted, "(--keys)"}};
    for (const auto& each : cases) {
      CAPTURE(each.told);
      Dealer dealer(others, session_routing_id(1), {0}, each.keys);
      dealer.connect(lane.address());
      CHECK_FALSE(lane.hears(dealer, kBriefly));
      CHECK(eventually([&] {
        dealer.tick(monotonic_micros());  // a try that was given up before it was refused is made again
        return lane.refusals()[each.reason] > 0 && dealer.refusal().find(each.told) != std::string::npos;
      }));
      CHECK_FALSE(dealer.is_connected());
    }
    Dealer dealer(others, session_routing_id(2), {0}, good.get());
    dealer.connect(lane.address());
    CHECK(lane.hears(dealer));
    dealer.tick(monotonic_micros());
    CHECK(dealer.is_connected());
    CHECK(dealer.refusal().empty());
  }
}

TEST_CASE("with keys who answers for a session is its key: two at one host are two, and all sessions of a key one") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    KeyFolder folder;
    Addresses addresses;
    const auto one = folder.allow(KeyRole::worker, "one");
    const auto two = folder.allow(KeyRole::worker, "two");
    KeptLane lane(folder, addresses.make(transport));
    zmq::context_t others;
    std::vector<std::unique_ptr<Dealer>> dealers;
    std::vector<PayerId> payers;
    for (auto* keys : {one.get(), two.get(), one.get()}) {
      const auto session = static_cast<SessionId>(payers.size() + 1);
      auto& dealer = dealers.emplace_back(
          std::make_unique<Dealer>(others, session_routing_id(session), SocketOptions{.linger_ms = 0}, keys));
      dealer->connect(lane.address());
      payers.push_back(lane.payer_of(*dealer, session));
    }
    CHECK(payers[0] != payers[1]);
    CHECK(payers[0] == payers[2]);
  }
}

// Whoever connects over tcp and says what he likes.
class RawCaller {
 public:
  explicit RawCaller(const std::string& address) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(descriptor_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  }
  ~RawCaller() { ::close(descriptor_); }
  RawCaller(const RawCaller&) = delete;
  RawCaller& operator=(const RawCaller&) = delete;

  void say(std::string_view bytes) {
    REQUIRE(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  // Until the other end has closed.
  void await_end() {
    eventually([this] {
      std::array<char, 256> passed_over{};
      const auto read = ::recv(descriptor_, passed_over.data(), passed_over.size(), MSG_DONTWAIT);
      return read == 0 || (read < 0 && errno != EAGAIN && errno != EINTR);
    });
  }

 private:
  int descriptor_;
};

// How ZeroMQ begins, from one that means to speak in keys (ZMTP 3.1, RFC 37 of ZeroMQ).
std::string curve_greeting() {
  std::string greeting("\xff\0\0\0\0\0\0\0\1\x7f\3\1CURVE", 17);
  greeting.resize(64);
  return greeting;
}

// A command that nobody says to a server.
std::string wrong_command() { return {"\4\6\5WRONG", 8}; }

TEST_CASE("who says nonsense is counted as malformed, and who breaks off as that") {
  KeyFolder folder;
  KeptLane lane(folder, "tcp://127.0.0.1:*");
  const std::map<RefusedHandshake, std::uint64_t> one_malformed = {{RefusedHandshake::malformed, 1}};
  {
    RawCaller caller(lane.address());
    caller.say(curve_greeting() + wrong_command());
    caller.await_end();
    CHECK(lane.some_refusals() == one_malformed);
  }
  auto expected = one_malformed;
  for (const auto& said : {std::string(), std::string("\xff\0\0", 3), curve_greeting()}) {
    CAPTURE(said.size());
    {
      RawCaller caller(lane.address());
      caller.say(said);
    }
    ++expected[RefusedHandshake::broken_off];
    eventually([&] { return lane.refusals()[RefusedHandshake::broken_off] == expected[RefusedHandshake::broken_off]; });
    CHECK(lane.some_refusals() == expected);
  }
}

TEST_CASE("of many handshakes that are refused at once the first are told one by one, and all are counted") {
  constexpr std::size_t kRefused = 100;
  const LogFile logged;
  KeyFolder folder;
  KeptLane lane(folder, "tcp://127.0.0.1:*");
  Metrics metrics;
  Handshakes handshakes(&metrics, "lane 0");
  for (std::size_t i = 0; i < kRefused; ++i) {
    RawCaller caller(lane.address());
    caller.say(curve_greeting() + wrong_command());
    caller.await_end();
  }
  handshakes.take(lane.callers());
  for (const auto reason : kRefusedHandshakeWords) {
    CAPTURE(reason);
    const auto counted = metrics.counter("ballast_refused_handshakes_total", {"lane 0", std::string(reason)})->value();
    CHECK(counted == (reason == word_of(RefusedHandshake::malformed) ? kRefused : 0));
  }
  CHECK(logged.count("refused a handshake from ") == Callers::kMostRefusals);
  CHECK(logged.count("refused 84 more handshakes: it is none of ZeroMQ's") == 1);
}

TEST_CASE("of what a connection has brought whole messages leave nothing, and a part that is alone is left") {
  KeyFolder folder;
  const auto keys = folder.allow(KeyRole::worker, "one");
  KeptLane lane(folder, "tcp://127.0.0.1:*");
  zmq::context_t others;
  Dealer dealer(others, session_routing_id(1), {0}, keys.get());
  dealer.connect(lane.address());
  CHECK(lane.hears(dealer));
  const auto rest = [&] {
    const auto rests = lane.intake().rests();
    REQUIRE(rests.size() == 1);
    CHECK(rests.front().address == "127.0.0.1");
    CHECK(rests.front().key == folder.public_key("one"));
    return rests.front().bytes;
  };
  // The handshake, once all hellos are read.
  constexpr std::uint64_t kHandshake = 1000;
  lane.read_until([&] { return rest() < kHandshake; });
  auto before = rest();
  const auto is_as_before = [&] {  // a hello that was not read yet counted then
    before = std::min(before, rest());
    return rest() == before;
  };
  const auto send = [&](const std::vector<std::size_t>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      zmq::message_t part(parts[i]);
      std::memset(part.data(), 1, part.size());
      dealer.raw().send(part, i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  };
  for (const std::size_t size : {0, 1, 221, 222, 223, 255, 256, 70'000, 1 << 20}) {
    CAPTURE(size);
    send({size});
    send({size, size});
    send({size, size, size});  // too many: it is not kept
    send(std::vector<std::size_t>(size < 1000 ? 5000 : 4, size));
    send({7});
    lane.read_until(is_as_before);
  }
  CHECK(before > 0);
  CHECK(lane.intake().heard() == ConnectionCounts{{{"127.0.0.1", folder.public_key("one")}, 1}});
  CHECK(lane.authenticator().let_in(lane.intake().life()) == lane.intake().heard());
}

TEST_CASE("whoever was let in by a socket and cut before a word is not counted for the one in its place") {
  KeyFolder folder;
  const auto keys = folder.allow(KeyRole::worker, "one");
  const auto silent = folder.allow(KeyRole::worker, "silent");
  KeptLane lane(folder, "tcp://127.0.0.1:*");
  const ConnectionCounts one = {{{"127.0.0.1", folder.public_key("one")}, 1}};
  const ConnectionCounts quiet = {{{"127.0.0.1", folder.public_key("silent")}, 1}};
  const auto before = lane.intake().life();
  zmq::context_t others;
  {
    Dealer dealer(others, session_routing_id(1), {0}, silent.get());
    dealer.connect(lane.address());
    lane.read_until([&] { return lane.authenticator().let_in(before) == quiet; });
    CHECK(lane.intake().heard() == ConnectionCounts());
  }
  lane.renew();
  CHECK(lane.authenticator().let_in(lane.intake().life()) == ConnectionCounts());
  Dealer dealer(others, session_routing_id(2), {0}, keys.get());
  dealer.connect(lane.address());
  CHECK(lane.hears(dealer));
  CHECK(lane.intake().heard() == one);
  CHECK(lane.authenticator().let_in(lane.intake().life())->contains(one.begin()->first));
  CHECK(lane.authenticator().let_in(before) == std::nullopt);
}

TEST_CASE("a socket's life is told by its domain, and nothing else is") {
  const SocketLife life{7, 12'345'678'901};
  CHECK(SocketLife::of(life.domain()) == life);
  for (const auto* const other :
       {"", "7", "7.", ".7", "7.x", "x.7", "7.1 ", "-7.1", "7.1.2", "7.99999999999999999999"}) {
    CAPTURE(other);
    CHECK(SocketLife::of(other) == std::nullopt);
  }
}

TEST_CASE("a key that is blamed again is refused in words, others are not, and the servers' own never is") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    KeyFolder folder;
    Addresses addresses;
    const auto good = folder.allow(KeyRole::worker, "good");
    const auto bad = folder.allow(KeyRole::worker, "bad");
    KeptLane lane(folder, addresses.make(transport));
    zmq::context_t others;
    CHECK(lane.authenticator().blame(folder.public_key("bad")).find("if that happens again") != std::string::npos);
    {
      Dealer dealer(others, session_routing_id(1), {0}, bad.get());
      dealer.connect(lane.address());
      CHECK(lane.hears(dealer));
    }
    CHECK(lane.authenticator().blame(folder.public_key("bad")) == "the key bad alone: it is refused for 60 s");
    Dealer barred(others, session_routing_id(2), {0}, bad.get());
    barred.connect(lane.address());
    eventually([&] {
      lane.hears(barred, std::chrono::milliseconds(10));  // also what the one before had said
      return barred.refusal().find("for a while") != std::string::npos &&
             lane.refusals()[RefusedHandshake::barred_key] > 0;
    });
    lane.read_until([] { return true; });
    CHECK_FALSE(lane.hears(barred, kBriefly, 2));
    CHECK(lane.refusals()[RefusedHandshake::unknown_key] == 0);
    Dealer dealer(others, session_routing_id(3), {0}, good.get());
    dealer.connect(lane.address());
    CHECK(lane.hears(dealer));
    for (int i = 0; i < 3; ++i) {
      CHECK(lane.authenticator().blame(folder.server().public_key) == "the key server alone, and it is the servers'");
    }
  }
}

TEST_CASE("a revoked key's connection is heard no more, and a key that was added meanwhile is") {
  for (const std::string transport : kTransports) {
    KeyFolder folder;
    Addresses addresses;
    const auto old = folder.allow(KeyRole::worker, "old");
    KeptLane lane(folder, addresses.make(transport));
    zmq::context_t others;
    Dealer dealer(others, session_routing_id(1), {0}, old.get());
    dealer.connect(lane.address());
    CHECK(lane.hears(dealer));
    const auto added = folder.allow(KeyRole::worker, "added");
    folder.revoke("old");
    lane.await_refusal(dealer);
    Dealer next(others, session_routing_id(2), {0}, added.get());
    next.connect(lane.address());
    CHECK(lane.hears(next));
    CHECK_FALSE(lane.hears(dealer, kBriefly, 1));
  }
}

TEST_CASE("whoever knows a server's next key as well finds it when the server has changed to it") {
  for (const std::string transport : kTransports) {
    KeyFolder before;
    KeyFolder after;
    Addresses addresses;
    before.allow(KeyRole::worker, "worker");
    const auto path = before.path() / "worker";
    auto keys = load_own_keys(path);
    keys.servers.push_back(after.server().public_key);
    replace_file(path, format_keys(keys, "knows both"));
    ClientKeys both(path);
    zmq::context_t others;
    Dealer dealer(others, session_routing_id(1), {0}, &both);
    std::string address;
    {
      KeptLane lane(before, addresses.make(transport));
      address = lane.address();
      dealer.connect(address);
      CHECK(lane.hears(dealer));
    }
    replace_file(after.path() / kAllowedKeysFile, line_of(KeyRole::worker, keys.pair.public_key, "worker") +
                                                      line_of(KeyRole::shard, after.server().public_key, "server"));
    std::unique_ptr<KeptLane> lane;
    eventually([&] {
      try {
        lane = std::make_unique<KeptLane>(after, address);
      } catch (const std::runtime_error&) {  // the port is not free yet
      }
      return lane != nullptr;
    });
    CHECK(lane->hears(dealer));
  }
}

}  // namespace
}  // namespace ballast
