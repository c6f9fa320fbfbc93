-- Where two persons must decide cases, a hold that ends without a decision goes on: until two persons have
-- acknowledged it, or the case is decided.
--
--   holds             1 if it goes on
--   reserve_percent   the part of the payouts that it holds
--   acknowledged_…    who acknowledged it first, why and when; null before. Another person must do so as well
ALTER TABLE fraud_ended_holds ADD COLUMN holds INTEGER NOT NULL DEFAULT 0 CHECK (holds IN (0, 1));
ALTER TABLE fraud_ended_holds ADD COLUMN reserve_percent TEXT NOT NULL DEFAULT '100';
ALTER TABLE fraud_ended_holds ADD COLUMN acknowledged_by TEXT;
ALTER TABLE fraud_ended_holds ADD COLUMN acknowledged_reason TEXT;
ALTER TABLE fraud_ended_holds ADD COLUMN acknowledged_at TEXT;

CREATE INDEX fraud_ended_holds_holding ON fraud_ended_holds (account, affiliate_id) WHERE holds = 1;
