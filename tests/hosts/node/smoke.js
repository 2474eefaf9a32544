// The extension in Node: better-sqlite3, which brings its own SQLite. smoke.js EXTENSION, in the project's root.
"use strict";
const fs = require("node:fs");
const { once } = require("node:events");
const { isMainThread, parentPort, Worker, workerData } = require("node:worker_threads");
const Database = require("better-sqlite3");
const expected = require("./expected");

const { model, broken, query, objects, same, fails } = expected;
const extension = isMainThread ? process.argv[2] : workerData;

function open() {
  return new Database(":memory:").loadExtension(extension);
}

function rows(db) {
  same(db.prepare(query).all(model), objects);
  same(db.prepare("SELECT dtype FROM zt_objects(?)").pluck().get("tests/formats/ztensor/golden/v1.2/hand_zero_components.zt"), null);
}

function bytes(db) {
  same(db.prepare("SELECT zt_blob(?, ?)").pluck().get(model, "blk.0.attn.q").toString("hex"), expected.bytes);
  const dense = db.prepare("SELECT zt_dense(?, ?, 'f32', 1, 1)").pluck().get(model, "blk.0.attn.q");
  same(Array.from({ length: dense.length / 4 }, (_, i) => dense.readFloatLE(4 * i)), expected.row);
}

function image(db) {
  const file = fs.readFileSync(model);
  same(db.prepare(query).all(file), objects);
  same(db.prepare("SELECT zt_blob(?, 'blk.0.attn.q')").pluck().get(file).toString("hex"), expected.bytes);
}

function errors(db) {
  fails(() => db.prepare(query).all(broken), { code: "SQLITE_ERROR", message: expected.error });
  fails(() => db.prepare(query).all(fs.readFileSync(broken)), { code: "SQLITE_ERROR", message: expected.imageError });
  same(db.prepare("SELECT error FROM zt_files(?)").pluck().get(broken), expected.error);
}

// A catalog is refreshed by one statement.
function catalog() {
  const db = open();
  for (const script of ["catalog", "audit", "refresh"]) db.exec(fs.readFileSync(`sql/${script}.sql`, "utf8"));
  const refresh = db.prepare("INSERT INTO refresh(source) VALUES (?)");
  refresh.run(model);
  refresh.run(model);
  same(db.prepare("SELECT files, added, unchanged FROM refresh").all(), [{ files: 1, added: 1, unchanged: 0 }, { files: 1, added: 0, unchanged: 1 }]);
  same(db.prepare("SELECT object, dtype, shape, elements FROM objects ORDER BY object").all(), objects);
  db.close();
}

// A connection is not closed while a statement of ours runs, and another one lives on.
function closing() {
  const first = open(), second = open();
  rows(first);
  const all = second.prepare(query).iterate(model);
  same(all.next().value, objects[0]);
  fails(() => second.close(), { message: "This database connection is busy executing a query" });
  all.return();
  first.close();
  rows(second);
  second.close();
}

// Threads of their own, with connections of their own, in one process.
async function threads() {
  const workers = [1, 2, 3].map(() => new Worker(__filename, { workerData: extension }));
  const counts = await Promise.all(workers.map((w) => once(w, "message")));
  counts.forEach(([count]) => same(count, 200));
}

function work() {
  const db = open();
  for (let i = 0; i < 50; i++) { rows(db); bytes(db); }
  db.close();
  parentPort.postMessage(expected.checks());
}

async function main() {
  const db = open();
  for (const check of [rows, bytes, image, errors, catalog, closing]) check(db);
  await threads();
  const version = db.prepare("SELECT sqlite_version()").pluck().get();
  same(db.prepare("SELECT zt_version()").pluck().get().includes(`SQLite ${version},`), true);
  db.close();
  const driver = require("better-sqlite3/package.json").version;
  console.log(`Node ${process.versions.node}, better-sqlite3 ${driver}, SQLite ${version}: ${expected.checks()} checks`);
}

if (isMainThread) main(); else work();
