"""The differences between the extension and the formats' own libraries that are right, each with its reason."""
import re

# (format, outcome, class of the message or of the difference, why it is right)
KNOWN = [
    ("npz", "only we accept", r"magic string|Bad CRC|EOF: reading magic", "a member whose first bytes are no array's is not listed: numpy opens the "
     "archive, and fails where that member is asked for"),
]


def reason(format, outcome, message):
    """Why the difference is right; None if it is not known."""
    return next((why for of, what, pattern, why in KNOWN if of == format and what == outcome and re.search(pattern, message)), None)
