// The installed package in a driver: load.js DRIVER MODEL; it prints what the test compares.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const ztensor = require("ztensor-sqlite");

const [, , driver, model] = process.argv;
const drivers = {
  "better-sqlite3": () => new (require("better-sqlite3"))(":memory:"),
  // As where another SQLite of the process has the library
  "better-sqlite3, taken": () => {
    const db = drivers["better-sqlite3"]();
    return {
      prepare: (sql) => db.prepare(sql),
      loadExtension(file, ...rest) {
        if (file === ztensor.loadablePath()) throw new Error("ztensor serves another SQLite library in this process already");
        db.loadExtension(file, ...rest);
      },
    };
  },
  "node:sqlite": () => new (require("node:sqlite").DatabaseSync)(":memory:", { allowExtension: true }),
};
const COUNT = "SELECT count(*) AS n FROM zt_objects(?)";

function says(f) {
  try {
    return f();
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
}

function check(open) {
  const db = open();
  ztensor.load(db);
  ztensor.load(db);
  const nofs = open();
  ztensor.load(nofs, { files: false });
  return {
    path: db.prepare(COUNT).get(model).n,
    blob: nofs.prepare(COUNT).get(fs.readFileSync(model)).n,
    refused: says(() => nofs.prepare(COUNT).get(model)),
    late: says(() => ztensor.load(db, { files: false })),
  };
}

const said = check(drivers[driver]);
const copies = fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith("ztensor-sqlite-")).length;
console.log(JSON.stringify({ said, copies, wrong: says(() => ztensor.load("a.db")), library: ztensor.loadablePath() }));
