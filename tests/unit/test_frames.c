/*
** Encoding in frames: tensor/frames.h. Each codec, level and size encodes into bytes that this program's decoder reads back,
** within bound(), and that depend on the input and the level alone. test_oom_frames.c has memory and threads.
*/
#include "frames.h"

#include <zlib.h>
#include <zstd.h>

/* --- Every codec, level, size and content --- */

/* Sizes around a frame's; the slow levels have fewer. */
static size_t sizes_of(const codec *c, int level, size_t *sizes){
  const size_t all[] = { 0, 1, 150*KIB, c->size, c->size+1, c->size-1, 2*c->size, 3*c->size+77 };
  size_t n = level==1 ? COUNT(all) : level==3 || level==9 ? 6 : level==22 && c->size==MIB ? 4 : 3;
  memcpy(sizes, all, n*sizeof(*all));
  return n;
}

TEST(test_every_level_and_size_decodes){
  for(size_t k=0; k<COUNT(codecs); k++){
    const codec *c = &codecs[k];
    const zt_frames *f = zt_frames_of(c->id);
    assert_non_null(f);
    check( f->size==c->size && f->least==c->least && f->most==c->most, "%s", c->name );
    for(int level=c->least; level<=c->most; level++){
      size_t sizes[8], n = sizes_of(c, level, sizes);
      for(size_t i=0; i<n; i++){
        for(content kind=RANDOM; kind<CONTENTS; kind++){
          blob b = content_of(sizes[i], kind);
          encoded e = encode(c, b, level);
          char row[120];
          snprintf(row, sizeof(row), "%s, level %d, %zu bytes, %s", c->name, level, b.n, content_names[kind]);
          check_decodes(c, &e, b, row);
          free_encoded(&e);
          free(b.p);
        }
      }
    }
  }
}

/* A level changes the bytes, and none is another one's at the ends. */
TEST(test_levels_differ){
  blob b = content_of(MIB, TEXT);
  for(size_t k=0; k<COUNT(codecs); k++){
    encoded least = encode(&codecs[k], b, codecs[k].least), most = encode(&codecs[k], b, codecs[k].most<10 ? codecs[k].most : 12);
    check( most.bytes.n<least.bytes.n, "%s: %zu, %zu", codecs[k].name, most.bytes.n, least.bytes.n );
    free_encoded(&least);
    free_encoded(&most);
  }
  free(b.p);
}

TEST(test_other_codecs_do_not_encode){
  for(zt_codec_id id=ZT_CODEC_UNKNOWN; id<ZT_CODEC_COUNT; id++){
    bool one = false;
    for(size_t k=0; k<COUNT(codecs); k++) one |= codecs[k].id==id;
    check( (zt_frames_of(id)!=NULL)==one, "codec %d", (int)id );
  }
}

/* --- What zstd's frames say --- */

static void check_head(const uint8_t *p, size_t n, size_t length, unsigned checksum){
  unsigned long long size = ZSTD_getFrameContentSize(p, n);
  check( zt_le32(p)==ZSTD_MAGICNUMBER && size==length, "%llu, %zu", size, length );
  check( (p[4] & 0x04)==checksum && (p[4] & 0x03)==0, "descriptor %02x", p[4] );
  assert_int_equal(ZSTD_findFrameCompressedSize(p, n), n);
}

TEST(test_heads_of_zstd_frames){
  static const size_t sizes[] = { 1, 5*MIB };
  for(size_t k=0; k<2; k++){
    for(size_t i=0; i<COUNT(sizes); i++){
      blob b = content_of(sizes[i], TEXT);
      encoded e = encode(&codecs[k], b, 3);
      const uint8_t *p = e.bytes.p;
      for(size_t j=0; j<e.count; j++){
        check_head(p, e.lengths[j].stored, e.lengths[j].decoded, codecs[k].id==ZT_CODEC_SEEKABLE ? 0x04 : 0);
        p += e.lengths[j].stored;
      }
      if( codecs[k].id==ZT_CODEC_ZSTD ) assert_ptr_equal(p, e.bytes.p+e.bytes.n);
      free_encoded(&e);
      free(b.p);
    }
  }
}

/* A component without bytes: one empty frame in zstd, so that something decodes. */
TEST(test_nothing){
  blob none = { 0 };
  encoded e = encode(&codecs[0], none, 3);
  check_head(e.bytes.p, e.bytes.n, 0, 0);
  free_encoded(&e);
  e = encode(&codecs[1], none, 3);
  blob expected = blob_of("5e2a4d18 09000000 00000000 00 b1ea928f");   /* As zTensor 2.1.2 writes it */
  assert_true(same_blob(e.bytes, expected));
  free(expected.p);
  free_encoded(&e);
}

/* --- The table of places --- */

TEST(test_the_seek_table){
  blob b = content_of(2*MIB+3, MIXED);
  encoded e = encode(&codecs[1], b, 1);
  const uint8_t *p;
  size_t stored = 0;
  assert_int_equal(e.count, 3);
  for(size_t i=0; i<3; i++) stored += e.lengths[i].stored;
  assert_int_equal(e.bytes.n, stored+8+3*8+9);
  p = e.bytes.p+stored;
  assert_int_equal(zt_le32(p), 0x184D2A5E);
  assert_int_equal(zt_le32(p+4), 3*8+9);
  for(size_t i=0; i<3; i++){
    assert_int_equal(zt_le32(p+8+8*i), e.lengths[i].stored);
    assert_int_equal(zt_le32(p+12+8*i), i<2 ? MIB : 3);
  }
  assert_int_equal(zt_le32(p+32), 3);
  assert_int_equal(p[36], 0);
  assert_int_equal(zt_le32(p+37), 0x8F92EAB1);
  free_encoded(&e);
  free(b.p);
}

/* zTensor 2.1.2's part of one byte, 0, differs in one thing: its frame states a window of 2 MiB, and not its content's size. */
TEST(test_a_part_like_the_library_s){
  blob zero = blob_of("00"), expected = blob_of("28b52ffd 2401 090000 00 682705db 5e2a4d18 11000000 0e000000 01000000 01000000 00 b1ea928f");
  encoded e = encode(&codecs[1], zero, 3);
  check( same_blob(e.bytes, expected), "%zu bytes", e.bytes.n );
  free(zero.p);
  free(expected.p);
  free_encoded(&e);
}

/* --- Deflate --- */

static blob one_shot(blob b, int level){
  z_stream z = { .next_in = b.p, .avail_in = (uInt)b.n };
  blob out = { malloc(b.n+b.n/8+100), b.n+b.n/8+100, 0 };
  assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_out = out.p;
  z.avail_out = (uInt)out.n;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.n = z.total_out;
  deflateEnd(&z);
  return out;
}

TEST(test_a_frame_of_deflate_is_zlib_s){
  static const size_t sizes[] = { 0, 1, 100, 70*KIB, MIB };
  for(int level=1; level<=9; level++){
    for(size_t i=0; i<COUNT(sizes) && (level%5==1 || sizes[i]<MIB); i++){
      for(content kind=RANDOM; kind<CONTENTS; kind++){
        blob b = content_of(sizes[i], kind), expected = one_shot(b, level);
        encoded e = encode(&codecs[2], b, level);
        check( same_blob(e.bytes, expected), "level %d, %zu bytes, %s", level, b.n, content_names[kind] );
        free(expected.p);
        free_encoded(&e);
        free(b.p);
      }
    }
  }
}

/* A frame ends at a byte, with an empty block; and it refers to bytes in front of it, so that little is lost. */
TEST(test_frames_of_deflate_are_one_stream){
  const size_t period = 30000;
  blob b = content_of(2*MIB, RANDOM), whole;
  encoded e;
  const uint8_t *end;
  for(size_t i=period; i<b.n; i++) b.p[i] = b.p[i-period];
  whole = one_shot(b, 6);
  e = encode(&codecs[2], b, 6);
  assert_int_equal(e.count, 2);
  end = e.bytes.p+e.lengths[0].stored;
  assert_memory_equal(end-4, "\x00\x00\xff\xff", 4);
  check( e.bytes.n<whole.n+whole.n/50, "%zu, %zu bytes", e.bytes.n, whole.n );
  check( e.lengths[1].stored<period/2, "%u bytes", e.lengths[1].stored );
  free(whole.p);
  free_encoded(&e);
  free(b.p);
}

/* --- The same input, the same bytes --- */

/* Frames from back to front, each after one of other content and level. */
TEST(test_bytes_depend_on_input_and_level_alone){
  static const int levels[] = { 1, 3, 6, 9 };
  for(size_t k=0; k<COUNT(codecs); k++){
    const zt_frames *f = zt_frames_of(codecs[k].id);
    blob b = content_of(2*f->size+5, MIXED), other = content_of(f->size, TEXT);
    uint8_t *out = malloc(f->bound(f->size));
    assert_non_null(out);
    for(size_t l=0; l<COUNT(levels); l++){
      encoded e = encode(&codecs[k], b, levels[l]);
      size_t at = e.lengths[0].stored+e.lengths[1].stored+e.lengths[2].stored, n;
      for(size_t i=3; i-->0; ){
        zt_error err = ZT_ERROR_NONE;
        encode_frame(f, other, 0, levels[(l+1)%COUNT(levels)], out, &n, &err);
        encode_frame(f, b, i, levels[l], out, &n, &err);
        assert_succeeded(&err, codecs[k].name);
        at -= e.lengths[i].stored;
        check( n==e.lengths[i].stored && memcmp(out, e.bytes.p+at, n)==0, "%s, level %d, frame %zu", codecs[k].name, levels[l], i );
      }
      free_encoded(&e);
    }
    free(out);
    free(b.p);
    free(other.p);
  }
}

int main(void){
  return run_all("frames", make_file, remove_file);
}
