-- Payments are listed by their days, the latest first: all of an account, or those of an affiliate.

CREATE INDEX payments_by_day ON payments (account, paid_on, reference);
CREATE INDEX payments_by_affiliate ON payments (account, affiliate_id, paid_on, reference);
