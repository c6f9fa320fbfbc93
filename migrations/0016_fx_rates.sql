-- Daily reference rates for commissions, in the database `DB` only: all accounts share them.
--
--   rate         units of the currency for one euro: a decimal as text, without trailing zeros
--   known_from   when the rate was imported, in milliseconds
--   known_until  when a correction replaced it; null: it applies now
--
-- Of a source, currency and day one row has no `known_until`. Rows are never deleted.
CREATE TABLE fx_rates (
  source      TEXT NOT NULL CHECK (source <> ''),
  currency    TEXT NOT NULL CHECK (length(currency) = 3 AND currency <> 'EUR'),
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  rate        TEXT NOT NULL CHECK (rate GLOB '[0-9]*' AND rate NOT GLOB '*[^0-9.]*'),
  known_from  INTEGER NOT NULL,
  known_until INTEGER CHECK (known_until > known_from),
  PRIMARY KEY (source, currency, day, known_from)
) STRICT, WITHOUT ROWID;
