// ztensor for SQLite from Node: tensor files as SQL tables. See README.md.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const LIBRARY = { darwin: "ztensor.dylib", win32: "ztensor.dll" }[process.platform] ?? "ztensor.so";
const NOFS = "sqlite3_ztensor_nofs_init";

function packageName() {
  const musl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  return `ztensor-sqlite-${process.platform}-${process.arch}${musl ? "-musl" : ""}`;
}

/** The path of the library: what `.load`, loadExtension() and load_extension() take. */
function loadablePath() {
  const name = packageName();
  try {
    return require.resolve(`${name}/${LIBRARY}`);
  } catch {
    throw new Error(`ztensor-sqlite: the package ${name} is not installed: it is an optional dependency, or there is none for ` +
                    "this system");
  }
}

// A library serves one SQLite of a process; each further one gets a copy of it, which lives as long as the process.
const copies = [];

function copy() {
  if (copies.length === 0) {
    process.on("exit", () => copies.forEach((file) => {
      try {
        fs.rmSync(path.dirname(file), { recursive: true });
      } catch {
        // Windows removes no library that is loaded
      }
    }));
  }
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "ztensor-sqlite-")), LIBRARY);
  fs.copyFileSync(loadablePath(), file);
  copies.push(file);
  return file;
}

/**
 * Load the extension into a Database of better-sqlite3 or a DatabaseSync of node:sqlite, which needs allowExtension: true.
 * A second time changes nothing. With { files: false } the tables and functions take BLOBs alone, and no path is opened.
 */
function load(db, { files = true } = {}) {
  if (typeof db?.loadExtension !== "function") {
    throw new TypeError("ztensor-sqlite: a Database of better-sqlite3 or a DatabaseSync of node:sqlite is needed");
  }
  for (let i = 0; ; i++) {
    const file = i === 0 ? loadablePath() : copies[i - 1] ?? copy();
    try {
      if (files) db.loadExtension(file);
      else db.loadExtension(file, NOFS);
      break;
    } catch (e) {
      if (!e.message.includes("another SQLite library")) throw e;
    }
  }
  // A driver whose loadExtension() knows no entry points has loaded the one that opens files
  if (!files && !db.prepare("SELECT zt_version() AS version").get().version.includes(" nofs ")) {
    throw new Error("ztensor-sqlite: this driver takes no entry point, which files: false needs: the connection can open files");
  }
}

module.exports = { load, loadablePath };
