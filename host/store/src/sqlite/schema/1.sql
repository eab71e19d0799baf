CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    parent TEXT,
    about TEXT NOT NULL,
    pruned_through INTEGER
) STRICT;
CREATE TABLE turns (
    session TEXT NOT NULL REFERENCES sessions (id),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    client_request_id TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    plan TEXT,
    PRIMARY KEY (session, number),
    UNIQUE (session, id),
    UNIQUE (session, client_request_id)
) STRICT;
CREATE INDEX running_turns ON turns (session) WHERE status = 'running';
CREATE TABLE messages (
    session TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    source TEXT,
    PRIMARY KEY (session, sequence),
    UNIQUE (session, id),
    FOREIGN KEY (session, turn) REFERENCES turns (session, id)
) STRICT;
CREATE TABLE checkpoints (
    session TEXT NOT NULL REFERENCES sessions (id),
    number INTEGER NOT NULL,
    made_after INTEGER NOT NULL,
    turn TEXT,
    checkpoint TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;
CREATE TABLE frames (
    digest TEXT PRIMARY KEY NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE model_calls (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    turn TEXT NOT NULL,
    frame TEXT NOT NULL REFERENCES frames (digest),
    record TEXT NOT NULL,
    PRIMARY KEY (session, number),
    FOREIGN KEY (session, turn) REFERENCES turns (session, id)
) STRICT;
