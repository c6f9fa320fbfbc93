import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { SIGNUP_DAY } from '../records/signup.ts'
import { bindStatement, compileStatement, readBatch, type Statement } from '../statement.ts'

// Customers with the same e-mail or name. They are compared where they are stored: nothing else keeps an
// identity, so that an erasure leaves none behind.

/** The most customers of one identity that are compared, those who signed up first. */
export const MOST_TWINS = 1000

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

/**
 * Finds the identities that several customers have, of whom one was recorded on the days: who of these has
 * each, and who shares it.
 */
const findShared = (identity: string) =>
  compileStatement(`
  with everyone as materialized (
    select c.customer_id, c.delivery, ${SIGNUP_DAY} as day, c.day between :first and :last as is_wanted,
      ${identity} as identity
    from customers c where c.account = :account and identity is not null
  ), shared as (
    select identity from everyone where identity > :after
    group by identity having count(*) > 1 and max(is_wanted) order by identity limit :identities
  ), placed as (
    select identity, customer_id, delivery, day, is_wanted,
      row_number() over (partition by identity order by day, customer_id) as place
    from everyone where identity in (select identity from shared)
  )
  select identity, json_group_array(customer_id) filter (where is_wanted) as owners,
    json_group_array(json_array(customer_id, day, delivery)) filter (where place <= ${MOST_TWINS}) as customers
  from placed group by identity order by identity`)

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
type Shared = readonly [customer_id: string, day: number, delivery: string | null]

/** An identity of several customers. */
interface SharedIdentity {
  /** Those of the customers that were looked for, by stored id. */
  readonly owners: readonly string[]
  readonly customers: readonly Shared[]
}

/** The identities that customers share. */
export interface Identities {
  readonly emails: readonly SharedIdentity[]
  /** First and last name and country. */
  readonly names: readonly SharedIdentity[]
  /** The customers with the e-mail of an affiliate. */
  readonly contacts: readonly Contact[]
}

/** A customer with the e-mail of an affiliate. */
interface Contact {
  readonly affiliate_id: string
  readonly customer_id: string
}

/** The customers whose identities are compared with those of all others. */
export interface IdentityQuery {
  /** The days on which they were recorded as signed up, in days since 1970. */
  readonly first: number
  readonly last: number
  /** Whether names are compared, too. */
  readonly names: boolean
}

/** Finds who shares the identity of customers, or is the contact of an affiliate. */
export async function readIdentities(
  db: Connection,
  account: string,
  { names, ...days }: IdentityQuery,
): Promise<Identities> {
  const values = { account, ...days, identities: MOST_IDENTITIES }
  const first = { ...values, after: '' }
  type Lists = [contacts: Contact[], emails: SharedRow[], ...names: SharedRow[][]]
  const [contacts, ...shared] = await readBatch<Lists>(db, [
    bindStatement(db, FIND_CONTACTS, values),
    bindStatement(db, SHARED_EMAILS, first),
    ...(names ? [bindStatement(db, SHARED_NAMES, first)] : []),
  ])
  return {
    contacts,
    emails: await readRest(db, SHARED_EMAILS, values, shared[0]),
    names: await readRest(db, SHARED_NAMES, values, shared[1] ?? []),
  }
}

/** The identities that one response has. */
const MOST_IDENTITIES = 5000

/** Returns identities with those that did not fit into the first response. */
async function readRest(
  db: Connection,
  statement: Statement,
  values: Readonly<Record<string, unknown>>,
  first: readonly SharedRow[],
): Promise<SharedIdentity[]> {
  const found = first.map(parseRow)
  for (let rows = first; rows.length === MOST_IDENTITIES; ) {
    rows = await all<SharedRow>(db, statement, { ...values, after: rows.at(-1)?.identity })
    for (const row of rows) found.push(parseRow(row))
  }
  return found
}

type SharedRow = Readonly<Record<keyof SharedIdentity | 'identity', string>>

const parseRow = ({ owners, customers }: SharedRow): SharedIdentity => ({
  owners: JSON.parse(owners),
  customers: JSON.parse(customers),
})
