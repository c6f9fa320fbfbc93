import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { beginRun, finishRun, makeStep } from '../../src/commission/run/runs.ts'
import { insertFirstRules } from '../../src/fraud/db/rules.ts'
import type { Vertical } from '../../src/fraud/kind.ts'
import { reviewAfterRun } from '../../src/fraud/review-step.ts'
import { firstRules } from '../../src/fraud/rule-sets.ts'
import { columnNames, type Table } from '../../src/platform/db/table.ts'
import * as schema from '../../src/platform/db/tables.ts'
import type { Job } from '../../src/platform/jobs.ts'
import { storeOutcome } from '../../src/webhooks/db/queue.ts'
import { storeStarted } from '../commission/stored-runs.ts'
import { overriding } from '../overriding.ts'
import { worldOf } from '../sweep/endure.ts'
import { surrounded } from '../sweep/platform.ts'
import { asks, ROUTES } from '../sweep/routes.ts'
import { WEBHOOK_EVENT, WEBHOOK_ID, type World } from '../sweep/worlds.ts'
import { deliverJob, listing } from './crons.ts'

// The plan of a statement shows whether it can reach rows of another account, and whether it reads all of its own.

const OWNED = Object.values<Table>(schema).flatMap((table) =>
  columnNames(table).includes('account') ? [table.name] : [],
)

/** Steps that reach rows of all accounts, each with its reason. */
const OF_ALL: readonly RegExp[] = [
  // Random keys, whose rows say of which account they are.
  /\((?:id|link_id|client_id|digest)=\?\)/,
  // The log of the whole service.
  /^SCAN audit_log/,
  // The runs under way are limited over all accounts.
  /^SCAN statement_runs USING COVERING INDEX statement_runs_running$/,
  // A row for each account that moves, which closes its database for it.
  /^SCAN doors$/,
]

/** Tables of settings and of progress, with a row for each day, file or batch, or with a few for each affiliate. */
const FEW = [
  ...['resets', 'book_resets', 'doors', 'account_moves', 'clients', 'brand_tokens', 'vocabulary'],
  ...['event_definitions', 'fraud_rule_versions', 'fraud_progress', 'plan_versions', 'assignments'],
  ...['webhook_endpoints', 'postback_progress', 'statement_runs', 'closed_periods', 'totals'],
  ...['changed', 'arrivals', 'exports', 'export_runs', 'payout_batches', 'payout_answers'],
  ...['affiliates', 'affiliate_keys', 'affiliate_questions', 'links', 'payees', 'payment_returns'],
]

const ALL = '(?: not indexed| indexed by \\w+)? where account = \\?\\d'
const OPEN = 'due|held|holding|open|pending|failed'

/** How a statement reads a table without reading all that an account has in it. */
const boundedIn = (table: string) => [
  // What is open, waits, or failed, as few payments do.
  new RegExp(`^SEARCH \\w+ USING (?:COVERING )?INDEX ${table}_(?:${OPEN})\\b`),
  // The first day, whether there are any, and a page.
  new RegExp(`select min\\(\\w+\\)(?: as day)? from ${table}${ALL}(?: union|\\)|$)`),
  new RegExp(`exists \\(select 1 from ${table}${ALL}\\)`),
  new RegExp(
    `from ${table}${ALL}(?: and held = 0| and exists [^)]+\\))?(?: order by [\\w, ]+)? limit`,
  ),
]

/** Statements that read all that an account has in a table, each with its reason. */
const OF_ACCOUNT: readonly RegExp[] = [
  // The export of a month begins anew where one of these has changed.
  /^SEARCH (?:customers|ledger|p|statements) .* as month, /,
  // Totals of all months or affiliates, and a page of statements, balances or payments.
  /^SEARCH p .* from payments p left join payment_returns n /,
  /^SEARCH statements .* select period, status, currency, count\(/,
  /^SEARCH s .* from statements s \) where account = \?1 and statement is not null (?:order by [\w,]+ )?limit/,
  /^SEARCH ledger .* select distinct affiliate_id from ledger /,
  /^SEARCH ledger .* select currency, kind, /,
  /^SEARCH customer_owners .* group by owner$/,
  // A rule compares the addresses of all customers.
  /^SEARCH c .* with everyone as materialized/,
  // An erasure finds events by what they say, and the export of a month what was erased since.
  /^SEARCH v .* update webhook_events set data = json_remove/,
  /^SEARCH erasures .* select count\(\*\) as erased/,
]

/** Returns the tables with rows of accounts that a name in a plan stands for; none if it stands for anything else, too. */
function tablesOf(sql: string, name: string): string[] {
  const named = [...sql.matchAll(new RegExp(`([\\w)]+)"?(?: as)? "?${name}\\b(?!\\.)`, 'g'))]
  const tables = named.map(([, table = '']) => table)
  const isAlias = tables.length > 0 && tables.every((table) => OWNED.includes(table))
  return isAlias ? tables : OWNED.filter((table) => table === name)
}

/** Returns the steps of a statement that reach rows whatever their account is, or all rows of the account. */
async function widestSteps(text: string): Promise<string[]> {
  const sql = text.replace(/\s+/g, ' ')
  const places = new Set(sql.match(/\?\d+/g)).size || (sql.match(/\?/g) ?? []).length
  // An empty list matches nothing, so its plan says nothing of the account.
  const explained = `explain query plan ${sql.replaceAll(' in ()', " in ('')")}`
  const plan = await env.DB.prepare(explained)
    .bind(...Array(places).fill(null))
    .all<{ detail: string }>()
  return plan.results.flatMap(({ detail }) => {
    const [, name] = /^(?:SCAN|SEARCH) (\S+)(?!.*\(account=\? )/.exec(detail) ?? []
    if (name === undefined) return []
    const tables = tablesOf(sql, name)
    if (!detail.includes('(account=?)')) {
      return tables.length > 0 && !OF_ALL.some((one) => one.test(detail)) ? [detail] : []
    }
    const step = `${detail} | ${sql}`
    const isWide = (table: string) =>
      !FEW.includes(table) && ![...boundedIn(table), ...OF_ACCOUNT].some((one) => one.test(step))
    return tables.some(isWide) ? [detail] : []
  })
}

test('no statement of an operation, a run or a job of an account reaches rows of another one, or all of its own', async () => {
  const statements = new Map<string, string>()
  const watched = (who: string) =>
    surrounded(({ sql }, act) => {
      for (const one of sql.split(';')) statements.set(one.trim(), who)
      return act()
    })
  const worlds = new Map<string, World>()
  for (const route of ROUTES) {
    const key = JSON.stringify([route.vertical, route.records])
    const world = (!route.writes && worlds.get(key)) || (await worldOf(route))
    if (!route.writes) worlds.set(key, world)
    const context = createExecutionContext()
    await (await asks(route, world, watched(route.id), context)).arrayBuffer()
    await waitOnExecutionContext(context)
  }
  const now = Date.now()
  for (const { account, vertical } of worlds.values()) {
    const from = '2026-01-01'
    const rules = Object.entries(firstRules(vertical as Vertical, from)).map(
      ([rule, terms]) => [rule, JSON.stringify(terms)] as const,
    )
    await env.DB.batch(
      insertFirstRules(env.DB, { account, effective_from: from, created_at: from }, rules),
    )
    const run = await storeStarted(account, '2026-10')
    const platform = watched('a run')
    const steps = await beginRun(platform, run, now)
    for (let step = 1; step <= steps; step++) await makeStep(platform, run, step, now)
    await finishRun(platform, run, now)
    while (!(await reviewAfterRun(platform, account, now)));
    await storeOutcome(platform.DB, {
      ...{ account, endpoint: WEBHOOK_ID, event: WEBHOOK_EVENT, attempt: 1, at: now },
      ...{ answer: 410, error: 'gone', next_at: null, disables: 'gone' },
    })
  }
  const of = { at: now, binding: 'DB' }
  const accounts = [...worlds.values()].map(({ account }) => account)
  const jobs: Job[] = accounts.flatMap((account): Job[] => [
    { ...of, job: 'morning', account },
    { ...of, job: 'export', account },
    { ...of, job: 'feeds', accounts: [account] },
    { ...of, job: 'postbacks', accounts: [account] },
  ])
  for (const job of jobs) {
    const ACCOUNT_JOBS = listing([])
    await deliverJob(job, overriding(watched(`the job ${job.job}`), { ACCOUNT_JOBS }))
  }
  expect(statements.size).toBeGreaterThan(500)
  const found: string[] = []
  for (const [sql, who] of statements) {
    if (!/^(?:select|with|insert|update|delete)\b/.test(sql)) continue
    for (const step of await widestSteps(sql)) found.push(`${step} | ${who}: ${sql}`)
  }
  expect(found.sort()).toEqual([])
})
