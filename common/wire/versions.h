// Which versions of the protocol this process speaks, and in which of them it speaks to whom. docs/versions.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ballast {

struct Decoded;

inline constexpr std::uint32_t kProtocolVersion = 14;        // the newest that this process speaks
inline constexpr std::uint32_t kOldestProtocolVersion = 13;  // whoever speaks it trains along

// Leads that speak no later one know who connects by the name of its first connection alone.
inline constexpr std::uint32_t kOneNameVersion = 13;

// The first in which frames say when they were sent.
inline constexpr std::uint32_t kClocksSince = 14;

constexpr bool is_spoken(std::uint32_t version) {
  return version >= kOldestProtocolVersion && version <= kProtocolVersion;
}

// "12, too old for this process, which speaks versions 13 to 14: ..." and what to do. `version` is not spoken.
std::string why_not_spoken(std::uint32_t version);

// In which version a frame is refused that came in `heard`; 0: that could not be told, and the peer last spoke `known`.
// Whoever is too old is refused in its own words, or it could not read why: a Refused has been the same in all
// versions, and stays so.
std::uint32_t version_to_refuse_in(std::uint32_t heard, std::uint32_t known);

// The end that connects speaks first: in its newest version, until the other end refuses it in an older one. Whatever
// is said in vain is said again by the cores, which take a change of the version for a peer that does not know them
// yet. One thread.
class Conversation {
 public:
  // Of the next frame to be sent.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  void sent() { sent_ += version_ == kProtocolVersion ? 1 : 0; }

  // What the peer said. False: it is nobody's business, or hopeless() says why there is nothing to be said. True: it is
  // to be handled; it may have been put in other words.
  bool heard(Decoded& decoded);
  // The peer may be another process than before.
  void begin_anew();

  // Follows the peer's name: why the two cannot talk at all.
  [[nodiscard]] const std::optional<std::string>& hopeless() const { return hopeless_; }
  // Once after each change, e.g. "protocol version 13, and is spoken to in it"; follows "speaks".
  std::optional<std::string> news();

 private:
  bool refused(Decoded& decoded);

  std::uint32_t version_ = kProtocolVersion;
  std::uint32_t heard_ = kProtocolVersion;  // in which the peer answers
  std::uint32_t told_ = kProtocolVersion;
  std::uint64_t sent_ = 0;   // in the newest version, since the conversation began
  std::uint64_t stray_ = 0;  // refusals still to come of what was sent in it
  std::optional<std::string> hopeless_;
};

}  // namespace ballast
