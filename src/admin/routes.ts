import { type Context, Hono } from 'hono'
import { integrationsTeam, roleOfPath } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { grantOf } from '../auth/grant.ts'
import { noStore } from '../auth/oauth.ts'
import { rolesNow } from '../auth/roles-now.ts'
import { rateImport } from '../commission/rates/routes.ts'
import { RUN_PATHS, STATEMENT_PATHS, teamStatements } from '../commission/statements/routes.ts'
import { TEAM_WHY_PATHS, teamWhy, WHY_PATHS } from '../commission/why/routes.ts'
import { resolveDatabase } from '../db/database.ts'
import { listCopies } from '../db/directory/account-moves.ts'
import { findAccount, listAccounts, listBindings } from '../db/directory/accounts.ts'
import { type AuditFilter, type AuditSource, listAudit } from '../db/directory/audit.ts'
import type { Account } from '../db/schema.ts'
import { DAY_MS } from '../durations.ts'
import { accountExports, EXPORT_PATHS } from '../exports/routes.ts'
import { CASE_PATHS, teamCases } from '../fraud/case-routes.ts'
import { mount, type TeamCall } from '../http/operation.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { invalidQuery, readDays, readQuery } from '../http/query.ts'
import { ACCOUNT_PATHS, accountRoutes } from '../ingest/account-routes.ts'
import type { ResourcesOf } from '../ingest/resource.ts'
import { TEAM_READING_PATHS, teamReading } from '../ingest/team-routes.ts'
import { accountReports, REPORT_PATHS } from '../reports/routes.ts'
import { quote } from '../validation/quote.ts'
import { findRouteAccount } from './accounts.ts'
import { affiliates } from './affiliates.ts'
import { archives } from './archives.ts'
import { attribution } from './attribution.ts'
import { changes } from './changes.ts'
import { databases } from './databases.ts'
import { erasureReplay, erasures } from './erasures.ts'
import { readFeeds } from './feeds.ts'
import { fraudSimulations } from './fraud-simulations.ts'
import { moves } from './moves.ts'
import { OPERATIONS } from './operations.ts'
import { payoutFiles } from './payouts.ts'
import { assignments } from './plans.ts'
import { search } from './search.ts'
import { simulations } from './simulations.ts'

/** Returns the routes by which the team sees what has happened in an account, exports it, and archives it. */
const insights = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>()
    .route('/', attribution)
    .route('/', changes)
    .route('/archives', archives(resourcesOf))

/** The routes that concern no account. */
const deployment = new Hono<AppEnv>()
  .route('/erasures', erasureReplay)
  .route('/fx-rates', rateImport)
  .route('/databases', databases)

/** Returns who calls. */
const teamCallOf = (c: Context<AppEnv>): TeamCall => ({
  env: c.env,
  actor: c.var.actor,
  role: c.var.role,
  accounts: c.var.accounts,
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
})

/** Adds the routes that are shared with the account's own API, which reads the account from its grant. */
function shareRoutes(routes: Hono<AppEnv>, resourcesOf: ResourcesOf): void {
  const account = '/accounts/:account'
  const shared = { ...ACCOUNT_PATHS, ...STATEMENT_PATHS, ...RUN_PATHS, ...REPORT_PATHS }
  for (const path of Object.values({
    ...shared,
    ...WHY_PATHS,
    ...CASE_PATHS,
    ...TEAM_WHY_PATHS,
    ...TEAM_READING_PATHS,
    ...EXPORT_PATHS,
  })) {
    routes.use(`${account}${path}`, async (c, next) => {
      const grantPromise = findRouteAccount(c).then((row) => grantOf(row, null, 'read'))
      grantPromise.catch(() => {}) // The path may have no handler that awaits it.
      c.set('grantPromise', grantPromise)
      await next()
    })
  }
  routes.route(account, accountRoutes(resourcesOf)).route(account, teamReading(resourcesOf))
  routes.route(account, teamStatements).route(account, teamWhy).route(account, teamCases)
  routes.route(account, accountReports).route(account, accountExports)
}

/** Returns the routes of the administration API. Every change is in the audit log. */
export const admin = (resourcesOf: ResourcesOf) => {
  const routes = new Hono<AppEnv>()
  routes.use(integrationsTeam, noStore)
  const account = '/accounts/:account'
  // These come first, since they answer a path of an operation with CSV.
  routes.use(`${account}/payouts`, roleOfPath).route(`${account}/payouts`, payoutFiles)
  mount(routes, OPERATIONS, teamCallOf)
  routes.use(roleOfPath)
  routes
    .route(`${account}/moves`, moves)
    .route(`${account}/affiliates`, affiliates)
    .route(`${account}/plans`, simulations)
    .route(`${account}/assignments`, assignments)
    .route(`${account}/fraud-rules`, fraudSimulations)
    .route(account, insights(resourcesOf))
    .route(account, erasures)

  shareRoutes(routes, resourcesOf)
  return routes
    .route('/', deployment)
    .route('/', search)
    .get('/feeds', async (c) => {
      const page = await readPage(c.env, 'feeds', readQuery(c.req.url, ...PAGE_PARAMETERS))
      const accountPage = await listAccounts(c.env.DB, page)
      const names = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)
      const data = await readFeeds(c.env, accountPage.data, names, Date.now())
      return respondWithPage(c, 'feeds', page, { ...accountPage, data })
    })
    .get('/audit-log', respondWithAudit)
}

const AUDIT_PARAMETERS = ['account', 'from', 'to', 'actor', 'kind'] as const

/** Returns the filter of the audit log. Days are those of UTC. */
function auditFilter(
  query: Partial<Record<(typeof AUDIT_PARAMETERS)[number], string>>,
): AuditFilter {
  const { account = null, actor, kind } = query
  const { from, to } = readDays(query)
  return {
    account,
    ...(actor !== undefined && { actor }),
    ...(from !== undefined && { start: Date.parse(from) }),
    ...(to !== undefined && { end: Date.parse(to) + DAY_MS }),
    ...(kind !== undefined && { kinds: kind.split(',') }),
  }
}

/** Returns the databases, besides the directory, whose entries the audit log of all accounts has. */
async function auditSources(env: Env): Promise<AuditSource[]> {
  const [bindings, copies] = await Promise.all([listBindings(env.DB), listCopies(env.DB)])
  const copiesIn = Map.groupBy(copies, ({ binding }) => binding)
  return bindings
    .filter((binding) => binding !== 'DB')
    .map((binding) => ({
      db: resolveDatabase(env, binding),
      copies: (copiesIn.get(binding) ?? []).map(({ account }) => account),
    }))
}

/** Returns the database, besides the directory, that has entries of one account. */
async function auditSourceOf(env: Env, found: Promise<Account | null>): Promise<AuditSource[]> {
  const binding = (await found)?.binding ?? 'DB'
  return binding === 'DB' ? [] : [{ db: resolveDatabase(env, binding), copies: [] }]
}

/** Responds with one page of the audit log: of all accounts, or of the one that the query names. */
async function respondWithAudit(c: Context<AppEnv>): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS, ...AUDIT_PARAMETERS)
  const { account: id, ...narrowed } = auditFilter(query)
  const context = JSON.stringify(['audit', id, ...Object.entries(narrowed)])
  const page = await readPage(c.env, context, query)
  const found = id === null ? Promise.resolve(null) : findAccount(c.env.DB, id)
  const [account, list] = await Promise.all([
    found,
    listAudit(
      c.env.DB,
      id === null ? auditSources(c.env) : auditSourceOf(c.env, found),
      { account: id, ...narrowed },
      page,
    ),
  ])
  if (id !== null && !account) throw invalidQuery(`There is no account ${quote(id)}.`)
  const roles = await rolesNow(
    list.data.map(({ actor }) => actor),
    c.env,
  )
  const data = list.data.map((entry) => ({ ...entry, role: roles.get(entry.actor) ?? null }))
  return respondWithPage(c, context, page, { ...list, data })
}
