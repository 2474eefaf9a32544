/*
** The operating system: Windows. See os.h.
**
** Paths are UTF-8 here and UTF-16 in system calls. Files are opened so that other programs may
** write to, rename and delete them, as on POSIX systems. A file's ctime is the system's change
** time; its device and inode are its volume's serial number and its index on that volume. The
** system follows symbolic links and junctions.
*/
#include "core/os_system.h"

#ifdef _WIN32
#include <errno.h>
#include "core/host.h"
#include "core/os_wide.h"

#define OS_TICK (ZT_SECOND/64)           /* Longest tick of the clock of file times */
#define OS_HOST 255                      /* Most UTF-16 units of a host's name */
#define OS_UNIT ((int64_t)100)           /* Nanoseconds in a unit of that clock */
#define OS_EPOCH INT64_C(116444736000000000)   /* Units from 1601 to 1970 */
#define OS_READ_MAX ((size_t)64<<20)     /* Bytes in one call; networks refuse much longer calls */
#define OS_ENTRY_MAX_BYTES (3*MAX_PATH)  /* A name of MAX_PATH UTF-16 units, in UTF-8 */

int zt_os_errno_of(DWORD error){
  switch( error ){
    case ERROR_SUCCESS: return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME: return ENOENT;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_CANT_RESOLVE_FILENAME: return ELOOP;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION: return EACCES;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_WRITE_PROTECT: return EROFS;
    case ERROR_INVALID_FUNCTION:
    case ERROR_NOT_SUPPORTED: return ENOTSUP;
    default: return EIO;
  }
}

/* --- Paths --- */

/* Returns the absolute path, owned by the caller. NULL if memory is short or path cannot be made
** absolute. */
static wchar_t *os_absolute(const wchar_t *path){
  /* n counts the NUL, written does not */
  DWORD n = GetFullPathNameW(path, 0, NULL, NULL), written;
  wchar_t *out = n ? sqlite3_malloc64(n*sizeof(*out)) : NULL;
  if( !out ) return NULL;
  written = GetFullPathNameW(path, n, out, NULL);
  if( written>0 && written<n ) return out;
  sqlite3_free(out);
  return NULL;
}

/* Returns the absolute path with the prefix that lifts the limit on its length. Takes path. */
static wchar_t *os_lengthen(wchar_t *path){
  wchar_t *full = os_absolute(path), *out = NULL;
  if( full ){
    bool network = full[0]==L'\\' && full[1]==L'\\';   /* \\server\share */
    const wchar_t *prefix = network ? L"\\\\?\\UNC\\" : L"\\\\?\\", *rest = network ? full+2 : full;
    size_t nPrefix = wcslen(prefix), nRest = wcslen(rest)+1;
    out = sqlite3_malloc64((nPrefix+nRest)*sizeof(*out));
    if( out ){
      memcpy(out, prefix, nPrefix*sizeof(*out));
      memcpy(out+nPrefix, rest, nRest*sizeof(*out));
    }
  }
  sqlite3_free(full);
  sqlite3_free(path);
  return out;
}

/* Returns whether a path begins with \\?\ or \\.\, behind which the system changes nothing. */
static bool os_is_verbatim(const wchar_t *path){
  return path[0]==L'\\' && path[1]==L'\\' && (path[2]==L'?' || path[2]==L'.') && path[3]==L'\\';
}

int zt_os_widen(zt_os_wide *w, const char *path, const wchar_t *suffix){
  const size_t nSuffix = wcslen(suffix);
  /* Counts the NUL */
  int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  bool is_short = n>0 && (size_t)n+nSuffix<=ZT_OS_SHORT_PATH;
  w->z = w->brief;
  if( n<=0 ) return EILSEQ;
  if( !is_short ) w->z = sqlite3_malloc64(((size_t)n+nSuffix)*sizeof(*w->z));
  if( !w->z ) return ENOMEM;
  MultiByteToWideChar(CP_UTF8, 0, path, -1, w->z, n);
  memcpy(w->z+n-1, suffix, (nSuffix+1)*sizeof(*w->z));
  if( !is_short && !os_is_verbatim(w->z) ) w->z = os_lengthen(w->z);
  return w->z ? 0 : ENOMEM;
}

void zt_os_wide_clear(zt_os_wide *w){
  if( w->z!=w->brief ) sqlite3_free(w->z);
}

void zt_os_from_uri(char *path){
  bool letter = path[0]=='/' && ((path[1]|0x20)>='a' && (path[1]|0x20)<='z') && path[2]==':';
  if( letter ) memmove(path, path+1, strlen(path));
}

/* Converts UTF-16 to UTF-8. NULL if memory is short. */
static char *os_narrow(const wchar_t *path){
  int n = WideCharToMultiByte(CP_UTF8, 0, path, -1, NULL, 0, NULL, NULL);
  char *out = n>0 ? sqlite3_malloc64((size_t)n) : NULL;
  if( out ) WideCharToMultiByte(CP_UTF8, 0, path, -1, out, n, NULL, NULL);
  return out;
}

char *zt_os_host(zt_error *err){
  wchar_t name[OS_HOST+1];
  DWORD n = OS_HOST;
  char *out;
  if( !GetComputerNameExW(ComputerNameDnsHostname, name, &n) ){
    zt_fail_os(err, "tell the host's name", zt_os_errno_of(GetLastError()));
    return NULL;
  }
  out = os_narrow(name);
  if( !out ) zt_fail_nomem(err);
  return out;
}

char *zt_os_home(zt_error *err){
  DWORD n = GetEnvironmentVariableW(L"USERPROFILE", NULL, 0);   /* Counts the NUL; 0: there is
                                                                ** none */
  wchar_t *path;
  char *out;
  if( n<=1 ) return zt_os_homeless(err);
  path = sqlite3_malloc64(n*sizeof(*path));
  if( !path ){
    zt_fail_nomem(err);
    return NULL;
  }
  *path = 0;   /* Another thread may change the variable meanwhile */
  n = GetEnvironmentVariableW(L"USERPROFILE", path, n);   /* Does not count the NUL if it fits */
  out = *path ? os_narrow(path) : zt_os_homeless(err);
  if( !out && !err->rc ) zt_fail_nomem(err);
  sqlite3_free(path);
  return out;
}

/* --- Files --- */

static HANDLE os_handle_of(zt_file file){
  return (HANDLE)file;
}

/* Opens a path. Returns INVALID_HANDLE_VALUE, which is the zt_file -1, with *error_number after a
** failure. */
static HANDLE os_open_path(const char *path, DWORD access, DWORD flags, int *error_number){
  const DWORD share = FILE_SHARE_READ|FILE_SHARE_WRITE|FILE_SHARE_DELETE;
  HANDLE h = INVALID_HANDLE_VALUE;
  zt_os_wide w;
  *error_number = zt_os_widen(&w, path, L"");
  if( *error_number==0 ){
    h = CreateFileW(w.z, access, share, NULL, OPEN_EXISTING, flags, NULL);
    if( h==INVALID_HANDLE_VALUE ) *error_number = zt_os_errno_of(GetLastError());
  }
  zt_os_wide_clear(&w);
  return h;
}

/* Converts units since 1601 to nanoseconds since 1970. */
static int64_t os_nanoseconds(int64_t units){
  units -= OS_EPOCH;
  if( units>INT64_MAX/OS_UNIT || units<INT64_MIN/OS_UNIT ) return units<0 ? INT64_MIN : INT64_MAX;
  return units*OS_UNIT;
}

static uint64_t os_join(DWORD high, DWORD low){
  return (uint64_t)high<<32 | low;
}

/* Examines an open file. File systems without change times report 0. */
static int os_from_handle(HANDLE h, zt_stat *out){
  BY_HANDLE_FILE_INFORMATION file;
  FILE_BASIC_INFO basic;
  DWORD type = GetFileType(h);
  *out = (zt_stat){ 0 };
  if( type!=FILE_TYPE_DISK ){
    out->kind = type==FILE_TYPE_PIPE ? ZT_KIND_FIFO : type==FILE_TYPE_CHAR ? ZT_KIND_DEVICE
              : ZT_KIND_UNKNOWN;
    return 0;
  }
  if( !GetFileInformationByHandle(h, &file)
   || !GetFileInformationByHandleEx(h, FileBasicInfo, &basic, sizeof(basic)) ){
    return zt_os_errno_of(GetLastError());
  }
  out->kind = basic.FileAttributes & FILE_ATTRIBUTE_DIRECTORY ? ZT_KIND_DIRECTORY : ZT_KIND_FILE;
  out->id = (zt_identity){
    .device = file.dwVolumeSerialNumber, .inode = os_join(file.nFileIndexHigh, file.nFileIndexLow),
    .size = os_join(file.nFileSizeHigh, file.nFileSizeLow),
    .mtime = os_nanoseconds(basic.LastWriteTime.QuadPart),
    .ctime = os_nanoseconds((basic.ChangeTime.QuadPart ? basic.ChangeTime
                             : basic.LastWriteTime).QuadPart)
  };
  return 0;
}

int64_t zt_os_birth(const char *path){
  FILE_BASIC_INFO basic;
  int64_t out = 0;
  int error_number;
  HANDLE h = os_open_path(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS, &error_number);
  if( h==INVALID_HANDLE_VALUE ) return 0;
  if( GetFileInformationByHandleEx(h, FileBasicInfo, &basic, sizeof(basic)) ){
    out = os_nanoseconds(basic.CreationTime.QuadPart);
  }
  CloseHandle(h);
  return out;
}

int zt_os_stat(const char *path, zt_stat *out){
  int error_number;
  /* The flag admits directories */
  HANDLE h = os_open_path(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS, &error_number);
  *out = (zt_stat){ 0 };
  if( h==INVALID_HANDLE_VALUE ) return error_number;
  error_number = os_from_handle(h, out);
  CloseHandle(h);
  return error_number;
}

int zt_os_exists(const char *path){
  zt_os_wide w;
  int error_number = zt_os_widen(&w, path, L"");
  if( error_number==0 && GetFileAttributesW(w.z)==INVALID_FILE_ATTRIBUTES ){
    error_number = zt_os_errno_of(GetLastError());
  }
  zt_os_wide_clear(&w);
  return error_number;
}

/* Removes the prefix of a final path, which has wildcards in it. */
static wchar_t *os_plain(wchar_t *path){
  if( wcsncmp(path, L"\\\\?\\", 4) ) return path;
  if( wcsncmp(path+4, L"UNC\\", 4) ) return path+4;
  path[6] = L'\\';   /* \\?\UNC\server becomes \\server */
  return path+6;
}

char *zt_os_resolve(const char *path, int *error_number){
  HANDLE h = os_open_path(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS, error_number);
  wchar_t *wide = NULL;
  char *out = NULL;
  DWORD n;
  if( h==INVALID_HANDLE_VALUE ) return NULL;
  n = GetFinalPathNameByHandleW(h, NULL, 0, 0);   /* Counts the NUL */
  if( n==0 ) *error_number = zt_os_errno_of(GetLastError());
  else wide = sqlite3_malloc64((n+1)*sizeof(*wide));
  if( wide ){
    DWORD written = GetFinalPathNameByHandleW(h, wide, n+1, 0);   /* Does not count it */
    if( written==0 ) *error_number = zt_os_errno_of(GetLastError());
    else if( written>n ) *error_number = EAGAIN;   /* The file was renamed meanwhile */
    else out = os_narrow(os_plain(wide));
    sqlite3_free(wide);
  }
  CloseHandle(h);
  return out;
}

zt_file zt_os_open_any(const char *path, int *error_number){
  return (zt_file)os_open_path(path, GENERIC_READ, FILE_ATTRIBUTE_NORMAL, error_number);
}

void zt_os_close(zt_file file){
  if( file!=-1 ) CloseHandle(os_handle_of(file));
}

int zt_os_fstat(zt_file file, zt_stat *out){
  return os_from_handle(os_handle_of(file), out);
}

int64_t zt_os_read_once(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number){
  OVERLAPPED at = { .Offset = (DWORD)(offset & 0xFFFFFFFF), .OffsetHigh = (DWORD)(offset>>32) };
  DWORD n_read = 0;
  if( n>OS_READ_MAX ) n = OS_READ_MAX;
  if( ReadFile(os_handle_of(file), buffer, (DWORD)n, &n_read, &at) ) return n_read;
  if( GetLastError()==ERROR_HANDLE_EOF ) return 0;
  *error_number = zt_os_errno_of(GetLastError());
  return -1;
}

bool zt_os_now(int64_t *now, int64_t *tick){
  FILETIME t;
  GetSystemTimeAsFileTime(&t);
  *now = os_nanoseconds((int64_t)os_join(t.dwHighDateTime, t.dwLowDateTime));
  *tick = OS_TICK;
  return true;
}

int64_t zt_os_elapsed(void){
  return (int64_t)(GetTickCount64()+1)*1000000;
}

/* --- Memory --- */

void zt_os_advise_large(void *p, size_t n){
  (void)p;
  (void)n;
}

/* Windows commits memory when it is mapped: a buffer that is allocated as well would take it
** twice. */
void *zt_os_map(size_t n){
  (void)n;
  return NULL;
}

void zt_os_unmap(void *p, size_t n){
  (void)p;
  (void)n;
}

/* --- Directories --- */

struct zt_directory {
  HANDLE handle;
  bool read;                     /* entry is not returned yet */
  WIN32_FIND_DATAW entry;
  char name[OS_ENTRY_MAX_BYTES];
};

zt_directory *zt_os_opendir(const char *path, int *error_number){
  zt_directory *d = sqlite3_malloc64(sizeof(*d));
  zt_os_wide w;
  if( !d ){
    *error_number = ENOMEM;
    return NULL;
  }
  d->read = true;
  *error_number = zt_os_widen(&w, path, L"\\*");
  if( *error_number==0 ){
    d->handle = FindFirstFileExW(w.z, FindExInfoBasic, &d->entry, FindExSearchNameMatch, NULL,
                                 FIND_FIRST_EX_LARGE_FETCH);
    if( d->handle==INVALID_HANDLE_VALUE ) *error_number = zt_os_errno_of(GetLastError());
  }
  zt_os_wide_clear(&w);
  if( *error_number==0 ) return d;
  sqlite3_free(d);
  return NULL;
}

/* A reparse point may lead to anything. */
static zt_kind os_kind_of(DWORD attributes){
  if( attributes & FILE_ATTRIBUTE_REPARSE_POINT ) return ZT_KIND_UNKNOWN;
  return attributes & FILE_ATTRIBUTE_DIRECTORY ? ZT_KIND_DIRECTORY : ZT_KIND_FILE;
}

/* A name that is not valid UTF-16 comes with U+FFFD in it; opening it fails. */
const char *zt_os_readdir(zt_directory *d, zt_kind *kind, int *error_number){
  *error_number = 0;
  for(;;){
    if( !d->read && !FindNextFileW(d->handle, &d->entry) ){
      DWORD error = GetLastError();
      *error_number = error==ERROR_NO_MORE_FILES ? 0 : zt_os_errno_of(error);
      return NULL;
    }
    d->read = false;
    WideCharToMultiByte(CP_UTF8, 0, d->entry.cFileName, -1, d->name, sizeof(d->name), NULL, NULL);
    if( strcmp(d->name, ".")==0 || strcmp(d->name, "..")==0 ) continue;
    *kind = os_kind_of(d->entry.dwFileAttributes);
    return d->name;
  }
}

void zt_os_closedir(zt_directory *d){
  if( !d ) return;
  FindClose(d->handle);
  sqlite3_free(d);
}

/* --- The process --- */

const char *zt_os_message(int n, char buffer[ZT_OS_MESSAGE]){
  if( strerror_s(buffer, ZT_OS_MESSAGE, n) ) sqlite3_snprintf(ZT_OS_MESSAGE, buffer, "error %d", n);
  return buffer;
}

void zt_os_stay_loaded(void){
  static const char here;
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_PIN|GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  HMODULE self;
  (void)GetModuleHandleExW(flags, (LPCWSTR)(const void*)&here, &self);
}
#endif
