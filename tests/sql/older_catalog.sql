-- A catalog that sql/catalog.sql, sql/audit.sql and sql/refresh.sql of the first version made, of a few files of tests/formats.
BEGIN TRANSACTION;
CREATE TABLE attributes(
  path   TEXT,
  object TEXT,                      -- NULL: an attribute of the file itself
  key    TEXT,
  value,
  type   TEXT
);
INSERT INTO "attributes" VALUES('tests/formats/gguf/golden/kv_nested.gguf',NULL,'general.architecture','test','text');
INSERT INTO "attributes" VALUES('tests/formats/gguf/golden/kv_nested.gguf',NULL,'n.two','[[1,2],[3],[4,5,6]]','array');
INSERT INTO "attributes" VALUES('tests/formats/gguf/golden/kv_nested.gguf',NULL,'n.str','[["a"],["b","c"]]','array');
INSERT INTO "attributes" VALUES('tests/formats/gguf/golden/kv_nested.gguf',NULL,'n.three','[[[1],[2,3]],[[4]]]','array');
INSERT INTO "attributes" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt',NULL,'framework','none','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.f64','descr','<f8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.f64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.f64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.f32','descr','<f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.f32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.f32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.k.f16','descr','<f2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.k.f16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.k.f16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.mlp.up.i64','descr','<i8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.mlp.up.i64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.mlp.up.i64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.1.norm.i32','descr','<i4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.1.norm.i32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.1.norm.i32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','head.bias.i16','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','head.bias.i16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','head.bias.i16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','optimizer/step.i8','descr','|i1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','optimizer/step.i8','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','optimizer/step.i8','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','stats mean.u64','descr','<u8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','stats mean.u64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','stats mean.u64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','rope.freqs.u32','descr','<u4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','rope.freqs.u32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','rope.freqs.u32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','lm_head.weight.u16','descr','<u2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','lm_head.weight.u16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','lm_head.weight.u16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.1.u8','descr','|u1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.1.u8','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.1.u8','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.1.bool','descr','|b1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.1.bool','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.1.bool','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_comment.npz','comment','descr','<i4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_comment.npz','comment','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_comment.npz','comment','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_zip64.npz','w','descr','<f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_zip64.npz','w','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/hand_zip64.npz','w','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','f','descr','<f8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','f','fortran_order',1,'true');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','f','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','be','descr','>f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','be','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','be','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','c','descr','<c8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','c','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','c','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','s','descr','<f8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','s','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','s','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','e','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','e','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','e','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','rec','descr','[["id","<i4"],["w",">f8",[2]],["名","<U3"]]','array');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','rec','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','rec','npy_version','3.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','t','descr','<U2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','t','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/mixed.npz','t','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','emoji🎉tensor','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','emoji🎉tensor','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','emoji🎉tensor','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','Ünïcödé.β','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','Ünïcödé.β','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','Ünïcödé.β','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','a b	c','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','a b	c','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','a b	c','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','quote''"name','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','quote''"name','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','quote''"name','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','semi;colon--x','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','semi;colon--x','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','semi;colon--x','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','é','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','%_like*glob?','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','%_like*glob?','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','%_like*glob?','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','..','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','..','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','..','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','-','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','-','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','-','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','0','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','0','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','0','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','ключ.веса','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','ключ.веса','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/names.npz','ключ.веса','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_0','descr','<f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_0','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_0','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_1','descr','|u1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_1','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/positional.npz','arr_1','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indices','descr','<i4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indices','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indices','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indptr','descr','<i4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indptr','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','indptr','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','format','descr','|S3','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','format','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','format','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','shape','descr','<i8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','shape','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','shape','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','data','descr','<f8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','data','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','data','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','_is_array','descr','|b1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','_is_array','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/scipy_csr.npz','_is_array','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.f64','descr','<f8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.f64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.f64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.f32','descr','<f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.f32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.f32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.k.f16','descr','<f2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.k.f16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.k.f16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.mlp.up.i64','descr','<i8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.mlp.up.i64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.mlp.up.i64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.1.norm.i32','descr','<i4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.1.norm.i32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.1.norm.i32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','head.bias.i16','descr','<i2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','head.bias.i16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','head.bias.i16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','optimizer/step.i8','descr','|i1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','optimizer/step.i8','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','optimizer/step.i8','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','stats mean.u64','descr','<u8','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','stats mean.u64','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','stats mean.u64','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','rope.freqs.u32','descr','<u4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','rope.freqs.u32','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','rope.freqs.u32','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','lm_head.weight.u16','descr','<u2','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','lm_head.weight.u16','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','lm_head.weight.u16','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.1.u8','descr','|u1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.1.u8','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.1.u8','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.1.bool','descr','|b1','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.1.bool','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.1.bool','npy_version','1.0','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/zeros_deflated.npz','big','descr','<f4','text');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/zeros_deflated.npz','big','fortran_order',0,'false');
INSERT INTO "attributes" VALUES('tests/formats/npz/golden/zeros_deflated.npz','big','npy_version','1.0','text');
CREATE TABLE components(
  path           TEXT,
  object         TEXT,
  component      TEXT,
  dtype          TEXT,
  type           TEXT,
  encoding       TEXT,
  byte_order     TEXT,
  offset         INTEGER,
  length         INTEGER,
  decoded_length,
  digest         TEXT,
  shard          TEXT,              -- the shard that has the bytes; NULL: the file itself
  PRIMARY KEY(path, object, component)
) WITHOUT ROWID;
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.k.f16','data','f16','f16','deflate','little',442,95,24,'crc32:88fb7186',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.1.bool','data','bool','bool','deflate','little',1947,78,12,'crc32:92ba3e2e',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.f32','data','f32','f32','deflate','little',265,107,48,'crc32:1a563ac2',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.mlp.up.i64','data','i64','i64','deflate','little',607,111,96,'crc32:4f4ba412',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','blk.1.norm.i32','data','i32','i32','deflate','little',786,110,48,'crc32:f929f184',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','head.bias.i16','data','i16','i16','deflate','little',963,95,24,'crc32:94871a13',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','lm_head.weight.u16','data','u16','u16','deflate','little',1621,94,24,'crc32:0e7564b9',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.1.u8','data','u8','u8','deflate','little',1792,82,12,'crc32:f037a346',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.f64','data','f64','f64','deflate','little',76,119,96,'crc32:f06dba79',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','optimizer/step.i8','data','i8','i8','deflate','little',1129,82,12,'crc32:e49b9773',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','rope.freqs.u32','data','u32','u32','deflate','little',1445,104,48,'crc32:a9a778f7',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/deflated.npz','stats mean.u64','data','u64','u64','deflate','little',1279,98,96,'crc32:b1d264a5',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/hand_comment.npz','comment','data','i32','i32','deflate','little',41,75,8,'crc32:2daaf90b',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/hand_zip64.npz','w','data','f32','f32','raw','little',163,24,24,'crc32:0b13bf3b',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','be','data','f32','f32','deflate','big',231,86,20,'crc32:53d34f01',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','c','data','f32','complex64','deflate','little',372,157,192,'crc32:ebf625e8',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','e','data','i16','i16','deflate','little',710,70,0,'crc32:7d26b3e1',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','f','data','f64','f64','deflate','little',55,120,96,'crc32:a49b27c7',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','rec','data','u8','u8','deflate','little',837,145,96,'crc32:4655325c',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','s','data','f64','f64','deflate','little',584,71,8,'crc32:5be33e3d',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/mixed.npz','t','data','u8','u8','deflate','little',1037,74,16,'crc32:b344edb6',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','%_like*glob?','data','i16','i16','raw','little',1587,16,16,'crc32:a66e2778',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','-','data','i16','i16','raw','little',2490,22,22,'crc32:9fa03897',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','..','data','i16','i16','raw','little',2287,20,20,'crc32:a65e696a',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','0','data','i16','i16','raw','little',2695,24,24,'crc32:0af50266',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','a b	c','data','i16','i16','raw','little',586,6,6,'crc32:dd93e5b0',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','emoji🎉tensor','data','i16','i16','raw','little',197,2,2,'crc32:5db4c8d9',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','é','data','i16','i16','raw','little',1379,14,14,'crc32:1aa15042',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','quote''"name','data','i16','i16','raw','little',785,8,8,'crc32:56617536',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','semi;colon--x','data','i16','i16','raw','little',988,10,10,'crc32:81c66ef9',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','data','i16','i16','raw','little',2085,18,18,'crc32:cff8e962',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','Ünïcödé.β','data','i16','i16','raw','little',395,4,4,'crc32:57a05960',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','é','data','i16','i16','raw','little',1182,12,12,'crc32:b823bcff',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/names.npz','ключ.веса','data','i16','i16','raw','little',2918,26,26,'crc32:3c40b15f',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/positional.npz','arr_0','data','f32','f32','raw','little',187,8,8,'crc32:68da6b9e',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/positional.npz','arr_1','data','u8','u8','raw','little',382,3,3,'crc32:586d547f',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','_is_array','data','bool','bool','deflate','little',809,67,1,'crc32:d3f82d82',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','data','data','f64','f64','deflate','little',603,143,72,'crc32:c94f2d43',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','format','data','u8','u8','deflate','little',343,69,3,'crc32:9774c3a3',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','indices','data','i32','i32','deflate','little',61,81,36,'crc32:eb5ed9d0',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','indptr','data','i32','i32','deflate','little',202,81,28,'crc32:c8c4cbcf',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/scipy_csr.npz','shape','data','i64','i64','deflate','little',471,74,16,'crc32:1e200d60',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.k.f16','data','f16','f16','raw','little',744,24,24,'crc32:88fb7186',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.1.bool','data','bool','bool','raw','little',2914,12,12,'crc32:92ba3e2e',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.f32','data','f32','f32','raw','little',498,48,48,'crc32:1a563ac2',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','blk.0.mlp.up.i64','data','i64','i64','raw','little',966,96,96,'crc32:4f4ba412',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','blk.1.norm.i32','data','i32','i32','raw','little',1258,48,48,'crc32:f929f184',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','head.bias.i16','data','i16','i16','raw','little',1501,24,24,'crc32:94871a13',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','lm_head.weight.u16','data','u16','u16','raw','little',2472,24,24,'crc32:0e7564b9',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.1.u8','data','u8','u8','raw','little',2701,12,12,'crc32:f037a346',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.f64','data','f64','f64','raw','little',204,96,96,'crc32:f06dba79',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','optimizer/step.i8','data','i8','i8','raw','little',1724,12,12,'crc32:e49b9773',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','rope.freqs.u32','data','u32','u32','raw','little',2224,48,48,'crc32:a9a778f7',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/stored.npz','stats mean.u64','data','u64','u64','raw','little',1932,96,96,'crc32:b1d264a5',NULL);
INSERT INTO "components" VALUES('tests/formats/npz/golden/zeros_deflated.npz','big','data','f32','f32','deflate','little',57,355,262144,'crc32:7852e926',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.bf16','data','bf16','bf16','raw','little',128,24,24,'crc32c:0x2B4DDDFC',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.bool','data','bool','bool','raw','little',192,12,12,'crc32c:0x76C23652',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.f32','data','f32','f32','raw','little',64,48,48,'crc32c:0xD373E9C3',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.u64','data','u64','u64','raw','little',256,96,96,'crc32c:0xF37C7A3C',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','empty','data','f64','f64','raw','little',384,0,0,'crc32c:0x00000000',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar','data','f32','f32','raw','little',384,4,4,'crc32c:0x043C0506',NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar.big','data','i32','i32','raw','big',512,4,4,NULL,NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar.zstd','data','i64','i64','zstd','little',448,17,8,NULL,NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt','b','data','u8','u8','raw','little',128,3,3,NULL,NULL);
INSERT INTO "components" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt','w','data','','','raw','little',64,16,16,NULL,NULL);
CREATE TABLE files(
  path           TEXT PRIMARY KEY,  -- as the source gave it: relative to the directory in which refresh.sql was read
  source         TEXT,              -- the source under which the file was found last
  container      TEXT,
  version        TEXT,
  size           INTEGER,
  mtime          REAL,
  objects        INTEGER,
  components     INTEGER,
  stored_bytes,
  decoded_bytes,
  manifest_bytes INTEGER,
  attributes     TEXT,
  error          TEXT,              -- why it cannot be read; NULL if it can
  refreshed      INTEGER            -- when it was read last, in seconds since 1970
) WITHOUT ROWID;
INSERT INTO "files" VALUES('tests/formats/gguf/golden/kv_nested.gguf','tests/formats/gguf/golden/kv_nested.gguf','gguf','3',352,1.79536762579534506798e+09,0,0,0,0,320,'{"general.architecture":"test","n.two":[[1,2],[3],[4,5,6]],"n.str":[["a"],["b","c"]],"n.three":[[[1],[2,3]],[[4]]]}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/deflated.npz','tests/formats/npz/golden','npz',NULL,2849,1.79536762582787036892e+09,12,12,1175,540,802,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/hand_comment.npz','tests/formats/npz/golden','npz',NULL,240,1.79536762582787036892e+09,1,1,75,8,57,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/hand_zip64.npz','tests/formats/npz/golden','npz',NULL,336,1.79536762582787036892e+09,1,1,24,24,51,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/mixed.npz','tests/formats/npz/golden','npz',NULL,1493,1.79536762582787036892e+09,7,7,723,428,360,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/names.npz','tests/formats/npz/golden','npz',NULL,4012,1.79536762582787036892e+09,13,13,182,182,1046,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/positional.npz','tests/formats/npz/golden','npz',NULL,517,1.79536762582787036892e+09,2,2,11,11,110,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/scipy_csr.npz','tests/formats/npz/golden','npz',NULL,1235,1.79536762582787036892e+09,6,6,515,156,337,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/stored.npz','tests/formats/npz/golden','npz',NULL,3750,1.79536762582787036892e+09,12,12,540,540,802,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/npz/golden/zeros_deflated.npz','tests/formats/npz/golden','npz',NULL,487,1.79536762582787036892e+09,1,1,355,262144,53,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','tests/formats/ztensor/golden/v0.1/*.zt','ztensor','0.1.0',1451,1.79536762587176060681e+09,8,8,205,196,927,'{}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt','tests/formats/ztensor/hostile/1.2-d*.zt','ztensor','1.2.0',333,1.79536762589565014841e+09,2,2,19,19,186,'{"framework":"none"}',NULL,1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-attribute.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,349,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-attribute.zt: manifest byte 39: a key stands twice in ''attributes''',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-component-name.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,368,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-component-name.zt: object ''w'': manifest byte 125: component ''data'' stands twice',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-object-name.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,336,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-object-name.zt: object ''w'': manifest byte 123: two objects have this name',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-offset.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,345,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-offset.zt: object ''w'': component ''data'': manifest byte 121: ''offset'' stands twice in the component''s map',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-root-objects.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,345,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-root-objects.zt: manifest byte 189: ''objects'' stands twice in the root map',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-root-version.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,350,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-root-version.zt: manifest byte 189: ''version'' stands twice in the root map',1795371212);
INSERT INTO "files" VALUES('tests/formats/ztensor/hostile/1.2-dup-shape.zt','tests/formats/ztensor/hostile/1.2-d*.zt',NULL,NULL,344,1.79536762589565014841e+09,NULL,NULL,NULL,NULL,NULL,NULL,'ztensor: tests/formats/ztensor/hostile/1.2-dup-shape.zt: object ''w'': manifest byte 121: ''shape'' stands twice in the object''s map',1795371212);
CREATE TABLE objects(
  path          TEXT,
  object        TEXT,
  format        TEXT,
  dtype         TEXT,
  type          TEXT,
  shape         TEXT,
  rank          INTEGER,
  elements,
  components    INTEGER,
  stored_bytes,
  decoded_bytes,
  attributes    TEXT,
  PRIMARY KEY(path, object)
) WITHOUT ROWID;
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.k.f16','dense','f16','f16','[3,4]',2,12,1,95,24,'{"descr":"<f2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.1.bool','dense','bool','bool','[3,4]',2,12,1,78,12,'{"descr":"|b1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.attn.q.f32','dense','f32','f32','[3,4]',2,12,1,107,48,'{"descr":"<f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','blk.0.mlp.up.i64','dense','i64','i64','[3,4]',2,12,1,111,96,'{"descr":"<i8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','blk.1.norm.i32','dense','i32','i32','[3,4]',2,12,1,110,48,'{"descr":"<i4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','head.bias.i16','dense','i16','i16','[3,4]',2,12,1,95,24,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','lm_head.weight.u16','dense','u16','u16','[3,4]',2,12,1,94,24,'{"descr":"<u2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.1.u8','dense','u8','u8','[3,4]',2,12,1,82,12,'{"descr":"|u1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','model.embed.weight.f64','dense','f64','f64','[3,4]',2,12,1,119,96,'{"descr":"<f8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','optimizer/step.i8','dense','i8','i8','[3,4]',2,12,1,82,12,'{"descr":"|i1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','rope.freqs.u32','dense','u32','u32','[3,4]',2,12,1,104,48,'{"descr":"<u4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/deflated.npz','stats mean.u64','dense','u64','u64','[3,4]',2,12,1,98,96,'{"descr":"<u8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/hand_comment.npz','comment','dense','i32','i32','[2]',1,2,1,75,8,'{"descr":"<i4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/hand_zip64.npz','w','dense','f32','f32','[2,3]',2,6,1,24,24,'{"descr":"<f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','be','dense','f32','f32','[5]',1,5,1,86,20,'{"descr":">f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','c','dense','f32','complex64','[2,3,4]',3,24,1,157,192,'{"descr":"<c8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','e','dense','i16','i16','[0,4]',2,0,1,70,0,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','f','dense','f64','f64','[3,4]',2,12,1,120,96,'{"descr":"<f8","fortran_order":true,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','rec','numpy.structured','u8','u8','[3]',1,3,1,145,96,'{"descr":[["id","<i4"],["w",">f8",[2]],["名","<U3"]],"fortran_order":false,"npy_version":"3.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','s','dense','f64','f64','[]',0,1,1,71,8,'{"descr":"<f8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/mixed.npz','t','numpy.unicode','u8','u8','[2]',1,2,1,74,16,'{"descr":"<U2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','%_like*glob?','dense','i16','i16','[8]',1,8,1,16,16,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','-','dense','i16','i16','[11]',1,11,1,22,22,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','..','dense','i16','i16','[10]',1,10,1,20,20,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','0','dense','i16','i16','[12]',1,12,1,24,24,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','a b	c','dense','i16','i16','[3]',1,3,1,6,6,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','emoji🎉tensor','dense','i16','i16','[1]',1,1,1,2,2,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','é','dense','i16','i16','[7]',1,7,1,14,14,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','quote''"name','dense','i16','i16','[4]',1,4,1,8,8,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','semi;colon--x','dense','i16','i16','[5]',1,5,1,10,10,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','dense','i16','i16','[9]',1,9,1,18,18,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','Ünïcödé.β','dense','i16','i16','[2]',1,2,1,4,4,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','é','dense','i16','i16','[6]',1,6,1,12,12,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/names.npz','ключ.веса','dense','i16','i16','[13]',1,13,1,26,26,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/positional.npz','arr_0','dense','f32','f32','[2]',1,2,1,8,8,'{"descr":"<f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/positional.npz','arr_1','dense','u8','u8','[3]',1,3,1,3,3,'{"descr":"|u1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','_is_array','dense','bool','bool','[]',0,1,1,67,1,'{"descr":"|b1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','data','dense','f64','f64','[9]',1,9,1,143,72,'{"descr":"<f8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','format','numpy.bytes','u8','u8','[]',0,1,1,69,3,'{"descr":"|S3","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','indices','dense','i32','i32','[9]',1,9,1,81,36,'{"descr":"<i4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','indptr','dense','i32','i32','[7]',1,7,1,81,28,'{"descr":"<i4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/scipy_csr.npz','shape','dense','i64','i64','[2]',1,2,1,74,16,'{"descr":"<i8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.k.f16','dense','f16','f16','[3,4]',2,12,1,24,24,'{"descr":"<f2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.1.bool','dense','bool','bool','[3,4]',2,12,1,12,12,'{"descr":"|b1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','blk.0.attn.q.f32','dense','f32','f32','[3,4]',2,12,1,48,48,'{"descr":"<f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','blk.0.mlp.up.i64','dense','i64','i64','[3,4]',2,12,1,96,96,'{"descr":"<i8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','blk.1.norm.i32','dense','i32','i32','[3,4]',2,12,1,48,48,'{"descr":"<i4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','head.bias.i16','dense','i16','i16','[3,4]',2,12,1,24,24,'{"descr":"<i2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','lm_head.weight.u16','dense','u16','u16','[3,4]',2,12,1,24,24,'{"descr":"<u2","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.1.u8','dense','u8','u8','[3,4]',2,12,1,12,12,'{"descr":"|u1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','model.embed.weight.f64','dense','f64','f64','[3,4]',2,12,1,96,96,'{"descr":"<f8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','optimizer/step.i8','dense','i8','i8','[3,4]',2,12,1,12,12,'{"descr":"|i1","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','rope.freqs.u32','dense','u32','u32','[3,4]',2,12,1,48,48,'{"descr":"<u4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/stored.npz','stats mean.u64','dense','u64','u64','[3,4]',2,12,1,96,96,'{"descr":"<u8","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/npz/golden/zeros_deflated.npz','big','dense','f32','f32','[256,256]',2,65536,1,355,262144,'{"descr":"<f4","fortran_order":false,"npy_version":"1.0"}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.bf16','dense','bf16','bf16','[4,3]',2,12,1,24,24,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.bool','dense','bool','bool','[4,3]',2,12,1,12,12,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.f32','dense','f32','f32','[4,3]',2,12,1,48,48,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','ck.u64','dense','u64','u64','[4,3]',2,12,1,96,96,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','empty','dense','f64','f64','[0]',1,0,1,0,0,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar','dense','f32','f32','[]',0,1,1,4,4,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar.big','dense','i32','i32','[]',0,1,1,4,4,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/golden/v0.1/crate_crc32c.zt','scalar.zstd','dense','i64','i64','[]',0,1,1,17,8,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt','b','dense','u8','u8','[3]',1,3,1,3,3,'{}');
INSERT INTO "objects" VALUES('tests/formats/ztensor/hostile/1.2-dtype-empty.zt','w','dense','','','[2,2]',2,4,1,16,16,'{}');
CREATE TABLE run_files(
  tracker  TEXT,                    -- 'mlflow', 'optuna', 'sacred', or your own
  database TEXT,                    -- the tracker's database
  run      TEXT,                    -- the run's id in it
  name     TEXT,                    -- what people call the run
  status   TEXT,                    -- 'finished', 'failed', 'running', or the tracker's own word
  path     TEXT,                    -- as in files
  logged   REAL,                    -- when, in seconds since 1970
  PRIMARY KEY(tracker, database, run, path)
) WITHOUT ROWID;
INSERT INTO "run_files" VALUES('mlflow','mlflow.db','r1','baseline','finished','tests/formats/gguf/golden/kv_nested.gguf',60.5);
CREATE INDEX objects_object ON objects(object);
CREATE INDEX attributes_path ON attributes(path, object);
CREATE INDEX attributes_key ON attributes(key);
CREATE INDEX run_files_path ON run_files(path);
CREATE TRIGGER files_delete AFTER DELETE ON files BEGIN
  DELETE FROM objects WHERE path = OLD.path;
  DELETE FROM components WHERE path = OLD.path;
  DELETE FROM attributes WHERE path = OLD.path;
END;
CREATE VIEW file_names AS
SELECT column1 AS pattern
FROM (VALUES ('*.zt'), ('*.safetensors'), ('*.gguf'), ('*.npy'), ('*.npz'), ('*.pt'), ('*.pth'), ('*.onnx'), ('pytorch_model*.bin'));
CREATE VIEW sources AS
SELECT source, count(*) AS files, sum(error IS NOT NULL) AS broken, sum(objects) AS objects, sum(size) AS bytes,
       datetime(max(refreshed), 'unixepoch') AS refreshed
FROM files GROUP BY source;
CREATE VIEW broken AS
SELECT path, size, datetime(mtime, 'unixepoch') AS modified, error FROM files WHERE error IS NOT NULL;
CREATE VIEW generations AS
SELECT container, version, count(*) AS files, sum(objects) AS objects, sum(stored_bytes) AS stored_bytes
FROM files WHERE error IS NULL GROUP BY container, version;
CREATE VIEW models AS
SELECT path, version, objects, (SELECT CAST(total(elements) AS INTEGER) FROM objects AS o WHERE o.path = f.path) AS parameters,
       stored_bytes, decoded_bytes, datetime(mtime, 'unixepoch') AS modified
FROM files AS f WHERE error IS NULL;
CREATE VIEW names AS
SELECT object, count(*) AS files, count(DISTINCT shape) AS shapes, count(DISTINCT type) AS types,
       min(shape) AS shape, min(type) AS type
FROM objects GROUP BY object;
CREATE VIEW architectures AS
SELECT count(*) AS files, objects, parameters, min(path) AS first_path, max(path) AS last_path
FROM (SELECT path, count(*) AS objects, CAST(total(elements) AS INTEGER) AS parameters,
             group_concat(quote(object) || quote(format) || quote(type) || shape) AS layout
      FROM objects GROUP BY path)
GROUP BY layout;
CREATE VIEW file_attributes AS
SELECT path, key, value, type FROM attributes WHERE object IS NULL;
CREATE VIEW runs AS
SELECT r.tracker, r.database, r.run, r.name, r.status, datetime(r.logged, 'unixepoch') AS logged, r.path, f.version,
       f.objects, f.stored_bytes, f.error
FROM run_files AS r LEFT JOIN files AS f USING (path);
CREATE VIEW digests AS
SELECT path, object, component, dtype, type, encoding, byte_order, shard, offset, length, decoded_length,
       CASE WHEN known THEN substr(one_way, 1, instr(one_way, ':') - 1) END AS algorithm, CASE WHEN known THEN one_way END AS digest
FROM (SELECT *, substr(one_way, instr(one_way, ':') + 1) NOT GLOB '*[^0-9a-f]*'
             AND (one_way GLOB 'sha256:*' AND length(one_way) = 71 OR one_way GLOB 'crc32c:*' AND length(one_way) = 15
                  OR one_way GLOB 'xxh3:*' AND length(one_way) = 21) AS known
      FROM (SELECT *, replace(lower(digest), 'crc32c:0x', 'crc32c:') AS one_way FROM components));
CREATE VIEW duplicates AS
SELECT digest, dtype, encoding, byte_order, length, count(*) AS copies, count(DISTINCT path) AS files,
       (count(*) - 1) * length AS spare_bytes,
       CASE algorithm WHEN 'sha256' THEN 'proof' ELSE 'candidate' END AS evidence,
       min(path) AS first_path, max(path) AS last_path
FROM (SELECT DISTINCT path, offset, length, dtype, encoding, byte_order, algorithm, digest FROM digests
      WHERE length > 0 AND shard IS NULL AND digest IS NOT NULL)
GROUP BY digest, length, dtype, encoding, byte_order HAVING count(*) > 1
ORDER BY spare_bytes DESC, digest;
CREATE VIEW copies AS
SELECT c.digest, c.dtype, c.encoding, c.length, c.path, c.object, c.component
FROM duplicates AS d JOIN digests AS c
  ON c.digest = d.digest AND c.length = d.length AND c.dtype = d.dtype AND c.encoding = d.encoding AND c.byte_order = d.byte_order
 AND c.shard IS NULL
ORDER BY c.digest, c.path, c.object, c.component;
CREATE VIEW tied_weights AS
SELECT path, shard, offset, length, object, component, shared
FROM (SELECT *, count(*) OVER (PARTITION BY path, shard, offset, length) AS shared FROM components WHERE length > 0)
WHERE shared > 1
ORDER BY path, offset, object, component;
CREATE VIEW component_pairs AS
SELECT a.path AS path_a, b.path AS path_b, a.object, a.component, a.dtype, a.type AS type_a, b.type AS type_b,
       a.encoding AS encoding_a, b.encoding AS encoding_b, a.shard AS shard_a, b.shard AS shard_b, a.byte_order AS byte_order_a, b.byte_order AS byte_order_b,
       a.decoded_length AS length_a, b.decoded_length AS length_b, a.digest AS digest_a, b.digest AS digest_b,
       CASE WHEN a.dtype IS NOT b.dtype OR a.byte_order IS NOT b.byte_order THEN 'unknown'
            WHEN a.encoding = b.encoding AND a.digest = b.digest AND a.length = b.length AND a.algorithm = 'sha256' THEN 'same'
            WHEN a.encoding = b.encoding AND a.algorithm = b.algorithm AND a.encoding = 'raw' AND a.digest <> b.digest THEN 'changed'
            WHEN a.decoded_length <> b.decoded_length THEN 'changed'
            WHEN a.length = 0 AND b.length = 0 THEN 'same'
            ELSE 'unknown' END AS verdict
FROM digests AS a CROSS JOIN digests AS b ON b.object = a.object AND b.component = a.component;
CREATE VIEW differences AS
SELECT a.path AS path_a, b.path AS path_b, NULL AS object, NULL AS part, 'unreadable' AS change,
       a.error AS before, b.error AS after
FROM files AS a CROSS JOIN files AS b WHERE a.error IS NOT NULL OR b.error IS NOT NULL
UNION ALL
SELECT a.path, b.path, b.object, NULL, 'added', NULL, coalesce(b.type, b.format) || b.shape
FROM files AS a CROSS JOIN objects AS b
WHERE a.error IS NULL AND NOT EXISTS (SELECT 1 FROM objects AS o WHERE o.path = a.path AND o.object = b.object)
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'removed', coalesce(a.type, a.format) || a.shape, NULL
FROM objects AS a CROSS JOIN files AS b
WHERE b.error IS NULL AND NOT EXISTS (SELECT 1 FROM objects AS o WHERE o.path = b.path AND o.object = a.object)
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'reformatted', a.format, b.format
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.format IS NOT b.format
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'retyped', a.type, b.type
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.type IS NOT b.type
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'reshaped', a.shape, b.shape
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.shape IS NOT b.shape
UNION ALL
SELECT a.path, b.path, a.object, a.component, 'recomposed', a.type, NULL
FROM components AS a CROSS JOIN objects AS b ON b.object = a.object
WHERE NOT EXISTS (SELECT 1 FROM components AS c WHERE c.path = b.path AND c.object = a.object AND c.component = a.component)
UNION ALL
SELECT a.path, b.path, b.object, b.component, 'recomposed', NULL, b.type
FROM objects AS a CROSS JOIN components AS b ON b.object = a.object
WHERE NOT EXISTS (SELECT 1 FROM components AS c WHERE c.path = a.path AND c.object = b.object AND c.component = b.component)
UNION ALL
-- Of components beside the values; those are the object's, above.
SELECT path_a, path_b, object, component, 'retyped', type_a, type_b
FROM component_pairs WHERE type_a IS NOT type_b AND component NOT IN ('data', 'values', 'packed_weight')
UNION ALL
SELECT path_a, path_b, object, component, 'reencoded', encoding_a, encoding_b
FROM component_pairs WHERE encoding_a IS NOT encoding_b
UNION ALL
-- That a tensor of another size has other content goes without saying.
SELECT path_a, path_b, object, component, 'content',
       CASE WHEN length_a IS length_b THEN digest_a ELSE length_a END,
       CASE WHEN length_a IS length_b THEN digest_b ELSE length_b END
FROM component_pairs AS p
WHERE verdict = 'changed'
  AND (length_a IS length_b OR (SELECT shape FROM objects AS o WHERE o.path = path_a AND o.object = p.object)
                            IS (SELECT shape FROM objects AS o WHERE o.path = path_b AND o.object = p.object))
UNION ALL
SELECT a.path, b.path, a.object, a.key, 'attributes',
       CASE WHEN a.type IN ('null', 'true', 'false') THEN a.type ELSE a.value END,
       (SELECT CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END
        FROM attributes AS x WHERE x.path = b.path AND x.object IS a.object AND x.key = a.key)
FROM attributes AS a CROSS JOIN files AS b
WHERE NOT EXISTS (SELECT 1 FROM attributes AS x WHERE x.path = b.path AND x.object IS a.object AND x.key = a.key
                  AND x.type = a.type AND x.value IS a.value)
  AND CASE WHEN a.object IS NULL THEN b.error IS NULL
           ELSE EXISTS (SELECT 1 FROM objects AS o WHERE o.path = b.path AND o.object = a.object) END
UNION ALL
SELECT a.path, b.path, b.object, b.key, 'attributes', NULL,
       CASE WHEN b.type IN ('null', 'true', 'false') THEN b.type ELSE b.value END
FROM files AS a CROSS JOIN attributes AS b
WHERE NOT EXISTS (SELECT 1 FROM attributes AS x WHERE x.path = a.path AND x.object IS b.object AND x.key = b.key)
  AND CASE WHEN b.object IS NULL THEN a.error IS NULL
           ELSE EXISTS (SELECT 1 FROM objects AS o WHERE o.path = a.path AND o.object = b.object) END;
CREATE VIEW dtype_shares AS
SELECT o.path, o.dtype, o.type, count(*) AS objects, CAST(total(o.elements) AS INTEGER) AS elements, sum(o.stored_bytes) AS bytes,
       round(100.0 * sum(o.stored_bytes) / nullif(f.stored_bytes, 0), 2) AS percent
FROM files AS f CROSS JOIN objects AS o ON o.path = f.path GROUP BY o.path, o.dtype, o.type;
CREATE VIEW dtype_totals AS
SELECT dtype, type, count(*) AS objects, count(DISTINCT path) AS files, CAST(total(elements) AS INTEGER) AS elements, sum(stored_bytes) AS bytes,
       round(100.0 * sum(stored_bytes) / nullif((SELECT sum(stored_bytes) FROM files), 0), 2) AS percent
FROM objects GROUP BY dtype, type ORDER BY bytes DESC;
CREATE VIEW format_shares AS
SELECT o.path, o.format, count(*) AS objects, CAST(total(o.elements) AS INTEGER) AS elements, sum(o.stored_bytes) AS bytes,
       round(100.0 * sum(o.stored_bytes) / nullif(f.stored_bytes, 0), 2) AS percent
FROM files AS f CROSS JOIN objects AS o ON o.path = f.path GROUP BY o.path, o.format;
CREATE VIEW format_totals AS
SELECT format, count(*) AS objects, count(DISTINCT path) AS files, CAST(total(elements) AS INTEGER) AS elements, sum(stored_bytes) AS bytes,
       round(100.0 * sum(stored_bytes) / nullif((SELECT sum(stored_bytes) FROM files), 0), 2) AS percent
FROM objects GROUP BY format ORDER BY bytes DESC;
CREATE VIEW largest_tensors AS
SELECT path, object, format, type, shape, elements, stored_bytes, decoded_bytes
FROM objects ORDER BY CAST(coalesce(decoded_bytes, stored_bytes) AS REAL) DESC, path, object;
CREATE VIEW licences AS
SELECT f.path, j.fullkey AS key, j.value AS licence
FROM files AS f CROSS JOIN json_tree(f.attributes) AS j
WHERE '.' || replace(replace(replace(replace(replace(lower(j.key),
        'licence', 'license'), '_', '.'), '-', '.'), ':', '.'), ' ', '.') || '.' LIKE '%.license.%'
  AND j.type NOT IN ('null', 'false') AND trim(j.value, char(9, 10, 13, 32)) NOT IN ('', '[]', '{}');
CREATE VIEW unlicensed_files AS
SELECT path, version, objects, stored_bytes FROM files AS f
WHERE error IS NULL AND manifest_bytes > 0 AND NOT EXISTS (SELECT 1 FROM licences AS l WHERE l.path = f.path);
CREATE VIEW missing_digests AS
SELECT path, object, component, dtype, length FROM digests WHERE digest IS NULL;
CREATE VIEW unreferenced_files AS
SELECT path, size, datetime(mtime, 'unixepoch') AS modified, error FROM files AS f
WHERE manifest_bytes IS NOT 0 AND NOT EXISTS (SELECT 1 FROM run_files AS r WHERE r.path = f.path);
CREATE VIEW lost_runs AS
SELECT tracker, database, run, name, status, path, datetime(logged, 'unixepoch') AS logged FROM run_files AS r
WHERE NOT EXISTS (SELECT 1 FROM files AS f WHERE f.path = r.path);
COMMIT;
