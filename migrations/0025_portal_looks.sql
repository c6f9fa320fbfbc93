-- How the portal of an account looks.

-- Its accent color; null: that of the service.
ALTER TABLE accounts ADD COLUMN accent_color TEXT
  CHECK (accent_color GLOB '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]');

-- Its logo as JSON: `type`, `bytes` and `digest`; null if it has none.
ALTER TABLE accounts ADD COLUMN logo TEXT CHECK (json_type(logo) = 'object');

-- The images, in a table of their own, so that no other request reads them. `data` is Base64.
CREATE TABLE account_logos (
  account TEXT NOT NULL PRIMARY KEY,
  type    TEXT NOT NULL CHECK (type IN ('image/svg+xml', 'image/png')),
  data    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
