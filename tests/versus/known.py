"""The differences between the extension and the formats' own libraries that are right, each with its reason."""
import re

# (format, outcome, class of the message or of the difference, why it is right)
NO_TEXT = "a text that is not UTF-8 is shown as its bytes"
NOT_READ = "something of the file that is not read"
KNOWN = [
    ("safetensors", "only we accept", r"header too small", "a byte 0x80 is an empty map of msgpack, whatever the file is called"),
    ("npy", "only we accept", r"Maximum allowed dimension|array is too big", "a shape without elements that numpy cannot hold"),
    ("npy", "only we accept", r"Cannot parse header", "white space that Python's grammar takes as an indentation"),
    ("npy", "only we accept", r"TokenError: \(X, \(N, 0\)\)", "a header of Python 2 (4L), a line of which begins with a carriage return and is passed over"),
    ("npz", "only we accept", r"File name in directory X and header bX differ", "names of the same bytes, whose flags state two encodings, are the same name"),
    ("npz", "only we accept", r"magic string|EOF: reading magic", "a member without numpy's magic number, and without .npy in both of its names, is no array"),
    ("npz", "only we accept", r"Truncated file header", "a member that is not there, and is not called .npy, is passed over, with a note"),
    ("npz", "only we accept", r"span multiple disks|zip file version", "what a record states of other disks, or of versions, is not read"),
    ("gguf", "only we accept", r"Maximum allowed dimension|array is too big|cannot reshape array of size 0 ", "a shape without elements that numpy cannot hold"),
    ("gguf", "only we accept", r"UnicodeDecodeError", NO_TEXT),
    ("hdf5", "only we accept", r"global heap|ran off end|object [0N] should not be set", "a fault of a heap beside what is read of it"),
    ("hdf5", "only we accept", r"gap found|driver information block|exponent size|string encoding|descriptor X|KeyError: X|creation property list", NOT_READ),
    ("hdf5", "only we accept", r"UnicodeDecodeError|precision is zero", "the name of a filter is not read; an attribute of integers without bits is opaque"),
    ("hdf5", "only we accept", r"it takes longer|it died with status", "libhdf5 goes round in circles, or crashes"),
    ("matlab", "only we accept", r"local variable X referenced|does not appear to be char type|buffer is too small", "a matrix of an unknown class, or a "
     "text that is none, is an attribute that is not understood, and a warning"),
    ("matlab", "only we accept", r"negative dimensions are not allowed|iteration over a [0N]-d array|data type X not understood", "a text without a shape is an attribute, and a warning"),
    ("matlab", "only we accept", r"negative axis", "a matrix of the kind sparse whose columns are not those of one is read as numbers"),
    ("matlab", "only we accept", r"Non ascii|Did not read any bytes", "of a text nothing is refused; an element without bytes is an empty matrix, as within cells"),
    ("matlab", "only we accept", r"Expecting miINTN", "a name of unsigned bytes is read as one of signed bytes"),
    ("matlab", "only we accept", r"it died with status", "scipy crashes"),
    ("matlab", "only we accept", r"Expecting matrix here|could not read bytes", "of a function nothing is read; a text shorter than its dimensions is an attribute, and a warning"),
    ("matlab", "only we accept", r"no field of name $", "numpy has no field without a name"),
    ("matlab", "different", r"bytes of bool", "any byte but 0 is true, and scipy makes it 1"),
    ("matlab", "different", r"bytes of complexN", "scipy adds the parts of level 4, and 0 to -0 is 0"),
    ("matlab", "different", r"shape without elements", "an empty matrix without dimensions has the shape [0,0], as in MATLAB"),
    ("matlab", "different", r"^only we have object", "of a name that stands twice scipy has the last, which is a text here"),
    ("ztensor-1", "only we accept", r"Invalid magic number", "a file without the magic number behind is one of zTensor 1.0, which release 1.2.3 does not read"),
    ("ztensor-1", "only we accept", r"Semantic\(None", "a key of a kind that it does not know is passed over"),
    ("ztensor-1", "only we accept", r"Data corruption detected", "other releases of libzstd find other faults of a stream without a digest"),
    ("ztensor-1", "different", r"parts, some compressed and without a digest", "other releases of libzstd make other bytes of a broken stream"),
    ("msgpack", "only we accept", r"UnicodeDecodeError", NO_TEXT),
    ("msgpack", "only we accept", r"ExtraData|incomplete input|data type X not|complex\(\) takes|cannot reshape|values to unpack|cannot unpack|FormatError|"
     r"SyntaxError|AttributeError|sequence of integers", "an extension of flax that does not hold what it should is an attribute that is not understood"),
    ("msgpack", "only we accept", r"code must be|timestamp data|nanoseconds", "an extension of another code is an attribute that is not understood"),
    ("msgpack", "only we accept", r"not allowed for map key|exceeds max_\w+_len", "what msgpack's library forbids unless asked"),
    ("msgpack", "different", r"^only we have object", "of a key that stands twice the library has the last"),
    ("onnx", "only we accept", r"IndexError: list index out of range", "a Constant without an output is called as a tensor of another node is"),
    ("onnx", "only we accept", r"Wire format was corrupt", "a message that holds no tensor is not read"),
    ("onnx", "only we accept", r"array is too big|cannot reshape array of size 0 ", "a shape without elements that numpy cannot hold"),
    ("tflite", "only we accept", r"UnicodeDecodeError", NO_TEXT),
    ("tflite", "only we accept", r"unpack_from requires|buffer is smaller|bad number|has no len|is not iterable", NOT_READ),
    ("tflite", "only we accept", r"IndexError: list index out of range", "a model of tensors without bytes needs no buffer 0"),
    ("tflite", "different", r"bytes of [iu]N", "the bits behind the last element are 0"),
]


def reason(format, outcome, message):
    """Why the difference is right; None if it is not known."""
    return next((why for of, what, pattern, why in KNOWN if of == format and what == outcome and re.search(pattern, message)), None)
