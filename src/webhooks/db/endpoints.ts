import { all, first, setTerms } from '../../platform/db/query.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { columnNames, type RowOf } from '../../platform/db/table.ts'
import { webhookEndpoints } from '../../platform/db/tables.ts'
import { requiredChange } from '../../platform/directory/audit.ts'

/** An endpoint as it is stored. `secrets` is never shown. */
export type EndpointRow = Omit<RowOf<typeof webhookEndpoints>, 'account'>

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
  values (:account, :id, :affiliate_id, :url, :method, :events, :description, :secrets, :created_at)
  on conflict do nothing`)

/** Returns the statement that inserts an endpoint. */
export const insertEndpoint = (
  db: D1Database,
  account: string,
  { disabled: _, failing_since: __, active_since: ___, ...endpoint }: EndpointRow,
) => bindStatement(db, INSERT_ENDPOINT, { ...endpoint, account })

const CHANGED = [
  'url',
  'events',
  'description',
  'secrets',
  'disabled',
  'failing_since',
  'active_since',
] as const

/**
 * Returns the statements that change an endpoint. A property that is absent keeps its value. The batch fails if there
 * is no such endpoint.
 */
export function updateEndpoint(
  db: D1Database,
  account: string,
  id: string,
  change: Partial<Pick<EndpointRow, (typeof CHANGED)[number]>>,
) {
  const statement = compileStatement(
    `update webhook_endpoints set ${setTerms(CHANGED, change)} where account = :account and id = :id`,
  )
  return requiredChange(db, statement, { ...change, account, id })
}

const DELETE_ENDPOINT = compileStatement(
  `delete from webhook_endpoints where account = :account and id = :id`,
)

/** Returns the statements that delete an endpoint; they fail if there is none. Its messages expire with their events. */
export const deleteEndpoint = (db: D1Database, account: string, id: string) =>
  requiredChange(db, DELETE_ENDPOINT, { account, id })

const BEGIN_PROGRESS = compileStatement(`
  insert into postback_progress (account, read_to) values (:account, :now)
  on conflict (account) do nothing`)

/** Returns the statement that begins to read causes at `now` (milliseconds), unless they are read already. */
export const beginProgress = (db: D1Database, account: string, now: number) =>
  bindStatement(db, BEGIN_PROGRESS, { account, now })
