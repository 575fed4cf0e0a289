// The table of the keys below `data`.
#include "common/job/key_tables.h"

namespace ballast {
namespace {

std::vector<Key> keys_of_files(DataSpec& data) {
  const OnlyWith files = {"data.name", joined({"idx", "cifar10", "images"}, example_file_sets())};
  const OnlyWith sized = {"data.name", {"idx", "images"}};
  const OnlyWith images = {"data.name", {"images"}};
  return {
      {.path = "data.path",
       .target = &data.path,
       .description = "Folder of the data files, on each worker's machine; `data_path` of a worker's file goes before. "
                      "`text`: or a "
                      ".tar[.gz]; `npy`: or an .npz file",
       .only_with = {"data.name", joined({"mnist", "idx", "cifar10", "images"}, example_file_sets())},
       .default_note = "$BALLAST_DATA; mnist: then ~/.cache/ballast; text, characters, trees, csv, npy: none"},
      {.path = "data.train",
       .target = &data.train,
       .description =
           "What the train split is read from, within that folder. `idx`: the file of the images; `cifar10`: "
           "a file of records, or several: one `*` in the name stands for any text; `images`: a folder or "
           ".tar[.gz] with one folder a class; `text`: a folder with one folder a class; `characters`, `trees`, `csv`: "
           "a file, plain or .gz; `npy`: the array of the features",
       .only_with = files},
      {.path = "data.test",
       .target = &data.test,
       .description = "The same of the test split. `characters` goes without: what follows the train split",
       .only_with = files},
      {.path = "data.train_labels",
       .target = &data.train_labels,
       .description = "The file, or for `npy` the array, of the train split's labels",
       .only_with = {"data.name", {"idx", "npy"}}},
      {.path = "data.test_labels",
       .target = &data.test_labels,
       .description = "The same of the test split",
       .only_with = {"data.name", {"idx", "npy"}}},
      {.path = "data.classes",
       .target = &data.classes,
       .description = "Names of the classes, in the order of their labels: 0, 1, ...; `images` and "
                      "`text`: their folders' names; `csv`: the values of the column of `kind: label`",
       .only_with = {"data.name", {"idx", "cifar10", "images", "text", "trees", "csv"}},
       .identity = true,
       .default_note = "`cifar10`: its ten"},
      {.path = "data.channels",
       .target = &data.channels,
       .description = "1: images become grey, 3: images become coloured",
       .unit = "channels",
       .minimum = 1,
       .maximum = 3,
       .only_with = images,
       .identity = true},
      {.path = "data.height",
       .target = &data.height,
       .description = "Of the images; `images`: all are stretched to this size",
       .unit = "pixels",
       .minimum = 1,
       .maximum = 4096,
       .only_with = sized,
       .identity = true,
       .default_note = "none"},
      {.path = "data.width",
       .target = &data.width,
       .description = "The same across",
       .unit = "pixels",
       .minimum = 1,
       .maximum = 4096,
       .only_with = sized,
       .identity = true,
       .default_note = "none"},
  };
}

std::vector<Key> keys_of_examples(DataSpec& data) {
  const OnlyWith images = {"data.name", image_sets()};
  return {
      {.path = "data.train_examples",
       .target = &data.train_examples,
       .description = "Examples of an epoch: the first ones of the train split",
       .unit = "examples",
       .minimum = 0,
       .maximum = 16000000,
       .identity = true,
       .default_note = "mnist: all 60,000; glyphs: 20,000; none: 1,000,000"},
      {.path = "data.test_examples",
       .target = &data.test_examples,
       .description = "Examples that each evaluation of the test split looks at: its first ones. With "
                      "`data.validation_examples` it is evaluated at the job's end alone",
       .unit = "examples",
       .minimum = 0,
       .maximum = 16000000,
       .only_with = {"data.name", joined(image_sets(), example_file_sets())},
       .identity = true,
       .default_note = "mnist: all 10,000; glyphs: 4,000"},
      {.path = "data.validation_examples",
       .target = &data.validation_examples,
       .description =
           "The last ones of `data.train_examples`, held out to validate with: an epoch trains on the others. They are "
           "evaluated every `training.evaluate_every_epochs`, and the test split at the job's end alone",
       .unit = "examples",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = {"data.name", joined(image_sets(), example_file_sets())},
       .identity = true,
       .default_note = "`0`: none"},
      {.path = "data.mean",
       .target = &data.mean,
       .description = "By channel, taken from each value, where black is 0 and white is 1",
       .minimum = -1000,
       .maximum = 1000,
       .only_with = images,
       .identity = true,
       .default_note = "mnist, glyphs: `[0.1307]`; others: 0"},
      {.path = "data.deviation",
       .target = &data.deviation,
       .description = "By channel, that what is left is divided by",
       .minimum = 1e-6,
       .maximum = 1000,
       .only_with = images,
       .identity = true,
       .default_note = "mnist, glyphs: `[0.3081]`; others: 1"},
  };
}

}  // namespace

std::vector<Key> data_keys(DataSpec& data) {
  std::vector<Key> keys = {
      {.path = "data.name",
       .target = &data.name,
       .description =
           "The data set (docs/data.md): `mnist` is read from its four files, `glyphs` (digits drawn by a "
           "generator) needs none, `idx`, `cifar10` and `images` (PNG and JPEG) are read from the files that "
           "the job names, as are (docs/data-text.md) `text` (messages, one folder a class), `characters` (a text to "
           "be "
           "continued), `trees` (sentences with parse trees), `csv` (tables) and `npy` (arrays), `none` is for "
           "emulated "
           "models",
       .choices = joined({"mnist", "glyphs", "idx", "cifar10", "images"}, joined(example_file_sets(), {"none"})),
       .required = true,
       .identity = true},
  };
  append(keys, keys_of_files(data));
  append(keys, keys_of_examples(data));
  const OnlyWith images = {"data.name", {"images"}};
  append(keys,
         {
             {.path = "data.corrupt",
              .target = &data.corrupt,
              .description =
                  "What becomes of an example that cannot be read: `fatal` fails the job; `skip` tells "
                  "and counts it, and the next of its class that can be decoded takes its place. Of other sets `skip` "
                  "leaves the example out: `data.train_examples` and `data.test_examples` count the good ones",
              .choices = {"fatal", "skip"},
              .only_with = {"data.name", {"images", "text", "trees", "csv", "npy"}},
              .identity = true},
             {.path = "data.cache_mb",
              .target = &data.cache_mb,
              .description = "Memory of each worker for the content of compressed archives, and, with what is left, "
                             "for images once decoded; images beyond it are decoded at each reading",
              .unit = "megabytes",
              .minimum = 0,
              .maximum = 1000000000,
              .only_with = images},
             {.path = "data.threads",
              .target = &data.threads,
              .description = "Threads of each worker that read, decode and augment ahead of need; any number gives "
                             "the same bytes",
              .unit = "threads",
              .minimum = 1,
              .maximum = 64},
             {.path = "data.digest",
              .target = &data.digest,
              .description = "Says which data are meant, by the digest that an earlier run's `ballast status` or "
                             "summary (`data_digest`) tells. Each worker computes its own when it starts, of what the "
                             "data set holds, wherever it lies, and of some examples as this worker decodes them; one "
                             "with another digest is refused and ends",
              .rule = TextRule::data_digest,
              .default_note = "that of the first worker that is ready"},
         });
  return keys;
}

}  // namespace ballast
