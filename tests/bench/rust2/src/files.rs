//! write KIND PATH: the files of the measurements.

use std::error::Error;
use std::path::Path;

use ztensor::{DType, Writer};

const TENSORS: u64 = 64;
const SHAPE: [u64; 2] = [2048, 2048];

/// splitmix64, as in gen.c.
fn random_next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The bytes of a tensor of that shape: numbers from -0.5 to 0.5 with 24 bits each, which zstd makes a tenth shorter.
fn append_tensor(state: &mut u64, bytes: &mut Vec<u8>) {
    for _ in 0..SHAPE[0] * SHAPE[1] {
        let number = (random_next(state) >> 40) as f32 / (1 << 24) as f32 - 0.5;
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

/// So many tensors, each of so many times 16 MiB. In canonical form, so that names ascend.
pub fn write_parts(tensors: u64, times: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut state = 6;
    let mut bytes = Vec::new();
    let mut writer = Writer::create(path)?;
    for i in 0..tensors {
        bytes.clear();
        for _ in 0..times {
            append_tensor(&mut state, &mut bytes);
        }
        writer.add(format!("layers.{i:02}.weight"), [times * SHAPE[0], SHAPE[1]], DType::F32, &bytes)?;
    }
    writer.finish()?;
    Ok(())
}

pub fn write_seekable(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut state = 7;
    let mut bytes = Vec::new();
    for _ in 0..TENSORS {
        append_tensor(&mut state, &mut bytes);
    }
    let mut writer = Writer::options().canonical(false).create(path)?;
    writer.object("weight", |object| {
        object.shape([TENSORS * SHAPE[0], SHAPE[1]]).part("data", |part| {
            part.dtype(DType::F32).encoding("zt.zstd-seekable/1").bytes(&bytes)
        })
    })?;
    writer.finish()?;
    Ok(())
}
