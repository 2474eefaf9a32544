import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;
import org.sqlite.SQLiteJDBCLoader;

/** The extension in Java: sqlite-jdbc, which brings its own SQLite. Smoke EXTENSION, in the project's root. */
public class Smoke {
  static final String MODEL = "tests/formats/ztensor/golden/v1.2/wheel_save_file.zt";
  static final String BROKEN = "tests/formats/ztensor/hostile/1.2-align-65.zt";
  static final String WRONG = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64";
  static final AtomicInteger checks = new AtomicInteger();

  record Row(String object, String dtype, String shape, long elements) {}

  static final List<Row> OBJECTS = List.of(new Row("blk.0.attn.k", "i64", "[3,4]", 12),
      new Row("blk.0.attn.q", "bf16", "[3,4]", 12), new Row("model.embed.weight", "f32", "[3,4]", 12));

  static void same(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " is not " + expected);
    checks.incrementAndGet();
  }

  static Connection open(String extension) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.enableLoadExtension(true);
    Connection db = config.createConnection("jdbc:sqlite::memory:");
    try (PreparedStatement load = db.prepareStatement("SELECT load_extension(?)")) {
      load.setString(1, extension);
      load.execute();
    }
    return db;
  }

  /** A source is a path or the bytes of a file: setObject() binds either as what it is. */
  static List<Row> objects(Connection db, Object source) throws SQLException {
    try (PreparedStatement stmt = db.prepareStatement("SELECT object, dtype, shape, elements FROM zt_objects(?)")) {
      stmt.setObject(1, source);
      ResultSet rows = stmt.executeQuery();
      List<Row> found = new ArrayList<>();
      while (rows.next()) found.add(new Row(rows.getString(1), rows.getString(2), rows.getString(3), rows.getLong(4)));
      return found;
    }
  }

  static byte[] bytes(Connection db, String sql, Object source) throws SQLException {
    try (PreparedStatement stmt = db.prepareStatement(sql)) {
      stmt.setObject(1, source);
      return stmt.executeQuery().getBytes(1);
    }
  }

  static void fails(Connection db, Object source, String message) throws SQLException {
    try {
      throw new AssertionError(objects(db, source) + " in place of an error");
    } catch (SQLiteException error) {
      same(error.getResultCode(), SQLiteErrorCode.SQLITE_ERROR);
      same(error.getMessage(), "[SQLITE_ERROR] SQL error or missing database (" + message + ")");
    }
  }

  static void check(Connection db) throws Exception {
    for (Object source : new Object[] {MODEL, Files.readAllBytes(Path.of(MODEL))}) {
      same(objects(db, source), OBJECTS);
      same(HexFormat.of().formatHex(bytes(db, "SELECT zt_blob(?, 'blk.0.attn.q')", source)),
          "7f8080007f7f7fff803f80bf813fcd3dc07f807f80ff0080");
      ByteBuffer row = ByteBuffer.wrap(bytes(db, "SELECT zt_dense(?, 'blk.0.attn.q', 'f32', 1, 1)", source));
      float[] values = new float[4];
      row.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
      same(row.capacity(), 16);
      same(List.of(values[0], values[1], values[2], values[3]), List.of(1f, -1f, 1.0078125f, 0.10009765625f));
    }
    fails(db, BROKEN, "ztensor: " + BROKEN + ": " + WRONG);
    fails(db, Files.readAllBytes(Path.of(BROKEN)), "ztensor: <blob>: " + WRONG);
    same(objects(db, "tests/formats/ztensor/golden/v1.2/hand_zero_components.zt").get(0).dtype(), null);
  }

  /** Threads of their own with connections of their own. */
  static void threads(String extension) throws Exception {
    var pool = Executors.newFixedThreadPool(4);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(pool.submit(() -> {
        try (Connection own = open(extension)) {
          for (int n = 0; n < 20; n++) check(own);
        }
        return null;
      }));
    }
    pool.shutdown();   // Its threads end when their work does, and with an error, too
    for (Future<?> one : all) one.get();
  }

  public static void main(String[] arguments) throws Exception {
    Connection first = open(arguments[0]), second = open(arguments[0]);
    check(first);
    first.close();
    check(second);
    threads(arguments[0]);
    String version = second.getMetaData().getDatabaseProductVersion();
    String ours = new String(bytes(second, "SELECT zt_version() WHERE ? IS NULL", null), "UTF-8");
    same(ours.contains("SQLite " + version + ","), true);
    second.close();
    System.out.println("Java " + System.getProperty("java.version") + ", sqlite-jdbc " + SQLiteJDBCLoader.getVersion()
        + ", SQLite " + version + ": " + checks + " checks");
  }
}
