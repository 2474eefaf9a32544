/* The opcode table and reader. See pickle_opcodes.h; rules: pickle.c. */
#include "container/pickle_opcodes.h"

#include <assert.h>
#include <stdarg.h>
#include "core/host.h"

#define OPCODES_POLL 0xFFFF   /* Opcodes between checks for an interrupt, less 1 */
#define OPCODES_SPEC "Python, pickletools"

const zt_rule zt_rules_pickle[] = {
  ZT_ERROR("PK1", "pickle-opcode", "every opcode is one of protocols 0 to 5 (pickle)",
           OPCODES_SPEC),
  ZT_ERROR("PK2", "pickle-cut", "arguments end within the pickle, which ends with STOP",
           OPCODES_SPEC),
  ZT_ERROR("PK3", "pickle-argument", "an argument is valid for its opcode (pickle)", OPCODES_SPEC),
  ZT_ERROR("PK4", "pickle-stack",
           "an opcode finds the items that it needs on the stack, of the right kind (pickle)",
           OPCODES_SPEC),
  ZT_ERROR("PK5", "pickle-mark", "an opcode that takes all items down to a mark finds a mark "
                                 "(pickle)", OPCODES_SPEC),
  ZT_ERROR("PK6", "pickle-memo", "a memo's entry is written before it is read (pickle)",
           OPCODES_SPEC),
  ZT_RULES_END
};

const zt_pickle_opcode zt_pickle_opcodes[256] = {
#define OPCODES_ROW(code, name, argument, nodes, needs) \
  [code] = { #name, (argument)<ZT_PICKLE_LINE ? 1+(argument) : 0, argument, nodes, needs },
  ZT_PICKLE_OPCODES(OPCODES_ROW)
#undef OPCODES_ROW
};

bool zt_pickle_fail(const zt_pickle_read *r, zt_error *err, const char *rule, const char *format,
                    ...){
  va_list list;
  char *z;
  va_start(list, format);
  z = sqlite3_vmprintf(format, list);
  va_end(list);
  if( !z ) zt_fail_nomem(err);
  else zt_break(err, rule, "byte %llu: %s: %s", (unsigned long long)r->at, r->opcode->name, z);
  sqlite3_free(z);
  return false;
}

static bool opcodes_fail_end(const zt_pickle_read *r, zt_error *err){
  return zt_pickle_fail(r, err, "PK2", "its argument goes beyond the pickle's end");
}

/* PK2: an argument of that many lines, without the final newline. */
static bool opcodes_read_lines(zt_pickle_read *r, zt_span all, int lines, zt_error *err){
  size_t from = r->next;
  do{
    const uint8_t *end = r->next<all.n ? memchr(all.p+r->next, '\n', all.n-r->next) : NULL;
    if( !end ) return opcodes_fail_end(r, err);
    r->next = (size_t)(end-all.p)+1;
  }while( --lines>0 );
  r->argument = (zt_span){ all.p+from, r->next-1-from };
  return true;
}

/* PK2, PK3: an argument after its length. */
static bool opcodes_read_counted(zt_pickle_read *r, zt_span all, unsigned width, bool is_signed,
                                 zt_error *err){
  uint64_t n;
  if( width>all.n-r->next ) return opcodes_fail_end(r, err);
  n = width==1 ? all.p[r->next] : width==4 ? zt_le32(all.p+r->next) : zt_le64(all.p+r->next);
  if( is_signed && n>INT32_MAX ) return zt_pickle_fail(r, err, "PK3", "a negative length");
  r->next += width;
  if( n>all.n-r->next ) return opcodes_fail_end(r, err);
  r->argument = (zt_span){ all.p+r->next, (size_t)n };
  r->next += (size_t)n;
  return true;
}

bool zt_pickle_read_any(zt_pickle_read *r, zt_span all, zt_error *err){
  r->at = r->next;
  if( r->at==all.n ){
    zt_break(err, "PK2", "the pickle ends at byte %llu without STOP", (unsigned long long)r->at);
    return false;
  }
  r->code = (zt_pickle_code)all.p[r->next++];
  r->opcode = &zt_pickle_opcodes[r->code];
  if( !r->opcode->name ){
    zt_break(err, "PK1", "byte %llu: opcode 0x%02x is not known", (unsigned long long)r->at,
             (unsigned)r->code);
    return false;
  }
  switch( r->opcode->argument ){
    case ZT_PICKLE_LINE:          return opcodes_read_lines(r, all, 1, err);
    case ZT_PICKLE_LINES:         return opcodes_read_lines(r, all, 2, err);
    case ZT_PICKLE_COUNT1:        return opcodes_read_counted(r, all, 1, false, err);
    case ZT_PICKLE_COUNT4:        return opcodes_read_counted(r, all, 4, false, err);
    case ZT_PICKLE_COUNT4_SIGNED: return opcodes_read_counted(r, all, 4, true, err);
    case ZT_PICKLE_COUNT8:        return opcodes_read_counted(r, all, 8, false, err);
    default: break;
  }
  assert( r->opcode->argument>all.n-r->next );   /* Else zt_pickle_size_at() knows it */
  return opcodes_fail_end(r, err);
}

int zt_pickle_skip(zt_span pickle, size_t *at, const zt_interrupt *interrupt, zt_error *err){
  zt_pickle_read r = { .next = *at };
  uint64_t steps = 0;
  do{
    *at = r.next;
    if( (++steps & OPCODES_POLL)==0 && zt_interrupt_check(interrupt, err) ) return err->rc;
    if( !zt_pickle_read_next(&r, pickle, err) ) return err->rc;
  }while( r.code!=ZT_PICKLE_OP_STOP );
  *at = r.next;
  return SQLITE_OK;
}
