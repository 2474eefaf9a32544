//! write CHECKSUM-TENSORSxMIB PATH: a file of so many f32 tensors of so many MiB, stored raw, each with a digest.
//! verify WAY PATH: reads every component and compares its digest.

use std::error::Error;
use std::io::{sink, Read, Seek, Write};
use std::path::Path;
use std::time::Instant;

use ztensor::utils::DigestWriter;
use ztensor::{Checksum, Reader, Writer};

/// splitmix64, as in gen.c.
fn random_next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The numbers of "TENSORSxMIB".
fn parse_size(size: &str) -> Result<(u64, u64), Box<dyn Error>> {
    let (tensors, mib) = size.split_once('x').ok_or("a size is TENSORSxMIB")?;
    Ok((tensors.parse()?, mib.parse()?))
}

pub fn write(kind: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let (checksum, size) = kind.split_once('-').ok_or("a kind is CHECKSUM-TENSORSxMIB")?;
    let (tensors, mib) = parse_size(size)?;
    let shape = [mib * 256, 1024];
    let checksum = match checksum {
        "sha256" => Checksum::Sha256,
        "crc32c" => Checksum::Crc32c,
        _ => return Err(format!("no checksum is called {checksum}").into()),
    };
    let mut state = 5;
    let mut writer = Writer::create(path)?;
    for i in 0..tensors {
        let tensor: Vec<f32> = (0..shape[0] * shape[1])
            .map(|_| (random_next(&mut state) >> 40) as f32 / (1 << 24) as f32 - 0.5)
            .collect();
        writer.add_with(&format!("layers.{i}.mlp.up_proj.weight"), &shape, &tensor).checksum(checksum).write()?;
    }
    writer.finish()?;
    Ok(())
}

#[derive(Default)]
struct Verified {
    components: u64,
    mismatches: u64,
}

/// The library's own way: what reads a component into memory compares its digest.
fn verify_reading<R: Read + Seek>(reader: &Reader<R>) -> Result<Verified, Box<dyn Error>> {
    let mut verified = Verified::default();
    for object in reader.tensors().values() {
        for component in object.components.values() {
            match reader.read_component(component) {
                Ok(_) => {}
                Err(ztensor::Error::ChecksumMismatch { .. }) => verified.mismatches += 1,
                Err(error) => return Err(error.into()),
            }
            verified.components += 1;
        }
    }
    Ok(verified)
}

/// Put together of the library's parts: its view of the mapped file, which it does not verify, and what computes the
/// digests that it writes.
fn verify_viewing(path: &Path) -> Result<Verified, Box<dyn Error>> {
    let reader = Reader::open_mmap_shared(path)?;
    let mut verified = Verified::default();
    for (name, object) in reader.tensors() {
        for (role, component) in &object.components {
            let digest = component.digest.as_deref().ok_or("a digest is missing")?;
            let checksum = if digest.starts_with("sha256:") { Checksum::Sha256 } else { Checksum::Crc32c };
            let mut computed = DigestWriter::new(sink(), checksum);
            computed.write_all(reader.view_component(name, role)?)?;
            verified.mismatches += u64::from(computed.finalize().as_deref() != Some(digest));
            verified.components += 1;
        }
    }
    Ok(verified)
}

/// Prints seconds, components, mismatches.
pub fn verify(way: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let verified = match way {
        "read" => verify_reading(&Reader::open(path)?)?,
        "map" => verify_reading(&Reader::open_mmap_shared(path)?)?,
        "view" => verify_viewing(path)?,
        _ => return Err(format!("no way is called {way}").into()),
    };
    let seconds = start.elapsed().as_secs_f64();

    println!("{seconds:.9}\t{}\t{}", verified.components, verified.mismatches);
    Ok(())
}
