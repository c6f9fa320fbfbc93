import type { Connection } from '../../platform/db/database.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { first, only } from '../../platform/db/query.ts'
import type { applications } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { eventOf } from '../../webhooks/db/events.ts'

/** The contract: how many applications of an account wait at most, and how many a day it takes. */
export const APPLICATION_LIMITS = { waiting: 200, daily: 500 } as const

/** The contract: an application whose address is not proved is none, and gone after 24 hours. */
const UNPROVED_MS = DAY_MS

type Row = typeof applications.$inferSelect

/** What somebody has applied with. `applied_at` is in milliseconds. */
export type NewApplication = Omit<
  Row,
  'account' | 'proved_at' | 'parent' | 'decided_at' | 'decided_by' | 'reason' | 'affiliate_id'
> & {
  /** The share code of the link that led to the form; empty if none did. */
  readonly ref: string
}

const IS_FULL = `(select count(*) from applications
    where account = :account and status = 'waiting') >= ${APPLICATION_LIMITS.waiting}`

const TAKES_NONE = `(${IS_FULL} or (select count(*) from applications
    where account = :account and applied_at > :since) >= ${APPLICATION_LIMITS.daily})`

const INSERT = compileStatement(`
  insert into applications (account, id, status, applied_at, name, company, country, website, promotion, email,
    language, answers, terms_version, parent)
  select :account, :id, :status, :applied_at, :name, :company, :country, :website, :promotion, :email,
    :language, :answers, :terms_version,
    (select affiliate_id from affiliates where account = :account and share_code = :ref)
  where not ${TAKES_NONE}
  on conflict (account, id) do nothing`)

/** Asks the applicant to prove the address. */
const ASK_PROOF = noticesOf(
  'application_received',
  `select id as cause, 'address:' || email as recipient, language from applications
    where account = :account and id = :id and status = 'unproved'`,
  ['language'],
)

const IS_WAITING = `from applications where account = :account and id = :id and status = 'waiting'`

const TELL_TEAM = noticesOf(
  'application',
  `select id as cause, 'role:' || 'manager' as recipient ${IS_WAITING}`,
)

/** Writes `application.received`, without what was written. */
const NOTIFY_RECEIVED = eventOf(
  'application.received',
  `select id as about, json_object('application_id', id,
      'proved', json(iif(proved_at is null, 'false', 'true'))) as data ${IS_WAITING}`,
)

/**
 * Stores an application with its notice, unless it is stored already, too many wait, or the account has got as many as it
 * takes a day. One that is repeated changes nothing.
 */
export const insertApplication = (db: D1Database, account: string, row: NewApplication) => {
  const values = { account, ...row, since: row.applied_at - DAY_MS }
  return writeBatch(
    db,
    [INSERT, ASK_PROOF, TELL_TEAM, NOTIFY_RECEIVED].map((one) => bindStatement(db, one, values)),
  )
}

const PROVE = compileStatement(`
  update applications set status = 'waiting', proved_at = :at
  where account = :account and id = :id and status = 'unproved' and applied_at > :since and not ${IS_FULL}`)

const READ_STATUS = compileStatement(
  'select status from applications where account = :account and id = :id and applied_at > :since',
)

/** Marks the address of an application as proved at `now` (milliseconds), and returns its status then; null if it is gone. */
export async function proveApplication(
  db: D1Database,
  account: string,
  id: string,
  now: number,
): Promise<Row['status'] | null> {
  const values = { account, id, at: new Date(now).toISOString(), since: now - UNPROVED_MS }
  const statements = [PROVE, TELL_TEAM, NOTIFY_RECEIVED, READ_STATUS]
  const lists = await writeBatch<Pick<Row, 'status'>[][]>(
    db,
    statements.map((one) => bindStatement(db, one, values)),
  )
  return lists.at(-1)?.[0]?.status ?? null
}

const DELETE_UNPROVED = compileStatement(`
  delete from applications indexed by applications_unproved
  where status = 'unproved' and applied_at <= :before and ${isDoorOpen('account')}`)

/** Deletes what was not proved in time from a database, of all accounts. `now` is in milliseconds. */
export const deleteUnproved = (db: D1Database, now: number) =>
  writeBatch(db, [bindStatement(db, DELETE_UNPROVED, { before: now - UNPROVED_MS })])

const READ_TAKES_NONE = compileStatement(`select ${TAKES_NONE} as takes_none`)

/** Returns whether an account takes no application at `now` (milliseconds): too many wait, or came within a day. */
export const takesNone = async (db: Connection, account: string, now: number): Promise<boolean> => {
  const values = { account, since: now - DAY_MS }
  return (await only<{ takes_none: number }>(db, READ_TAKES_NONE, values)).takes_none === 1
}

const COUNT_WAITING = compileStatement(`
  select count(*) as count from applications where account = :account and status = 'waiting'`)

/** Returns how many applications of an account wait for a decision. */
export const countWaiting = async (db: Connection, account: string): Promise<number> =>
  (await only<{ count: number }>(db, COUNT_WAITING, { account })).count

/** What an application is like: an affiliate, or another application. */
export interface Similar {
  readonly by: 'email' | 'domain' | 'name'
  readonly affiliate_id: string | null
  readonly application_id: string | null
}

/** An application with what is like it, as a JSON array. */
export type StoredApplication = Omit<Row, 'account'> & {
  readonly similar: string
  /** What a page that is limited in bytes adds. */
  readonly excess?: null
}

/** The most that is listed of one likeness; a domain that more share, such as one of free mail, says nothing. */
export const MAX_SIMILAR = 5

const domainOf = (address: string) => `lower(substr(${address}, instr(${address}, '@') + 1))`

const likeAffiliates = (by: Similar['by'], condition: string) => `
      select * from (select '${by}' as by, a.affiliate_id, null as application_id from affiliates a
        where a.account = p.account and a.affiliate_id is not p.affiliate_id and ${condition}
        limit ${MAX_SIMILAR + 1})`

const IS_OF_DOMAIN = `a.contact_email is not null
          and ${domainOf('a.contact_email')} = ${domainOf('p.email')}`

const NAMES =
  'id status applied_at proved_at name company country website promotion email language answers terms_version parent decided_at decided_by reason affiliate_id'.split(
    ' ',
  )

/** The columns of an application `p`, with what is like it. */
const COLUMNS = `${NAMES.map((name) => `p.${name}`).join()}, (
    select json_group_array(json_object('by', by, 'affiliate_id', affiliate_id, 'application_id', application_id))
    from (${likeAffiliates('email', `${IS_OF_DOMAIN} and lower(a.contact_email) = p.email`)}
      union all
      select * from (select 'email', null, o.id from applications o indexed by applications_email
        where o.account = p.account and o.email = p.email and o.id <> p.id and o.status <> 'unproved'
        limit ${MAX_SIMILAR + 1})
      union all ${likeAffiliates('domain', `${IS_OF_DOMAIN} and lower(a.contact_email) <> p.email`)}
      union all ${likeAffiliates(
        'name',
        `a.display_name is not null and lower(a.display_name) in (lower(p.name), lower(p.company))`,
      )})) as similar`

/** Reads one page of the applications of an account, the latest first. Those that are not proved are none. */
export const listApplications = (
  db: D1Database | D1DatabaseSession,
  account: string,
  status: Row['status'] | undefined,
  page: Page,
): Promise<FoundPage<StoredApplication>> => {
  const wanted = status === undefined ? `status <> 'unproved'` : 'status = :status'
  return paginate<StoredApplication>(
    db,
    {
      columns: [...NAMES, 'similar'],
      from: `(select ${COLUMNS} from applications p where account = :account and ${wanted}) where true`,
      total: `select count(*) as total from applications where account = :account and ${wanted}`,
      key: ['id'],
      descending: true,
      values: { account, ...(status && { status }) },
      limitsBytes: true,
    },
    page,
  )
}

const FIND = compileStatement(
  `select ${COLUMNS} from applications p where account = :account and id = :id and status <> 'unproved'`,
)

/** Returns an application of an account; null if there is none. */
export const findApplication = (db: Connection, account: string, id: string) =>
  first<StoredApplication>(db, FIND, { account, id })

const DECIDE = compileStatement(`
  update applications set status = :status, decided_at = :decided_at, decided_by = :decided_by, reason = :reason,
    affiliate_id = :affiliate_id
  where account = :account and id = :id and status = 'waiting'`)

/** Decides on an application. The batch fails if it does not wait any more. */
export const decideApplication = (
  db: D1Database,
  account: string,
  decision: Pick<Row, 'id' | 'status' | 'decided_at' | 'decided_by' | 'reason' | 'affiliate_id'>,
) => requiredChange(db, DECIDE, { account, ...decision })
