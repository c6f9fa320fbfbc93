import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { consoleApp } from '../../src/console/app.ts'
import { PAGES as CONSOLE_PAGES } from '../../src/console/pages.ts'
import { QUESTION_ID, questionRows } from '../affiliates/question-rows.ts'
import { STATEMENT_ID, statementRows } from '../commission/statement-rows.ts'
import { storePlan } from '../commission/stored.ts'
import { addFinding, storeCases, storeRule } from '../fraud/stored-cases.ts'
import { keyOfRole } from '../members.ts'
import { ada, askAdmin, deposit, json, ORIGIN, issuedPartner as partner } from '../partner.ts'
import { BATCH_ID, payoutRows } from '../payouts/payout-rows.ts'
import { APPLICATION_ID, applicationRows } from '../people/application-rows.ts'
import { builtOnce } from '../world.ts'
import { KEY_WORLD, openBrowser, signedIn } from './browser.ts'
import { countTrips } from './trips.ts'

// Laws of every page of the console. They walk the routes, so that they include each new page.

/** The values of parameters in the paths of pages. */
const PARAMETERS: Record<string, string> = {
  batch: BATCH_ID,
  question_id: QUESTION_ID,
  account: 'acme',
  application_id: APPLICATION_ID,
  member: 'member-the-viewer',
  affiliate_id: 'aff-7',
  customer_id: 'c-1',
  plan: 'standard-ib',
  rule: 'lot-churn',
  resource: 'transactions',
  id: deposit.transaction_id,
  statement_id: STATEMENT_ID,
  case_id: 'case_1',
  line_id: `lin_${STATEMENT_ID.slice('stm_'.length)}${'0'.repeat(16)}`,
}

/** The most round trips to D1 until a page is shown. */
const MAX_TRIPS = 4

/** The pages with a deferred part, which is computed from records, with the query that asks for it. */
const DEFERRED: readonly (readonly [path: string, query: string])[] = [
  ['/console/accounts/:account/lines/:line_id', ''],
  ['/console/accounts/:account/lines/:line_id', '?customer_id=c-1'],
  ['/console/accounts/:account/records/:resource/:id', ''],
  ['/console/accounts/:account/cases/:case_id', ''],
  ['/console/accounts/:account/unearned', '?period=2026-10'],
  ['/console/accounts/:account/unearned', '?period=2026-10&list=records'],
  ['/console/accounts/:account/fraud-rules', '?new=lot_churn'],
  ['/console/accounts/:account/fraud-rules/:rule', '?edit=next'],
  ['/console/accounts/:account/reports', '?from=2026-10-01&to=2026-10-31'],
  ['/console/accounts/:account/plans/:plan', '?edit=next'],
]

const pathOf = (path: string, more: Record<string, string> = {}) =>
  path.replace(/:(\w+)/g, (_, name) => more[name] ?? PARAMETERS[name] ?? name)

const routes = consoleApp.routes
  .filter(({ method }) => method !== 'ALL')
  // Only in development.
  .filter(({ path }) => path !== '/console/outbox')
const PAGES = routes
  .filter(({ method, path }) => method === 'GET' && !/\/(?:sign-in|invitation)$/.test(path))
  .map(({ path }) => path)

/** A line of an approved statement that the records no longer make. */
const LINE = {
  ...{ rule: 'lots', version: 1, kind: 'unit', scope: 'affiliate', amount: '5.00' },
  ...{ base: null, units: '1', measure: null, step: null, rate: '5', fence: null, fx: [] },
  ...{ carried_in: '0.00', carried_out: '0.00', capped: '0.00', recouped: '0.00', deficit: '0.00' },
}

/**
 * Creates an account with records of today, which no request has summed yet, and a refused record. Returns
 * the values of parameters that are different each time.
 */
const createAccount = () => builtOnce('acme', build)

async function build(): Promise<Record<string, string>> {
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  const today = { ...deposit, transaction_date: new Date().toISOString() }
  await acme.post('customers', ada)
  await acme.post('transactions', [today, { ...today, transaction_id: 't', customer_id: 'x' }])
  await askAdmin('accounts/acme/status-map', 'PUT', { approved: 'approved' })
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  // The audit log names the plan, and the page of the affiliate describes it.
  await askAdmin('accounts/acme/assignments', 'PUT', [
    { affiliate_id: '*', plan: 'standard-ib', from: '2026-01-01', customers: 'all' },
  ])
  await askAdmin('accounts/acme/fraud-rules/lot-churn', 'PUT', {
    ...{ name: 'Churn', kind: 'lot_churn', effective_from: '2026-01-01', severity: 'low' },
  })
  const line = { ...LINE, id: PARAMETERS.line_id }
  await env.DB.batch([
    ...questionRows(env.DB, 'acme', 'aff-7', 'Why?'),
    ...applicationRows(env.DB, 'acme', 'Ada'),
    ...statementRows(env.DB, 'acme'),
    env.DB.prepare(`update statements set status = 'approved', lines = ?`).bind(
      JSON.stringify([line]),
    ),
    ...(await payoutRows(env.DB, 'acme')),
  ])
  await storeRule('acme')
  await storeCases({ account: 'acme', id: 'case_1', affiliate: 'aff-7' })
  await addFinding(20_000, [[deposit.transaction_id, 'c-1']], { account: 'acme' })
  await keyOfRole('viewer')
  const refused = await acme.post('transactions', [{ ...today, transaction_type: 'gift' }])
  const { delivery_id } = (await refused.json()) as { delivery_id: string }
  const hook = askAdmin('accounts/acme/webhooks', 'POST', { url: 'https://hooks.example/' })
  return { delivery_id, webhook_id: (await json(hook)).id }
}

/** Requests a page, and returns its round trips to D1 until its first part is sent. */
async function countTripsOf(at: string) {
  // The root key has no page of its own.
  const key = at.startsWith('/console/me') ? await keyOfRole('viewer') : undefined
  const browser = await signedIn(KEY_WORLD, consoleApp, key)
  const { db, trips } = countTrips(env.DB)
  const response = await browser.get(at, {}, { ...KEY_WORLD, DB: db })
  const shown = trips()
  expect(response.status).toBe(200)
  return { shown, headers: response.headers, text: await response.text() }
}

test('what is computed from records follows what is shown', async () => {
  const parameters = await createAccount()
  const browser = await signedIn()
  for (const [path, query] of DEFERRED) {
    const at = pathOf(path, parameters) + query
    const response = await browser.get(at)
    const reader = response.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)

    expect([at, first]).toEqual([at, expect.stringContaining('Computing from the records')])
    expect(first).not.toContain('</html>')
    while (!(await reader.read()).done);
  }
})

test.each(PAGES)(
  '%s: the page has one h1, no inline style or script, strict headers, and few round trips to D1 until it is shown',
  async (path) => {
    // A parameter that a page does not support is ignored.
    const at = `${pathOf(path, await createAccount())}?colour=red`
    const { shown, headers, text } = await countTripsOf(at)

    expect(shown).toBeGreaterThan(0)
    expect(shown).toBeLessThanOrEqual(MAX_TRIPS)
    expect(text.match(/<h1>[^<]+<\/h1>/g)).toHaveLength(1)
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]* src=")/)
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(headers.get('Referrer-Policy')).toBe('same-origin')
    expect(headers.get('X-Frame-Options')).toBe('DENY')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Strict-Transport-Security')).toMatch(/^max-age=/)
  },
)

test('every link of every page leads to a page', async () => {
  const parameters = await createAccount()
  const browser = await signedIn()
  const patterns = PAGES.map((path) => new URLPattern({ pathname: path }))
  const dead = new Set<string>()
  for (const path of PAGES) {
    const page = await (await browser.get(pathOf(path, parameters))).text()
    for (const [, to = ''] of page.matchAll(/<a[^>]* href="(\/console[^"#]*)/g)) {
      const isPage = patterns.some((one) => one.test(new URL(to, ORIGIN)))
      if (!isPage) dead.add(`${path}: ${to}`)
    }
  }
  expect([...dead]).toEqual([])
})

test('without a session the browser is sent to the sign-in and back, and plain HTTP is refused', async () => {
  for (const at of PAGES.map((path) => pathOf(path))) {
    const response = await openBrowser().get(`${at}?cursor=x`)
    const location = new URL(response.headers.get('Location')!, ORIGIN)
    expect([response.status, location.pathname]).toEqual([303, '/console/sign-in'])
    expect(location.searchParams.get('next')).toBe(`${at}?cursor=x`)
    expect([at, (await openBrowser().get(`http://api.example${at}`)).status]).toEqual([at, 403])
  }
})

test('a line leads to its statement', async () => {
  await createAccount()
  const response = await (await signedIn()).get(pathOf('/console/accounts/:account/lines/:line_id'))

  expect(await response.text()).toContain(
    `<a href="/console/accounts/acme/statements/${STATEMENT_ID}">Statement</a>`,
  )
})

test('a line that no statement has is a 404 page', async () => {
  await createAccount()
  const browser = await signedIn()
  const unknown = PARAMETERS.line_id!.replace(/.$/, '1')

  for (const line of ['lots', `lin_${'0'.repeat(40)}`, unknown]) {
    const response = await browser.get(`/console/accounts/acme/lines/${line}`)
    expect([line, response.status]).toEqual([line, 404])
  }
})

test('a wrong value of any parameter is refused on its page, whose filters keep what was typed', async () => {
  const parameters = await createAccount()
  const browser = await signedIn()
  const lost: string[] = []
  const headingOf = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)?.[1]
  /** The number of pages on which each parameter was wrong: many have those of a list. */
  const tried = new Map<string, number>([['format', Infinity]])
  for (const page of CONSOLE_PAGES) {
    const at = pathOf(`/console${page.path}`, parameters)
    const usual = await (await browser.get(at)).text()
    for (const name of page.query ?? []) {
      const isFilter = usual.includes(`id="filter-${name}"`)
      const times = tried.get(name) ?? 0
      if (times >= 3 && !isFilter) continue
      tried.set(name, times + 1)
      const wrong = name === 'period' ? '2026-13' : '~x'
      const response = await browser.get(`${at}?${name}=${wrong}`)
      const text = await response.text()
      const control = new RegExp(`<input[^>]* id="filter-${name}"[^>]*>`).exec(text)?.[0]
      const isKept =
        response.status === 400
          ? headingOf(text) === headingOf(usual) &&
            text.includes('role="alert"') &&
            text.includes(`id="filter-${name}"`) === isFilter &&
            (!control || control.includes(`value="${wrong}"`))
          : // A link may name what no longer exists: that is a 404.
            response.status < 500
      if (!isKept || text.replace(/<pre[\s\S]*?<\/pre>/g, '').includes('`'))
        lost.push(`${at}?${name}: ${response.status}`)
    }
  }
  expect(lost).toEqual([])
})

test('a page of an account that does not exist is a 404 page', async () => {
  const response = await (await signedIn()).get('/console/accounts/nobody')

  expect(response.status).toBe(404)
  const text = await response.text()
  expect(text).toContain('nobody')
  expect(text).not.toContain('href="/console/accounts/nobody')
})

test('an address without a page is a 404 page', async () => {
  const response = await openBrowser().get('/console/nowhere')

  expect(response.status).toBe(404)
  expect(response.headers.get('Content-Type')).toMatch(/^text\/html/)
  expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
})

/** Returns whether the form of a change is in a part of the page that is folded. */
function isFolded(text: string, change: string): boolean {
  const parts: string[] = []
  for (const [tag] of text.matchAll(/<details[^>]*>|<\/details>|<form[^>]*>/g)) {
    if (tag.includes(`id="change-${change}"`)) break
    if (tag.startsWith('<details')) parts.push(tag)
    if (tag === '</details>') parts.pop()
  }
  return parts.some((tag) => !tag.includes(' open=""'))
}

test('a form without what it needs is refused, and comes back open', async () => {
  const parameters = await createAccount()
  const browser = await signedIn()
  const csrf = await browser.csrf()
  const seen = { open: 0, folded: [] as string[], failed: [] as string[] }
  for (const page of CONSOLE_PAGES) {
    const at = pathOf(`/console${page.path}`, parameters)
    for (const change of Object.keys(page.changes ?? {})) {
      const response = await browser.post(at, { change, csrf, word: 'x' })
      const text = await response.text()
      if (response.status >= 500) seen.failed.push(`${at} ${change}`)
      if (response.status !== 422 || !text.includes(`id="change-${change}"`)) continue
      seen.open += 1
      if (isFolded(text, change)) seen.folded.push(`${at} ${change}`)
    }
  }
  expect(seen).toEqual({ open: expect.any(Number), folded: [], failed: [] })
  expect(seen.open).toBeGreaterThan(8)
})

test('the CSV of a report is that of the API, and needs a session', async () => {
  await createAccount()
  const at = '/console/accounts/acme/reports?from=2026-10-01&to=2026-10-02&metrics=signups'
  const response = await (await signedIn()).get(`${at}&format=csv`)

  expect(response.headers.get('Content-Disposition')).toMatch(/^attachment; filename="report-acme/)
  const bytes = new Uint8Array(await response.arrayBuffer())
  // Excel reads it as UTF-8.
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(new TextDecoder().decode(bytes)).toMatch(/^row,signups,unconverted\r\n/)
  expect((await openBrowser().get(`${at}&format=csv`)).status).toBe(303)
})
