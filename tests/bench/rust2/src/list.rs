//! list WAY PATH: every object's name and its parts' lengths as they are stored.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use ztensor::provide::Payload;
use ztensor::read::manifest_of;
use ztensor::{Manifest, Source};

#[derive(Default)]
struct Totals {
    parts: u64,
    bytes: u64,
}

fn list_source(source: &Source) -> Result<Totals, Box<dyn Error>> {
    let mut totals = Totals::default();
    for (name, entry) in source.catalog().iter() {
        black_box(name);
        for part in entry.parts.values() {
            let (Payload::At(at) | Payload::Encoded { at, .. }) = &part.payload else {
                return Err(format!("{name} has no place").into());
            };
            totals.parts += 1;
            totals.bytes += at.len;
        }
    }
    Ok(totals)
}

fn list_manifest(manifest: &Manifest) -> Totals {
    let mut totals = Totals::default();
    for (name, object) in &manifest.objects {
        black_box(name);
        for part in object.parts.values() {
            totals.parts += 1;
            totals.bytes += part.blob.length;
        }
    }
    totals
}

/// The clock stops when the last part is listed, before the library frees anything: that takes long, and it is not part of
/// the question.
pub fn run(way: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let totals;
    let seconds;
    match way {
        "open" => {
            let source = Source::open(path)?;
            totals = list_source(&source)?;
            seconds = start.elapsed().as_secs_f64();
            std::mem::forget(source);
        }
        "manifest" => {
            let manifest = manifest_of(path)?.ok_or("the file is a data shard")?;
            totals = list_manifest(&manifest);
            seconds = start.elapsed().as_secs_f64();
            std::mem::forget(manifest);
        }
        _ => return Err(format!("no way is called {way}").into()),
    }

    println!("{seconds:.9}\t{}\t{}", totals.parts, totals.bytes);
    Ok(())
}
