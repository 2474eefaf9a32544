//! safetensors PATH: every tensor's name and length, by the format's own crate.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use ::safetensors::SafeTensors;

#[derive(Default)]
struct Totals {
    tensors: u64,
    bytes: u64,
}

/// The crate takes the whole file as bytes, which its users map; what it reads of them is the header. Data is read here not at
/// all: the clock would measure a page cache.
fn read(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len() as usize;
    let mut bytes = vec![0; size];
    let mut head = [0; 8];
    file.read_exact(&mut head)?;
    let header = u64::from_le_bytes(head) as usize;
    bytes[..8].copy_from_slice(&head);
    file.read_exact(bytes.get_mut(8..8 + header).ok_or("the header is longer than the file")?)?;
    Ok(bytes)
}

fn list(path: &Path, totals: &mut Totals, forget: bool) -> Result<(), Box<dyn Error>> {
    let bytes = read(path)?;
    let tensors = SafeTensors::deserialize(&bytes)?;
    for (name, view) in tensors.iter() {
        black_box(name);
        totals.tensors += 1;
        totals.bytes += view.data().len() as u64;
    }
    if forget {
        std::mem::forget(tensors);
    }
    Ok(())
}

fn list_directory(directory: &Path, totals: &mut Totals) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list_directory(&entry.path(), totals)?;
        } else {
            list(&entry.path(), totals, false)?;
        }
    }
    Ok(())
}

/// The clock stops when the last tensor is listed; freeing a single file's is not part of the question.
pub fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut totals = Totals::default();
    let start = Instant::now();
    if path.is_dir() {
        list_directory(path, &mut totals)?;
    } else {
        list(path, &mut totals, true)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds:.9}\t{}\t{}", totals.tensors, totals.bytes);
    Ok(())
}
