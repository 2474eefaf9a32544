"""The page's queries of a catalog: of its tables and views (sql/catalog.sql, sql/audit.sql) and of those of measures.sql.

Each query is a function of a connection, the address's parameters and the numbers in it. It gives the data for its template, or None
if there is no such thing. Long lists are read one sheet at a time, so that a page of a large catalog takes no longer.
"""
