#include "server/authenticator.h"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/command/usage_error.h"
#include "common/log/log.h"
#include "common/net/callers.h"
#include "common/net/clock.h"
#include "common/net/frames.h"

namespace ballast {

// A request: version, id, domain, address, identity, mechanism and, of CURVE, the public key.
struct ZapRequest {
  std::string id;
  std::string domain;
  std::string address;
  std::string key;  // empty: there is none
};

namespace {

constexpr const char* kZapAddress = "inproc://zeromq.zap.01";
constexpr std::chrono::milliseconds kListGlance{250};
constexpr std::size_t kPublicKeyBytes = 32;
constexpr int kMostAtOnce = 256;  // then it looks at the file, and whether it is to end

constexpr std::string_view kLetIn = "200";
constexpr std::string_view kNotAllowed = "400";

std::optional<ZapRequest> next_request(zmq::socket_t& socket) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  if (!receive_frame(socket, frame)) {
    return std::nullopt;
  }
  frames.push_back(frame.to_string());
  while (frame.more() && receive_frame(socket, frame)) {
    frames.push_back(frame.to_string());
  }
  ZapRequest request;
  if (frames.size() > 3) {
    request.id = frames[1];
    request.domain = frames[2];
    request.address = frames[3];
  }
  if (frames.size() == 7 && frames[5] == "CURVE" && frames[6].size() == kPublicKeyBytes) {
    std::array<char, 41> text{};
    zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(frames[6].data()), kPublicKeyBytes);
    request.key = text.data();
  }
  return request;
}

void reply(zmq::socket_t& socket, const ZapRequest& request, std::string_view status) {
  const bool is_let_in = status == kLetIn;
  const std::array<std::string, 6> frames = {
      "1.0", request.id, std::string(status), is_let_in ? "" : "not allowed", is_let_in ? request.key : "", ""};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    zmq::message_t frame(frames[i].data(), frames[i].size());
    send_frame(socket, frame, i + 1 < frames.size());
  }
}

}  // namespace

Authenticator::Authenticator(zmq::context_t& context, std::filesystem::path allowed_keys, std::string own)
    : path_(std::move(allowed_keys)), own_(std::move(own)), change_(path_), requests_(context, ZMQ_REP) {
  change_.seen();
  allowed_ = std::make_shared<const AllowedKeys>(load_allowed_keys(path_, own_));
  warn_of_rights();
  requests_.set(zmq::sockopt::linger, 0);
  requests_.bind(kZapAddress);
  thread_ = std::thread([this] { work(); });
}

Authenticator::~Authenticator() {
  is_ending_ = true;
  ending_.signal();
  thread_.join();
}

std::shared_ptr<const AllowedKeys> Authenticator::allowed() const {
  const std::scoped_lock lock(mutex_);
  return allowed_;
}

void Authenticator::work() {
  std::array<zmq::pollitem_t, 2> items = {
      {{requests_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, ending_.fd(), ZMQ_POLLIN, 0}}};
  while (!is_ending_) {
    zmq_poll(items.data(), items.size(), kListGlance.count());
    answer();
    look();
    tell_held_lines();
  }
}

void Authenticator::answer() {
  for (int answered = 0; answered < kMostAtOnce; ++answered) {
    const auto request = next_request(requests_);
    if (!request) {
      return;
    }
    reply(requests_, *request, verdict(*request));
  }
}

std::string_view Authenticator::verdict(const ZapRequest& request) {
  const auto known = allowed();
  const auto found = known->find(request.key);
  if (found == known->end()) {
    log_warn("a key that is not allowed ({}): {} from {}", path_.string(),
             request.key.empty() ? "none at all" : request.key, request.address);
    return kNotAllowed;
  }
  const std::scoped_lock lock(mutex_);
  if (barred_.is_barred(request.key, monotonic_micros())) {
    log_warn("a key that is refused for a while: {} from {}", found->second.name, request.address);
    return kBarredStatus;
  }
  count_let_in(request);
  return kLetIn;
}

// A handshake of a socket that is gone may be answered late.
void Authenticator::count_let_in(const ZapRequest& request) {
  const auto life = SocketLife::of(request.domain);
  if (!life) {
    return;
  }
  auto& let_in = let_in_[life->socket];
  if (life->life > let_in.life) {
    let_in = {life->life, {}, false};
  }
  if (life->life == let_in.life) {
    let_in.is_lost = !count(let_in.counts, request.address, request.key) || let_in.is_lost;
  }
}

std::optional<ConnectionCounts> Authenticator::let_in(SocketLife life) const {
  const std::scoped_lock lock(mutex_);
  const auto found = let_in_.find(life.socket);
  if (found == let_in_.end() || found->second.life < life.life) {
    return ConnectionCounts();  // nobody yet
  }
  return found->second.life > life.life || found->second.is_lost ? std::nullopt : std::optional(found->second.counts);
}

std::string Authenticator::blame(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = allowed_->find(key);
  if (found == allowed_->end()) {
    return "a key that is no longer allowed";
  }
  const auto whose = "the key " + found->second.name + " alone";
  if (found->second.role == KeyRole::shard) {
    return whose + ", and it is the servers'";
  }
  const auto span = barred_.blame(key, monotonic_micros());
  return whose + (span == 0 ? ": if that happens again soon, it is refused for a while"
                            : ": it is refused for " + std::to_string(span / 1'000'000) + " s");
}

void Authenticator::warn_of_rights() const {
  if (const auto why = why_not_guarded(path_); !why.empty()) {
    log_warn("{}", why);
  }
}

void Authenticator::look() {
  if (!change_.seen()) {
    return;
  }
  try {
    auto changed = std::make_shared<const AllowedKeys>(load_allowed_keys(path_, own_));
    log_info("the allowed keys in {} are read anew: {}", path_.string(), changed->size());
    warn_of_rights();
    const std::scoped_lock lock(mutex_);
    allowed_ = std::move(changed);
  } catch (const UsageError& error) {
    log_error("allowed keys stay as they were: {}", error.what());
    return;
  }
  edition_.fetch_add(1, std::memory_order_release);
}

}  // namespace ballast
