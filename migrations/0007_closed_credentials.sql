-- Whether the Durable Objects of an ended credential know that it has ended. A change of settings calls
-- them only until then. It is never 1 while the credential is alive.
ALTER TABLE clients ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));
ALTER TABLE brand_tokens ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));
