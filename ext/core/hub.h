/*
** The hub (huggingface.co, or HF_ENDPOINT): where files are, revisions, and listings. Interface to
** code in hub.c.
**
**   source   := "hf://" [ ( "datasets" | "spaces" ) "/" ] org "/" name [ "@" revision ]
**               [ "/" path ]
**   revision := a branch, a tag or a commit; a `/` in it is %2F
*/
#ifndef ZT_CORE_HUB_H
#define ZT_CORE_HUB_H

#include "core/fetch.h"
#include "core/url.h"

/* The parts of a source, borrowed. */
typedef struct zt_hub_place {
  zt_text type;              /* "models", "datasets" or "spaces" */
  zt_text repo;              /* org/name */
  zt_text revision;          /* As written, or "main" */
  zt_text path;              /* Without a slash at the front; "" for the repository itself */
} zt_hub_place;

/* Splits a source. False if it names no repository. */
bool zt_hub_split(const char *source, zt_hub_place *out);

/* Returns the source without a revision, as what may be reached lists it, from sqlite3_malloc64().
** NULL if memory is short. */
char *zt_hub_name(const zt_hub_place *place);

/* Appends the hub's origin, as HF_ENDPOINT has it, without a slash at its end. */
void zt_hub_put_endpoint(sqlite3_str *out);

/* Returns the URL of a file, of the commit that its revision is as far as that is known, from
** sqlite3_malloc64(). NULL if memory is short. */
char *zt_hub_url(zt_remote *r, const zt_hub_place *place);

extern const zt_fetch_scheme zt_hub_scheme;

/* Asks which commit a revision is, unless that is known: it stays so for ttl and for a statement.
** name is zt_hub_name()'s. */
int zt_hub_resolve(zt_remote *r, const zt_hub_place *place, const char *name, zt_error *err);

/* Receives a file of a listing; the path is borrowed. The state is sqlite3_malloc64()'s, and taken.
** Returns false to end the listing. */
typedef bool zt_hub_file(void *context, zt_text path, zt_remote_state *state);

/* Receives the name of a file that the listing is likely to have; it is borrowed. */
typedef void zt_hub_hint(void *context, zt_text path);

/* Lists the files below the directory that place->path is ("" or without a slash at its end). The
** hints come before the first file; NULL: none are wanted. */
int zt_hub_list(zt_remote *r, const zt_hub_place *place, zt_hub_hint *hint, zt_hub_file *file,
                void *context, zt_error *err);

/* Reads one page of a listing. For tests. */
int zt_hub_read_page(zt_span json, zt_hub_file *file, void *context, zt_error *err);

#endif
