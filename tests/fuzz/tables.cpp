// Feeds arbitrary bytes to the readers of text, trees, tables and arrays.
//
// The first byte says what the rest is. Beyond not crashing: tokens hold no blanks, and the tokens of a token are
// itself; a tree's children stand before it, each once; a row has fields, written anew they read the same; an array
// holds what its shape says; byte pairs written anew are the same; a file that opens as an archive has members within
// it. What is refused must say why, in a line.

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/memory_file.h"
#include "worker/data/arrays/npy.h"
#include "worker/data/arrays/zip.h"
#include "worker/data/tables/csv_rows.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/message.h"
#include "worker/data/text/tokenizer.h"
#include "worker/data/text/tree.h"
#include "worker/data/text/vocabulary.h"

namespace ballast::fuzz {
namespace {

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for_each_token(text, [&](std::string_view token) {
    tokens.emplace_back(token);
    return true;
  });
  return tokens;
}

void try_message(const std::string& bytes) {
  const auto text = message_text(bytes);
  const auto stripped = strip_message(text, {.headers = true, .quotes = true, .signature = true});
  expect(stripped.size() <= text.size(), "a message does not grow when it is stripped");
  for (const auto& token : tokens_of(stripped)) {
    expect(!token.empty() && token.find_first_of(" \t\n\r") == std::string::npos, "a token holds no blank");
    expect(tokens_of(token) == std::vector<std::string>{token}, "a token's token is itself");
  }
}

void try_tree(std::string_view line) {
  const auto nodes = parse_tree(line);
  std::vector<int> parents(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    expect(nodes[i].word.empty() == (nodes[i].left >= 0), "a node has a word or children");
    for (const auto child : {nodes[i].left, nodes[i].right}) {
      expect(child < static_cast<std::int32_t>(i), "children stand before their parents");
      if (child >= 0) {
        ++parents[static_cast<std::size_t>(child)];
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    expect(parents[i] == (i + 1 < nodes.size() ? 1 : 0), "each node but the root has one parent");
  }
}

std::string quoted(const std::vector<std::string>& fields) {
  std::string row;
  for (const auto& field : fields) {
    row += row.empty() ? "\"" : ",\"";
    for (const char c : field) {
      row += c == '"' ? "\"\"" : std::string(1, c);
    }
    row += '"';
  }
  return row + "\n";
}

void try_rows(std::string_view bytes) {
  const MemoryFile file(bytes);
  CsvRows rows(file.path(), ',');
  while (true) {
    try {
      const auto fields = rows.next();
      if (!fields) {
        return;
      }
      expect(!fields->empty(), "a row has fields");
      const MemoryFile again(quoted(*fields));
      expect(CsvRows(again.path(), ',').next() == fields, "a row that is written anew reads the same");
    } catch (const BadRow& bad) {
      expect(bad.column > 0, "columns are counted from 1");
      expect_line(bad.what());
    }
  }
}

void try_array(const std::string& bytes) {
  const auto array = parse_npy(bytes);
  const auto size = array.size();
  expect(array.begin + size * array.header.bytes_each() == array.bytes.size(), "an array holds what its shape says");
  if (size > 0) {
    (void)array.at(0);
    (void)array.at(size - 1);
  }
}

void try_archive(std::string_view bytes) {
  const MemoryFile file(bytes);
  ZipFile archive(file.path());
  for (const auto& member : archive.members()) {
    try {
      expect(archive.read(member).size() == member.size, "a member is as large as the archive says");
    } catch (const std::runtime_error& error) {
      expect(!std::string_view(error.what()).empty(), "a refusal says why");
    }
  }
}

void try_byte_pairs(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto merges = read_byte_pairs(file.path());
  const MemoryFile again(byte_pairs_text(merges));
  expect(read_byte_pairs(again.path()) == merges, "byte pairs that are written anew are the same");
}

void try_learning(std::string_view text) {
  const auto merges = learn_byte_pairs(text, 20);
  std::vector<std::int32_t> tokens;
  BytePairEncoder(merges).encode(text, tokens);
  expect(tokens.size() <= text.size(), "pairs make a text no longer");
}

void try_vocabulary(std::string_view bytes) {
  const MemoryFile file(bytes);
  const Vocabulary vocabulary(file.path(), 0);
  for (std::size_t i = 0; i < vocabulary.words().size(); ++i) {
    expect(vocabulary.token(vocabulary.words()[i]) == static_cast<std::int32_t>(i), "a word is found where it stands");
  }
}

void try_one(std::uint8_t kind, const std::string& bytes) {
  switch (kind % 8U) {
    case 0:
      return try_message(bytes);
    case 1:
      return try_tree(bytes);
    case 2:
      return try_rows(bytes);
    case 3:
      return try_array(bytes);
    case 4:
      return try_archive(bytes);
    case 5:
      return try_byte_pairs(bytes);
    case 6:
      return try_learning(bytes);
    default:
      return try_vocabulary(bytes);
  }
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  try {
    ballast::fuzz::try_one(data[0], std::string(data + 1, data + size));
  } catch (const std::runtime_error& error) {
    ballast::fuzz::expect(!std::string_view(error.what()).empty(), "a refusal says why");
  }
  return 0;
}
