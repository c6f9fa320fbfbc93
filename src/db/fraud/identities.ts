import type { Connection } from '../database.ts'
import { SIGNUP_DAY } from '../records/signup.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'

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

/** Finds the identities of `:ids` that others share: who of `:ids` has each, and who shares it. */
const findShared = (identity: string) =>
  compileStatement(`
  with own as materialized (
    select c.customer_id, ${identity} as identity
    from json_each(:ids) i
    cross join customers c on c.account = :account and c.customer_id = i.value
    where identity is not null
  ), shared as (
    select ${identity} as identity, c.customer_id, ${SIGNUP_DAY} as day,
      row_number() over (partition by ${identity} order by ${SIGNUP_DAY}, c.customer_id) as place
    from customers c where c.account = :account and ${identity} in (select identity from own)
  )
  select json_group_array(json_array(customer_id, day)) as customers,
    (select json_group_array(customer_id) from own o where o.identity = s.identity) as owners
  from shared s where place <= ${MOST_TWINS}
  group by identity having count(*) > 1`)

const SHARED_EMAILS = findShared(normalized('c.email'))
const SHARED_NAMES = findShared(FULL_NAME)

const FIND_CONTACTS = compileStatement(`
  select a.affiliate_id, c.customer_id
  from json_each(:affiliates) f
  cross join affiliates a on a.account = :account and a.affiliate_id = f.value
  cross join json_each(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  where ${normalized('a.contact_email')} = ${normalized('c.email')}`)

/** A customer of an identity: the stored id, and the day of the signup. */
type Shared = readonly [customer_id: string, day: number]

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
  readonly contacts: readonly { readonly affiliate_id: string; readonly customer_id: string }[]
}

/**
 * Finds who shares the identity of some customers, or is the contact of an affiliate.
 *
 * @param ids As stored.
 */
export async function readIdentities(
  db: Connection,
  account: string,
  affiliates: readonly string[],
  ids: readonly string[],
): Promise<Identities> {
  const values = { account, ids: JSON.stringify(ids), affiliates: JSON.stringify(affiliates) }
  type Lists = [
    emails: SharedRow[],
    names: SharedRow[],
    contacts: { affiliate_id: string; customer_id: string }[],
  ]
  const [emails, names, contacts] = await readBatch<Lists>(db, [
    bindStatement(db, SHARED_EMAILS, values),
    bindStatement(db, SHARED_NAMES, values),
    bindStatement(db, FIND_CONTACTS, values),
  ])
  return { emails: emails.map(parseRow), names: names.map(parseRow), contacts }
}

type SharedRow = Readonly<Record<keyof SharedIdentity, string>>

const parseRow = ({ owners, customers }: SharedRow): SharedIdentity => ({
  owners: JSON.parse(owners),
  customers: JSON.parse(customers),
})
