"""`make amalgamation`: all of ext/ as one C file, on the standard output. What the Makefile tells the compiler stands at its head."""
import pathlib
import re
import sys

EXT = pathlib.Path(__file__).resolve().parents[2] / "ext"
SOURCES = [path for layer in ("core", "container", "tensor", "sqlite", ".") for path in sorted((EXT / layer).glob("*.c"))]
OWN = re.compile(r'^ *# *include "(.+)"$')
SYSTEM = re.compile(r"^ *# *include <.+>$")

HEAD = """\
/*
** ztensor: tensor files as SQL tables, all of its sources in one file, made by `make amalgamation`.
**
**   cc -O2 -fPIC -shared -o ztensor.so ztensor.c -lzstd -lz -lcrypto -lisal -ldl -lm -lpthread
**
** With -DSQLITE_CORE it becomes a part of the program that has SQLite.
*/
#ifndef NDEBUG
# define NDEBUG 1   /* asserts are for the tests */
#endif
#define ZT_XXH3_AVX2 0   /* xxHash is here once, for the processor that the compiler is told of */

/* A product and a sum are rounded one after the other, as everywhere. */
#if defined(__clang__)
# pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
# pragma GCC optimize ("fp-contract=off")
#endif

/* What is defined here is nobody else's, but the entry points. What the system declares is. */
#if defined(__GNUC__) && !defined(_WIN32)
# define ZT_OWN_BEGIN _Pragma("GCC visibility push(hidden)")
# define ZT_OWN_END _Pragma("GCC visibility pop")
#else
# define ZT_OWN_BEGIN
# define ZT_OWN_END
#endif
"""


def included(path: pathlib.Path) -> list[pathlib.Path]:
    return [EXT / m[1] for line in path.read_text().splitlines() if (m := OWN.match(line))]


def headers() -> list[pathlib.Path]:
    """Each once, behind those that it includes."""
    found: dict[pathlib.Path, None] = {}

    def visit(path: pathlib.Path) -> None:
        for header in included(path):
            if header not in found:
                visit(header)
                found[header] = None

    for path in SOURCES:
        visit(path)
    return list(found)


def feature_macros(lines: list[str]) -> list[str]:
    """The directives before a file's first #include: for the system's headers, which must not have been read before."""
    first = next((i for i, line in enumerate(lines) if re.match(" *# *include", line)), 0)
    start = next((i for i, line in enumerate(lines[:first]) if line.startswith("#")), first)
    return lines[start:first]


def lines_of(path: pathlib.Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not re.match(r"/\* NOLINT(BEGIN|END)", line)]


def body(path: pathlib.Path) -> list[str]:
    lines = lines_of(path)
    if path.suffix == ".c":
        for line in feature_macros(lines):
            lines.remove(line)
    out, system = [], []
    for line in [line for line in lines if not OWN.match(line)] + [""]:
        if SYSTEM.match(line):
            system.append(line)
            continue
        if system:
            out += ["ZT_OWN_END", *system, "ZT_OWN_BEGIN"]
            system = []
        out.append(line)
    return out


def main() -> None:
    print(HEAD)
    print(*[line for path in SOURCES for line in feature_macros(lines_of(path))], sep="\n")
    print("\nZT_OWN_BEGIN\n")
    for path in headers() + SOURCES:
        print(f"/* --- {path.relative_to(EXT)} --- */\n" + "\n".join(body(path)).rstrip() + "\n")
    print("ZT_OWN_END")


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(__doc__)
    main()
