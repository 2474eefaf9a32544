"""Tests of Spark's part: finding the data source, filters, and showing errors."""
import cluster
import pytest
from pyspark.errors import AnalysisException, PythonException
from remembering import Remembering

GOLDEN = cluster.ROOT / "tests" / "formats" / "ztensor" / "golden" / "v1.2"


@pytest.fixture
def filters_are_pushed(spark):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    yield
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def counts(query, condition):
    return [query.count(), query.where(condition).count(), query.count(), query.where(condition).union(query).count()]


def test_spark_keeps_a_filter_that_was_pushed_once(spark, filters_are_pushed):
    """Why this data source takes none. Once Spark gives 10, 1, 10 and 11 here, it may."""
    spark.dataSource.register(Remembering)
    assert counts(spark.read.format("remembering").load(), "i = 3") == [10, 1, 1, 2]


@pytest.mark.parametrize("setting", ["false", "true"])
def test_filters_leave_later_queries_as_they_are(spark, setting):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", setting)
    query = spark.read.format("ztensor").option("table", "objects").load(f"{GOLDEN}/wheel_zstd.zt")
    assert counts(query, "object = 'level19'") == [15, 1, 15, 16]
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_sql(spark):
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW tensors USING ztensor OPTIONS (path '{GOLDEN}/wheel_*.zt', table 'objects')")
    assert [tuple(row) for row in spark.sql("SELECT dtype, count(*) FROM tensors WHERE path LIKE '%zstd.zt' GROUP BY dtype ORDER BY dtype LIMIT 3").collect()] == \
        [("bf16", 1), ("bool", 1), ("f16", 1)]


def test_several_sources(spark):
    query = spark.read.format("ztensor").option("table", "files").load([f"{GOLDEN}/wheel_zstd.zt", f"{GOLDEN}/gone.zt"])
    assert [(row.path.rsplit("/")[-1], row.error is None) for row in query.collect()] == [("wheel_zstd.zt", True), ("gone.zt", False)]


def test_a_source_of_no_files(spark):
    query = spark.read.format("ztensor").option("table", "objects").load(f"{GOLDEN}/nothing/*")
    assert query.collect() == [] and query.columns[0] == "path"


def test_a_statement_has_as_many_threads_as_its_task_has_processors(spark):
    """The machine's number of processors does not matter: other tasks have the rest."""
    from pyspark import TaskContext

    def threads(_):
        from pyspark_ztensor.reader import connect

        with connect(remote=False) as connection:
            return connection.rows("SELECT zt_threads()")[0][0], TaskContext.get().cpus()

    assert spark.sparkContext.parallelize(range(2), 2).map(threads).collect() == [(1, 1), (1, 1)]


def test_what_is_wrong_is_one_line(spark):
    for options, message in [({"table": "tensors"}, "option 'table' is 'tensors': there are files, objects, "),
                             ({"table": "objects", "level": "full"}, "option 'level' is for check, not for table 'objects'")]:
        with pytest.raises(AnalysisException) as caught:
            spark.read.format("ztensor").options(**options).load("x")
        lines = str(caught.value).strip().splitlines()
        assert f"ZtensorError: {message}" in lines[0] and [line.strip() for line in lines[1:]] == ["SQLSTATE: 38000"]


def test_what_is_wrong_with_a_schema_is_one_line(spark):
    with pytest.raises(AnalysisException) as caught:
        spark.read.format("ztensor").option("table", "objects").schema("path string, name string").load("x").collect()
    assert "table 'objects' has no column 'name': it has path, object" in str(caught.value) and "Traceback" not in str(caught.value)


def test_a_file_that_ends_a_query_is_named_in_one_line(spark, tmp_path):
    (tmp_path / "broken.zt").write_bytes(b"no tensors")
    with pytest.raises(PythonException) as caught:
        spark.read.format("ztensor").option("table", "objects").schema("path string, object string").load(str(tmp_path)).collect()
    assert f"{tmp_path}/broken.zt: not a tensor file of a known format (a column 'error'" in str(caught.value)
    assert "Traceback" not in str(caught.value)
