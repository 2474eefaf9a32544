//! verify PATH: the library's own way, which maps the file.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use ztensor::{Rule, Source};

/// Prints seconds, parts, mismatches.
pub fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let (mut parts, mut mismatches) = (0u64, 0u64);

    let start = Instant::now();
    let source = Source::open(path)?;
    for tensor in source.tensors() {
        for name in tensor.parts() {
            parts += 1;
            match tensor.part(name)?.verify() {
                Ok(verified) if verified.is_checked() => {}
                Ok(_) => return Err("a digest is missing".into()),
                Err(error) if error.rule() == Some(Rule::Digest) => mismatches += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();

    println!("{seconds:.9}\t{parts}\t{mismatches}");
    Ok(())
}
