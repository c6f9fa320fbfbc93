/**
 * The signup of a customer `c`, as SQL: when they registered or, without that, when they were first heard of
 * (contract §16.27). The time can be null.
 */
export const SIGNUP = 'ifnull(c.signup_date, c.first_seen_at)'

/** The day of the signup of a customer `c`, as SQL. */
export const SIGNUP_DAY = 'iif(c.signup_date is null, ifnull(c.first_seen_day, c.day), c.day)'
