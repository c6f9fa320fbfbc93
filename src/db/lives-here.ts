/**
 * Returns the condition, as SQL, that an account lives in this database. What visits the accounts of a database
 * leaves out those that have moved away, whose writes are refused, and those that are being copied here.
 */
export const livesHere = (account: string) => `${account} not in (
  select account from move_copies union all select account from move_sources where closed_at is not null)`
