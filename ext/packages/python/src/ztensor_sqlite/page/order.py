"""The order of a model's layers. Files store tensors in the order of their names or in any other."""
import re

# Names of modules before the first number: embeddings come first, then everything else (encoders before decoders), then the last norm,
# and the heads. Beside numbered layers this tells the ends of a model.
FIRST = re.compile(r"embed|embd|wte|wpe|shared$|patch|stem|conv_in|input|(?:^|_)in$|pos_|tok_|rope")
NORM = re.compile(r"norm|ln_f|final")
LAST = re.compile(r"head|output|logits|classifier|score|(?:^|_)out$|pooler|fc$|cls$|predictions")
DECODER = re.compile(r"decoder")


def natural(text):
    """A sort key that puts layer 2 before layer 10."""
    return [(int(word), "") if word.isascii() and word.isdigit() else (-1, word) for word in re.split("([0-9]{1,15})", text)]


def model_order(name):
    """A sort key for names of tensors: the order of a model's layers."""
    key, is_numbered = [], False
    for word in re.split(r"[./]", name):
        is_numbered = is_numbered or re.search("[0-9]", word) is not None
        key.append((0 if is_numbered else _rank(word.lower()), natural(word)))
    return key


def _rank(word):
    if FIRST.search(word):
        return -1
    if NORM.search(word):
        return 2
    return 3 if LAST.search(word) else 1 if DECODER.search(word) else 0
