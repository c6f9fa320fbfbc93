import { compileStatement, type Statement } from '../../platform/db/statement.ts'

/** The condition that a webhook of an account subscribes to events of a type. */
export const isWanted = (account: string, type: string) => `exists (
    select 1 from webhook_wants w where w.account = ${account} and w.type in ('${type}', '*'))`

/** The current time in milliseconds, and a new id of an event. */
const NOW = `cast(unixepoch('subsec') * 1000 as integer)`
const NEW_ID = `'evt_' || printf('%011x', ${NOW}) || lower(hex(randomblob(8)))`

/**
 * Returns the statement that writes events of a type. `rows` is the SQL of `n` with their account, their data, and
 * `about`, which names the cause: it has one event.
 */
export const insertEvents = (type: string, rows: string): Statement =>
  compileStatement(`
    insert into webhook_events (account, id, type, about, at, data)
    select n.account, ${NEW_ID}, '${type}', n.about, ${NOW}, n.data from ${rows}
    on conflict (account, type, about) do nothing`)

/**
 * Returns the statement that writes events of `:account`, if one of its webhooks wants them: it belongs to the batch
 * of their cause. `rows` is a query for `about` and `data`; it is read only then.
 */
export const eventOf = (type: string, rows: string): Statement =>
  insertEvents(
    type,
    `(select 1 where ${isWanted(':account', type)})
      cross join (select :account as account, r.about, r.data from (${rows}) r) n where true`,
  )
