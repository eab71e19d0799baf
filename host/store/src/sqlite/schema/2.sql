CREATE TABLE plugin_values (
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (plugin, key)
) STRICT;
CREATE TABLE audit (
    number INTEGER PRIMARY KEY NOT NULL,
    time_ms INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    digest TEXT,
    session TEXT,
    what TEXT NOT NULL,
    outcome TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_plugin ON audit (plugin);
CREATE INDEX audit_of_session ON audit (session);
