import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { askAdmin, json } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// The audit log in words.

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

test('a changed setting is shown with its former value', async () => {
  await openAccount()
  await askAdmin('accounts/acme', 'PATCH', { name: 'New', approvals: 2, unknown_customer: 'hold' })
  const [entry] = await readLog(await signedIn(KEY_WORLD))

  expect(entry).toContain('The root key changed the account')
  for (const change of [
    'Name: Acme → New',
    'Approvals: 1 → 2',
    'Unknown customer: reject → hold',
  ]) {
    expect(entry).toContain(change)
  }
})

test('the log is narrowed by days, person and kind of change, and paged', async () => {
  await openAccount()
  await env.DB.batch([
    insert('plan.put', { plan: 'ib', version: 1, effective_from: '2026-12-01' }, 'Ada', 1),
    insert('link.change', { link_id: 'x', affiliate_id: 'aff-7' }, 'Ada', 2),
    insert('statement.approve', { statement: 'aff-7', ids: ['aff-8'] }, 'Bob', 3),
    ...Array.from({ length: 60 }, (_, n) =>
      insert('period.run', { period: '2026-10' }, 'Cy', n + 10),
    ),
  ])
  // The ids begin with the time: 2026-11-20.
  const [day, before] = ['2026-11-20', '2026-11-19']
  const found = async (query: string) => (await readLog(await signedIn(KEY_WORLD), query)).length

  expect(await found('?member=Ada')).toBe(2)
  expect(await found('?member=Ada&action=link')).toBe(1)
  expect(await found('?action=link.change')).toBe(1)
  expect(await found('?action=link.chan')).toBe(0)
  expect(await found('?action=statement&member=Bob')).toBe(1)
  expect(await found('?affiliate_id=aff-7')).toBe(1)
  expect(await found('?affiliate_id=aff-8')).toBe(1)
  expect(await found(`?from=${day}&to=${day}&member=Ada`)).toBe(2)
  expect(await found(`?to=${before}&member=Ada`)).toBe(0)
  expect(await found('?member=Nobody')).toBe(0)

  const path = 'audit-log?account=acme&member=Cy&action=period'
  const first = await json(askAdmin(path))
  expect([first.data.length, first.meta.total]).toEqual([50, 60])
  const second = await json(askAdmin(`${path}&cursor=${first.meta.next_cursor}`))
  expect(second.data.length).toBe(10)
  expect((await askAdmin(`audit-log?cursor=${first.meta.next_cursor}`)).status).toBe(400)
})

test('each value is shown, also one that the words of another entry do not know', async () => {
  await openAccount()
  await env.DB.batch([
    insert('postback.add', { id: 'pbk_1', method: 'GET' }, 'Ada', 1),
    insert('batch.prepare', { method: null, payer: 'main' }, 'Ada', 3),
    insert('payees.enter', { affiliate_id: 'a', method: 'sepa' }, 'Ada', 2),
  ])
  const [, batch, payee, postback] = await readLog(await signedIn(KEY_WORLD))
  expect(postback).toContain('Method: GET')
  expect(payee).toContain('Method: SEPA')
  expect(batch).not.toContain('Method')
})
