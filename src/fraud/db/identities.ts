import { SIGNUP_DAY } from '../../ingest/db/signup.ts'
import type { Connection } from '../../platform/db/database.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  type Statement,
} from '../../platform/db/statement.ts'

// Customers with the same e-mail or name. They are compared where they are stored: nothing else keeps an
// identity, so that an erasure leaves none behind.

/** The most earlier customers of an identity that are named: each of many would name all before. */
const MOST_NAMED = 20

/** The providers for whom dots in an address mean nothing. */
const WITHOUT_DOTS = `('gmail.com', 'googlemail.com')`

/** An e-mail without letter case, tag and the dots of Gmail, as SQL; null if it is none. */
const normalized = (column: string): string => {
  const email = `lower(trim(${column}))`
  const at = `instr(${email}, '@')`
  const local = `substr(${email}, 1, ${at} - 1)`
  const untagged = `substr(${local}, 1, ifnull(nullif(instr(${local}, '+'), 0) - 1, length(${local})))`
  const domain = `substr(${email}, ${at} + 1)`
  return `iif(${at} < 2, null, iif(${domain} in ${WITHOUT_DOTS},
    replace(${untagged}, '.', '') || '@gmail.com', ${untagged} || '@' || ${domain}))`
}

const FULL_NAME = `lower(trim(c.first_name)) || char(0) || lower(trim(c.last_name)) || char(0) || c.country_code`

/** Finds who shares an identity with earlier customers, of those who were recorded on the days. */
const findShared = (identity: string) =>
  compileStatement(`
  with everyone as materialized (
    select c.customer_id, c.delivery, ${SIGNUP_DAY} as day, c.day between :first and :last as is_wanted,
      ${identity} as identity
    from customers c where c.account = :account and identity is not null
  ), placed as materialized (
    select identity, customer_id, delivery, day, is_wanted,
      row_number() over (partition by identity order by day, customer_id) as place
    from everyone where identity in (
      select identity from everyone group by identity having count(*) > 1 and max(is_wanted))
  )
  select w.customer_id, w.place - 1 as earlier,
    json_group_array(json_array(e.customer_id, e.day, e.delivery)) as first
  from placed w join placed e on e.identity = w.identity and e.place < w.place and e.place <= ${MOST_NAMED}
  where w.is_wanted group by w.customer_id`)

const SHARED_EMAILS = findShared(normalized('c.email'))
const SHARED_NAMES = findShared(FULL_NAME)

const FIND_CONTACTS = compileStatement(`
  with contacts as materialized (
    select affiliate_id, ${normalized('contact_email')} as email
    from affiliates where account = :account and contact_email is not null
  )
  select a.affiliate_id, c.customer_id
  from customers c join contacts a on a.email = ${normalized('c.email')}
  where c.account = :account and c.day between :first and :last and exists (select 1 from contacts)`)

/** A customer of an identity: the stored id, the day of the signup, and the delivery that brought them. */
export type FirstCustomer = readonly [customer_id: string, day: number, delivery: string | null]

/** A customer with as many earlier customers of the same identity; `first` is a JSON array of `FirstCustomer`. */
export interface EarlierRow {
  readonly customer_id: string
  readonly earlier: number
  readonly first: string
}

/** A customer with the e-mail of an affiliate. */
interface Contact {
  readonly affiliate_id: string
  readonly customer_id: string
}

/**
 * Finds who shares the identity of earlier customers, or is the contact of an affiliate, of those who were recorded as
 * signed up on some days (since 1970).
 */
export async function readIdentities(
  db: Connection,
  account: string,
  days: { readonly first: number; readonly last: number },
  withNames: boolean,
) {
  const bind = (one: Statement) => bindStatement(db, one, { account, ...days })
  type Lists = [contacts: Contact[], emails: EarlierRow[], ...names: EarlierRow[][]]
  const [contacts, emails, names = []] = await readBatch<Lists>(db, [
    bind(FIND_CONTACTS),
    bind(SHARED_EMAILS),
    ...(withNames ? [bind(SHARED_NAMES)] : []),
  ])
  return { contacts, emails, names }
}
