import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { actionWords } from '../../src/console/parts/audit-words.tsx'
import { askAdmin, json } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// The audit log in words.

const SOURCES = import.meta.glob<string>('../../src/**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** How the source names an action: in an entry, in SQL, or by what a webhook undergoes. */
const NAMED =
  /\b(?:action: |entryOf\(\w+, |ENTRY\} |into audit_log\b[^'`]*(?:'webhooks', iif[^']*)?)'([a-z_-]+(?:\.[a-z-]+)*)'/g

/** Every action that the source names. */
const ACTIONS = new Set(
  Object.values(SOURCES).flatMap((source) =>
    [...source.matchAll(NAMED)].flatMap(([whole, name = '']) => {
      if (name.includes('.')) return [name]
      return whole.startsWith('entryOf') ? [`webhook.${name}`] : []
    }),
  ),
)

/** The details of all actions together. */
const DETAILS = {
  rule: 'bursts',
  source: 'DB_2',
  target: 'DB_3',
  pause_ms: 840,
  case: 'case_0123456789abcdefghjkmnpqrs',
  decision: 'confirmed',
  keep_hold: true,
  waiting: true,
  refused: 2,
  override: { reason: 'Contracts shown', cases: ['case_1'] },
  cases_opened: 2,
  cases_closed: 1,
  plan: 'ib-2026',
  name: 'IB 2026',
  version: 3,
  effective_from: '2026-12-01',
  period: '2026-10',
  statement: 'stm_0123456789abcdef01234567',
  affiliate_id: 'IB-07',
  customer_id: 'C-1',
  client_id: 'c1',
  id: 'whk_1',
  host: 'hooks.example',
  reference: 'BANK-1',
  payment: 'BANK-1',
  amount: '1250.00',
  currency: 'EUR',
  paid_on: '2026-11-03',
  returned_on: '2026-11-05',
  reason: 'Wrong account',
  overlap: '24h',
  eventname: 'DailyStats',
  landing_page: 'https://a.example/',
  customers: 3,
  ids: ['IB-07'],
  affiliates: 1,
  assignments: 1,
  first: [{ affiliate_id: 'IB-07', plan: 'ib-2026', from: '2026-12-01' }],
  affiliations: [{ affiliate_id: 'IB-08', from: '2026-10-05T00:00:00.000Z' }],
  before: [{ affiliate_id: 'IB-07', plan: 'ib-2025', from: '2026-12-01' }],
  from: '2026-12-01',
  to: '2026-12-02',
  month: '2026-10',
  affiliate_view: { customer_ids: 'pseudonym', amounts: true },
  unknown_customer: 'hold',
  events: ['*'],
  profiles: [{ affiliate_id: 'IB-07', changed: ['display_name', 'contact_email'] }],
  kpis: { bets: { kind: 'amount' } },
  status_member: null,
  first_day: '2026-11-02',
  last_day: '2026-11-20',
  created: 30,
  corrected: 1,
  paid: 12,
  returned: 1,
  statements: 14,
  status: { ok: 'approved' },
  kyc_status_id: { 2: 'verified' },
  sales_status_id: { hot: 'Hot lead' },
}

const insert = (action: string, details: object, actor = 'Ada', n = 0) =>
  env.DB.prepare(
    'insert into audit_log (id, at, actor, action, account, details) values (?, ?, ?, ?, ?, ?)',
  ).bind(
    `01M7W0R4W8Y6N1S2Q9E0J8${String(n).padStart(4, '0')}`,
    '2026-11-20T09:00:00.000Z',
    actor,
    action,
    'acme',
    JSON.stringify(details),
  )

/** Returns the entries of the page as text, one for each. */
async function readLog(session: Session, query = ''): Promise<string[]> {
  const text = await (await session.get(`/console/accounts/acme/audit-log${query}`)).text()
  const [, list = ''] = /<ol class="log"[^>]*>([\s\S]*?)<\/ol>/.exec(text) ?? []
  return list
    .split(/(?<=<\/div><\/li>)/)
    .map((item) => item.replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"'))
    .filter((item) => item !== '')
}

type Session = Awaited<ReturnType<typeof signedIn>>

const openAccount = () =>
  askAdmin('accounts', 'POST', { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' })

test('no action and no detail has a name that only programs read', async () => {
  expect(ACTIONS.size).toBeGreaterThan(60)
  await openAccount()
  await env.DB.batch([...ACTIONS].map((action, n) => insert(action, DETAILS, 'Ada', n)))
  const session = await signedIn(KEY_WORLD)
  const subjects = new Set([...ACTIONS].map((action) => action.replace(/\..*/, '')))
  const entries = await Promise.all(
    [...subjects].map((kind) => readLog(session, `?kind=${kind}&actor=Ada`)),
  )
  const all = entries.flat().join('\n')

  expect(entries.flat().length).toBe(ACTIONS.size)
  for (const action of ACTIONS) expect(all).toContain(`Ada ${actionWords(action)}: `)
  expect(all).not.toMatch(/\b[a-z]+_[a-z]|`|\d{4}-\d\d|undefined|null|NaN|\[object|[{}]|Invalid/)
})

test('a changed setting is shown with its former value', async () => {
  await openAccount()
  await askAdmin('accounts/acme', 'PATCH', { name: 'New', approvals: 2, unknown_customer: 'hold' })
  const [entry] = await readLog(await signedIn(KEY_WORLD))

  expect(entry).toContain('The admin key changed account')
  for (const change of [
    'Name: Acme → New',
    'Persons who must agree: One → Two',
    'Records of unknown customers: Refuse them → Keep them until the customer arrives',
  ]) {
    expect(entry).toContain(change)
  }
})

test('the log is narrowed by days, person and kind of change, and paged', async () => {
  await openAccount()
  await env.DB.batch([
    insert('plan.put', { plan: 'ib', version: 1, effective_from: '2026-12-01' }, 'Ada', 1),
    insert('link.change', { link_id: 'x', disabled: true }, 'Ada', 2),
    insert('statement.approve', { statement: 'stm_1' }, 'Bob', 3),
    ...Array.from({ length: 60 }, (_, n) =>
      insert('period.run', { period: '2026-10' }, 'Cy', n + 10),
    ),
  ])
  // The ids begin with the time: 2026-11-20.
  const [day, before] = ['2026-11-20', '2026-11-19']
  const found = async (query: string) => (await readLog(await signedIn(KEY_WORLD), query)).length

  expect(await found('?actor=Ada')).toBe(2)
  expect(await found('?actor=Ada&kind=link')).toBe(1)
  expect(await found('?kind=statement&actor=Bob')).toBe(1)
  expect(await found(`?from=${day}&to=${day}&actor=Ada`)).toBe(2)
  expect(await found(`?to=${before}&actor=Ada`)).toBe(0)
  expect(await found('?actor=Nobody')).toBe(0)

  const path = 'audit-log?account=acme&actor=Cy&kind=period'
  const first = await json(askAdmin(path))
  expect([first.data.length, first.meta.total]).toEqual([50, 60])
  const second = await json(askAdmin(`${path}&cursor=${first.meta.next_cursor}`))
  expect(second.data.length).toBe(10)
  expect((await askAdmin(`audit-log?cursor=${first.meta.next_cursor}`)).status).toBe(400)
})
