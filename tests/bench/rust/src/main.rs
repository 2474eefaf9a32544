//! library list PATH              lists a zTensor file, or every `*.zt` below a directory
//! library write KIND PATH        writes a file whose components have digests: `sha256-64x4` has 64 of 4 MiB; or `crc32c`
//! library safetensors PATH       lists a safetensors file, or all files below a directory, by that format's own crate
//! library verify WAY PATH        reads a file and compares its digests: `read`, `map` or `view`
//!
//! All with the format's own library. list, safetensors and verify print one line: seconds, then what they found.

mod digests;
mod list;
mod safetensors;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list", path] => list::run(Path::new(path)),
        ["safetensors", path] => safetensors::run(Path::new(path)),
        ["write", kind, path] => digests::write(kind, Path::new(path)),
        ["verify", way, path] => digests::verify(way, Path::new(path)),
        _ => Err("usage: library list PATH | safetensors PATH | write KIND PATH | verify WAY PATH".into()),
    }
}
