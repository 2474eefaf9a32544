//! The extension in Rust: rusqlite, which brings its own SQLite. smoke EXTENSION, in the project's root.

use rusqlite::{types::Value, Connection, LoadExtensionGuard, Result, ToSql};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

const MODEL: &str = "tests/formats/ztensor/golden/v1.2/wheel_save_file.zt";
const BROKEN: &str = "tests/formats/ztensor/hostile/1.2-align-65.zt";
const WRONG: &str = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64";
const BLOB: [u8; 24] = [
    0x7f, 0x80, 0x80, 0x00, 0x7f, 0x7f, 0x7f, 0xff, 0x80, 0x3f, 0x80, 0xbf, 0x81, 0x3f, 0xcd, 0x3d, 0xc0, 0x7f, 0x80, 0x7f,
    0x80, 0xff, 0x00, 0x80,
];
static CHECKS: AtomicUsize = AtomicUsize::new(0);

type Object = (String, Option<String>, String, i64);

fn same<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) {
    assert_eq!(actual, expected);
    CHECKS.fetch_add(1, Ordering::Relaxed);
}

fn open(extension: &str) -> Result<Connection> {
    let db = Connection::open_in_memory()?;
    unsafe {
        let _guard = LoadExtensionGuard::new(&db)?;
        db.load_extension(extension, None::<&str>)?;
    }
    Ok(db)
}

fn objects(db: &Connection, source: &dyn ToSql) -> Result<Vec<Object>> {
    let mut stmt = db.prepare_cached("SELECT object, dtype, shape, elements FROM zt_objects(?)")?;
    let found = stmt.query_map([source], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?.collect();
    found
}

fn expected() -> Vec<Object> {
    let object = |name: &str, dtype: &str| (name.to_string(), Some(dtype.to_string()), "[3,4]".to_string(), 12);
    vec![object("blk.0.attn.k", "i64"), object("blk.0.attn.q", "bf16"), object("model.embed.weight", "f32")]
}

fn fails(db: &Connection, source: &dyn ToSql, message: &str) {
    match objects(db, source) {
        Err(rusqlite::Error::SqliteFailure(error, Some(text))) => {
            same(error.extended_code, rusqlite::ffi::SQLITE_ERROR);
            same(text.as_str(), message);
        }
        other => panic!("{other:?} in place of an error"),
    }
}

fn check(db: &Connection) -> Result<()> {
    let image = fs::read(MODEL).expect(MODEL);
    for source in [&MODEL as &dyn ToSql, &image] {
        same(objects(db, source)?, expected());
        let blob = db.query_row("SELECT zt_blob(?, 'blk.0.attn.q')", [source], |r| Ok(r.get_ref(0)?.as_blob()? == BLOB))?;
        same(blob, true);
        let row: Vec<u8> = db.query_row("SELECT zt_dense(?, 'blk.0.attn.q', 'f32', 1, 1)", [source], |r| r.get(0))?;
        let row: Vec<f32> = row.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        same(row, vec![1.0, -1.0, 1.0078125, 0.10009765625]);
    }
    fails(db, &BROKEN, &format!("ztensor: {BROKEN}: {WRONG}"));
    fails(db, &fs::read(BROKEN).expect(BROKEN), &format!("ztensor: <blob>: {WRONG}"));
    let nothing: Value =
        db.query_row("SELECT dtype FROM zt_objects('tests/formats/ztensor/golden/v1.2/hand_zero_components.zt')", [], |r| r.get(0))?;
    same(nothing, Value::Null);
    Ok(())
}

/// Threads of their own with connections of their own, and one connection handed from thread to thread.
fn threads(extension: &str, db: Connection) -> Result<Connection> {
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let own = open(extension).unwrap();
                (0..20).for_each(|_| check(&own).unwrap());
                own.close().unwrap();
            });
        }
    });
    thread::spawn(move || check(&db).map(|()| db)).join().unwrap()
}

fn main() -> Result<()> {
    let extension = env::args().nth(1).expect("the extension");
    let (first, second) = (open(&extension)?, open(&extension)?);
    check(&first)?;
    first.close().map_err(|(_, error)| error)?;
    check(&second)?;
    let second = threads(&extension, second)?;
    let version: String = second.query_row("SELECT zt_version()", [], |r| r.get(0))?;
    same(version.contains(&format!("SQLite {},", rusqlite::version())), true);
    second.close().map_err(|(_, error)| error)?;
    println!("Rust, rusqlite, SQLite {}: {} checks", rusqlite::version(), CHECKS.load(Ordering::Relaxed));
    Ok(())
}
