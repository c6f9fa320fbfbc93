-- What printed statements say of their sender: its address, a text of some lines, and the locale in which days
-- and numbers are written, such as `de-DE`. Null: no address, and British English.
ALTER TABLE accounts ADD COLUMN address TEXT CHECK (address <> '');
ALTER TABLE accounts ADD COLUMN locale TEXT CHECK (locale <> '');
