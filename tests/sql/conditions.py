"""Conditions on a column of numbers below 13, for tests that compare a table with an ordinary one."""

COMPARANDS = ["0", "3", "4", "5", "11", "12", "-1", "2.5", "3.0", "-0.5", "'3'", "'2.5'", "'x'", "''", "NULL", "X'33'", "1e300", "-1e300",
              "9223372036854775807", "-9223372036854775808", "9223372036854775808.0", "1 + 2", "(SELECT 4)", "1e999", "-1e999"]
RANGES = [("2", "3"), ("2", "5"), ("3", "2"), ("5", "2"), ("-5", "3"), ("4", "99"), ("9", "99"), ("2.5", "3.5"), ("2.5", "5.5"), ("'2'", "'3'"),
          ("'2'", "'5'"), ("NULL", "5"), ("2", "NULL"), ("-1e300", "1e300"), ("3", "3"), ("X'00'", "X'ff'"), ("0", "'x'"), ("4.000001", "4.999999"),
          ("-9223372036854775808", "9223372036854775807")]
OTHERS = [
    "{} > 1 AND {} < 4", "{} > 2 AND {} < 7", "{} >= 2 AND {} > 3 AND {} <= 9 AND {} < 9", "{} > 3 AND {} = 4", "{} > 3 AND {} = 5", "{} = 2 AND {} = 3",
    "{} = 5 AND {} = 6", "{} = 5 AND {} = 5.0", "{} IN (1, 3, 3, 99, -1)", "{} IN (1.0, 2.5, '4', NULL)", "{} IN (SELECT 2 UNION SELECT 4)", "{} IN ()",
    "{} NOT IN (1, 2)", "{} < 1 OR {} > 3", "{} < 2 OR {} > 9", "{} = 1 OR {} = 1", "{} IS NULL", "{} NOT NULL", "NOT {} = 3",
    "{} NOT BETWEEN 2 AND 9", "{} LIKE '1%'", "{} > 2 AND {} > 'x'", "{} > 9223372036854775806", "{} < -9223372036854775807"]


def of(column):
    return [f"{column} {operator} {c}" for operator in ("=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT") for c in COMPARANDS] + [
        f"{c} {operator} {column}" for operator in ("=", "<", ">=") for c in ("3", "2.5", "'3'")] + [
        f"{column} BETWEEN {low} AND {high}" for low, high in RANGES] + [other.replace("{}", column) for other in OTHERS]
