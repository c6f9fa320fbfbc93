import { and, asc, eq, sql } from 'drizzle-orm'
import { all, build, first, isOneOf, toStatement } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { webhookEndpoints, webhookEvents, webhookMessages } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** An endpoint as it is stored. `secrets` is never shown. */
export type EndpointRow = Omit<typeof webhookEndpoints.$inferSelect, 'account'>

const ofAccount = (account: string, id: string) =>
  and(eq(webhookEndpoints.account, account), eq(webhookEndpoints.id, id))

/** Reads the endpoints of an account, the oldest first. */
export const readEndpoints = (db: D1Database, account: string): Promise<EndpointRow[]> =>
  all(
    db,
    build
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.account, account))
      .orderBy(asc(webhookEndpoints.created_at), asc(webhookEndpoints.id)),
  )

/** Reads one endpoint of an account; null if there is none. */
export const readEndpoint = (
  db: D1Database,
  account: string,
  id: string,
): Promise<EndpointRow | null> =>
  first(db, build.select().from(webhookEndpoints).where(ofAccount(account, id)))

const INSERT_ENDPOINT = compileStatement(`
  insert into webhook_endpoints (account, id, url, events, description, secrets, created_at)
  select :account, :id, :url, :events, :description, :secrets, :created_at
  where (select count(*) from webhook_endpoints where account = :account and id <> :id) < :most
  on conflict do nothing`)

/** Inserts an endpoint unless the account has `most` of them. */
export const insertEndpoint = (
  db: D1Database,
  account: string,
  { id, url, events, description, secrets, created_at }: EndpointRow,
  most: number,
) =>
  bindStatement(db, INSERT_ENDPOINT, {
    ...{ account, id, url, events, description, secrets, created_at, most },
  })

/** Changed properties of an endpoint; a property that is absent keeps its value. */
export interface EndpointChange {
  readonly url?: string
  readonly events?: string
  readonly description?: string | null
  readonly disabled?: 'team' | null
}

/** Changes an endpoint. One that is enabled begins without failures. */
export function updateEndpoint(db: D1Database, account: string, id: string, set: EndpointChange) {
  const failing_since = set.disabled === null ? null : undefined
  // The reason why it is disabled stays.
  const disabled =
    set.disabled === 'team' ? sql`ifnull(${webhookEndpoints.disabled}, 'team')` : set.disabled
  const values = { ...set, disabled, failing_since }
  return toStatement(db, build.update(webhookEndpoints).set(values).where(ofAccount(account, id)))
}

/** Replaces the secrets of an endpoint if they are still those that were read. */
export const replaceSecrets = (
  db: D1Database,
  account: string,
  id: string,
  [before, after]: readonly [string, string],
) =>
  toStatement(
    db,
    build
      .update(webhookEndpoints)
      .set({ secrets: after })
      .where(and(ofAccount(account, id), eq(webhookEndpoints.secrets, before))),
  )

/** Deletes an endpoint. What was sent to it expires with its events. */
export const deleteEndpoint = (db: D1Database, account: string, id: string) =>
  toStatement(db, build.delete(webhookEndpoints).where(ofAccount(account, id)))

/** Deletes the endpoints of accounts, and what they would be sent. */
export const dropDisabled = (db: D1Database, accounts: readonly string[]) =>
  withD1Retry(() =>
    db.batch([
      toStatement(
        db,
        build.delete(webhookEndpoints).where(isOneOf(webhookEndpoints.account, accounts)),
      ),
      toStatement(
        db,
        build.delete(webhookMessages).where(isOneOf(webhookMessages.account, accounts)),
      ),
      toStatement(db, build.delete(webhookEvents).where(isOneOf(webhookEvents.account, accounts))),
    ]),
  )
