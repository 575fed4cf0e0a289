// What the two ends of a link that is measured say to one another (link_probe.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace ballast::link_words {

inline constexpr std::size_t kMostLine = 200;  // bytes
inline const std::string kGreeting = "ballast-probe 1 ";
inline constexpr std::size_t kConnections = 4;  // at once, at most
inline constexpr std::chrono::milliseconds kSpan{1'300};
inline constexpr std::chrono::milliseconds kMostSpan{3'000};  // of one connection, whatever the other end does
inline constexpr std::chrono::seconds kConversation{30};
inline constexpr std::chrono::milliseconds kFirstLine{2'000};  // of a connection: until it has said what it is for

}  // namespace ballast::link_words
