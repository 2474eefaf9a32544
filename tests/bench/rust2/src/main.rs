//! library2 list WAY PATH         lists a zTensor 2 file: `open` resolves what it has, `manifest` only reads the manifest
//! library2 write parts PATH      writes 64 f32 tensors of 16 MiB, stored raw; the library gives each an xxh3
//! library2 write large PATH      the same, 16 of 64 MiB
//! library2 write seekable PATH   writes one f32 tensor of 1 GiB in frames that can be decoded by themselves
//! library2 verify PATH           compares the digests of a file
//!
//! All with the format's own library. list and verify print one line: seconds, then what they found.

mod files;
mod list;
mod verify;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list", way, path] => list::run(way, Path::new(path)),
        ["write", "parts", path] => files::write_parts(64, 1, Path::new(path)),
        ["write", "large", path] => files::write_parts(16, 4, Path::new(path)),
        ["write", "seekable", path] => files::write_seekable(Path::new(path)),
        ["verify", path] => verify::run(Path::new(path)),
        _ => Err("usage: library2 list WAY PATH | write KIND PATH | verify PATH".into()),
    }
}
