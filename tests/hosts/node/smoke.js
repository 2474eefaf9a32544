// The extension in Node: better-sqlite3, which brings its own SQLite. smoke.js EXTENSION, in the project's root.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { once } = require("node:events");
const { isMainThread, parentPort, Worker, workerData } = require("node:worker_threads");
const Database = require("better-sqlite3");

const extension = isMainThread ? process.argv[2] : workerData;
const model = "tests/golden/v1.2/wheel_save_file.zt";
const broken = "tests/hostile/1.2-align-65.zt";
const objects = [
  { object: "blk.0.attn.k", dtype: "i64", shape: "[3,4]", elements: 12 },
  { object: "blk.0.attn.q", dtype: "bf16", shape: "[3,4]", elements: 12 },
  { object: "model.embed.weight", dtype: "f32", shape: "[3,4]", elements: 12 },
];
const wrong = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64";
const query = "SELECT object, dtype, shape, elements FROM zt_objects(?)";
let checks = 0;

function same(actual, expected) {
  assert.deepEqual(actual, expected);
  checks++;
}

function open() {
  return new Database(":memory:").loadExtension(extension);
}

function rows(db) {
  same(db.prepare(query).all(model), objects);
  same(db.prepare("SELECT dtype FROM zt_objects(?)").pluck().all("tests/golden/v1.2/hand_zero_components.zt"), [null, null]);
}

function bytes(db) {
  const blob = db.prepare("SELECT zt_blob(?, ?)").pluck();
  same(blob.get(model, "blk.0.attn.q").toString("hex"), "7f8080007f7f7fff803f80bf813fcd3dc07f807f80ff0080");
  const dense = db.prepare("SELECT zt_dense(?, ?, 'f32', 1, 1)").pluck().get(model, "blk.0.attn.q");
  same(Array.from({ length: 4 }, (_, i) => dense.readFloatLE(4 * i)), [1, -1, 1.0078125, 0.10009765625]);
}

function image(db) {
  const file = fs.readFileSync(model);
  same(db.prepare(query).all(file), objects);
  same(db.prepare("SELECT zt_blob(?, 'model.embed.weight')").pluck().get(file).length, 48);
}

function errors(db) {
  assert.throws(() => db.prepare(query).all(broken), { code: "SQLITE_ERROR", message: `ztensor: ${broken}: ${wrong}` });
  assert.throws(() => db.prepare(query).all(fs.readFileSync(broken)), { code: "SQLITE_ERROR", message: `ztensor: <blob>: ${wrong}` });
  checks += 2;
  same(db.prepare("SELECT error FROM zt_files(?)").pluck().get(broken), `ztensor: ${broken}: ${wrong}`);
}

function closing() {
  const first = open(), second = open();
  rows(first);
  const all = second.prepare(query).iterate(model);
  same(all.next().value, objects[0]);
  assert.throws(() => second.close(), { message: "This database connection is busy executing a query" });
  checks++;
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
  parentPort.postMessage(checks);
}

async function main() {
  const db = open();
  for (const check of [rows, bytes, image, errors, closing]) check(db);
  await threads();
  const version = db.prepare("SELECT sqlite_version()").pluck().get();
  assert.match(db.prepare("SELECT zt_version()").pluck().get(), new RegExp(`SQLite ${version}`.replaceAll(".", "\\.")));
  checks++;
  db.close();
  console.log(`Node ${process.versions.node}, better-sqlite3 ${require("better-sqlite3/package.json").version}, SQLite ${version}: ${checks} checks`);
}

if (isMainThread) main(); else work();
