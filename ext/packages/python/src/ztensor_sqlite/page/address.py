"""The parameters of a page's address, and addresses with other parameters."""
import re
from urllib.parse import urlencode


class Parameters:
    def __init__(self, path="", values=()):
        self.path, self.all = path, dict(values)

    def text(self, key):
        return (self.all.get(key) or "").strip()

    def count(self, key, default=0):
        text = self.text(key)
        return int(text) if re.fullmatch("[0-9]{1,15}", text) else default

    def one_of(self, key, values):
        return self.text(key) if self.text(key) in values else values[0]

    def other(self, **changes):
        return self.path + "?" + urlencode({k: v for k, v in {**self.all, **changes}.items() if v not in (None, "")})
