-- What an affiliate writes on a link to tell its own campaigns apart, as `?sub1=…` to `?sub5=…`.
ALTER TABLE clicks ADD COLUMN sub1 TEXT;
ALTER TABLE clicks ADD COLUMN sub2 TEXT;
ALTER TABLE clicks ADD COLUMN sub3 TEXT;
ALTER TABLE clicks ADD COLUMN sub4 TEXT;
ALTER TABLE clicks ADD COLUMN sub5 TEXT;
