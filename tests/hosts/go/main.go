// The extension in Go: mattn/go-sqlite3, which brings its own SQLite. smoke EXTENSION, in the project's root.
package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-sqlite3"
)

const (
	model  = "tests/formats/ztensor/golden/v1.2/wheel_save_file.zt"
	broken = "tests/formats/ztensor/hostile/1.2-align-65.zt"
	wrong  = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64"
	query  = "SELECT object, dtype, shape, elements FROM zt_objects(?)"
)

type object struct {
	name     string
	dtype    sql.NullString // NULL if nothing says where the values are
	shape    string
	elements int64
}

var objects = []object{
	{"blk.0.attn.k", sql.NullString{String: "i64", Valid: true}, "[3,4]", 12},
	{"blk.0.attn.q", sql.NullString{String: "bf16", Valid: true}, "[3,4]", 12},
	{"model.embed.weight", sql.NullString{String: "f32", Valid: true}, "[3,4]", 12},
}

var checks atomic.Int64

func same(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		log.Fatalf("%v is not %v", actual, expected)
	}
	checks.Add(1)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// list reads all objects of a source: a path or the bytes of a file.
func list(db *sql.DB, source any) (found []object, err error) {
	rows, err := db.Query(query, source)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		must(rows.Scan(&o.name, &o.dtype, &o.shape, &o.elements))
		found = append(found, o)
	}
	return found, rows.Err()
}

func fails(db *sql.DB, source any, message string) {
	found, err := list(db, source)
	var e sqlite3.Error
	same(errors.As(err, &e) && e.Code == sqlite3.ErrError, true)
	same(err.Error(), message)
	same(len(found), 0)
}

func one(db *sql.DB, statement string, arguments ...any) (value []byte) {
	must(db.QueryRow(statement, arguments...).Scan(&value))
	return value
}

func check(db *sql.DB) {
	image, err := os.ReadFile(model)
	must(err)
	brokenImage, err := os.ReadFile(broken)
	must(err)
	for _, source := range []any{model, image} {
		found, err := list(db, source)
		must(err)
		same(found, objects)
		data := one(db, "SELECT zt_blob(?, 'blk.0.attn.q')", source)
		same(hex.EncodeToString(data), "7f8080007f7f7fff803f80bf813fcd3dc07f807f80ff0080")
		data = one(db, "SELECT zt_dense(?, 'blk.0.attn.q', 'f32', 1, 1)", source)
		same(hex.EncodeToString(data), "0000803f000080bf0000813f0000cd3d")
	}
	fails(db, broken, "ztensor: "+broken+": "+wrong)
	fails(db, brokenImage, "ztensor: <blob>: "+wrong)
	found, err := list(db, "tests/formats/ztensor/golden/v1.2/hand_zero_components.zt")
	must(err)
	same(found[0].dtype.Valid, false)
}

// goroutines share one pool, whose connections each load the extension for themselves.
func goroutines(db *sql.DB) {
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 20; j++ {
				check(db)
			}
		}()
	}
	all.Wait()
}

// interrupt ends a query over 100 million rows of ours when its context does.
func interrupt(db *sql.DB) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	const many = "zt_components('tests/formats/ztensor/golden')"
	var n int64
	const statement = "SELECT count(a.offset + b.offset + c.offset) FROM " + many + " a, " + many + " b, " + many + " c"
	err := db.QueryRowContext(ctx, statement).Scan(&n)
	same(errors.Is(err, context.DeadlineExceeded), true)
}

// open gives a pool whose connections load the extension: by the driver's list, or by a hook and its entry point's name.
func open(name string, driver *sqlite3.SQLiteDriver) *sql.DB {
	sql.Register(name, driver)
	db, err := sql.Open(name, ":memory:")
	must(err)
	return db
}

func main() {
	extension := os.Args[1]
	db := open("sqlite3_ztensor", &sqlite3.SQLiteDriver{Extensions: []string{extension}})
	hooked := open("sqlite3_hooked", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.LoadExtension(extension, "sqlite3_ztensor_init")
	}})
	check(db)
	check(hooked)
	must(hooked.Close())
	goroutines(db)
	interrupt(db)
	check(db)
	version, _, _ := sqlite3.Version()
	same(strings.Contains(string(one(db, "SELECT zt_version()")), "SQLite "+version+","), true)
	must(db.Close())
	fmt.Printf("%s, mattn/go-sqlite3 %s, SQLite %s: %d checks\n", runtime.Version(), driverVersion(), version, checks.Load())
}

func driverVersion() string {
	info, _ := debug.ReadBuildInfo()
	return info.Deps[0].Version
}
