-- Where the records of archived months are in their objects, so that lists and single records are read from
-- there. Null in rows that an earlier version wrote: the records of such a month are restored when they are needed.
--
--   part, row_group  the object of the record, and the row group in it, counted from 0
ALTER TABLE archived_records ADD COLUMN part INTEGER;
ALTER TABLE archived_records ADD COLUMN row_group INTEGER;

--   records  how many records the customer has, by object and day, as a JSON object of JSON objects: the days are
--            counted from the first day of the month, which is 0
ALTER TABLE archived_customers ADD COLUMN records TEXT CHECK (json_valid(records));
