/*
** HDF5 (HDF5 File Format Specification 3.0): Keras' weights, h5py, PyTables, MATLAB 7.3. All
** numbers are little-endian. Addresses count from the superblock. An address of all ones leads
** nowhere.
**
**   file       := other* superblock ...      the superblock is at 0, 512, 1024, 2048 ...
**   superblock := 89 "HDF" 0D 0A 1A 0A, version u8, fields of that version, end of the file, root
**   object     := header: messages in blocks, which continuations lead to
**   group      := an object with links: a symbol table (a B-tree of version 1, whose leaves are
**                 nodes of symbols, and a local heap of names), link messages, or link info (a
**                 B-tree of version 2, whose records are IDs in a fractal heap)
**   dataset    := an object with a datatype, a dataspace and a layout; filters, a fill value
**   datatype   := class and version u8, bits u24, size u32, properties; or where it is committed
**   layout     := compact (in the message) | contiguous | chunks by one of six kinds of index
**                 | virtual
**   attribute  := name, datatype, dataspace, data: a message, or an object in a fractal heap
**
** The numbers of rules:
**
**   HD1   the superblock is of version 0 to 3, addresses and lengths have 2, 4 or 8 bytes, its
**         other fields have values that it may have, and the file does not end before the end that
**         it states, behind which no address leads (HD3)
**   HD2   checksums of metadata are right
**   HD3   addresses lead to bytes of the file
**   HD4   object headers, their messages and attributes are whole and of known versions
**   HD5   the nodes of groups, their names and links are whole and of known versions
**   HD6   fractal heaps and B-trees of version 2 are sound
**   HD7   no two ways lead to one node or block of metadata: no tree is a circle
**   HD8   names of links are UTF-8, without U+0000 and slash, and distinct
**   HD9   objects in global heaps are where elements of variable length state them
**   HD10  dataspaces are of known versions, and have at most 32 dimensions
**   HD11  datatypes are sound, and at most 16 deep
**   HD12  a dataset's layout is of a known class, its bytes lie in the file, and chunks have its
**         rank, and at most 1 GiB
**   HD13  filters are of known versions, and at most 32
**   HD14  each chunk has one place, in the file
**   HD15  groups are at most 1024 deep
**   HD16  metadata do not take more memory and work than the file is worth
**   HD17  a message that is somewhere else is there (hdf5_shared.c)
**   HD18  metadata are at their places in this file: not in the image of a cache, which libhdf5
**         reads in their stead, and not in another file
**   HD19  whoever wrote the file has closed it: a warning
**   HD20  fractal heaps have no filter but deflate, and in all at most 64 MiB if they are packed
**   HD21  no byte follows behind the end that the superblock states: a warning
**
** HD9 to HD14, and HD17, hold for one dataset, which is listed with its fault; or for an attribute,
** which is then shown as unreadable and noted, as is one of unknown form (HD4). Any other fault
** could hide objects, so the file is refused.
**
** Soft links and external links are not followed, and no file that a dataset names is opened.
*/
#include "container/hdf5.h"

#include "container/dtype.h"
#include "container/manifest.h"
#include "core/grow.h"

#define HDF5_SIGNATURE "\x89HDF\r\n\x1a\n"
#define HDF5_FIRST_USER ((uint64_t)512)   /* The least position of the superblock but 0 */
#define HDF5_DEPTH 1024
#define HDF5_CHUNKS 32                    /* Half the entries of a node in a B-tree of chunks */
#define HDF5_SYMBOL_KINDS 2               /* The root's entry is a symbol of one of these kinds */
#define HDF5_FLAGS 7u                     /* All flags of a superblock: who writes the file */
#define HDF5_WRITTEN 1u                   /* Somebody writes it */
#define HDF5_SWMR 4u                      /* Others may read it meanwhile */
enum { HDF5_DRIVER = 20, HDF5_CACHE_IMAGE = 24 };   /* Messages of the superblock's extension */
#define HDF5_SPARE ((uint64_t)1 << 20)    /* Kept bytes beyond HDF5_TIMES the file's */
#define HDF5_TIMES 32
#define HDF5_WORK ((uint64_t)64 << 20)    /* Bytes of metadata read beyond HDF5_TIMES the file's */
#define HDF5_SPEC(section) "HDF5 File Format Specification 3.0, " section

static const zt_rule hdf5_rules[] = {
  ZT_ERROR("HD1", "hdf5-superblock",
           "the superblock is of a known version, and the file does not end before its stated end"
           " (HDF5)", HDF5_SPEC("II.A")),
  ZT_ERROR("HD2", "hdf5-checksum", "checksums of metadata are right (HDF5)", HDF5_SPEC("III, IV")),
  ZT_ERROR("HD3", "hdf5-address", "addresses lead to bytes of the file (HDF5)", HDF5_SPEC("I")),
  ZT_ERROR("HD4", "hdf5-header",
           "object headers, their messages and attributes are whole and of known versions (HDF5)",
           HDF5_SPEC("IV.A")),
  ZT_ERROR("HD5", "hdf5-group",
           "the nodes, names and links of groups are whole and of known versions (HDF5)",
           HDF5_SPEC("III.A to III.D, IV.A.2.g")),
  ZT_ERROR("HD6", "hdf5-heap", "fractal heaps and B-trees of version 2 are sound (HDF5)",
           HDF5_SPEC("III.A.2, III.G")),
  ZT_ERROR("HD7", "hdf5-loop", "no two ways lead to one node or block of metadata (HDF5)",
           HDF5_SPEC("III.A")),
  ZT_ERROR("HD8", "hdf5-name",
           "names of links are UTF-8 without U+0000 and slash, and distinct (HDF5)",
           HDF5_SPEC("IV.A.2.g")),
  ZT_ERROR("HD9", "hdf5-global-heap",
           "objects in global heaps are where attributes' elements state them (HDF5)",
           HDF5_SPEC("III.E")),
  ZT_ERROR("HD10", "hdf5-dataspace",
           "a dataspace is of a known version, and has at most 32 dimensions (HDF5)",
           HDF5_SPEC("IV.A.2.b")),
  ZT_ERROR("HD11", "hdf5-datatype", "a datatype is sound, and at most 16 deep (HDF5)",
           HDF5_SPEC("IV.A.2.d")),
  ZT_ERROR("HD12", "hdf5-layout",
           "a dataset's layout is of a known class, its bytes lie in the file, and chunks have its"
           " rank and at most 1 GiB (HDF5)", HDF5_SPEC("IV.A.2.i")),
  ZT_ERROR("HD13", "hdf5-filters", "filters are of known versions, and at most 32 (HDF5)",
           HDF5_SPEC("IV.A.2.l")),
  ZT_ERROR("HD14", "hdf5-chunks", "each chunk has one place, in the file (HDF5)",
           HDF5_SPEC("III.A.1, VII")),
  ZT_ERROR("HD15", "hdf5-depth", "groups are at most 1024 deep (HDF5)", ZT_SPEC_OURS),
  ZT_ERROR("HD16", "hdf5-size",
           "metadata take at most 1 MiB plus 32 times the file's size, and lead to no bytes again"
           " and again (HDF5)", ZT_SPEC_OURS),
  ZT_ERROR("HD17", "hdf5-shared", "a message that is somewhere else is there (HDF5)",
           HDF5_SPEC("IV.A.2.p")),
  ZT_UNSUPPORTED("HD18", "hdf5-elsewhere",
                 "metadata are at their places in the file: not in a cache's image, nor in another"
                 " file (HDF5)", HDF5_SPEC("II.B")),
  ZT_WARNING("HD19", "hdf5-open", "the file was closed by its writer (HDF5)", HDF5_SPEC("II.A")),
  ZT_UNSUPPORTED("HD20", "hdf5-heap-filters",
                 "fractal heaps, in which groups have links, have no filter but deflate, and at"
                 " most 64 MiB if they are packed (HDF5)",
                 HDF5_SPEC("III.G")),
  ZT_WARNING("HD21", "hdf5-behind", "the file ends where its superblock says (HDF5)",
             HDF5_SPEC("II.A")),
  ZT_RULES_END
};

/* --- The superblock --- */

/* Find the signature. *at is UINT64_MAX if there is none. */
static int hdf5_locate(zt_source *source, uint64_t *at, zt_error *err){
  const uint64_t size = zt_source_size(source);
  uint8_t bytes[8];
  for(uint64_t p=0; zt_claim(size, p, sizeof(bytes)); p=p ? 2*p : HDF5_FIRST_USER){
    if( zt_source_read(source, p, bytes, sizeof(bytes), err) ) return err->rc;
    *at = p;
    if( memcmp(bytes, HDF5_SIGNATURE, sizeof(bytes))==0 ) return SQLITE_OK;
    if( p>UINT64_MAX/2 ) break;
  }
  *at = UINT64_MAX;
  return SQLITE_OK;
}

typedef struct hdf5_super {
  uint64_t base, end, driver;
  bool open;                         /* Its writer has not closed it */
  bool growing;                      /* Read while it is written: its end is that of the file */
} hdf5_super;

/* Set the sizes of addresses and lengths. */
static int hdf5_set_sizes(zt_hdf5 *h, unsigned offset, unsigned length){
  const unsigned both[2] = { offset, length };
  for(int i=0; i<2; i++){
    if( both[i]!=2 && both[i]!=4 && both[i]!=8 ){
      return zt_break(h->err, "HD1", "addresses or lengths of %llu bytes",
                      (unsigned long long)both[i]);
    }
  }
  h->offset_size = offset;
  h->length_size = length;
  return SQLITE_OK;
}

/* Versions 0 and 1 lead to the root by the entry of a symbol. Their fields have no checksum: what
** has one possible value is checked. */
static bool hdf5_read_old(zt_hdf5 *h, zt_hdf5_in *in, hdf5_super *out){
  const unsigned symbols = (unsigned)zt_hdf5_take(in, 2), children = (unsigned)zt_hdf5_take(in, 2);
  const uint64_t flags = zt_hdf5_take(in, 4);
  const unsigned chunks = h->version==0 ? HDF5_CHUNKS : (unsigned)zt_hdf5_take(in, 2);
  uint64_t free;
  if( h->version==1 ) zt_hdf5_skip(in, 2);
  h->symbols = 2*symbols;
  h->children = 2*children;
  h->chunks = 2*chunks;
  out->base = zt_hdf5_take_address(in);
  free = zt_hdf5_take_address(in);
  out->end = zt_hdf5_take_address(in);
  out->driver = zt_hdf5_take_address(in);
  zt_hdf5_skip(in, h->length_size);   /* The root's name */
  h->root = zt_hdf5_take_address(in);
  return zt_hdf5_take(in, 4)<=HDF5_SYMBOL_KINDS && symbols && children && chunks
      && flags<=HDF5_FLAGS && free==ZT_HDF5_NONE
      && (out->driver==ZT_HDF5_NONE || (out->driver>0 && out->driver<h->size));
}

static bool hdf5_read_new(zt_hdf5 *h, zt_hdf5_in *in, hdf5_super *out){
  const uint64_t flags = zt_hdf5_take(in, 1);
  out->base = zt_hdf5_take_address(in);
  h->extension = zt_hdf5_take_address(in);
  out->end = zt_hdf5_take_address(in);
  h->root = zt_hdf5_take_address(in);
  out->open = h->version==3 && (flags & (HDF5_WRITTEN|HDF5_SWMR));
  out->growing = (flags & HDF5_SWMR)!=0;
  return flags<=HDF5_FLAGS;
}

/* Addresses lead to bytes before the stated end, which counts from the same place as the stated
** base. HD21 */
static int hdf5_set_end(zt_hdf5 *h, const hdf5_super *s){
  uint64_t behind;
  if( s->end==ZT_HDF5_NONE ) return SQLITE_OK;
  if( s->end<s->base ) return zt_break(h->err, "HD1", "it ends before it begins");
  if( s->end-s->base>h->size ){
    return zt_break(h->err, "HD1", "it ends after %llu of %llu bytes: it is cut short",
                    (unsigned long long)h->size, (unsigned long long)(s->end-s->base));
  }
  if( s->growing ) return SQLITE_OK;
  behind = h->size-(s->end-s->base);
  h->size = s->end-s->base;
  h->b->container->own_end = h->base+h->size;
  return behind==0 ? SQLITE_OK
       : zt_builder_note_file(h->b, "HD21", "%llu bytes follow behind its end", behind);
}

/* HD18. Drivers that spread a file over several write their names into the first. A family of one
** file is read. */
static int hdf5_check_driver(zt_hdf5 *h, const hdf5_super *s, const uint8_t name[8]){
  const bool multi = memcmp(name, "NCSAmult", 8)==0;
  const bool family = memcmp(name, "NCSAfami", 8)==0 && s->end>s->base && s->end-s->base>h->size;
  if( !multi && !family ) return SQLITE_OK;
  return zt_break(h->err, "HD18", "it is one of several files, which the %s driver has written",
                  multi ? "multi" : "family");
}

/* HD18. The superblock says of old files, and its extension of others, who wrote them. */
static int hdf5_check_writer(zt_hdf5 *h, const hdf5_super *s, zt_hdf5_header *room){
  uint8_t old[16];   /* Version, size, and the name */
  const zt_hdf5_message *m;
  zt_span driver;
  if( s->driver!=ZT_HDF5_NONE && zt_claim(h->size, s->driver, sizeof(old))
   && (zt_hdf5_copy(h, s->driver, old, sizeof(old)) || hdf5_check_driver(h, s, old+8)) ){
    return h->err->rc;
  }
  if( h->extension==ZT_HDF5_NONE ) return SQLITE_OK;
  if( zt_hdf5_header_read(h, h->extension, room) ) return h->err->rc;
  if( zt_hdf5_find(room, HDF5_CACHE_IMAGE) ){
    return zt_break(h->err, "HD18", "its metadata are in the image of a cache, which is not read");
  }
  m = zt_hdf5_find(room, HDF5_DRIVER);
  if( !m ) return SQLITE_OK;
  driver = zt_hdf5_data(room, m);   /* Version, and the name */
  return driver.n<9 ? SQLITE_OK : hdf5_check_driver(h, s, driver.p+1);
}

static int hdf5_read_superblock(zt_hdf5 *h, hdf5_super *out){
  uint8_t bytes[96] = { 0 };
  const size_t n = h->size<sizeof(bytes) ? (size_t)h->size : sizeof(bytes);
  zt_hdf5_in in;
  bool old, known;
  if( zt_hdf5_copy(h, 0, bytes, n) ) return h->err->rc;
  h->version = bytes[8];
  old = h->version<2;
  if( n<16 || h->version>3 ){
    return zt_break(h->err, "HD1", "a superblock of version %llu",
                    (unsigned long long)h->version);
  }
  if( hdf5_set_sizes(h, bytes[old ? 13 : 9], bytes[old ? 14 : 10]) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ bytes, n });
  zt_hdf5_skip(&in, old ? 16 : 11);   /* Versions of parts, sizes */
  known = old ? !bytes[9] && !bytes[10] && !bytes[12] && hdf5_read_old(h, &in, out)
        : hdf5_read_new(h, &in, out);
  if( !old ) zt_hdf5_skip(&in, 4);
  if( in.cut ) return zt_break(h->err, "HD1", "a superblock that is cut short");
  if( !known ) return zt_break(h->err, "HD1", "a superblock of unknown form");
  if( !old && zt_hdf5_check_sum(h, bytes, (size_t)(in.p-bytes), 0) ) return h->err->rc;
  return SQLITE_OK;
}

/* --- Groups --- */

/* A group whose links are being visited. */
typedef struct hdf5_frame {
  size_t first, next, end;           /* Its links */
  size_t names;                      /* Bytes of names before its own */
  size_t path;                       /* Bytes of its own path, with a slash behind it */
} hdf5_frame;

typedef struct hdf5_walk {
  zt_hdf5 *h;
  hdf5_frame *stack;                 /* Owned */
  size_t depth, room;
  zt_hdf5_block path;                /* Of the link that is visited */
  zt_hdf5_header header;
  zt_cbor_out attributes;            /* Of all groups */
  uint32_t n;                        /* Number of these */
} hdf5_walk;

/* A group's own attributes: the root's under their names, others' as path/@name. */
static int hdf5_add_attributes(hdf5_walk *w){
  zt_hdf5 *h = w->h;
  const size_t n = w->path.n;
  uint32_t more = 0;
  if( n>0 && zt_hdf5_put(h, "/@", 2, &w->path) ) return h->err->rc;
  zt_hdf5_attributes(h, &w->header, (zt_text){ (const char*)w->path.p, w->path.n },
                     ZT_NOTE_OF_FILE, &w->attributes, &more);
  w->path.n = n;
  w->n += more;
  if( !h->err->rc && w->attributes.n>h->most ){
    zt_break(h->err, "HD16", "the groups' attributes take more memory than the file is worth");
  }
  return h->err->rc;
}

/* Enter the group whose header was read, at the path. */
static int hdf5_enter_group(hdf5_walk *w){
  zt_hdf5 *h = w->h;
  hdf5_frame frame = { .first = h->nLink, .next = h->nLink, .names = h->names.n };
  hdf5_frame *stack;
  if( w->depth==HDF5_DEPTH ) return zt_break(h->err, "HD15", "groups more than 1024 deep");
  if( hdf5_add_attributes(w) || zt_hdf5_links(h, &w->header) ) return h->err->rc;
  frame.end = h->nLink;
  if( w->path.n>0 && zt_hdf5_put(h, "/", 1, &w->path) ) return h->err->rc;
  frame.path = w->path.n;
  stack = zt_grow(w->stack, &w->room, w->depth+1, sizeof(*stack), h->err);
  if( !stack ) return h->err->rc;
  w->stack = stack;
  w->stack[w->depth++] = frame;
  return SQLITE_OK;
}

static bool hdf5_is_dataset(const zt_hdf5_header *header){
  return zt_hdf5_find(header, ZT_HDF5_LAYOUT)
      || (zt_hdf5_find(header, ZT_HDF5_TYPE) && zt_hdf5_find(header, ZT_HDF5_SPACE));
}

/* Visit the object that a link leads to, unless an earlier link did. Committed types are none. */
static int hdf5_visit(hdf5_walk *w, zt_hdf5_link link, size_t path){
  zt_hdf5 *h = w->h;
  bool seen;
  if( zt_hdf5_add(h, &h->objects, link.address, &seen) || seen ) return h->err->rc;
  w->path.n = path;
  if( zt_hdf5_put(h, h->names.p+link.name, link.length, &w->path)
   || zt_hdf5_header_read(h, link.address, &w->header) ) return h->err->rc;
  if( hdf5_is_dataset(&w->header) ){
    return zt_hdf5_dataset_add(h, &w->header, (zt_text){ (const char*)w->path.p, w->path.n });
  }
  if( zt_hdf5_is_group(&w->header) ) return hdf5_enter_group(w);
  return zt_hdf5_find(&w->header, ZT_HDF5_TYPE) ? SQLITE_OK
       : zt_break(h->err, "HD4", "'%.*s' is neither a group nor a dataset nor a datatype",
                  zt_shown((zt_text){ (const char*)w->path.p, w->path.n }), w->path.p);
}

static int hdf5_walk_links(hdf5_walk *w){
  zt_hdf5 *h = w->h;
  while( w->depth>0 && !h->err->rc ){
    hdf5_frame *frame = &w->stack[w->depth-1];
    if( frame->next<frame->end ){
      const hdf5_frame at = *frame;
      frame->next++;
      if( zt_interrupt_check(h->b->interrupt, h->err) ) break;
      hdf5_visit(w, h->links[at.next], at.path);
    }else{
      h->nLink = frame->first;
      h->names.n = frame->names;
      w->depth--;
    }
  }
  return h->err->rc;
}

static int hdf5_walk_all(hdf5_walk *w){
  zt_hdf5 *h = w->h;
  bool seen;
  if( zt_hdf5_add(h, &h->objects, h->root, &seen)
   || zt_hdf5_header_read(h, h->root, &w->header) ) return h->err->rc;
  if( !zt_hdf5_is_group(&w->header) ) return zt_break(h->err, "HD5", "the root is no group");
  if( hdf5_enter_group(w) ) return h->err->rc;
  return hdf5_walk_links(w);
}

/* Keep the manifest: the attributes of all groups, and all datasets. */
static int hdf5_keep(hdf5_walk *w){
  zt_hdf5 *h = w->h;
  zt_builder *b = h->b;
  zt_cbor_out head = { .err = b->err };
  uint32_t at = 0, attributes, items;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, 2);
  zt_cbor_put_text(&head, ZT_TEXT("attributes"));
  attributes = (uint32_t)head.n;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, w->n);
  zt_cbor_put_items(&head, (zt_span){ w->attributes.p, w->attributes.n });
  zt_cbor_put_text(&head, ZT_TEXT("datasets"));
  zt_cbor_put_head(&head, ZT_CBOR_MAP, h->nDataset);
  if( !b->err->rc && zt_builder_keep(b, head.p, head.n, &at)==SQLITE_OK
   && zt_builder_keep(b, h->manifest.p, h->manifest.n, &items)==SQLITE_OK
   && zt_hdf5_datasets_keep(h, items)==SQLITE_OK ){
    zt_manifest_set_map(&b->container->manifest, at, 0);
    if( w->n>0 ) zt_manifest_set_map(&b->container->attributes, at+attributes, 0);
  }
  zt_cbor_out_clear(&head);
  return b->err->rc;
}

/* --- The driver --- */

/* True if the file begins like zip archives, safetensors, pickles or protobuf: no user's block
** does, and to look for a superblock in each such file would take longer than to list a small
** one. */
static bool hdf5_is_other(const zt_head_tail *input){
  const zt_span head = input->head;
  return zt_head_is(input, "PK\3\4", 4) || (head.n>8 && head.p[8]=='{')
      || (head.n>0 && (head.p[0]==0x80 || head.p[0]==0x08));
}

static zt_probe hdf5_probe(const zt_head_tail *input, zt_error *err){
  uint64_t at;
  if( zt_head_is(input, HDF5_SIGNATURE, 8) ) return ZT_PROBE_YES;
  if( hdf5_is_other(input) ) return ZT_PROBE_NO;
  if( hdf5_locate(input->source, &at, err) ) return ZT_PROBE_NO;
  return at==UINT64_MAX ? ZT_PROBE_NO : ZT_PROBE_YES;
}

static int hdf5_open(zt_builder *b, const zt_head_tail *input){
  static const char *const versions[] = { "0", "1", "2", "3" };
  zt_container *c = b->container;
  zt_hdf5 h = {
    .b = b, .err = b->err, .manifest = { .err = b->err }, .extension = ZT_HDF5_NONE
  };
  hdf5_walk w = { .h = &h, .attributes = { .err = b->err } };
  hdf5_super super = { .driver = ZT_HDF5_NONE };
  const uint32_t empty = 0;
  uint32_t at;
  if( hdf5_locate(input->source, &h.base, b->err) ) return b->err->rc;
  if( h.base==UINT64_MAX ) return zt_break(b->err, "HD1", "it has no superblock");
  h.size = input->size-h.base;
  h.most = input->size<UINT32_MAX/HDF5_TIMES ? HDF5_SPARE+HDF5_TIMES*input->size : UINT32_MAX;
  h.work = HDF5_WORK+(input->size<UINT64_MAX/2/HDF5_TIMES ? HDF5_TIMES*input->size : 0);
  c->gap = UINT64_MAX;   /* Metadata lie between the data */
  c->rules = ZT_RULE_ANY_ALIGNMENT;
  /* Position 0 means none */
  if( zt_builder_keep(b, &empty, sizeof(empty), &at)==SQLITE_OK
   && hdf5_read_superblock(&h, &super)==SQLITE_OK
   && hdf5_check_writer(&h, &super, &w.header)==SQLITE_OK && hdf5_set_end(&h, &super)==SQLITE_OK
   && hdf5_walk_all(&w)==SQLITE_OK ){
    if( hdf5_keep(&w)==SQLITE_OK && super.open ){
      zt_builder_note(b, ZT_NOTE_OF_FILE, "HD19", "its writer has not closed it: what was written"
                      " last may be missing");
    }
  }
  if( !b->err->rc ) c->version = (zt_text){ versions[h.version], 1 };
  zt_hdf5_clear(&h);
  sqlite3_free(w.stack);
  zt_hdf5_block_clear(&w.path);
  zt_hdf5_header_clear(&w.header);
  zt_cbor_out_clear(&w.attributes);
  return b->err->rc;
}

static zt_hdf5_dataset hdf5_dataset_at(const zt_container *c, uint32_t at){
  zt_hdf5_dataset d;
  memcpy(&d, c->kept.p+at, sizeof(d));
  return d;
}

static zt_text hdf5_text(const char *z){
  return (zt_text){ z, z ? strlen(z) : 0 };
}

static void hdf5_object(const zt_container *c, uint32_t i, zt_object *out){
  const uint32_t at = c->objects.a[i];
  const zt_hdf5_dataset d = hdf5_dataset_at(c, at);
  out->rank = d.rank;
  memcpy(out->shape, c->kept.p+at+sizeof(d), d.rank*sizeof(uint64_t));
  out->unshaped = d.unshaped;
  out->format = hdf5_text(d.meaning.format);
  out->layout = ZT_LAYOUT_DENSE;
  if( d.null ){
    out->format = ZT_TEXT("hdf5.null");
    out->no_values = "it has no elements, and no shape";
  }else if( d.meaning.no_values ){
    out->no_values = d.meaning.no_values;
  }
  if( !d.meaning.format ) out->format = ZT_TEXT("hdf5.unknown");
  if( out->no_values || !d.meaning.format ) out->layout = ZT_LAYOUT_UNKNOWN;
  if( !zt_object_count(out) ){   /* HD12 */
    out->unshaped = true;
    out->rank = 0;
    out->layout = ZT_LAYOUT_UNKNOWN;
  }
  zt_manifest_set_map(&out->attributes, d.attributes, 0);
}

static void hdf5_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                           zt_component *out){
  const zt_hdf5_dataset d = hdf5_dataset_at(c, c->components.a[k]);
  (void)i;
  (void)want;
  out->role = ZT_TEXT("data");
  out->dtype = hdf5_text(d.meaning.dtype);
  out->type = hdf5_text(d.meaning.type);
  if( d.meaning.dtype ) zt_dtype_decide(out);
  if( d.meaning.big ) out->byte_order = ZT_TEXT("big");
  out->encoding = (zt_text){ (const char*)c->kept.p+d.encoding, d.encoding_length };
  out->codec = d.codec;
  out->offset = d.offset;
  out->length = d.length;
  out->scattered = d.scattered;
  out->unsized = d.unsized;
  out->has_decoded_length = d.has_decoded;
  out->decoded_length = d.decoded;
  out->chunks = (zt_span){ c->kept.p+d.chunks, d.chunks_length };
  if( !d.rule ) return;
  out->fault_rule = d.rule;
  out->fault = (const char*)c->kept.p+d.fault;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         superblocks 0 to 3, groups and indexes of chunks of all kinds; deflate, shuffle,
**                fletcher32; Keras, PyTables, MATLAB 7.3
**   known by     its signature, at 0, 512, 1024, 2048 ...
**   version      the superblock's
**   manifest     the attributes of groups, and types, shapes and attributes of all datasets
**   attributes   the root's; a group's as `group/path/@name`
**   objects      datasets by path, depth first, each once
**   of objects   the dataset's own; `hdf5.layout`, `hdf5.chunks`, `hdf5.filters`, `hdf5.maxshape`,
**                `hdf5.enum`
**   components   one, `data`: `raw`, `hdf5.compact`, `hdf5.contiguous` (never written),
**                `hdf5.chunked+shuffle+deflate` ...
*/
const zt_driver zt_driver_hdf5 = {
  .name = "hdf5",
  .format = "hdf5",
  .files = "*.h5 *.hdf5 *.keras",
  .rules = { hdf5_rules },
  .probe = hdf5_probe,
  .open = hdf5_open,
  .object = hdf5_object,
  .component = hdf5_component,
  .steps = &zt_manifest_steps,
};
