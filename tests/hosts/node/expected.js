// The extension's answers about two files, the same with every driver; and a count of the checks.
"use strict";
const assert = require("node:assert/strict");

const broken = "tests/formats/ztensor/hostile/1.2-align-65.zt";
const wrong = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64";
let checks = 0;

module.exports = {
  model: "tests/formats/ztensor/golden/v1.2/wheel_save_file.zt",
  broken,
  error: `ztensor: ${broken}: ${wrong}`,
  imageError: `ztensor: <blob>: ${wrong}`,
  query: "SELECT object, dtype, shape, elements FROM zt_objects(?)",
  objects: [
    { object: "blk.0.attn.k", dtype: "i64", shape: "[3,4]", elements: 12 },
    { object: "blk.0.attn.q", dtype: "bf16", shape: "[3,4]", elements: 12 },
    { object: "model.embed.weight", dtype: "f32", shape: "[3,4]", elements: 12 },
  ],
  bytes: "7f8080007f7f7fff803f80bf813fcd3dc07f807f80ff0080", // blk.0.attn.q as it is
  row: [1, -1, 1.0078125, 0.10009765625], // Its second row

  same(actual, expected) {
    assert.deepEqual(actual, expected);
    checks++;
  },

  fails(call, expected) {
    assert.throws(call, expected);
    checks++;
  },

  checks: () => checks,
};
