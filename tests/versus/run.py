"""Mutated files of each format, read by the format's own library and by the extension: run.py FORMAT SECONDS SEED [NUMBER]

What both accept must be equal: names, types, shapes, and bytes of values. What the library refuses must not be sound for us, and the
other way round we say why we refuse. A difference that known.py does not justify fails the run; its file stays in build/versus/findings.
Mutant NUMBER of a SEED is always the same, as long as the seeds' files are.
"""
import hashlib
import json
import os
import random
import re
import select
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import known  # noqa: E402  (they are there only now)
import mutations  # noqa: E402

NO_BYTES = hashlib.sha256(b"").hexdigest()
BUILD = ROOT / "build" / "versus"
LARGEST, PATIENCE, SHOWN = 64 << 10, 5, 12
# The environment that has the library; the folder of the format's files and what they are called
FORMATS = {"safetensors": ("safetensors", "safetensors", "safetensors"), "npy": ("numpy", "npy", "npy"), "npz": ("numpy", "npz", "npz"),
           "gguf": ("gguf", "gguf", "gguf"), "hdf5": ("hdf5", "hdf5", "h5"), "matlab": ("numpy", "matlab", "mat"),
           "ztensor-1": ("1.2.3", "ztensor", "zt"), "ztensor-2": ("2.1.2", "ztensor", "zt"), "msgpack": ("msgpack", "msgpack", "msgpack"),
           "onnx": ("onnx", "onnx", "onnx"), "tflite": ("litert", "tflite", "tflite")}


class Reader:
    """A process that reads one file after another. One that dies or hangs is started anew."""

    def __init__(self, *command):
        self.command, self.process = command, None

    def ask(self, path):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            cwd=BUILD, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()

    def answer(self):
        """{"died": how} instead of an answer."""
        line, until = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not part:
                return {"died": self.end(hangs=not ready)}
            line += part
        return json.loads(line)

    def end(self, hangs=False):
        if self.process is None:
            return None
        if hangs:
            self.process.kill()
        self.process.stdin.close()
        status, self.process = self.process.wait(), None
        return "it takes longer than %d s" % PATIENCE if hangs else f"it died with status {status}"


def class_of(text):
    """A message without names, and without numbers but 0."""
    text = re.sub(r"'(?:[^'\n]|'(?=[\w\n]))*'|\"[^\"]*\"|/\S+", "X", text.replace("\n", " "))
    return re.sub(r"-?\d+", lambda number: "0" if number[0] == "0" else "N", text)[:140]


# ------------------------------------------------------------------------------------------------------ verdicts

def repeated(objects):
    """The names that stand more than once: the later ones are called NAME#2 and so on."""
    later = {name for name in objects if re.search(r"#\d+$", name)}
    return later | {name.rpartition("#")[0] for name in later}


def differences(own, theirs, skipped):
    """[what differs] of the objects that the library has, but those that we found fault with, and names that stand more than once:
    of them the libraries have one."""
    found, again = [], repeated(own) | repeated(theirs)
    for name in sorted(theirs.keys() | own.keys()):
        if name in skipped or name in again:
            continue
        if name not in theirs and "without" in own[name]:    # Some leave out what they do not know
            continue
        if name not in own or name not in theirs:
            empty = name in theirs and theirs[name].get("bytes") == NO_BYTES
            found.append(f"only {'the library has' if name in theirs else 'we have'} object {name!r}{' of no bytes' if empty else ''}")
            continue
        a, b = own[name], theirs[name]
        found += [f"object {name!r}: {kind_of(key, a, b)}: {a.get(key)!r}, the library {b[key]!r}" for key in b
                  if b[key] is not None and a.get(key) != b[key]]
    return found


def kind_of(key, own, theirs):
    """The key of a fact that differs, with more of what is known of the object where known.py asks for it."""
    if key == "bytes" and own["type"] in ("bool", "complex64", "complex128", "i2", "u2", "i4", "u4"):
        return f"bytes of {own['type']}"
    if key == "shape" and 0 in (own["shape"] or ()) and 0 in theirs["shape"]:
        return "shape without elements"
    if key == "parts" and own.get("undigested"):
        return "parts, some compressed and without a digest"
    return key


def refusals(own, theirs):
    """{object: why}: what we do not read as sound, and the library does, or the file; "" is the file."""
    found = {object or "": f"{rule}: {message}" for object, rule, message in own["findings"]}
    for name, facts in own["objects"].items():
        other = theirs.get(name, {})
        if "no" in facts and (not theirs or other.get("bytes") or other.get("parts")):
            found.setdefault(name, facts["no"])
        if "without" in facts and (not theirs or other.get("type") or other.get("f32") or other.get("parts")):
            found.setdefault(name, facts["without"])
    return found


def verdict(own, theirs):
    """(outcome, class of its reason, details)"""
    if "died" in own or "disagrees" in own:
        return "fault", own.get("died") or own["disagrees"], []
    refused = "error" in theirs or "died" in theirs
    reason = theirs.get("error") or theirs.get("died")
    if "error" in own:
        return ("both refuse" if refused else "only the library accepts"), own["error"], []
    no = refusals(own, theirs.get("objects", {}))
    if refused:
        return ("both refuse", next(iter(no.values())), []) if no else ("only we accept", reason, [])
    wrong = [] if "" in no else differences(own["objects"], theirs["objects"], no)
    if wrong:
        return "different", re.sub(r"[0-9a-f]{64}", "DIGEST", wrong[0]), wrong
    return ("only the library accepts", next(iter(no.values())), []) if no else ("equal", "", [])


@dataclass
class Tally:
    format: str
    outcomes: Counter = field(default_factory=Counter)
    classes: dict = field(default_factory=dict)
    faults: int = 0

    def note(self, outcome, reason, example):
        reason = class_of(reason)
        justified = known.reason(self.format, outcome, reason)
        outcome = outcome if not justified or outcome != "different" else "different, as known"
        self.outcomes[outcome] += 1
        entry = self.classes.setdefault(outcome, {}).setdefault(reason, [0, example, justified])
        entry[0] += 1
        fault = outcome in ("fault", "different") or outcome == "only we accept" and not justified
        self.faults += fault
        return fault and entry[0] == 1    # The first of a class is kept

    def show(self, files):
        print(f"versus {self.format}: {files} files: " + ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common()))
        for outcome in ("fault", "different", "different, as known", "only we accept", "only the library accepts"):
            classes = sorted(self.classes.get(outcome, {}).items(), key=lambda item: -item[1][0])
            for reason, (count, example, justified) in classes[:SHOWN if outcome == "only the library accepts" else None]:
                print(f"  {outcome}: {count} times, first {example}: {reason}" + (f" [{justified}]" if justified else ""))
            if len(classes) > SHOWN and outcome == "only the library accepts":
                print(f"  {outcome}: {len(classes) - SHOWN} further reasons")


# --------------------------------------------------------------------------------------------------------- seeds

def seeds(format):
    """[(name, bytes)]: sound files of the format that are no larger than LARGEST, and those that its library has just written."""
    _, folder, end = FORMATS[format]
    files = [*(ROOT / "tests" / "formats" / folder).glob(f"golden/**/*.{end}"), *(ROOT / "tests" / "formats" / folder).glob(f"hostile/ok-*.{end}"),
             *(BUILD / "seeds" / format).glob(f"*.{end}")]
    found = [(path.name, path.read_bytes()) for path in sorted(files) if 0 < path.stat().st_size <= LARGEST]
    if folder == "ztensor":
        found = [(name, data) for name, data in found if data.startswith(mutations.writer.MAGIC_2) == (format == "ztensor-2")]
    assert found, f"no files of {format}"
    return found


def mutant(format, given, seed, number):
    """(name of the file it was, bytes)"""
    rng = random.Random(f"{format} {seed} {number}")
    name, data = rng.choice(given)
    return name, mutations.mutant(format, data, rng)


def agreed(format, given, library, own):
    """The seeds that both read alike, as they are: a difference by design would hide others."""
    kept, path = [], BUILD / "work" / f"{format}.{FORMATS[format][2]}"
    for name, data in given:
        outcome, reason = ask(path, data, library, own)[:2]
        if outcome == "equal":
            kept.append((name, data))
        else:
            print(f"versus {format}: not mutated: {name}: {outcome}: {reason[:200]}")
    return kept


def ask(path, data, library, own):
    """The verdict on a file."""
    path.write_bytes(data)
    library.ask(path)
    own.ask(path)
    theirs = library.answer()
    return verdict(own.answer(), theirs)


def compare(format, numbers, seed, seconds):
    environment, _, end = FORMATS[format]
    work, findings = BUILD / "work", BUILD / "findings"
    work.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    library = Reader(ROOT / "build" / "interop" / environment / "bin" / "python", HERE / "reader.py", format)
    own, tally, files = Reader(sys.executable, HERE / "ours.py"), Tally(format), 0
    path = work / f"{format}.{end}"
    given = agreed(format, seeds(format), library, own)
    until = time.monotonic() + seconds
    for number in numbers:
        if files and time.monotonic() > until:
            break
        name, data = mutant(format, given, seed, number)
        outcome, reason, details = ask(path, data, library, own)
        if tally.note(outcome, reason, f"{number} of {name}"):
            kept = findings / f"{format}-{seed}-{number}.{end}"
            kept.write_bytes(data)
            print(f"versus {format}: mutant {number} of {name}: {outcome}: {reason[:300]}")
            print("".join(f"    {line[:300]}\n" for line in details[1:4]), end="")
        files += 1
    library.end()
    own.end()
    path.unlink()
    tally.show(files)
    return tally.faults


def all_numbers():
    number = 0
    while True:
        yield number
        number += 1


def main(format, seconds, seed, *only):
    faults = compare(format, map(int, only) if only else all_numbers(), seed, float(seconds))
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
