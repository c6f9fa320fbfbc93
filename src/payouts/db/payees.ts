import { endAgreements, isCurrent, type StoredInvoice } from '../../books/db/invoices.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { Party, StoredDetails } from '../model.ts'

// Versions of bank details. The one with the highest number is the current one: no other is paid. An erasure makes all
// versions `missing`.

/** Whose details are read or changed. */
export interface Owner {
  readonly account: string
  readonly party: Party
}

/** The current version, with what a person compares it with. */
export interface CurrentDetails extends StoredDetails {
  /**
   * The version and the details that were approved before, and what a bank said of them, as a JSON object; null if
   * there are none.
   */
  readonly previous: string | null
  /** The affiliates whose current details have the same number of an account, as a JSON array. */
  readonly same_account_as: string
  /** Who of the team has invited the member of the affiliate who entered it; null if it was nobody, or they were removed. */
  readonly invited_by: string | null
}

/** The number of affiliates that are named beside a shared account. */
const NAMED_SHARED = 10

/** The other affiliates `s` whose current details have the account of a row `p` of `payees`. */
const SHARING = `current_payees s where s.account = p.account and s.digest = p.digest and s.party = 'payee'
          and (s.party, s.id) is not (p.party, p.id)`

/** Returns the SQL of a JSON array of the first of them. */
const idsOf = (some: string) => `(
      select json_group_array(id) from (select s.id from ${some} order by s.id limit ${NAMED_SHARED}))`

/** Whether the account of a row `p` can be paid, and nobody has said why another affiliate may have it. */
const UNEXPLAINED = `p.party = 'payee' and p.state = 'approved' and p.same_account is null`

const APPROVED_SHARING = `${SHARING} and s.state = 'approved'`

/**
 * The SQL of a JSON array of the affiliates who are paid to the account of a row `p`, until an approver says why. Only
 * what is approved counts: whoever may enter details could else try numbers until one is known.
 */
export const SAME_ACCOUNT = `iif(${UNEXPLAINED}, ${idsOf(APPROVED_SHARING)}, '[]')`

/** Returns the SQL of the latest version before a row `p` that meets a condition. */
const beforeThat = (condition: string) => `(
      select json_object('version', o.version, 'details', o.details, 'tax', o.tax,
        'reason', iif(o.state = 'returned', o.reason, null)) from payees o
      where o.account = p.account and o.party = p.party and o.id = p.id and o.version < p.version
        and o.state <> 'missing' and o.details is not null and ${condition}
      order by o.version desc limit 1)`

/** Returns the SQL of what is known of the member of an affiliate who entered a row `p`. */
const authorOf = (column: string) => `(
      select m.${column} from affiliate_members m
      where m.account = p.account and m.affiliate_id = p.id
        and p.entered_by = 'affiliate-member ' || m.id || ' ' || p.id)`

/** The current versions, with the columns of `CurrentDetails`. */
const CURRENT = `(
    select p.*, ${beforeThat('o.payable_from is not null')} as previous,
      iif(p.same_account is null, ${idsOf(SHARING)}, '[]') as same_account_as,
      ${authorOf('invited_by')} as invited_by
    from payees p where ${isCurrent('p')})`

const READ_CURRENT = compileStatement(`
  select p.* from ${JSON_EACH}(:ids) i
  cross join ${CURRENT} p on p.account = :account and p.party = :party and p.id = i.value`)

/** Returns the current versions of some details, also those that were erased, by id. */
export async function readCurrent(
  db: Connection,
  { account, party }: Owner,
  ids: readonly string[],
): Promise<Map<string, CurrentDetails>> {
  const values = { account, party, ids: JSON.stringify(ids) }
  const rows = await all<CurrentDetails>(db, READ_CURRENT, values)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reads one page of the current versions in the order of their ids, without those that were erased. */
export const listCurrent = (
  db: D1Database,
  values: Owner & { readonly state: StoredDetails['state'] | null },
  page: Page,
): Promise<FoundPage<CurrentDetails>> =>
  paginate(
    db,
    {
      columns: ['*'],
      from: `${CURRENT} where account = :account and party = :party
        and iif(:state is null, state <> 'missing', state = :state)`,
      key: ['id'],
      values: { ...values },
    },
    page,
  )

/** A version, the details before it, and who and what used it. */
export interface ListedVersion extends CurrentDetails {
  /** The member of the affiliate who entered it; null if it was nobody of theirs. */
  readonly author: string | null
  /** Of the transfers that used it, `{id, batch}`, as a JSON array. */
  readonly transfers: string
}

/** Reads one page of the versions of a payee, the latest first, without those that were erased. */
export const listVersions = (
  db: D1Database,
  account: string,
  id: string,
  page: Page,
): Promise<FoundPage<ListedVersion>> =>
  paginate(
    db,
    {
      columns: [
        'p.*',
        `${beforeThat('true')} as previous`,
        `'[]' as same_account_as`,
        `${authorOf('invited_by')} as invited_by`,
        `${authorOf('name')} as author`,
        `(select json_group_array(json_object('id', t.id, 'batch', t.batch) order by t.id)
          from transfers t indexed by transfers_affiliate
          where t.account = p.account and t.affiliate_id = p.id and t.payee_version = p.version) as transfers`,
      ],
      from: `payees p where account = :account and party = 'payee' and id = :id and state <> 'missing'`,
      key: ['version'],
      descending: true,
      values: { account, id },
    },
    page,
  )

const LIST_WAITING = compileStatement(`
  select json_group_array(iif(party = 'payer', 'payer ', '') || id order by party, state desc, id) as names
  from payees p where account = :account and state in ('entered', 'blocked') and ${isCurrent('p')}`)

/**
 * Returns whose details wait for an approval or are blocked, as a JSON array: affiliates, and after them payers, such as
 * `payer main`.
 */
export const listWaiting = (db: Connection, account: string) =>
  only<{ names: string }>(db, LIST_WAITING, { account })

const LIST_SAME_ACCOUNT = compileStatement(`
  select json_group_array(id order by id) as names from payees p
  where account = :account and ${UNEXPLAINED} and ${isCurrent('p')} and exists (select 1 from ${APPROVED_SHARING})`)

/** Returns who is paid to the account of another affiliate, without that an approver said why, as a JSON array. */
export const listSameAccount = (db: Connection, account: string) =>
  only<{ names: string }>(db, LIST_SAME_ACCOUNT, { account })

/** Inserts versions. A version that exists, because another change came first, fails the batch. */
const INSERT = compileStatement(`
  insert into payees (account, party, id, version, state, method, details, key_id, digest, tax,
    approvals, entered_by, entered_at)
  select :account, :party, value ->> 'id', value ->> 'version', 'entered', value ->> 'method',
    value ->> 'details', value ->> 'key_id', value ->> 'digest', value ->> 'tax',
    value ->> 'approvals', :actor, :now
  from ${JSON_EACH}(:rows)`)

/** Writes \`payee.changed\`. It names the state, never the details. */
const NOTIFY = eventOf(
  'payee.changed',
  `select p.id || ' ' || p.version || ' ' || :audit as about, json_object('affiliate_id', p.id,
      'version', p.version, 'state', p.state) as data
    from ${JSON_EACH}(:rows) r
    cross join payees p on p.account = :account and p.party = 'payee' and p.id = r.value ->> 'id'
      and p.version = r.value ->> 'version'`,
)

/** Tells the persons of affiliates that their bank details changed. */
const TELL_CHANGED = noticesOf(
  'details_changed',
  `select (value ->> 'version') || ' ' || (value ->> 'id') as cause,
      'affiliate:' || (value ->> 'id') as recipient
    from ${JSON_EACH}(:rows) where :party = 'payee'`,
)

/** Asks approvers, once for all details of a request. */
const ASK_TO_APPROVE = noticesOf(
  'details_entered',
  `select :audit as cause, 'role:' || 'approver' as recipient, :actor as except_actor,
      iif(count(*) = 1 and :party = 'payee', min(value ->> 'id'), null) as affiliate_id
    from ${JSON_EACH}(:rows)`,
  ['except_actor', 'affiliate_id'],
)

/** Who makes a change, and the id of its entry in the audit log. `now` is in milliseconds. */
export interface Author extends Owner {
  readonly actor: string
  readonly now: number
  readonly audit: string
}

/** Returns the statements that tell webhooks of the payees among versions. */
const notify = (db: D1Database, { account, party, audit }: Author, rows: string) =>
  party === 'payee' ? [bindStatement(db, NOTIFY, { account, audit, rows })] : []

/** A version to store. */
export type NewVersion = Pick<
  StoredDetails,
  'id' | 'version' | 'method' | 'details' | 'key_id' | 'digest' | 'tax' | 'approvals'
>

/** Returns the statements that store versions. The batch fails if a version exists. */
export const insertVersions = (
  db: D1Database,
  author: Author,
  versions: readonly NewVersion[],
): D1PreparedStatement[] =>
  toJsonChunks(versions).flatMap((rows) => [
    ...[INSERT, TELL_CHANGED, ASK_TO_APPROVE].map((one) =>
      bindStatement(db, one, { ...author, rows }),
    ),
    ...notify(db, author, rows),
  ])

const SET_STATE = compileStatement(`
  update payees as p set state = :state, approvals = :approvals, approved_at = :approved_at,
    payable_from = :payable_from, reason = :reason, same_account = :same_account,
    tax = :tax
  where account = :account and party = :party and id = :id and version = :version
    and state = :seen_state and approvals = :seen_approvals and same_account is :seen_same_account
    and tax = :seen_tax
    and ${isCurrent('p')}`)

/** Returns the statements that change the state of a current version. The batch fails if it is not as it was read. */
export function setState(
  db: D1Database,
  author: Author,
  seen: StoredDetails,
  next: Partial<
    Pick<
      StoredDetails,
      'state' | 'approvals' | 'approved_at' | 'payable_from' | 'reason' | 'same_account' | 'tax'
    >
  >,
): D1PreparedStatement[] {
  const before = {
    seen_state: seen.state,
    seen_approvals: seen.approvals,
    seen_same_account: seen.same_account,
    seen_tax: seen.tax,
  }
  return [
    ...requiredChange(db, SET_STATE, { ...seen, ...next, ...before, account: author.account }),
    ...notify(db, author, JSON.stringify([seen])),
  ]
}

/** The time of the last change of a transfer, or of the last batch, that used a version `p`, or of an invoice. Null: none did. */
const LAST_USED = `iif(p.party = 'payee', (
      select max(at) from (
        select t.changed_at as at from transfers t indexed by transfers_affiliate
        where t.account = p.account and t.affiliate_id = p.id and t.payee_version = p.version
        union all
        select unixepoch(i.at, 'subsec') * 1000 from invoices i indexed by invoices_sequence
        where i.account = p.account and i.affiliate_id = p.id and i.payee_version = p.version)
    ), (
      select max(at) from (
        select b.created_at as at from payout_batches b
        where b.account = p.account and b.payer = p.id and b.payer_version = p.version
          and b.confirmed_by is not null
        union all
        select unixepoch(i.at, 'subsec') * 1000 from invoices i indexed by invoices_payer
        where i.account = p.account and i.payer = p.id and i.payer_version = p.version)
    ))`

const ERASE = compileStatement(`
  update payees as p set state = 'missing', digest = null, reason = null, same_account = null,
    details = iif(${LAST_USED} is null, null, details)
  where account = :account and party = :party and id = :id and state <> 'missing'`)

const OWN_TRANSFERS = `(select id from transfers where account = :account and affiliate_id = :id)`

/** What an entry of an answer is about: a transfer that becomes something, or a doubt. */
const NAMED = `ifnull(i.value ->> 'transfer', i.value ->> 'reference')`

/** Returns the SQL of a JSON array without the reasons of its items that are about the payee. */
const withoutReasons = (array: string, isOwn: string) => `(
      select json_group_array(json(iif(${isOwn}, json_replace(i.value, '$.reason', null), i.value)) order by i.key)
      from json_each(${array}) i)`

/** What banks have said of a payee, wherever it stands: it may name the owner and the account. Codes stay. */
const ERASE_WORDS = [
  `update transfers indexed by transfers_affiliate set reason = null, name_check = null
    where account = :account and affiliate_id = :id`,
  `update payment_returns set reason = 'Erased' where account = :account and payment in (
      select reference from payments where account = :account and affiliate_id = :id)`,
  `update webhook_events indexed by webhook_events_about set data = json_replace(data, '$.reason', null)
    where account = :account and type = 'payout.returned' and data ->> 'affiliate_id' = :id`,
  `update payout_answers set entries = ${withoutReasons('entries', `${NAMED} in ${OWN_TRANSFERS}`)},
      summary = json_set(summary, '$.transfers',
        ${withoutReasons("summary, '$.transfers'", "i.value ->> 'affiliate_id' = :id")})
    where account = :account and exists (
      select 1 from json_each(entries) i where ${NAMED} in ${OWN_TRANSFERS})`,
  `update bank_movements set reason = null where account = :account and reference in ${OWN_TRANSFERS}`,
].map(compileStatement)

/** Returns the statements that erase all versions: details at once of what nothing used. Nobody reads the others. */
export const erase = (db: D1Database, author: Author, { id, version }: StoredDetails) => [
  ...requiredChange(db, ERASE, { ...author, id }),
  ...(author.party === 'payee'
    ? [
        endAgreements(db, author.account, [id], author.now),
        ...ERASE_WORDS.map((one) => bindStatement(db, one, { ...author, id })),
      ]
    : []),
  ...notify(db, author, JSON.stringify([{ id, version }])),
]

const ERASE_PAST = compileStatement(`
  update payees as p set details = null, digest = null, reason = null, same_account = null
  where account = :account and details is not null and (state = 'missing' or not ${isCurrent('p')})
    and coalesce(${LAST_USED}, entered_at) < :before`)

/** Returns the statement that erases what is not current and was last used, or else entered, before a time. */
export const erasePast = (db: D1Database, account: string, before: number) =>
  bindStatement(db, ERASE_PAST, { account, before })

const READ_STALE = compileStatement(`
  select party, id, version, details, tax from payees
  where account = :account and details is not null and key_id <> :key_id limit :limit`)

/** Reads versions that another key has encrypted. */
export const readStale = (db: Connection, account: string, key_id: string, limit: number) =>
  all<StoredDetails>(db, READ_STALE, { account, key_id, limit })

const REPLACE = compileStatement(`
  update payees set details = v.value ->> 'details', key_id = v.value ->> 'key_id',
    digest = iif(payees.digest is null, null, v.value ->> 'digest')
  from ${JSON_EACH}(:rows) v
  where payees.account = :account and payees.party = v.value ->> 'party' and payees.id = v.value ->> 'id'
    and payees.version = v.value ->> 'version' and payees.details is not null`)

/** Returns the statements that store versions as another key encrypts them. */
export const replaceEncrypted = (db: D1Database, account: string, versions: readonly object[]) =>
  toJsonChunks(versions).map((rows) => bindStatement(db, REPLACE, { account, rows }))

const READ_PARTIES = compileStatement(`
  select p.* from payees p
  where p.account = :account and ((p.party, p.id, p.version) = ('payee', :affiliate_id, :payee_version)
    or (p.party, p.id, p.version) = ('payer', :payer, :payer_version))
  order by p.party`)

/** Returns the details of the affiliate and of the firm that an invoice names, also those that are erased for all else. */
export const readParties = (
  db: Connection,
  account: string,
  { affiliate_id, payee_version, payer, payer_version }: StoredInvoice,
) =>
  all<StoredDetails>(db, READ_PARTIES, {
    account,
    affiliate_id,
    payee_version,
    payer,
    payer_version,
  })
