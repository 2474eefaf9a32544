"""The differences between the extension and the formats' own libraries that are right, each with its reason."""
import re

# (format, outcome, class of the message or of the difference, why it is right)
KNOWN = [
    ("ztensor-1", "only we accept", r"Invalid magic number", "a file without the magic number behind is one of zTensor 1.0, which release 1.2.3 does not read"),
    ("matlab", "only we accept", r"local variable X referenced|does not appear to be char type|buffer is too small", "a matrix of an unknown class, or a "
     "text that is none, is an attribute that is not understood, and a warning"),
    ("matlab", "only we accept", r"negative dimensions are not allowed|iteration over a N-d array", "a text without a shape is an attribute, and a warning"),
    ("matlab", "only we accept", r"Expecting miINTN", "a name of unsigned bytes is read as one of signed bytes"),
    ("matlab", "only we accept", r"it died with status", "scipy crashes"),
    ("npz", "only we accept", r"File name in directory X and header bX differ", "names of the same bytes, whose flags state two encodings, are the same name"),
    ("npz", "only we accept", r"magic string|EOF: reading magic", "a member without numpy's magic number, and without .npy in both of its names, is no array"),
]


def reason(format, outcome, message):
    """Why the difference is right; None if it is not known."""
    return next((why for of, what, pattern, why in KNOWN if of == format and what == outcome and re.search(pattern, message)), None)
