// The extension in Node's built-in node:sqlite. builtin.js EXTENSION, in the project's root.
"use strict";
const fs = require("node:fs");
const { DatabaseSync } = require("node:sqlite");
const expected = require("./expected");

const { model, broken, query, objects, same, fails } = expected;

function open() {
  const db = new DatabaseSync(":memory:", { allowExtension: true });
  db.loadExtension(process.argv[2]);
  return db;
}

// Rows have no prototype, a BLOB is a Uint8Array.
function list(db, source) {
  return db.prepare(query).all(source).map((row) => ({ ...row }));
}

function check(db) {
  for (const source of [model, fs.readFileSync(model)]) {
    same(list(db, source), objects);
    const { blob, dense } = db.prepare("SELECT zt_blob(?1, ?2) AS blob, zt_dense(?1, ?2, 'f32', 1, 1) AS dense")
      .get(source, "blk.0.attn.q");
    same(Buffer.from(blob).toString("hex"), expected.bytes);
    same(Array.from(new Float32Array(dense.slice().buffer)), expected.row);
  }
  fails(() => list(db, broken), { errcode: 1, message: expected.error });
  fails(() => list(db, fs.readFileSync(broken)), { errcode: 1, message: expected.imageError });
}

// A catalog is refreshed by one statement.
function catalog(db) {
  for (const script of ["catalog", "audit", "refresh"]) db.exec(fs.readFileSync(`sql/${script}.sql`, "utf8"));
  db.prepare("INSERT INTO refresh(source) VALUES (?)").run(model);
  same(db.prepare("SELECT files, added FROM refresh").all().map((row) => ({ ...row })), [{ files: 1, added: 1 }]);
}

const first = open(), second = open();
check(first);
catalog(first);
first.close();
check(second);
same(second.prepare("SELECT zt_version() AS v").get().v.includes(`SQLite ${process.versions.sqlite},`), true);
second.close();
console.log(`Node ${process.versions.node}, node:sqlite, SQLite ${process.versions.sqlite}: ${expected.checks()} checks`);
