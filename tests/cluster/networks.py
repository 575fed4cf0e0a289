"""Every built-in network has the same bits on any number of workers, one of which is killed.

BALLAST_NETWORKS_TIER=long runs each network on all of them, otherwise each on two, in turns.
"""

import os

import harness

# Tail batches: 40 examples an epoch in batches of 16 leave slots that are half full, and empty ones.
TRAINING = """
training:
  slots: 8
  batch: 16
  max_steps: 150
  seed: 4
  optimizer: {name: sgd, learning_rate: 0.02, momentum: 0.9, weight_decay: 0.0005}
"""
AUGMENTED = TRAINING + "  augment: {shift: 2, rotation: 10, zoom: 0.1, flip: 0.5}\n"
GLYPHS = "data: {name: glyphs, train_examples: 40, test_examples: 10}"
CLUSTERS = ((1, 1), (2, 2), (3, 1), (5, 2))  # workers, shards
WORDS = ["<pad>", "<unk>"] + [f"word{i}" for i in range(30)]
TEXTS = """data: {name: text, path: "FOLDER", train: train, test: test, classes: [a, b], steps: 12,
  vocabulary: 32, vocabulary_file: words.txt, train_examples: 40, test_examples: 4}"""
TREES = """data: {name: trees, path: "FOLDER", train: trees.txt, test: trees.txt, classes: [c0, c1, c2, c3, c4], steps: 15,
  vocabulary: 32, vocabulary_file: words.txt, train_examples: 40, test_examples: 4}"""
CHARACTERS = """data: {name: characters, path: "FOLDER", train: book.txt, steps: 16, vocabulary: 256, train_examples: 40,
  test_examples: 4}"""

# Branches, all normalizations, dropout; in micro-batches.
OWN = """layers, layers: [
    {conv2d: {channels: 8, kernel: 3, padding: 1, stride: 2}, name: stem}, {group_norm: 4}, relu, {dropout: 0.2, name: wide},
    {max_pool2d: {window: 3, stride: 1, padding: 1}, from: stem, name: pooled}, {add: , from: [wide, pooled]}, batch_norm,
    {average_pool2d: 2}, layer_norm, {linear: {units: 10, gain: linear}}]"""

NETWORKS = {
    "mlp": ("mlp, hidden: [32]", GLYPHS, TRAINING),
    "lenet5": ("lenet5", GLYPHS, AUGMENTED),
    "autoencoder": ("autoencoder, hidden: [32, 8]", GLYPHS, TRAINING),
    "conv_autoencoder": ("conv_autoencoder, channels: [4, 8]", GLYPHS, TRAINING),
    "simpsons_cnn": ("simpsons_cnn, channels: [8, 8, 8]", GLYPHS, AUGMENTED),
    "resnet20": ("resnet20", GLYPHS, AUGMENTED),
    "own": (OWN, GLYPHS, AUGMENTED + "  micro_batch: 1\n"),
    "text_cnn": ("text_cnn, embedding: 8, filters: 6", TEXTS, TRAINING),
    "text_lstm": ("text_lstm, embedding: 8, units: 7", TEXTS, TRAINING),
    "transformer": ("transformer, width: 16, depth: 2, heads: 2", TEXTS, TRAINING),
    "tree_lstm": ("tree_lstm, embedding: 8, units: 7", TREES, TRAINING),
    "gpt": ("gpt, width: 16, depth: 2, heads: 2", CHARACTERS, TRAINING),
}


def sentence(i):
    """From 1 to 11 words."""
    return [WORDS[2 + (7 * i + j * j) % 30] for j in range(1 + i % 11)]


def tree(words, label):
    if len(words) == 1:
        return f"({label} {words[0]})"
    half = len(words) // 2
    return f"({label} {tree(words[:half], (label + 1) % 5)} {tree(words[half:], (label + 3) % 5)})"


class Networks(harness.ClusterCase):
    def write_data(self):
        (self.folder / "words.txt").write_text("\n".join(WORDS) + "\n")
        for split, count in (("train", 20), ("test", 2)):
            for name in ("a", "b"):
                folder = self.folder / split / name
                folder.mkdir(parents=True, exist_ok=True)
                for i in range(count):
                    (folder / f"{i:03}").write_text(" ".join(sentence(i + (name == "b"))) + "\n")
        trees = [tree(sentence(i)[:8], i % 5) for i in range(40)]
        (self.folder / "trees.txt").write_text("\n".join(trees) + "\n")
        (self.folder / "book.txt").write_text(" ".join(" ".join(sentence(i)) for i in range(60)))

    def check(self, name, clusters):
        model, data, training = NETWORKS[name]
        text = f"job: {name}\nmodel: {{name: {model}}}\n{data}\n{training}cluster: {{shards: 1, workers: 1}}\n"
        job = self.job(text.replace("FOLDER", str(self.folder)), name=f"{name}.yaml")
        reference = self.reference(job)
        for workers, shards in clusters:
            with self.subTest(name, workers=workers):
                options = ["--workers", str(workers), "--shards", str(shards), "--hold-start"]
                run = self.start(job, name=f"{name}-{workers}", options=options)
                if workers > 1:
                    run.wait_for_step(1)
                    run.kill("worker", workers - 1)
                summary = run.finish()
                self.expect_equal_bits(summary, reference)
                self.expect_all_slots(summary, slots=8)

    def test_each_network(self):
        self.write_data()
        for i, name in enumerate(NETWORKS):
            every = os.environ.get("BALLAST_NETWORKS_TIER") == "long"
            self.check(name, CLUSTERS if every else CLUSTERS[i % 2 :: 2])


if __name__ == "__main__":
    harness.main()
