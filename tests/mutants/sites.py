"""Places in a C source where one token can be changed, and the change. The sources are this project's, whose style decides what an
operator means: a binary operator of numbers stands in spaces or between operands, a pointer's star does not."""
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<number>\b(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)[uUlL]*\b)
  | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^<>!~=?:;,.(){}\[\]])
""", re.X | re.S | re.M)

# One operator becomes each of these in turn
OPERATORS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "++": ["--"], "--": ["++"],
}
NUMBERS = {"0": ["1"], "1": ["0", "2"]}
TYPES = {"int", "char", "void", "const", "static", "return", "sizeof", "case", "unsigned", "struct", "enum", "typedef"}


@dataclass(frozen=True)
class Site:
    """A change of bytes [at, end) of a file to `text`."""
    file: str
    line: int
    at: int
    end: int
    was: str
    text: str

    @property
    def kind(self):
        if not self.text:
            return "call"
        if self.text.startswith(("(!", "!!")):
            return "condition"
        return "constant" if self.was[0].isdigit() else "operator"


def tokens(source):
    return [(match.lastgroup, match.group(), match.start()) for match in TOKEN.finditer(source)
            if match.lastgroup not in ("comment", "directive")]


def _closing(found, i):
    """The index of the parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(found)):
        depth += (found[j][1] == "(") - (found[j][1] == ")")
        if depth == 0:
            return j
    return None


def _is_operand(token):
    return token[0] in ("number", "word") and token[1] not in TYPES or token[1] in (")", "]")


def sites(file, source):
    """All changes of one file, function bodies alone."""
    found = tokens(source)
    braces = []   # Whether each open brace is of a function or within one

    def site(start, end, text):
        return Site(file, source.count("\n", 0, start) + 1, start, end, source[start:end], text)

    for i, (kind, text, at) in enumerate(found):
        before = found[i - 1] if i else ("", "", 0)
        if text == "{":
            braces.append(before[1] == ")" or any(braces))
        elif text == "}" and braces:
            braces.pop()
        if not any(braces):
            continue
        if kind == "operator" and text in OPERATORS:
            binary = _is_operand(before) or text in ("++", "--")
            if binary:
                yield from (site(at, at + len(text), to) for to in OPERATORS[text])
        elif kind == "operator" and text == "!":
            yield site(at, at + 1, "!!")
        elif kind == "number" and before[1] not in ("[",):
            bare = text.rstrip("uUlL")
            suffix = text[len(bare):]
            to = NUMBERS.get(bare) or ([str(int(bare) + 1)] if bare.isdigit() and not bare.startswith("0") else [])
            yield from (site(at, at + len(text), value + suffix) for value in to)
        elif kind == "word" and text in ("if", "while") and i + 1 < len(found) and found[i + 1][1] == "(":
            end = _closing(found, i + 1)
            if end is not None:
                first, last = found[i + 1][2], found[end][2] + 1
                yield site(first, last, "(!" + source[first:last] + ")")
        elif kind == "word" and before[1] in (";", "{", "}") and i + 1 < len(found) and found[i + 1][1] == "(" and text not in TYPES:
            end = _closing(found, i + 1)
            if text not in ("if", "while", "for", "switch") and end is not None and end + 1 < len(found) and found[end + 1][1] == ";":
                yield site(at, found[end][2] + 1, "")
