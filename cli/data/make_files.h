// `ballast data vocabulary`, `byte_pairs` and `embeddings`: files that data sets of text, and models of them, begin
// with.
#pragma once

#include <cstdint>
#include <string>

#include "common/job/spec.h"

namespace ballast {

struct VocabularyOptions {
  std::string path;            // folder or archive, as data.path
  std::string train;           // the split's folder of messages, or file of trees
  std::string kind = "text";   // text | trees
  StripSpec strip = {};        // of messages
  std::uint32_t size = 20000;  // tokens at most, padding and unknown among them
  std::uint64_t least = 1;     // times that a word must occur
  std::string output;
};

// Writes the most frequent words of the train split. Exit code 0; standard output says how many, and how many of the
// split's words they are. Throws std::runtime_error.
int make_vocabulary(const VocabularyOptions& options);

struct BytePairOptions {
  std::string file;
  std::uint32_t merges = 1000;
  std::string output;
};

int make_byte_pairs(const BytePairOptions& options);

struct EmbeddingOptions {
  std::string vectors;     // GloVe text: on each line a word and its numbers, parted by blanks
  std::string vocabulary;  // file
  std::string tensor = "embedding.weight";
  std::string missing = "drawn";  // drawn | zero: words of the vocabulary that have no vector
  std::string output;
};

// Writes a safetensors file of one tensor, vocabulary x dimensions: the vector of each word, 0 for padding. Vectors
// that are drawn are uniform, with the deviation of all numbers that were found, a function of the files alone.
// Standard output says how many words were found.
int make_embeddings(const EmbeddingOptions& options);

}  // namespace ballast
