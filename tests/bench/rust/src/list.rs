//! list PATH: every object's name and its components' lengths.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

#[derive(Default)]
struct Totals {
    components: u64,
    bytes: u64,
}

type Reader = Box<dyn ztensor::TensorReader + Send>;

fn list(reader: &Reader, totals: &mut Totals) {
    for (name, object) in reader.tensors() {
        black_box(name.as_str());
        for component in object.components.values() {
            totals.components += 1;
            totals.bytes += component.length;
        }
    }
}

fn list_directory(directory: &Path, totals: &mut Totals) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            list_directory(&path, totals)?;
        } else if path.extension().is_some_and(|extension| extension == "zt") {
            list(&ztensor::open(&path)?, totals);
        }
    }
    Ok(())
}

/// The clock stops when the last component is listed, before the library frees anything of a single file.
pub fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut totals = Totals::default();

    let start = Instant::now();
    let seconds;
    if path.is_dir() {
        list_directory(path, &mut totals)?;
        seconds = start.elapsed().as_secs_f64();
    } else {
        let reader = ztensor::open(path)?;
        list(&reader, &mut totals);
        seconds = start.elapsed().as_secs_f64();
        // Freeing a million objects takes long, and it is not part of the question.
        std::mem::forget(reader);
    }

    println!("{seconds:.9}\t{}\t{}", totals.components, totals.bytes);
    Ok(())
}
