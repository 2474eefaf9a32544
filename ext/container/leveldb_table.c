/*
** Tables of LevelDB (google/leveldb, doc/table_format.md).
**
**   file    := block* footer
**   footer  := handle handle padding u64le   ; of the metaindex, which is not read, and of the
**                                            ; index; ZT_LEVELDB_FOOTER bytes, the number is
**                                            ; 0xdb4775248b80fb57. LT1
**   handle  := varint varint                 ; offset and size of a block
**   block   := body type crc                 ; size is the body's. LT2
**   type    := 0x00 | 0x01                   ; plain, or of Snappy (core/snappy.h). LT4, LT5
**   crc     := u32le                         ; masked CRC-32C of body and type. LT3
**   body    := entry* u32le* u32le           ; places of restarts, and their number. LT6
**   entry   := shared unshared length byte* byte*   ; varints; the key's bytes behind those that it
**                                            ; shares with the key before, and the value. LT7
**
** The values of the index are handles of the blocks of entries.
**
**   LT1  a file of LevelDB ends with a footer, and has at most 1 GiB
**   LT2  a block lies before the footer, and behind the block of entries before it
**   LT3  a block has its checksum
**   LT4  a block is plain or of Snappy
**   LT5  a block of Snappy decodes to the length that it states
**   LT6  a block has room for its restarts
**   LT7  an entry lies in its block, and shares bytes that the key before has
**   LT8  keys ascend, so that none stands twice
**
** Restarts serve for a search, and are not used: all entries are read in their order.
*/
#include "container/leveldb_table.h"

#include "container/container.h"
#include "core/digest.h"
#include "core/grow.h"
#include "core/host.h"
#include "core/snappy.h"

#define LEVELDB_TRAILER 5
#define LEVELDB_POLL 0xFFFFu       /* Entries between two checks for an interrupt */
#define LEVELDB_SPEC(section) "LevelDB, doc/table_format.md, " section

enum { LEVELDB_PLAIN, LEVELDB_SNAPPY };

const zt_rule zt_rules_leveldb[] = {
  ZT_ERROR("LT1", "leveldb-footer", "a table ends with a footer, and has at most 1 GiB (LevelDB)",
           LEVELDB_SPEC("Footer")),
  ZT_ERROR("LT2", "leveldb-range",
           "blocks lie before the footer, and one behind the other (LevelDB)",
           LEVELDB_SPEC("BlockHandle")),
  ZT_ERROR("LT3", "leveldb-checksum", "a block has its checksum (LevelDB)",
           LEVELDB_SPEC("block trailer")),
  ZT_UNSUPPORTED("LT4", "leveldb-compression", "a block is plain or of Snappy (LevelDB)",
                 LEVELDB_SPEC("block trailer")),
  ZT_ERROR("LT5", "leveldb-snappy",
           "a block of Snappy decodes to the length that it states (LevelDB)",
           "Snappy, format_description.txt"),
  ZT_ERROR("LT6", "leveldb-restarts", "a block has room for its restarts (LevelDB)",
           LEVELDB_SPEC("block_builder.cc")),
  ZT_ERROR("LT7", "leveldb-entry",
           "an entry lies in its block, and shares bytes that the key before has (LevelDB)",
           LEVELDB_SPEC("block_builder.cc")),
  ZT_ERROR("LT8", "leveldb-order", "keys ascend, and none stands twice (LevelDB)",
           LEVELDB_SPEC("File format")),
  ZT_RULES_END
};

typedef struct leveldb_handle {
  uint64_t offset, size;
} leveldb_handle;

/* Read a varint at *at. False if it does not end within the n bytes, or within 64 bits. */
static bool leveldb_varint(const uint8_t *p, size_t n, size_t *at, uint64_t *out){
  if( *at<n && p[*at]<0x80 ){
    *out = p[(*at)++];
    return true;
  }
  *out = 0;
  for(unsigned shift=0; *at<n && shift<64; shift+=7){
    const uint8_t byte = p[(*at)++];
    if( shift==63 && byte>1 ) return false;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if( byte<0x80 ) return true;
  }
  return false;
}

static bool leveldb_handle_at(const uint8_t *p, size_t n, size_t *at, leveldb_handle *out){
  return leveldb_varint(p, n, at, &out->offset) && leveldb_varint(p, n, at, &out->size);
}

static bool leveldb_fail_range(zt_leveldb *t, leveldb_handle h){
  zt_break(t->err, "LT2", "a block of %llu bytes at %llu does not lie between %llu and the footer"
           " at %llu", h.size, h.offset, t->behind, t->end);
  return false;
}

/* LT3: of n bytes in front of the checksum. */
static bool leveldb_check(zt_leveldb *t, leveldb_handle h, const uint8_t *p){
  const uint32_t unmasked = zt_le32(p+h.size+1)-ZT_LEVELDB_MASK;
  const uint32_t wanted = unmasked>>17 | unmasked<<15;
  zt_digest *d = zt_digest_begin(ZT_DIGEST_CRC32C, t->err);
  uint64_t found;
  if( !d ) return false;
  zt_digest_update(d, (zt_span){ p, (size_t)h.size+1 });
  found = zt_digest_number(d);
  zt_digest_close(d);
  if( ZT_TRUST_CHECKSUMS || found==wanted ) return true;
  zt_break(t->err, "LT3", "the block at %llu has the checksum %08x, and states %08x", h.offset,
           (unsigned)found, wanted);
  return false;
}

/* LT4 and LT5: decode a block's body. */
static bool leveldb_decode(zt_leveldb *t, leveldb_handle h, zt_leveldb_block *b){
  const uint8_t type = b->stored[h.size];
  zt_span body;
  uint64_t n;
  b->p = b->stored;
  b->n = (size_t)h.size;
  if( type==LEVELDB_PLAIN ) return true;
  if( type!=LEVELDB_SNAPPY ){
    zt_break(t->err, "LT4", "the block at %llu has compression %u, which is not read", h.offset,
             type);
    return false;
  }
  if( zt_snappy_length((zt_span){ b->stored, b->n }, &body, &n) ){
    b->decoded = sqlite3_malloc64(n+1);
    if( !b->decoded ) return !zt_fail_nomem(t->err);
    b->p = b->decoded;
    b->n = (size_t)n;
    if( zt_snappy_decode(body, b->decoded, b->n) ) return true;
  }
  zt_break(t->err, "LT5", "the block at %llu does not decode to the length that it states",
           h.offset);
  return false;
}

static void leveldb_drop(zt_leveldb_block *b){
  sqlite3_free(b->decoded);
  b->decoded = NULL;
  b->p = NULL;
  b->n = b->at = 0;
  b->begun = false;
}

/* LT6: leave the entries alone. */
static bool leveldb_cut_restarts(zt_leveldb *t, leveldb_handle h, zt_leveldb_block *b){
  const uint64_t restarts = b->n<4 ? 0 : zt_le32(b->p+b->n-4);
  if( b->n>=4 && restarts<=(b->n-4)/4 ){
    b->n -= 4+4*(size_t)restarts;
    return true;
  }
  zt_break(t->err, "LT6", "the block at %llu has %llu bytes, and %llu restarts", h.offset,
           (uint64_t)b->n, restarts);
  return false;
}

static bool leveldb_read(zt_leveldb *t, leveldb_handle h, zt_leveldb_block *b){
  uint8_t *p;
  leveldb_drop(b);
  if( zt_interrupt_check(t->interrupt, t->err) ) return false;
  if( h.offset<t->behind || h.size>UINT64_MAX-LEVELDB_TRAILER
   || !zt_claim(t->end, h.offset, h.size+LEVELDB_TRAILER) ) return leveldb_fail_range(t, h);
  p = zt_grow(b->stored, &b->capacity, h.size+LEVELDB_TRAILER, 1, t->err);
  if( !p ) return false;
  b->stored = p;
  return !zt_source_read(t->source, h.offset, b->stored, (size_t)h.size+LEVELDB_TRAILER, t->err)
      && leveldb_check(t, h, b->stored) && leveldb_decode(t, h, b)
      && leveldb_cut_restarts(t, h, b);
}

int zt_leveldb_open(zt_source *source, const zt_interrupt *interrupt, zt_leveldb *out,
                    zt_error *err){
  const uint64_t size = zt_source_size(source);
  uint8_t footer[ZT_LEVELDB_FOOTER];
  leveldb_handle metaindex, index;
  size_t at = 0;
  *out = (zt_leveldb){ .source = source, .interrupt = interrupt, .err = err };
  if( size<ZT_LEVELDB_FOOTER || size>ZT_MAX_MANIFEST ){
    return zt_break(err, "LT1", "the file has %llu bytes, a table has %d to %llu", size,
                    ZT_LEVELDB_FOOTER, (uint64_t)ZT_MAX_MANIFEST);
  }
  out->end = size-ZT_LEVELDB_FOOTER;
  if( zt_source_read(source, out->end, footer, ZT_LEVELDB_FOOTER, err) ) return err->rc;
  if( !leveldb_handle_at(footer, ZT_LEVELDB_FOOTER-8, &at, &metaindex)
   || !leveldb_handle_at(footer, ZT_LEVELDB_FOOTER-8, &at, &index)
   || memcmp(footer+ZT_LEVELDB_FOOTER-8, ZT_LEVELDB_MAGIC, 8)!=0 ){
    return zt_break(err, "LT1", "its last %d bytes are no footer of a table", ZT_LEVELDB_FOOTER);
  }
  leveldb_read(out, index, &out->index);
  return err->rc;
}

void zt_leveldb_close(zt_leveldb *t){
  leveldb_drop(&t->index);
  leveldb_drop(&t->block);
  sqlite3_free(t->index.stored);
  sqlite3_free(t->block.stored);
  sqlite3_free(t->index.key);
  sqlite3_free(t->block.key);
}

/* Append a key's own bytes behind those that it shares (LT8). */
static bool leveldb_set_key(zt_leveldb *t, zt_leveldb_block *b, size_t shared, zt_span own){
  const size_t old = b->key_n-shared, n = old<own.n ? old : own.n;
  const int order = n ? memcmp(own.p, b->key+shared, n) : 0;
  uint8_t *p;
  if( b->keyed && (order<0 || (order==0 && own.n<=old)) ){
    zt_break(t->err, "LT8", "a key does not sort behind the key before it");
    return false;
  }
  p = zt_grow(b->key, &b->key_capacity, (uint64_t)shared+own.n, 1, t->err);
  if( !p ) return false;
  b->key = p;
  if( own.n ) memcpy(b->key+shared, own.p, own.n);
  b->key_n = shared+own.n;
  b->keyed = b->begun = true;
  return true;
}

/* LT7. False at the block's end, too. */
static bool leveldb_entry(zt_leveldb *t, zt_leveldb_block *b, zt_span *value){
  uint64_t shared, own, length;
  size_t at = b->at;
  if( at==b->n ) return false;
  if( t->steps++==LEVELDB_POLL ){
    t->steps = 0;
    if( zt_interrupt_check(t->interrupt, t->err) ) return false;
  }
  if( !leveldb_varint(b->p, b->n, &at, &shared) || !leveldb_varint(b->p, b->n, &at, &own)
   || !leveldb_varint(b->p, b->n, &at, &length) || own>b->n-at || length>b->n-at-own
   || shared>(b->begun ? b->key_n : 0) ){
    zt_break(t->err, "LT7", "the entry at byte %llu of its block goes beyond it, or shares more"
             " than the key before has", (uint64_t)b->at);
    return false;
  }
  if( !leveldb_set_key(t, b, (size_t)shared, (zt_span){ b->p+at, (size_t)own }) ) return false;
  at += (size_t)own;
  *value = (zt_span){ b->p+at, (size_t)length };
  b->at = at+(size_t)length;
  return true;
}

/* Read the next block of entries. False at the end of the index. */
static bool leveldb_next_block(zt_leveldb *t){
  leveldb_handle h;
  zt_span value;
  size_t at = 0;
  if( !leveldb_entry(t, &t->index, &value) ) return false;
  if( !leveldb_handle_at(value.p, value.n, &at, &h) ){
    zt_break(t->err, "LT2", "an entry of the index states no place of a block");
    return false;
  }
  if( !leveldb_read(t, h, &t->block) ) return false;
  t->behind = h.offset+h.size+LEVELDB_TRAILER;
  return true;
}

bool zt_leveldb_next(zt_leveldb *t, zt_span *key, zt_span *value){
  if( t->err->rc ) return false;
  while( !leveldb_entry(t, &t->block, value) ){
    if( t->err->rc || !leveldb_next_block(t) ) return false;
  }
  *key = (zt_span){ t->block.key, t->block.key_n };
  return true;
}
