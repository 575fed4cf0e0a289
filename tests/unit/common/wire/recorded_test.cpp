// Frames that programs of earlier versions sent in real jobs (tests/wire13): what they say here is what a reader of
// that version's schema alone reads in them, and a peer of that version would be sent the same bytes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "common/wire/messages_table.h"
#include "tests/unit/common/wire/random_message.h"
#include "tests/unit/common/wire/wire_test.h"

namespace ballast {
namespace {

const std::string kFolder = std::string(BALLAST_SOURCE_ROOT) + "/tests/wire13/";
constexpr std::uint32_t kRecorded = 13;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Each with its size before it.
std::vector<std::vector<std::byte>> recorded_frames() {
  const auto bytes = content_of(kFolder + "recorded.frames");
  std::vector<std::vector<std::byte>> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t size = 0;
    REQUIRE(at + sizeof(size) <= bytes.size());
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    REQUIRE(at + size <= bytes.size());
    frames.emplace_back(size);
    std::memcpy(frames.back().data(), bytes.data() + at, size);
    at += size;
  }
  return frames;
}

// What each says, its kind in the first line.
std::vector<std::string> recorded_texts() {
  std::istringstream lines(content_of(kFolder + "recorded.txt"));
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("frame ")) {
      texts.emplace_back();
    }
    REQUIRE(!texts.empty());
    texts.back() += line + "\n";
  }
  return texts;
}

// ---- a message as tests/wire13/frames.py writes it, in the words of the recorded version

std::string word_of(schema::ReceiptOutcome word) { return schema::EnumNameReceiptOutcome(word); }
std::string word_of(schema::RefusalCode word) { return schema::EnumNameRefusalCode(word); }
std::string word_of(schema::Split word) { return schema::EnumNameSplit(word); }
std::string word_of(schema::MetricKind word) { return schema::EnumNameMetricKind(word); }
std::string word_of(schema::Ending word) { return schema::EnumNameEnding(word); }
std::string word_of(schema::JobPhase word) { return schema::EnumNameJobPhase(word); }
std::string word_of(schema::TraceKind word) { return schema::EnumNameTraceKind(word); }
std::string word_of(schema::TraceRole word) { return schema::EnumNameTraceRole(word); }
std::string word_of(schema::ControlCommand word) { return schema::EnumNameControlCommand(word); }

template <typename Stored, typename Number>
std::string number_text(Number number) {
  if constexpr (std::is_enum_v<Stored>) {
    return word_of(static_cast<Stored>(number));
  } else if constexpr (std::is_same_v<Number, bool>) {
    return number ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<Number>) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%a", static_cast<double>(number));
    return text.data();
  } else {
    return std::to_string(number);
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    out += letter == '\n' ? "\\n" : (letter == '\\' || letter == '"') ? std::string{'\\', letter} : std::string{letter};
  }
  return out + "\"";
}

template <typename T, std::size_t I>
using Stored = std::remove_cvref_t<decltype(std::declval<const wire::SchemaOf<T>&>().template get_field<I>())>;

// Of a field that is absent.
template <typename T, std::size_t I>
auto schema_default() {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(flatbuffers::Offset<wire::SchemaOf<T>>(builder.EndTable(builder.StartTable())));
  return flatbuffers::GetRoot<wire::SchemaOf<T>>(builder.GetBufferPointer())->template get_field<I>();
}

// What a value says in fields that the recorded version has; of newer ones, what former fields mean in them.
template <wire::IsTable T>
T as_recorded(const T& value) {
  T recorded;
  wire::for_each_field<T>([&]<std::size_t>(const auto& field) {
    using Kind = std::remove_cvref_t<decltype(field)>;
    if constexpr (wire::is_former<Kind>) {
      if (kRecorded <= field.last) {
        field.taken(recorded, field.told(value));
      }
    } else if constexpr (!wire::is_numbers_of<Kind>) {
      if (kRecorded >= field.since) {
        recorded.*field.member = value.*field.member;
      }
    }
  });
  return recorded;
}

class Writer {
 public:
  template <wire::IsTable T>
  void table(const std::string& path, const T& value) {
    CHECK(value == as_recorded(value));
    wire::for_each_field<T>([&]<std::size_t I>(const auto& field) {
      using Kind = std::remove_cvref_t<decltype(field)>;
      const auto at = path + "." + field.name;
      if constexpr (wire::is_numbers_of<Kind>) {
        std::size_t i = 0;
        for (const auto& entry : value.*field.member) {
          numbers(at, entry, i);
        }
      } else if constexpr (wire::is_former<Kind>) {
        if (kRecorded <= field.last) {
          value_at<T, I>(at, field.told(value));
        }
      } else if (kRecorded >= field.since) {
        value_at<T, I>(at, value.*field.member);
      }
    });
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T, std::size_t I, typename Value>
  void value_at(const std::string& at, const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (!value.empty()) {
        text_ += at + " = " + quoted(value) + "\n";
      }
    } else if constexpr (wire::is_list<Value>) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        entry(at + "[" + std::to_string(i) + "]", value[i]);
      }
    } else if constexpr (wire::is_optional<Value>) {
      if (value) {
        value_at<T, I>(at, *value);
      }
    } else if constexpr (wire::IsTable<Value>) {
      if (value != Value{}) {
        table(at, value);
      }
    } else if constexpr (wire::IsPart<Value>) {
      part(at, value);
    } else if (static_cast<Stored<T, I>>(value) != schema_default<T, I>()) {
      text_ += at + " = " + number_text<Stored<T, I>>(value) + "\n";
    }
  }

  template <typename Entry>
  void entry(const std::string& at, const Entry& value) {
    if constexpr (wire::IsTable<Entry>) {
      text_ += at + " is there\n";
      table(at, value);
    } else if constexpr (wire::IsPart<Entry>) {
      part(at, value);
    } else {
      text_ += at + " = " + number_text<Entry>(value) + "\n";
    }
  }

  template <wire::IsPart T>
  void part(const std::string& path, const T& value) {
    text_ += path + " is there\n";
    wire::for_each_field<T>([&]<std::size_t I>(const auto& field) {
      const auto at = path + "." + field.name;
      const auto& member = value.*field.member;
      using Member = std::remove_cvref_t<decltype(member)>;
      if constexpr (wire::is_count<std::remove_cvref_t<decltype(field)>>) {
        text_ += member.empty() ? "" : at + " = " + std::to_string(member.size()) + "\n";
      } else if constexpr (wire::IsPart<Member>) {
        part(at, member);
      } else if (member != Member{}) {
        text_ += at + " = " + number_text<Stored<T, I>>(member) + "\n";
      }
    });
  }

  template <wire::IsPart T>
  void numbers(const std::string& path, const T& value, std::size_t& i) {
    wire::for_each_field<T>([&]<std::size_t>(const auto& field) {
      if constexpr (wire::is_count<std::remove_cvref_t<decltype(field)>>) {
        for (const auto number : value.*field.member) {
          text_ += path + "[" + std::to_string(i++) + "] = " + number_text<decltype(number)>(number) + "\n";
        }
      }
    });
  }

  std::string text_;
};

std::string text_of(const Message& message) {
  return std::visit(
      [](const auto& body) {
        const std::string name = wire::SchemaOf<std::remove_cvref_t<decltype(body)>>::Traits::name;
        Writer writer;
        writer.table(name, body);
        return "frame " + name + "\n" + writer.text();
      },
      message);
}

Decoded decode_recorded(const std::vector<std::byte>& frame) {
  auto decoded = decode(frame, 0, false);
  const auto* refused = std::get_if<Refused>(&decoded);
  return refused != nullptr && refused->text.find("without its payload") != std::string::npos ? decode(frame, 64, true)
                                                                                              : decoded;
}

TEST_CASE("recorded frames say what they said when they were sent") {
  const auto frames = recorded_frames();
  const auto texts = recorded_texts();
  REQUIRE(frames.size() == texts.size());
  std::set<std::string_view> kinds;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CAPTURE(i);
    const auto decoded = decode_recorded(frames[i]);
    CHECK(decoded.version == kRecorded);
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      FAIL_CHECK(refused->text);
      continue;
    }
    const auto& message = std::get<Message>(decoded);
    CHECK(text_of(message) == texts[i]);
    kinds.insert(message_name(message));
  }
  std::size_t known = 0;
  RandomMessages random(1);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    known += known_since(random.of_kind(kind)) <= kRecorded ? 1 : 0;
  }
  CHECK(kinds.size() == known);
}

TEST_CASE("a peer of the recorded version is sent the very bytes that one of its own would send") {
  Encoder encoder;
  for (const auto& frame : recorded_frames()) {
    const auto decoded = decode_recorded(frame);
    REQUIRE(std::holds_alternative<Message>(decoded));
    const auto& message = std::get<Message>(decoded);
    CAPTURE(message_name(message));
    CHECK(std::ranges::equal(encoder.encode(message, kRecorded), frame));
    // And one of the newest version what says the same.
    check_decodes_to(encoded(message), message);
  }
}

}  // namespace
}  // namespace ballast
