/*
** HDF5: a dataset's space, type, layout, filters and fill value, and its record. See hdf5.h, and
** hdf5.c for the grammar.
**
** A fault of one dataset is its own: it is listed with what is known of it, and hides no other.
*/
#include "container/hdf5.h"

#define DATASET_FILTERS 32           /* Of a dataset, at most */

enum { DATASET_COMPACT, DATASET_CONTIGUOUS, DATASET_CHUNKED, DATASET_VIRTUAL };
enum {
  DATASET_DEFLATE = 1, DATASET_SHUFFLE = 2, DATASET_FLETCHER32 = 3, DATASET_SZIP = 4,
  DATASET_NBIT = 5, DATASET_SCALEOFFSET = 6, DATASET_LZF = 32000
};

/* A layout message. */
typedef struct dataset_layout {
  int class;                         /* -1: none is known */
  uint64_t address, size;            /* Contiguous or compact: the data's; size UINT64_MAX: not
                                     ** stated */
  uint32_t rank;                     /* Of chunks, without the element's size; */
  uint64_t chunk[ZT_HDF5_RANK+1];    /* their elements along each dimension */
  zt_hdf5_index index;
} dataset_layout;

typedef struct dataset_reader {
  zt_hdf5 *h;
  const zt_hdf5_header *header;
  zt_hdf5_room type_room, fill_room; /* For messages that are somewhere else, */
  zt_hdf5_room room;                 /* and for those that are read at once */
  zt_hdf5_space space;
  zt_hdf5_type type;
  bool has_space, has_type, external;
  dataset_layout layout;
  zt_chunks chunks;                  /* Its filters are those of the dataset */
  zt_span fill;
  bool unfilled;                     /* What was never written is undefined */
  zt_hdf5_places places;
  zt_hdf5_dataset record;
} dataset_reader;

static int dataset_fail(dataset_reader *r, const char *rule, const char *fault){
  return zt_break(r->h->err, rule, "%s", fault);
}

/* --- Messages --- */

static int dataset_read_type(dataset_reader *r, const zt_hdf5_message *m){
  zt_hdf5 *h = r->h;
  zt_span bytes;
  zt_hdf5_in in;
  if( zt_hdf5_message_data(h, r->header, m, &r->type_room, &bytes) ) return h->err->rc;
  in = zt_hdf5_in_of(h, bytes);
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &r->type)
   || zt_hdf5_type_meaning(h, &r->type, &r->record.meaning) ) return h->err->rc;
  r->has_type = true;
  return SQLITE_OK;
}

static int dataset_read_space(dataset_reader *r, const zt_hdf5_message *m){
  zt_span bytes;
  if( zt_hdf5_message_data(r->h, r->header, m, &r->room, &bytes)
   || zt_hdf5_space_read(r->h, bytes, &r->space) ) return r->h->err->rc;
  r->has_space = true;
  return SQLITE_OK;
}

/* Versions 1 and 2 have the sizes of dimensions in all classes. */
static int dataset_read_old_layout(dataset_reader *r, zt_hdf5_in *in, uint64_t data){
  dataset_layout *l = &r->layout;
  const uint8_t *begin = in->p;
  uint32_t rank = (uint32_t)zt_hdf5_take(in, 1);
  l->class = (int)zt_hdf5_take(in, 1);
  zt_hdf5_skip(in, 5);
  l->address = ZT_HDF5_NONE;
  if( l->class!=DATASET_COMPACT ) l->address = zt_hdf5_take_address(in);
  if( rank>ZT_HDF5_RANK+1 ) return dataset_fail(r, "HD12", "chunks of more than 32 dimensions");
  for(uint32_t d=0; d<rank; d++) l->chunk[d] = zt_hdf5_take(in, 4);
  l->size = UINT64_MAX;
  if( l->class==DATASET_COMPACT ){
    l->size = zt_hdf5_take(in, 4);
    l->address = data+(uint64_t)(in->p-begin);
    zt_hdf5_skip(in, l->size);
  }
  l->rank = rank>0 ? rank-1 : 0;
  l->index.address = l->address;
  return SQLITE_OK;
}

/* The index of chunks of versions 4 and 5. */
static void dataset_read_index(dataset_reader *r, zt_hdf5_in *in, unsigned flags){
  zt_hdf5_index *index = &r->layout.index;
  index->plain_edges = (flags & 1)!=0;
  index->kind = (unsigned)zt_hdf5_take(in, 1);
  if( index->kind==0 ) index->kind = 6;   /* 0 is the B-tree of version 1, of other layouts */
  if( index->kind==1 && (flags & 2) ){
    index->size = zt_hdf5_take_length(in);
    index->skipped = (uint32_t)zt_hdf5_take(in, 4);
  }
  if( index->kind==3 ) zt_hdf5_skip(in, 1);
  if( index->kind==4 ) zt_hdf5_skip(in, 5);
  if( index->kind==5 ) zt_hdf5_skip(in, 6);
  index->address = zt_hdf5_take_address(in);
}

static int dataset_read_chunked(dataset_reader *r, zt_hdf5_in *in, unsigned version){
  dataset_layout *l = &r->layout;
  const unsigned flags = version>3 ? (unsigned)zt_hdf5_take(in, 1) : 0;
  const uint32_t rank = (uint32_t)zt_hdf5_take(in, 1);
  unsigned width = 4;
  if( version==3 ) l->index.address = zt_hdf5_take_address(in);
  else width = (unsigned)zt_hdf5_take(in, 1);
  if( rank<1 || rank>ZT_HDF5_RANK+1 || width<1 || width>8 ){
    return dataset_fail(r, "HD12", "chunks of a wrong rank");
  }
  for(uint32_t d=0; d<rank; d++) l->chunk[d] = zt_hdf5_take(in, width);
  l->rank = rank-1;
  if( version>3 ) dataset_read_index(r, in, flags);
  return SQLITE_OK;
}

static int dataset_read_layout(dataset_reader *r, const zt_hdf5_message *m){
  dataset_layout *l = &r->layout;
  const zt_span data = zt_hdf5_data(r->header, m);
  zt_hdf5_in in = zt_hdf5_in_of(r->h, data);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1);
  if( version<1 || version>5 ) return dataset_fail(r, "HD12", "a layout of unknown version");
  if( version<3 ){
    if( dataset_read_old_layout(r, &in, m->address+1) ) return r->h->err->rc;
  }else{
    l->class = (int)zt_hdf5_take(&in, 1);
    if( l->class==DATASET_COMPACT ){
      l->size = zt_hdf5_take(&in, 2);
      l->address = m->address+(uint64_t)(in.p-data.p);
      zt_hdf5_skip(&in, l->size);
    }else if( l->class==DATASET_CONTIGUOUS ){
      l->address = zt_hdf5_take_address(&in);
      l->size = zt_hdf5_take_length(&in);
    }else if( l->class==DATASET_CHUNKED ){
      if( dataset_read_chunked(r, &in, version) ) return r->h->err->rc;
    }
  }
  if( in.cut ) return dataset_fail(r, "HD12", "a layout that is cut short");
  if( l->class>DATASET_VIRTUAL ){
    return dataset_fail(r, "HD12", "a layout of unknown class");
  }
  return SQLITE_OK;
}

/* --- Filters --- */

static zt_chunk_filter_id dataset_filter_id(uint32_t number){
  switch( number ){
    case DATASET_DEFLATE: return ZT_FILTER_ZLIB;
    case DATASET_SHUFFLE: return ZT_FILTER_SHUFFLE;
    case DATASET_FLETCHER32: return ZT_FILTER_FLETCHER32;
    default: return ZT_FILTER_UNKNOWN;
  }
}

/* The word for a filter, in `room` if it has none. */
static const char *dataset_filter_name(uint32_t number, char room[12]){
  switch( number ){
    case DATASET_DEFLATE: return "deflate";
    case DATASET_SHUFFLE: return "shuffle";
    case DATASET_FLETCHER32: return "fletcher32";
    case DATASET_SZIP: return "szip";
    case DATASET_NBIT: return "nbit";
    case DATASET_SCALEOFFSET: return "scaleoffset";
    case DATASET_LZF: return "lzf";
    default: return sqlite3_snprintf(12, room, "%u", number);
  }
}

static int dataset_read_filters(dataset_reader *r, const zt_hdf5_message *m){
  zt_chunks *c = &r->chunks;
  unsigned version, n;
  zt_span bytes;
  zt_hdf5_in in;
  if( zt_hdf5_message_data(r->h, r->header, m, &r->room, &bytes) ) return r->h->err->rc;
  in = zt_hdf5_in_of(r->h, bytes);
  version = (unsigned)zt_hdf5_take(&in, 1);
  n = (unsigned)zt_hdf5_take(&in, 1);
  if( version<1 || version>2 || n>DATASET_FILTERS ){
    return dataset_fail(r, "HD13", "filters of unknown version, or more than 32");
  }
  if( version==1 ) zt_hdf5_skip(&in, 6);
  for(unsigned i=0; i<n; i++){
    zt_chunk_filter *f = &c->filter[i];
    uint64_t name = 0, values;
    f->number = (uint32_t)zt_hdf5_take(&in, 2);
    f->id = dataset_filter_id(f->number);
    if( version==1 || f->number>=256 ) name = zt_hdf5_take(&in, 2);
    zt_hdf5_skip(&in, 2);
    values = zt_hdf5_take(&in, 2);
    zt_hdf5_skip(&in, version==1 ? (name+7) & ~(uint64_t)7 : name);
    f->width = values && f->id==ZT_FILTER_SHUFFLE ? (uint32_t)zt_hdf5_take(&in, 4) : 0;
    zt_hdf5_skip(&in, 4*(values-(f->width || (values && f->id==ZT_FILTER_SHUFFLE))));
    if( version==1 && values%2 ) zt_hdf5_skip(&in, 4);
    if( in.cut ) return dataset_fail(r, "HD13", "filters that are cut short");
  }
  c->filters = n;
  return SQLITE_OK;
}

/* --- Fill values --- */

enum { DATASET_FILL_UNDEFINED = 0x10, DATASET_FILL_DEFINED = 0x20, DATASET_FILL_NEVER = 1 };

/* Before version 3, a fill value is undefined or stated; since then it may be the default, 0. */
static int dataset_read_fill(dataset_reader *r, const zt_hdf5_message *m){
  bool defined = true, undefined = false;
  unsigned when = 0;
  zt_span bytes;
  zt_hdf5_in in;
  if( zt_hdf5_message_data(r->h, r->header, m, &r->fill_room, &bytes) ) return r->h->err->rc;
  in = zt_hdf5_in_of(r->h, bytes);
  if( m->type==ZT_HDF5_FILL ){
    const unsigned version = (unsigned)zt_hdf5_take(&in, 1);
    if( version<1 || version>3 ) return dataset_fail(r, "HD12", "a fill value of unknown version");
    if( version==3 ){
      const unsigned flags = (unsigned)zt_hdf5_take(&in, 1);
      when = flags>>2 & 3;
      undefined = (flags & DATASET_FILL_UNDEFINED)!=0;
      defined = (flags & DATASET_FILL_DEFINED)!=0;
    }else{
      zt_hdf5_skip(&in, 1);
      when = (unsigned)zt_hdf5_take(&in, 1);
      defined = zt_hdf5_take(&in, 1)!=0;
      undefined = !defined;
      if( version==1 && !defined ) zt_hdf5_skip(&in, 4);
    }
  }
  r->unfilled = undefined && when!=DATASET_FILL_NEVER;
  r->fill.n = 0;
  if( defined ) r->fill = zt_hdf5_take_span(&in, zt_hdf5_take(&in, 4));
  if( in.cut ) return dataset_fail(r, "HD12", "a fill value that is cut short");
  return SQLITE_OK;
}

static int dataset_read_messages(dataset_reader *r){
  const zt_hdf5_header *header = r->header;
  const zt_hdf5_message *m;
  if( (m = zt_hdf5_find(header, ZT_HDF5_TYPE))!=NULL && dataset_read_type(r, m) ){
    return r->h->err->rc;
  }
  if( (m = zt_hdf5_find(header, ZT_HDF5_SPACE))!=NULL && dataset_read_space(r, m) ){
    return r->h->err->rc;
  }
  r->external = zt_hdf5_find(header, ZT_HDF5_EXTERNAL)!=NULL;
  if( (m = zt_hdf5_find(header, ZT_HDF5_LAYOUT))==NULL ){
    return dataset_fail(r, "HD12", "a dataset without a layout");
  }
  if( dataset_read_layout(r, m) ) return r->h->err->rc;
  if( (m = zt_hdf5_find(header, ZT_HDF5_FILTERS))!=NULL && dataset_read_filters(r, m) ){
    return r->h->err->rc;
  }
  m = zt_hdf5_find(header, ZT_HDF5_FILL);
  if( !m ) m = zt_hdf5_find(header, ZT_HDF5_OLD_FILL);
  r->unfilled = !m;
  return m ? dataset_read_fill(r, m) : SQLITE_OK;
}

/* --- Places of the bytes --- */

/* Set the bytes of all elements. */
static void dataset_set_decoded(dataset_reader *r){
  zt_hdf5_dataset *record = &r->record;
  bool fits = true, empty = false;
  record->decoded = r->type.size;
  for(uint32_t d=0; d<r->space.rank; d++){
    empty = empty || r->space.shape[d]==0;
    fits = fits && zt_mul64(record->decoded, r->space.shape[d], &record->decoded);
  }
  if( empty ) record->decoded = 0;
  record->has_decoded = fits || empty;
}

/* Bytes in one piece: the data are there, or all is fill value. */
static int dataset_place_plain(dataset_reader *r){
  const zt_hdf5 *h = r->h;
  dataset_layout *l = &r->layout;
  zt_hdf5_dataset *record = &r->record;
  dataset_set_decoded(r);
  if( l->address==ZT_HDF5_NONE ){
    if( !record->has_decoded ) return dataset_fail(r, "HD12", "data of more than 2^64 bytes");
    record->codec = ZT_CODEC_CHUNKED;
    record->scattered = true;
    return SQLITE_OK;
  }
  record->codec = ZT_CODEC_RAW;
  record->scattered = l->class==DATASET_COMPACT;
  if( l->size==UINT64_MAX ) l->size = record->has_decoded ? record->decoded : UINT64_MAX;
  if( !zt_claim(h->size, l->address, l->size) ){
    return zt_break(h->err, "HD12", "its %llu bytes at address %llu go beyond the end of the file",
                    (unsigned long long)l->size, (unsigned long long)l->address);
  }
  record->offset = h->base+l->address;
  record->length = l->size;
  return SQLITE_OK;
}

/* Data in other files, which are never opened. */
static int dataset_place_outside(dataset_reader *r){
  zt_hdf5_dataset *record = &r->record;
  record->scattered = true;
  if( r->layout.class==DATASET_VIRTUAL ){
    dataset_set_decoded(r);
    record->codec = ZT_CODEC_UNDECODED;
    record->meaning.no_values = "its values are those of other datasets, mapped by a virtual one";
  }else{
    record->codec = ZT_CODEC_UNKNOWN;
    record->length = r->layout.size;
    record->unsized = r->layout.size==UINT64_MAX;
    record->meaning.no_values = "its values are in other files, which are never opened";
  }
  return SQLITE_OK;
}

/* Set the grid of chunks. A scalar is a chunk of one element. */
static int dataset_set_grid(dataset_reader *r){
  dataset_layout *l = &r->layout;
  zt_chunks *c = &r->chunks;
  c->width = r->type.size;
  c->bytes = c->width;
  c->rank = r->space.rank;
  if( l->rank!=r->space.rank || l->rank==0 ){
    return dataset_fail(r, "HD12", "chunks of another rank than the dataset");
  }
  if( l->chunk[l->rank]!=c->width ){
    return dataset_fail(r, "HD12", "chunks with elements of another size than the type's");
  }
  for(uint32_t d=0; d<l->rank; d++){
    c->shape[d] = r->space.shape[d];
    c->chunk[d] = l->chunk[d];
    if( c->chunk[d]==0 ) return dataset_fail(r, "HD12", "chunks without elements");
    if( !zt_mul64(c->bytes, c->chunk[d], &c->bytes) || c->bytes>ZT_CHUNK_MAX ){
      return dataset_fail(r, "HD12", "chunks of more than 1 GiB");
    }
  }
  zt_chunks_count(c);   /* No more than bytes */
  return SQLITE_OK;
}

/* The reason why chunks cannot be decoded, or NULL: a filter that is applied to one of them. */
static const char *dataset_undecoded(const dataset_reader *r){
  uint32_t applied = 0;
  for(size_t i=0; i<r->places.n; i++) applied |= ~r->places.a[i].skipped;
  for(uint32_t i=0; i<r->chunks.filters; i++){
    const zt_chunk_filter *f = &r->chunks.filter[i];
    if( f->id!=ZT_FILTER_UNKNOWN || !(applied>>i & 1) ) continue;
    switch( f->number ){
      case DATASET_SZIP: return "its chunks are compressed by szip, which is not decoded";
      case DATASET_NBIT: return "its chunks are packed by n-bit, which is not decoded";
      case DATASET_SCALEOFFSET:
        return "its chunks are packed by scale-offset, which is not decoded";
      case DATASET_LZF: return "its chunks are compressed by lzf, which is not decoded";
      default: return "its chunks are written by a filter that is not known";
    }
  }
  return NULL;
}

static int dataset_place_chunks(dataset_reader *r){
  zt_hdf5 *h = r->h;
  zt_hdf5_dataset *record = &r->record;
  const char *reason;
  record->scattered = true;
  dataset_set_decoded(r);
  if( !record->has_decoded ) return dataset_fail(r, "HD12", "data of more than 2^64 bytes");
  if( dataset_set_grid(r) ) return h->err->rc;
  r->layout.index.filtered = r->chunks.filters>0;
  if( zt_hdf5_chunks(h, &r->layout.index, &r->chunks, &r->space, &r->places) ) return h->err->rc;
  record->length = r->places.bytes;
  record->codec = ZT_CODEC_CHUNKED;
  reason = dataset_undecoded(r);
  if( !reason ) return SQLITE_OK;
  if( !record->meaning.no_values ) record->meaning.no_values = reason;
  record->codec = ZT_CODEC_UNDECODED;
  for(uint32_t i=0; i<r->chunks.filters; i++){
    const uint32_t n = r->chunks.filter[i].number;
    if( n>DATASET_SCALEOFFSET && n!=DATASET_LZF ) record->has_decoded = false;
  }
  return SQLITE_OK;
}

/* Nothing was written, and nothing says what a reader shall see in its place: libhdf5 reads none of
** it, either, unless the file asks never to fill. */
static void dataset_set_unfilled(dataset_reader *r){
  zt_hdf5_dataset *record = &r->record;
  const dataset_layout *l = &r->layout;
  const uint64_t address = l->class==DATASET_CHUNKED ? l->index.address : l->address;
  if( !r->unfilled || address!=ZT_HDF5_NONE || record->decoded==0 ) return;
  record->codec = ZT_CODEC_UNDECODED;
  if( record->meaning.no_values ) return;
  record->meaning.no_values = "nothing was written, and its fill value is undefined";
}

static int dataset_place(dataset_reader *r){
  int rc;
  if( !r->has_type || !r->has_space ) return dataset_fail(r, "HD12", "a dataset without a type");
  if( r->space.null ) return SQLITE_OK;
  if( r->external || r->layout.class==DATASET_VIRTUAL ) return dataset_place_outside(r);
  rc = r->layout.class==DATASET_CHUNKED ? dataset_place_chunks(r) : dataset_place_plain(r);
  if( rc==SQLITE_OK ) dataset_set_unfilled(r);
  return rc;
}

/* --- The record --- */

/* The chunks of data that are all fill value: one, which is absent. */
static void dataset_set_absent(dataset_reader *r){
  zt_chunks *c = &r->chunks;
  assert( r->type.size>0 );   /* HD11 */
  *c = (zt_chunks){ .rank = 1, .width = r->type.size, .bytes = r->type.size };
  c->shape[0] = r->record.decoded/r->type.size;
  c->chunk[0] = c->across[0] = 1;
}

static int dataset_keep_chunks(dataset_reader *r){
  zt_hdf5 *h = r->h;
  zt_chunks *c = &r->chunks;
  if( r->record.codec!=ZT_CODEC_CHUNKED ) return SQLITE_OK;
  if( r->layout.class!=DATASET_CHUNKED ) dataset_set_absent(r);
  c->fill = r->fill.n==c->width ? c->width : 0;
  if( r->fill.n>0 && c->fill==0 && !r->record.meaning.no_values ){
    return dataset_fail(r, "HD12", "a fill value of another size than the elements");
  }
  if( r->places.n>UINT32_MAX/2/sizeof(zt_chunk) ) return dataset_fail(r, "HD16", "too many chunks");
  return zt_chunks_keep(h->b, c, r->fill.p, r->places.a, (uint32_t)r->places.n,
                        &r->record.chunks, &r->record.chunks_length);
}

/* "hdf5.chunked+shuffle+deflate" */
static int dataset_keep_encoding(dataset_reader *r){
  char room[12];
  sqlite3_str *text = sqlite3_str_new(NULL);
  const int class = r->layout.class;
  char *z;
  if( r->external ) sqlite3_str_appendall(text, "hdf5.external");
  else if( class==DATASET_COMPACT ) sqlite3_str_appendall(text, "hdf5.compact");
  else if( class==DATASET_VIRTUAL ) sqlite3_str_appendall(text, "hdf5.virtual");
  else if( class==DATASET_CHUNKED ) sqlite3_str_appendall(text, "hdf5.chunked");
  else if( r->layout.address==ZT_HDF5_NONE ) sqlite3_str_appendall(text, "hdf5.contiguous");
  else sqlite3_str_appendall(text, "raw");
  for(uint32_t i=0; i<r->chunks.filters && class==DATASET_CHUNKED; i++){
    sqlite3_str_appendf(text, "+%s", dataset_filter_name(r->chunks.filter[i].number, room));
  }
  z = sqlite3_str_finish(text);
  if( !z ) return zt_fail_nomem(r->h->err);
  r->record.encoding_length = (uint32_t)strlen(z);
  zt_builder_keep(r->h->b, z, r->record.encoding_length, &r->record.encoding);
  sqlite3_free(z);
  return r->h->err->rc;
}

static void dataset_put_key(zt_cbor_out *o, const char *key){
  zt_cbor_put_text(o, (zt_text){ key, strlen(key) });
}

static void dataset_put_most(const dataset_reader *r, zt_cbor_out *o){
  const zt_hdf5_space *s = &r->space;
  dataset_put_key(o, "hdf5.maxshape");
  zt_cbor_put_head(o, ZT_CBOR_ARRAY, s->rank);
  for(uint32_t d=0; d<s->rank; d++){
    if( s->most[d]==UINT64_MAX ) zt_cbor_put_null(o);
    else zt_cbor_put_uint(o, s->most[d]);
  }
}

/* The facts of a dataset, behind its own attributes. Returns how many. */
static uint32_t dataset_put_facts(const dataset_reader *r, zt_cbor_out *o){
  static const char *const layouts[] = { "compact", "contiguous", "chunked", "virtual" };
  const dataset_layout *l = &r->layout;
  const bool chunked = l->class==DATASET_CHUNKED;
  uint32_t n = 0;
  char room[12];
  if( l->class>=0 && l->class<=DATASET_VIRTUAL ){
    dataset_put_key(o, "hdf5.layout");
    dataset_put_key(o, layouts[l->class]);
    n++;
  }
  if( r->chunks.filters>0 && chunked ){
    dataset_put_key(o, "hdf5.filters");
    zt_cbor_put_head(o, ZT_CBOR_ARRAY, r->chunks.filters);
    for(uint32_t i=0; i<r->chunks.filters; i++){
      dataset_put_key(o, dataset_filter_name(r->chunks.filter[i].number, room));
    }
    n++;
  }
  if( chunked && l->rank>0 ){
    dataset_put_key(o, "hdf5.chunks");
    zt_cbor_put_head(o, ZT_CBOR_ARRAY, l->rank);
    for(uint32_t d=0; d<l->rank; d++) zt_cbor_put_uint(o, l->chunk[d]);
    n++;
  }
  if( r->has_space && memcmp(r->space.shape, r->space.most, r->space.rank*sizeof(uint64_t))!=0 ){
    dataset_put_most(r, o);
    n++;
  }
  return n;
}

/* The members of an enum, but those of a boolean, as a map of their values. Returns whether there
** are any. */
static uint32_t dataset_put_enum(dataset_reader *r, zt_cbor_out *o){
  if( !r->has_type || r->type.class!=ZT_HDF5_ENUM || r->type.boolean ) return 0;
  dataset_put_key(o, "hdf5.enum");
  zt_hdf5_enum_put(r->h, &r->type, o);
  return 1;
}

/* Append the map of attributes to the manifest. */
static int dataset_put_attributes(dataset_reader *r){
  zt_hdf5 *h = r->h;
  zt_cbor_out pairs = { .err = h->err };
  uint32_t n = 0;
  dataset_put_key(&h->manifest, "attributes");
  r->record.attributes = (uint32_t)h->manifest.n;
  if( zt_hdf5_attributes(h, r->header, (zt_text){ "", 0 }, h->nDataset, &pairs, &n)==SQLITE_OK ){
    n += dataset_put_facts(r, &pairs);
    n += dataset_put_enum(r, &pairs);
    zt_cbor_put_head(&h->manifest, ZT_CBOR_MAP, n);
    zt_cbor_put_items(&h->manifest, (zt_span){ pairs.p, pairs.n });
  }
  zt_cbor_out_clear(&pairs);
  return h->err->rc;
}

/* Read and place; a failure of the file's becomes the dataset's fault. */
static int dataset_read(dataset_reader *r){
  zt_hdf5 *h = r->h;
  zt_error failed = { .path = h->err->path }, *err = h->err;
  h->err = &failed;
  r->layout.class = -1;
  if( dataset_read_messages(r)==SQLITE_OK && dataset_place(r)==SQLITE_OK ) dataset_keep_chunks(r);
  h->err = err;
  if( !failed.rc ) failed.rc = h->b->err->rc;
  if( !failed.rc ) return SQLITE_OK;
  if( !zt_error_is_of_file(&failed) ){
    if( !err->rc ) *err = failed;
    else zt_error_clear(&failed);
    return err->rc;
  }
  r->record.rule = failed.rule;
  r->record.codec = ZT_CODEC_UNKNOWN;
  r->record.scattered = r->record.unsized = true;
  r->record.has_decoded = false;
  zt_builder_keep(h->b, failed.parts.fault, strlen(failed.parts.fault)+1, &r->record.fault);
  zt_error_clear(&failed);
  return err->rc;
}

/* Append its entry in the manifest, and its record. */
static int dataset_add(dataset_reader *r, zt_text name){
  zt_hdf5 *h = r->h;
  zt_hdf5_dataset *record = &r->record;
  const zt_hdf5_meaning *m = &record->meaning;
  zt_cbor_out *out = &h->manifest;
  record->rank = r->space.rank;
  record->null = r->space.null && !record->rule;   /* A fault is that of its component */
  record->unshaped = !r->has_space;
  zt_cbor_put_text(out, name);
  record->name = (uint32_t)(out->n-name.n);
  record->name_length = (uint32_t)name.n;
  zt_cbor_put_head(out, ZT_CBOR_MAP, 3);
  dataset_put_key(out, "type");
  if( m->format ) dataset_put_key(out, m->no_values ? m->format : m->type ? m->type : m->dtype);
  else zt_cbor_put_null(out);
  dataset_put_key(out, "shape");
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, record->rank);
  for(uint32_t d=0; d<record->rank; d++) zt_cbor_put_uint(out, r->space.shape[d]);
  if( dataset_put_attributes(r)
   || zt_hdf5_put(h, record, sizeof(*record), &h->records)
   || zt_hdf5_put(h, r->space.shape, record->rank*sizeof(uint64_t), &h->records) ){
    return h->err->rc;
  }
  h->nDataset++;
  if( out->n<=h->most && h->b->container->kept.n<=h->most-out->n ) return SQLITE_OK;
  return zt_break(h->err, "HD16", "names and attributes take more memory than the file is worth");
}

/* Keep a record, and add its object and component. */
static int dataset_keep(zt_hdf5 *h, const zt_hdf5_dataset *record, const uint8_t *shape){
  zt_container *c = h->b->container;
  uint32_t place, unused;
  bool duplicate;
  zt_text name;
  if( zt_builder_keep(h->b, record, sizeof(*record), &place)
   || zt_builder_keep(h->b, shape, record->rank*sizeof(uint64_t), &unused) ) return h->err->rc;
  name = (zt_text){ (const char*)c->kept.p+record->name, record->name_length };
  if( zt_builder_object(h->b, name, place, &duplicate) ) return h->err->rc;
  if( !duplicate ) return record->null ? SQLITE_OK : zt_builder_component(h->b, place);
  h->err->object = name;
  return zt_break(h->err, "HD8", "two datasets have this name");
}

int zt_hdf5_datasets_keep(zt_hdf5 *h, uint32_t base){
  zt_hdf5_dataset record;
  zt_builder_reserve(h->b, h->nDataset, h->nDataset);
  for(size_t at=0; at<h->records.n; at+=sizeof(record)+record.rank*sizeof(uint64_t)){
    memcpy(&record, h->records.p+at, sizeof(record));
    record.name += base;
    record.attributes += base;
    if( dataset_keep(h, &record, h->records.p+at+sizeof(record)) ) break;
  }
  return h->err->rc;
}

int zt_hdf5_dataset_add(zt_hdf5 *h, const zt_hdf5_header *header, zt_text name){
  dataset_reader r = { .h = h, .header = header };
  memset(&r.record, 0, sizeof(r.record));   /* Also between its fields: it is kept */
  if( dataset_read(&r)==SQLITE_OK && dataset_keep_encoding(&r)==SQLITE_OK ) dataset_add(&r, name);
  zt_hdf5_room_clear(&r.type_room);
  zt_hdf5_room_clear(&r.fill_room);
  zt_hdf5_room_clear(&r.room);
  sqlite3_free(r.places.a);
  return h->err->rc;
}
