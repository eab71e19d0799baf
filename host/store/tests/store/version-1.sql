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
PRAGMA application_id = 1399026796;
PRAGMA user_version = 1;
INSERT INTO sessions VALUES ('old', 1, 5, NULL, '{"p":1}', 1);
INSERT INTO turns VALUES ('old', 1, 't1', 'r-t1', 'running', NULL, '{"plan":[]}');
INSERT INTO messages VALUES ('old', 1, 't1:user', 't1', 'normal', '{"role":"user","content":[{"type":"text","text":"a"}]}', NULL);
INSERT INTO messages VALUES ('old', 2, 't1:answer', 't1', 'normal', '{"role":"assistant","content":[{"type":"text","text":"b"}]}', NULL);
INSERT INTO checkpoints VALUES ('old', 1, 2, 't1', '{"kind":"summary","head":[],"through_sequence":1,"visible":[[2,2]],"about":{}}');
INSERT INTO frames VALUES ('sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4', 'the frame');
INSERT INTO model_calls VALUES ('old', 1, 't1', 'sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4', '{"model_call":1,"through_sequence":1,"checkpoint":null,"pruned_through_sequence":null,"frame_digest":"sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4","request_digest":"sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4","request_bytes":3,"provider":"p","adapter_digest":"sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4","body_digest":"sha256:bef75f8a93b269db371d02bf39178b74427fcbdf552fcbfba9ef54a955fa5ab4","usage":{"raw":null},"finish":"stop"}');
