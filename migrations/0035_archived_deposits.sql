-- What is kept of archived records beside their objects.
--
--   totals    the control totals of an object as JSON: the form of the totals of days, and their groups. Null if
--             they are too large
--   deposits  the last day of the customer's deposits in the month, as a JSON object by status; null if they have
--             none. So nobody's first deposit needs the month
ALTER TABLE archive_objects ADD COLUMN totals TEXT CHECK (totals IS NULL OR json_valid(totals));
ALTER TABLE archived_customers ADD COLUMN deposits TEXT CHECK (deposits IS NULL OR json_valid(deposits));
