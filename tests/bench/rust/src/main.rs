//! library list PATH              lists a zTensor file, or every `*.zt` below a directory
//! library write CHECKSUM PATH    writes a file whose components have digests: `sha256` or `crc32c`
//! library verify WAY PATH        reads a file and compares its digests: `read`, `map` or `view`
//!
//! All with the format's own library. list and verify print one line: seconds, then what they found.

mod digests;
mod list;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list", path] => list::run(Path::new(path)),
        ["write", checksum, path] => digests::write(checksum, Path::new(path)),
        ["verify", way, path] => digests::verify(way, Path::new(path)),
        _ => Err("usage: library list PATH | write CHECKSUM PATH | verify WAY PATH".into()),
    }
}
