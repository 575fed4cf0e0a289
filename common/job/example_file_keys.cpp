// The keys of data sets of text, tables and arrays.
#include "common/job/key_tables.h"

namespace ballast {
namespace {

constexpr double kLongestExample = 1U << 20U;  // steps

std::vector<Key> sequence_keys(DataSpec& data) {
  const OnlyWith sequences = {"data.name", {"text", "characters", "trees"}};
  return {
      {.path = "data.steps",
       .target = &data.steps,
       .description = "Steps of the longest sequence: tokens that are read of a message, at most (`text`); tokens of "
                      "each sequence (`characters`); nodes of a tree, at most (`trees`)",
       .unit = "steps",
       .minimum = 1,
       .maximum = kLongestExample,
       .only_with = sequences,
       .identity = true,
       .default_note = "none: it is needed"},
      {.path = "data.vocabulary",
       .target = &data.vocabulary,
       .description =
           "Different tokens: as many as the vocabulary file has, two of which are padding and unknown words; "
           "`characters`: 256 bytes, and the pairs of a vocabulary file",
       .unit = "tokens",
       .minimum = 3,
       .maximum = 16777216,
       .only_with = sequences,
       .identity = true,
       .default_note = "none: it is needed"},
      {.path = "data.vocabulary_file",
       .target = &data.vocabulary_file,
       .description =
           "File of the tokens, within the folder of `data.path`, that `ballast data vocabulary` or `ballast "
           "data byte_pairs` has written. `characters` goes without: each byte is a token",
       .only_with = sequences},
      {.path = "data.tree_labels",
       .target = &data.tree_labels,
       .description =
           "`all`: as they are in the file. `polarity`: two classes, above and below the middle one of five; "
           "nodes in the middle have no label, and trees whose root is there are no examples",
       .choices = {"all", "polarity"},
       .only_with = {"data.name", {"trees"}},
       .identity = true},
  };
}

std::vector<Key> csv_keys(DataSpec& data) {
  const OnlyWith csv = {"data.name", {"csv"}};
  return {
      {.path = "data.separator",
       .target = &data.separator,
       .description = "What stands between two fields",
       .choices = {"comma", "tab", "semicolon"},
       .only_with = csv,
       .identity = true},
      {.path = "data.header",
       .target = &data.header,
       .description = "Whether the first line names the columns; if not, `data.columns` has all columns of the file in "
                      "their order",
       .only_with = csv,
       .identity = true},
      {.path = "data.missing",
       .target = &data.missing,
       .description = "What a field holds that has no value, e.g. `['', NA]`: a number is then its column's mean, a "
                      "category none of its values. Without it such a row is corrupt",
       .only_with = csv,
       .identity = true},
      {.path = "data.columns",
       .target = &data.columns,
       .description =
           "What becomes of each column: `[{name: age, kind: number, mean: 38.6, deviation: 13.6}, {name: colour, "
           "kind: "
           "category, values: [red, green]}, {name: id, kind: ignored}, {name: sold, kind: label}]`. `number`: the "
           "feature (value - mean) / deviation; `category`: a feature for each value; `label`: one of `data.classes`; "
           "`flag`: 0 or 1, one of several classes; `target`: (value - mean) / deviation is to be predicted. Targets "
           "are of one of the last three kinds",
       .only_with = csv,
       .identity = true},
  };
}

std::vector<Key> array_keys(DataSpec& data) {
  const OnlyWith npy = {"data.name", {"npy"}};
  return {
      {.path = "data.shape",
       .target = &data.shape,
       .description = "The shape of one example: `[features]`, `[steps, features]` or `[channels, height, width]`",
       .minimum = 1,
       .maximum = 1048576,
       .only_with = npy,
       .identity = true},
      {.path = "data.outputs",
       .target = &data.outputs,
       .description = "Classes, or numbers that are to be predicted",
       .minimum = 1,
       .maximum = 1048576,
       .only_with = npy,
       .identity = true,
       .default_note = "none: it is needed"},
      {.path = "data.target",
       .target = &data.target,
       .description = "What labels are: `class`: one number of each example; `several`: 0 or 1 for each of "
                      "`data.outputs`; `number`: `data.outputs` numbers",
       .choices = {"class", "several", "number"},
       .only_with = npy,
       .identity = true},
      {.path = "data.scale",
       .target = &data.scale,
       .description = "What features are multiplied by, e.g. 0.00392156862745098 for bytes",
       .minimum = -1e30,
       .maximum = 1e30,
       .only_with = npy,
       .identity = true},
  };
}

std::vector<Key> strip_keys(StripSpec& strip) {
  const OnlyWith text = {"data.name", {"text"}};
  return {
      {.path = "data.strip.headers",
       .target = &strip.headers,
       .description = "All up to the first empty line",
       .only_with = text,
       .identity = true},
      {.path = "data.strip.quotes",
       .target = &strip.quotes,
       .description = "Lines that quote, and lines that say who is quoted (docs/data-text.md)",
       .only_with = text,
       .identity = true},
      {.path = "data.strip.signature",
       .target = &strip.signature,
       .description = "All from the last line on that is empty or consists of dashes",
       .only_with = text,
       .identity = true},
  };
}

}  // namespace

std::vector<Key> example_file_keys(DataSpec& data) {
  auto keys = sequence_keys(data);
  append(keys, csv_keys(data));
  append(keys, array_keys(data));
  append(keys, strip_keys(data.strip));
  return keys;
}

}  // namespace ballast
