import { all, first, setTerms } from '../../platform/db/query.ts'
import { webhookEndpoints } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { columnNames } from '../../platform/db/table.ts'

/** An endpoint as it is stored. `secrets` is never shown. */
export type EndpointRow = Omit<typeof webhookEndpoints.$inferSelect, 'account'>

/** The account of endpoints, and the affiliate whose postbacks they are; null: webhooks of the account. */
export interface EndpointOwner {
  readonly account: string
  readonly affiliate_id: string | null
}

const IS_OWN = 'account = :account and affiliate_id is :affiliate_id'

const SELECT_ENDPOINTS = `
  select ${columnNames(webhookEndpoints).join()} from webhook_endpoints where ${IS_OWN}`

const READ_ENDPOINTS = compileStatement(`${SELECT_ENDPOINTS} order by created_at, id`)

/** Reads the endpoints of an owner, the oldest first. */
export const readEndpoints = (db: D1Database, owner: EndpointOwner): Promise<EndpointRow[]> =>
  all<EndpointRow>(db, READ_ENDPOINTS, { ...owner })

const READ_ENDPOINT = compileStatement(`${SELECT_ENDPOINTS} and id = :id`)

/** Reads one endpoint of an owner; null if there is none. */
export const readEndpoint = (
  db: D1Database,
  owner: EndpointOwner,
  id: string,
): Promise<EndpointRow | null> => first<EndpointRow>(db, READ_ENDPOINT, { ...owner, id })

/** The most failing endpoints that are read. */
const MAX_FAILING = 1000

const READ_FAILING = compileStatement(`
  select affiliate_id, url from webhook_endpoints
  where account = :account and failing_since is not null and disabled is not 'team'
    and (disabled is not null or failing_since <= :since)
  order by created_at, id limit ${MAX_FAILING}`)

/** Reads the endpoints of an account that failures have disabled, or that have failed since a time (milliseconds). */
export const readFailingEndpoints = (
  db: D1DatabaseSession,
  values: { readonly account: string; readonly since: number },
): Promise<Pick<EndpointRow, 'affiliate_id' | 'url'>[]> => all(db, READ_FAILING, values)

const INSERT_ENDPOINT = compileStatement(`
  insert into webhook_endpoints (account, id, affiliate_id, url, method, events, description, secrets,
    created_at)
  select :account, :id, :affiliate_id, :url, :method, :events, :description, :secrets, :created_at
  where (select count(*) from webhook_endpoints where ${IS_OWN} and id <> :id) < :most
  on conflict do nothing`)

/** Returns the statement that inserts an endpoint, unless its owner has `most` of them. */
export const insertEndpoint = (
  db: D1Database,
  account: string,
  { disabled: _, failing_since: __, active_since: ___, ...endpoint }: EndpointRow,
  most: number,
) => bindStatement(db, INSERT_ENDPOINT, { ...endpoint, account, most })

/** Changed properties of an endpoint; a property that is absent keeps its value. */
export interface EndpointChange {
  readonly url?: string
  readonly events?: string
  readonly description?: string | null
  readonly disabled?: 'team' | null
  /** Since when a postback has wanted its events, in milliseconds. */
  readonly active_since?: number
}

/** Returns the statement that changes an endpoint. Enabling an endpoint clears its failures. */
export function updateEndpoint(
  db: D1Database,
  account: string,
  id: string,
  { disabled, ...change }: EndpointChange,
) {
  const set = setTerms(['url', 'events', 'description', 'active_since'], {
    ...change,
  })
  // An endpoint that is disabled already keeps its reason.
  if (disabled === 'team') set.push(`disabled = ifnull(disabled, 'team')`)
  if (disabled === null) set.push('disabled = null', 'failing_since = null')
  const statement = compileStatement(
    `update webhook_endpoints set ${set.join()} where account = :account and id = :id`,
  )
  return bindStatement(db, statement, { ...change, account, id })
}

const REPLACE_SECRETS = compileStatement(`
  update webhook_endpoints set secrets = :after
  where account = :account and id = :id and secrets = :before`)

/** Returns the statement that replaces the secrets of an endpoint, if they are still `before`. */
export const replaceSecrets = (
  db: D1Database,
  account: string,
  id: string,
  [before, after]: readonly [string, string],
) => bindStatement(db, REPLACE_SECRETS, { account, id, before, after })

const DELETE_ENDPOINT = compileStatement(
  `delete from webhook_endpoints where account = :account and id = :id`,
)

/** Returns the statement that deletes an endpoint. Its messages expire with their events. */
export const deleteEndpoint = (db: D1Database, account: string, id: string) =>
  bindStatement(db, DELETE_ENDPOINT, { account, id })

const BEGIN_PROGRESS = compileStatement(`
  insert into postback_progress (account, read_to) values (:account, :now)
  on conflict (account) do nothing`)

/** Returns the statement that begins to read causes at `now` (milliseconds), unless they are read already. */
export const beginProgress = (db: D1Database, account: string, now: number) =>
  bindStatement(db, BEGIN_PROGRESS, { account, now })
