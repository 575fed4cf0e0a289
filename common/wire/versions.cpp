#include "common/wire/versions.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/wire/wire.h"

namespace ballast {

namespace {

std::string spoken() {
  return "versions " + std::to_string(kOldestProtocolVersion) + " to " + std::to_string(kProtocolVersion);
}

Message say_hello_again() {
  return Refused{RefusalCode::unknown_session, "it speaks another version of the protocol: say hello in that"};
}

}  // namespace

std::string why_not_spoken(std::uint32_t version) {
  const bool old = version < kOldestProtocolVersion;
  return std::to_string(version) + ", too " + (old ? "old" : "new") + " for this process, which speaks " + spoken() +
         ": " + (old ? "upgrade the older one" : "upgrade this one") +
         ", one version at a time, or run the same release of Ballast everywhere";
}

std::uint32_t version_to_refuse_in(std::uint32_t heard, std::uint32_t known) {
  return heard == 0 ? known : std::min(heard, kProtocolVersion);
}

bool Conversation::heard(Decoded& decoded) {
  if (decoded.refuses_version) {
    return refused(decoded);
  }
  const auto* message = std::get_if<Message>(&decoded);
  if (message == nullptr) {
    return true;
  }
  // Answers come in the order of what they answer, and this one is no refusal of the version.
  if (decoded.version >= version_) {
    version_ = decoded.version;
    heard_ = version_;
    stray_ = 0;
  }
  const auto* refusal = std::get_if<Refused>(message);
  if (refusal != nullptr && refusal->code == RefusalCode::unknown_session && version_ < kProtocolVersion) {
    begin_anew();  // it is new itself, and may be newer
  }
  return true;
}

bool Conversation::refused(Decoded& decoded) {
  if (!is_spoken(decoded.version)) {
    hopeless_ = " speaks protocol version " + why_not_spoken(decoded.version);
    return false;
  }
  if (decoded.version < version_) {
    version_ = decoded.version;
    stray_ = sent_ > 0 ? sent_ - 1 : 0;
  } else if (stray_ > 0) {
    --stray_;
    return false;
  } else if (version_ < kProtocolVersion) {
    begin_anew();  // whoever spoke this version has made room for one that does not
  } else {
    const auto* message = std::get_if<Message>(&decoded);
    hopeless_ = " does not speak this process's protocol " + spoken() + ": " +
                (message != nullptr ? std::get<Refused>(*message).text : std::string());
    return false;
  }
  const auto version = decoded.version;
  decoded = Decoded(say_hello_again());
  decoded.version = version;
  return true;
}

void Conversation::begin_anew() {
  version_ = kProtocolVersion;
  sent_ = 0;
  stray_ = 0;
}

std::optional<std::string> Conversation::news() {
  if (std::exchange(told_, heard_) == heard_) {
    return std::nullopt;
  }
  return "protocol version " + std::to_string(heard_) + ", and is spoken to in it";
}

}  // namespace ballast
