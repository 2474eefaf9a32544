/*
** Writing files: Windows. See os_write.h.
**
** A file in the making is marked for deletion, so that it goes when its last handle is closed,
** whichever way the process ends. Naming it takes the mark away and renames it. The file systems
** keep the order of names by themselves.
*/
#include "core/os_write.h"

#ifdef _WIN32
#include <errno.h>
#include "core/host.h"
#include "core/os_wide.h"
#include <winioctl.h>

#define OS_WRITE_MAX ((size_t)64<<20)   /* Bytes in one call; networks refuse much longer calls */
#define OS_WRITE_SHARED (FILE_SHARE_READ|FILE_SHARE_WRITE|FILE_SHARE_DELETE)

/* FileRenameInfoEx, which headers have for Windows 10 alone; older ones refuse it */
#define OS_WRITE_RENAME_EX ((FILE_INFO_BY_HANDLE_CLASS)22)
#define OS_WRITE_RENAME_FLAGS ((DWORD)3)   /* Replace, with POSIX semantics */

static HANDLE os_write_handle(zt_file file){
  return (HANDLE)file;
}

/* Marks an open file for deletion, or takes the mark away. */
static bool os_write_mark(HANDLE h, bool marked){
  FILE_DISPOSITION_INFO mark = { .DeleteFile = marked };
  return SetFileInformationByHandle(h, FileDispositionInfo, &mark, sizeof(mark));
}

int zt_os_create(const char *path, const char *like, bool *unnamed, zt_file *out){
  const DWORD access = GENERIC_READ|GENERIC_WRITE|DELETE;
  HANDLE h = INVALID_HANDLE_VALUE;
  DWORD unused;
  zt_os_wide w;
  int n = zt_os_widen(&w, path, L"");
  (void)like;   /* Rights are the directory's */
  if( n==0 ){
    h = CreateFileW(w.z, access, OS_WRITE_SHARED, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if( h==INVALID_HANDLE_VALUE ) n = zt_os_errno_of(GetLastError());
  }
  zt_os_wide_clear(&w);
  if( n ) return n;
  *unnamed = os_write_mark(h, true);
  /* Holes take space where this fails */
  (void)DeviceIoControl(h, FSCTL_SET_SPARSE, NULL, 0, NULL, 0, &unused, NULL);
  *out = (zt_file)h;
  return 0;
}

int zt_os_may_create(const char *path){
  (void)path;
  return 0;
}

uint64_t zt_os_size_limit(void){
  return INT64_MAX;
}

int zt_os_write(zt_file file, uint64_t offset, const void *p, size_t n){
  const uint8_t *from = p;
  while( n>0 ){
    OVERLAPPED at = { .Offset = (DWORD)(offset & 0xFFFFFFFF), .OffsetHigh = (DWORD)(offset>>32) };
    const DWORD some = (DWORD)(n<OS_WRITE_MAX ? n : OS_WRITE_MAX);
    DWORD n_written = 0;
    if( !WriteFile(os_write_handle(file), from, some, &n_written, &at) ){
      return zt_os_errno_of(GetLastError());
    }
    if( n_written==0 ) return EIO;
    from += n_written;
    offset += n_written;
    n -= n_written;
  }
  return 0;
}

int zt_os_truncate(zt_file file, uint64_t size){
  FILE_END_OF_FILE_INFO end = { .EndOfFile.QuadPart = (int64_t)size };
  if( SetFileInformationByHandle(os_write_handle(file), FileEndOfFileInfo, &end, sizeof(end)) ){
    return 0;
  }
  return zt_os_errno_of(GetLastError());
}

int zt_os_sync(zt_file file){
  return FlushFileBuffers(os_write_handle(file)) ? 0 : zt_os_errno_of(GetLastError());
}

int zt_os_flush(zt_file file){
  (void)file;
  return 0;
}

int zt_os_sync_directory(const char *path){
  (void)path;
  return 0;
}

/* A file that is open is not replaced there. */
zt_file zt_os_hold_directory(const char *path, const zt_interrupt *interrupt, zt_error *err){
  (void)path;
  (void)interrupt;
  (void)err;
  return -1;
}

/* Renames an open file. flags: 0, or those of FileRenameInfoEx. */
static int os_write_rename_handle(HANDLE h, const char *to, FILE_INFO_BY_HANDLE_CLASS as,
                                  DWORD flags){
  FILE_RENAME_INFO *info = NULL;
  zt_os_wide w;
  int n = zt_os_widen(&w, to, L"");
  if( n==0 ){
    const size_t size = wcslen(w.z)*sizeof(*w.z);
    info = sqlite3_malloc64(sizeof(*info)+size);
    if( info ){
      memset(info, 0, sizeof(*info));
      memcpy(&info->ReplaceIfExists, &flags, sizeof(flags));   /* A union with Flags */
      info->FileNameLength = (DWORD)size;
      memcpy(info->FileName, w.z, size+sizeof(*w.z));
      if( !SetFileInformationByHandle(h, as, info, (DWORD)(sizeof(*info)+size)) ){
        n = zt_os_errno_of(GetLastError());
      }
    }else n = ENOMEM;
  }
  sqlite3_free(info);
  zt_os_wide_clear(&w);
  return n;
}

int zt_os_name(zt_file file, const char *path){
  const HANDLE h = os_write_handle(file);
  int n;
  if( !os_write_mark(h, false) ) return zt_os_errno_of(GetLastError());
  n = os_write_rename_handle(h, path, FileRenameInfo, 0);
  if( n ) os_write_mark(h, true);
  return n;
}

/* Both paths in UTF-16, for a function of the system. */
typedef BOOL os_write_both(const wchar_t *from, const wchar_t *to);

static int os_write_call(os_write_both *call, const char *from, const char *to){
  zt_os_wide a, b;
  int n = zt_os_widen(&a, from, L"");
  int m = zt_os_widen(&b, to, L"");
  if( n==0 ) n = m;
  if( n==0 && !call(a.z, b.z) ) n = zt_os_errno_of(GetLastError());
  zt_os_wide_clear(&a);
  zt_os_wide_clear(&b);
  return n;
}

static BOOL os_write_move(const wchar_t *from, const wchar_t *to){
  return MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH);
}

static BOOL os_write_move_over(const wchar_t *from, const wchar_t *to){
  return MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH|MOVEFILE_REPLACE_EXISTING);
}

static BOOL os_write_link(const wchar_t *from, const wchar_t *to){
  return CreateHardLinkW(to, from, NULL);
}

static BOOL os_write_delete(const wchar_t *path, const wchar_t *same){
  (void)same;
  return DeleteFileW(path);
}

int zt_os_rename_new(const char *from, const char *to){
  return os_write_call(os_write_move, from, to);
}

int zt_os_exchange(const char *path, const char *other){
  (void)path;
  (void)other;
  return ENOTSUP;
}

int zt_os_link(const char *path, const char *second){
  return os_write_call(os_write_link, path, second);
}

/* A target that a reader has open is replaced since Windows 10 only, by the POSIX kind of
** rename. */
int zt_os_rename(const char *from, const char *to){
  HANDLE h = INVALID_HANDLE_VALUE;
  zt_os_wide w;
  int n = zt_os_widen(&w, from, L"");
  if( n==0 ) h = CreateFileW(w.z, DELETE, OS_WRITE_SHARED, NULL, OPEN_EXISTING, 0, NULL);
  zt_os_wide_clear(&w);
  n = h==INVALID_HANDLE_VALUE ? EIO
    : os_write_rename_handle(h, to, OS_WRITE_RENAME_EX, OS_WRITE_RENAME_FLAGS);
  if( h!=INVALID_HANDLE_VALUE ) CloseHandle(h);
  return n==0 ? 0 : os_write_call(os_write_move_over, from, to);
}

int zt_os_remove(const char *path){
  return os_write_call(os_write_delete, path, path);
}

int zt_os_duplicate(zt_file file, zt_file *out){
  const HANDLE self = GetCurrentProcess();
  HANDLE h;
  if( !DuplicateHandle(self, os_write_handle(file), self, &h, 0, FALSE, DUPLICATE_SAME_ACCESS) ){
    return zt_os_errno_of(GetLastError());
  }
  *out = (zt_file)h;
  return 0;
}

uint64_t zt_os_random(void){
  uint64_t n;
  sqlite3_randomness(sizeof(n), &n);
  return n;
}
#endif
