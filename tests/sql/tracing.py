"""Which files a program opens and which bytes of them it reads, from the output of strace."""
import re

CALLS = "openat,open,read,pread64,readv,preadv,preadv2,lseek,mmap,close"
# pid call(first-arguments ... = result; file descriptors are shown as 3</path> because of -y
LINE = re.compile(r"^\d+\s+(\w+)\((.*)\)\s+= (-?\w+)(?:<(.*?)>)?")
DESCRIPTOR = re.compile(r"(\d+)<(.*?)>")


UNFINISHED = re.compile(r"^(\d+)\s+(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+)\s+<\.\.\. \w+ resumed>(.*)$")


def whole_lines(log):
    """The lines, those of calls during which another thread made one put together again: where they ended."""
    begun = {}
    for line in log.splitlines():
        if match := UNFINISHED.match(line):
            begun[match[1]] = match[2]
        elif match := RESUMED.match(line):
            yield f"{match[1]} {begun.pop(match[1])}{match[2]}"
        else:
            yield line


def command(log):
    return ["strace", "-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-e", "trace=" + CALLS, "-o", str(log)]


class Trace:
    """`out`, `err`: what the program printed; `opened`: paths, in order; `reads`: (path, offset, length)."""

    def __init__(self, log, done):
        self.out, self.err, self.code = done.out, done.err, done.code
        self.opened, self.reads, self.position = [], [], {}
        self.lines = 0
        for line in whole_lines(log):
            match = LINE.match(line)
            if match:
                self.lines += 1
                self.note(*match.groups())

    def note(self, call, arguments, result, result_path):
        if call in ("open", "openat"):
            if not result.startswith("-"):
                self.opened.append(result_path)
                self.position[result] = 0
            return
        if call == "mmap":
            # mmap(address, length, protection, flags, fd, offset): a mapped byte counts as read
            _, length, _, _, file, offset = arguments.rsplit(", ", 5)
            match = DESCRIPTOR.match(file)
            if match:
                self.reads.append((match[2], int(offset, 0), int(length)))
            return
        match = DESCRIPTOR.match(arguments)
        if not match or result.startswith("-"):
            return
        descriptor, path = match.groups()
        if call == "lseek":
            self.position[descriptor] = int(result)
        elif call in ("read", "readv"):
            at = self.position.get(descriptor, 0)
            self.reads.append((path, at, int(result)))
            self.position[descriptor] = at + int(result)
        elif call in ("pread64", "preadv", "preadv2"):
            offset = arguments.split(", ")[-2 if call == "preadv2" else -1]
            self.reads.append((path, int(offset), int(result)))

    def tensor_files(self):
        """The .zt files that were opened, in order."""
        return [path for path in self.opened if path.endswith(".zt")]

    def bytes_read(self, path, start=0, end=1 << 62):
        """How many bytes were read of path between start and end; a byte that was read twice counts twice."""
        return sum(max(0, min(end, at + n) - max(start, at)) for p, at, n in self.reads if p == path)
