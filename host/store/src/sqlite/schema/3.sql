ALTER TABLE sessions ADD COLUMN found_tools TEXT;
