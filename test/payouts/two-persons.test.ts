import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/api/operations.ts'
import { consoleApp } from '../../src/console/app.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { randomSource } from '../commission/worlds.ts'
import { KEY_WORLD, signedIn } from '../console/browser.ts'
import { actorOf, askAs, memberKey } from '../members.ts'
import { askAdmin, json, register } from '../partner.ts'
import { whole } from './invoice-rows.ts'
import {
  ADA,
  as,
  change,
  due,
  EXECUTE_ON,
  enter,
  keyOf,
  MAIN,
  PATH,
  PAYER,
  PEOPLE,
  type Person,
  send,
} from './payout-rows.ts'

// §20 law 9: where an account asks for two persons, no one person sends money or ends a debt.

const AFFILIATES = ['a', 'b', 'c']

beforeEach(async () => {
  await register('forex', { affiliates: AFFILIATES })
  await Promise.all(PEOPLE.map(keyOf))
  await askAdmin(PATH, 'PATCH', { approvals: 2 })
})

/** What each door that a law holds at is sent, to which it answers 409 `same_person` to the key of the service. */
const SENT: Readonly<Record<string, object>> = {
  putPayee: ADA,
  approvePayee: { version: 1 },
  putPayer: MAIN,
  approvePayer: { version: 1 },
  prepareBatch: { payer: 'main', method: 'sepa', execute_on: EXECUTE_ON, rows: [] },
  setBatchRows: { rows: [] },
  discardBatch: {},
  confirmBatch: { hash: '0'.repeat(64), total: '1.00' },
  payBatch: { paid_on: '2026-01-02' },
  cancelBatch: { reason: 'Why' },
  correctInvoice: { reason: 'Why' },
  applyPayoutAnswer: { hash: '0'.repeat(64) },
  dismissMovements: { reason: 'Why' },
  bookTransfer: { direction: 'paid', booked_on: EXECUTE_ON, amount: '1.00' },
}

/** What the key of the service may do: it sends no money, and ends no debt. */
const ALLOWED = /^(block|reveal|erase|explain)Pay|^(export|get)Batch|^previewPayoutAnswer$/

test('§20 law 9: the key of the service, which is no person, is refused at every door', async () => {
  await enter('payer', 'main', PAYER)
  await enter('payee', 'a', ADA)
  await due('a', '1.00')
  const batch = await json(
    as('mia', 'batches', 'POST', { ...SENT.prepareBatch, rows: [{ id: 'a:EUR' }] }),
  )
  const doors = OPERATIONS.filter(
    ({ id, topic, method }) => topic === 'payouts' && method !== 'GET' && !ALLOWED.test(id),
  )
  expect(doors.map(({ id }) => id).filter((id) => !SENT[id])).toEqual(['importPayees'])
  for (const { id, path, method } of doors.filter((one) => SENT[one.id])) {
    const at = path
      .replace('/accounts/{account}/', '')
      .replace('{affiliate_id}', 'a')
      .replace('{payer}', 'main')
      .replace('{batch}', batch.id)
      .replace('{reference}', batch.transfers[0].id)
    const body = method === 'DELETE' ? undefined : SENT[id]
    expect([id, (await json(as('root', at, method, body))).code]).toEqual([id, 'same_person'])
  }
})

test('§20 law 9: the key of the service is not the second person who asks that one is enough', async () => {
  const lower = async (who: Person | 'root') => {
    const { code, approvals } = await json(as(who, '', 'PATCH', { approvals: 1 }))
    return code ?? approvals
  }
  const asked = [await lower('root'), await lower('mia'), await lower('root'), await lower('mia')]
  expect(asked).toEqual(['same_person', 'conflict', 'same_person', 'conflict'])
  expect(await lower('bob')).toBe(1)
})

test('§20.1 of the two who stand behind details, a member of the team who entered them is one; nobody changes what another said alone', async () => {
  const from = randomSource(env.SEED)
  await change(
    `insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by)
      values ('acme-forex', 'a', 'm-1', 'Ada', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'ada')`,
  )
  const member = 'affiliate-member m-1 a'
  const approved = new Set<number>()
  for (let version = 1; version <= 16; version++) {
    const author = from.pick([...PEOPLE, member])
    let treatment = 'outside'
    let behind = new Set<string>(author === member ? [] : [author])
    const details = { ...whole(ADA), name: `Ada ${version}`, tax: { treatment } }
    const of = { version, state: 'entered', entered_by: author, payable_from: null } as const
    if (author === member) await enter('payee', 'a', details, of)
    else await as(author as Person, 'affiliates/a/payee', 'PUT', details)
    for (let n = 0; n < 5; n++) {
      const who = from.pick(PEOPLE)
      const said = from.pick([undefined, 'outside', 'none'])
      const sent = { version, ...(said && { treatment: said }) }
      const { state, code, approvals } = await json(
        as(who, 'affiliates/a/payee/approve', 'POST', sent),
      )
      if (who === author) {
        expect(state ?? code).toBe(
          behind.size < 2 || (said ?? treatment) !== treatment ? 'conflict' : 'approved',
        )
        continue
      }
      const isSame = (said ?? treatment) === treatment
      treatment = said ?? treatment
      if (!isSame) behind = new Set()
      if (behind.size < 2) behind.add(who)
      const others = [...behind].filter((one) => one !== author)
      expect([state, approvals]).toEqual([
        behind.size < 2 ? 'entered' : 'approved',
        others.map(actorOf),
      ])
      if (behind.size === 2) approved.add(others.length)
    }
  }
  expect(approved).toEqual(new Set([1, 2]))
})

test('§20 law 9: who prepared a batch, added to it or entered its details decides on it with another', async () => {
  const from = randomSource(env.SEED)
  let confirmed = 0
  for (let round = 0; round < 12; round++) {
    const persons = new Set<Person>()
    const [payer, payee, prepares, adds, takes] = Array.from({ length: 5 }, () => from.pick(PEOPLE))
    const version = round + 1
    await enter('payer', 'main', PAYER, { version, entered_by: actorOf(payer!) })
    for (const id of AFFILIATES)
      await enter('payee', id, ADA, { version, entered_by: actorOf(payee!) })
    for (const id of AFFILIATES) await due(id, '1.00')
    const rows = (all: string[]) => ({
      rows: all.map((id) => ({ id: `${id}:EUR`, waive: ['came_back'] })),
    })
    const asked = { payer: 'main', method: 'sepa', execute_on: EXECUTE_ON, ...rows(['a', 'b']) }
    let batch = await json(as(prepares!, 'batches', 'POST', asked))
    for (const one of [payer, payee, prepares]) persons.add(one!)
    const set = async (who: Person, all: string[]) =>
      json(as(who, `batches/${batch.id}/rows`, 'PUT', rows(all)))
    batch = await set(takes!, ['a'])
    if (from.oneIn(2)) {
      batch = await set(adds!, ['a', 'c'])
      persons.add(adds!)
    }
    expect(new Set([...batch.authors, actorOf(payer!), actorOf(payee!)])).toEqual(
      new Set([...persons].map(actorOf)),
    )
    const others = PEOPLE.filter((one) => !persons.has(one))
    expect(batch.confirmers).toEqual(others.map(actorOf).toSorted())
    const seen = { hash: batch.hash, total: batch.total }
    for (const who of persons) {
      const { status, code, detail } = await json(
        as(who, `batches/${batch.id}/confirm`, 'POST', seen),
      )
      expect([status, code]).toEqual([409, 'same_person'])
      for (const other of others) expect(detail).toContain(`\`${actorOf(other)}\``)
      const { data } = await json(as(who, 'attention'))
      const named = data.flatMap((one: { code: string; names: string[] }) =>
        one.code === 'prepared_batches' ? one.names : [],
      )
      expect(named).not.toContain(batch.id)
    }
    const [other] = others
    if (!other) continue
    confirmed++
    const { data } = await json(as(other, 'attention'))
    expect(data).toContainEqual(
      expect.objectContaining({
        code: 'prepared_batches',
        names: expect.arrayContaining([batch.id]),
      }),
    )
    expect((await json(as(other, `batches/${batch.id}`))).may_confirm).toBe(true)
    expect((await as(other, `batches/${batch.id}/confirm`, 'POST', seen)).status).toBe(200)
    await as(prepares!, `batches/${batch.id}/export`, 'POST')
    const cancel = (who: Person) =>
      as(who, `batches/${batch.id}/cancel`, 'POST', { reason: 'The bank refused it.' })
    const [{ id: reference }] = batch.transfers
    const today = new Date().toISOString().slice(0, 10)
    const cells = batch.transfers.map((one: { id: string; amount: string }) =>
      [one.id, one.amount, 'EUR', today].join(),
    )
    const csv = `Reference,Amount,Currency,paid_on\n${cells.join('\n')}`
    const { hash, booked } = await json(send(csv))
    expect(booked).toMatchObject([{ becomes: 'paid', count: cells.length }])
    const apply = (who: Person) => as(who, 'payouts/answers/apply', 'POST', { hash })
    const book = { direction: 'paid', booked_on: EXECUTE_ON, amount: batch.transfers[0].amount }
    for (const who of persons) {
      const doors = [
        await cancel(who),
        await as(who, `transfers/${reference}/book`, 'POST', book),
        await apply(who),
      ]
      for (const door of doors) expect((await json(door)).code).toBe('same_person')
    }
    expect((await (from.oneIn(2) ? cancel : apply)(other)).status).toBe(200)
  }
  expect(confirmed).toBeGreaterThan(0)
})

test('§20 law 9: an approver decides nothing that somebody has prepared or entered whom they alone have let in', async () => {
  await enter('payer', 'main', PAYER)
  const mo = await memberKey({ name: 'mo', role: 'manager' })
  const { id } = await json(askAs(await keyOf('mia'), 'members/member-mo/invitations', 'POST'))
  expect(id).toBe('member-mo')
  await env.DB.exec(
    `insert into member_keys select '${await digest(mo)}', 'again', 'member-mo', 'Script',
    'manager', '"all"', '"all"', '2026-01-01'`.replaceAll('\n', ' '),
  )
  const send = (path: string, method: string, body: object) =>
    askAs(mo, `${PATH}/${path}`, method, body)
  await send('affiliates/a/payee', 'PUT', ADA)
  const approve = (who: Person) => as(who, 'affiliates/a/payee/approve', 'POST', { version: 1 })
  expect([(await approve('mia')).status, (await approve('bob')).status]).toEqual([409, 200])
  await enter('payee', 'a', ADA, { version: 2, entered_by: 'eve' })
  await due('a', '1.00')
  const asked = { ...SENT.prepareBatch, rows: [{ id: 'a:EUR' }] }
  const batch = await json(send('batches', 'POST', asked))
  expect(batch.confirmers).toEqual([actorOf('bob'), actorOf('eva')])
  const seen = { hash: batch.hash, total: batch.total }
  const confirm = (who: Person) => as(who, `batches/${batch.id}/confirm`, 'POST', seen)
  expect(await json(confirm('mia'))).toMatchObject({ code: 'same_person' })
  expect((await confirm('bob')).status).toBe(200)
})

test('§20 law 9: a CSV that names batches of several authors is booked by each of them for the others', async () => {
  await enter('payer', 'main', PAYER)
  const cells: string[] = []
  for (const [id, prepares, confirms] of [
    ['a', 'mia', 'bob'],
    ['b', 'bob', 'mia'],
    ['c', 'eva', 'bob'],
  ] as const) {
    await enter('payee', id, { ...ADA, name: id }, { entered_by: actorOf('eva') })
    await due(id, '1.00')
    const asked = { ...SENT.prepareBatch, rows: [{ id: `${id}:EUR` }] }
    const { id: batch, hash, total, transfers } = await json(as(prepares, 'batches', 'POST', asked))
    await as(confirms, `batches/${batch}/confirm`, 'POST', { hash, total })
    await as(confirms, `batches/${batch}/export`, 'POST')
    cells.push([transfers[0].id, '1.00', 'EUR', new Date().toISOString().slice(0, 10)].join())
  }
  const { hash } = await json(send(`Reference,Amount,Currency,paid_on\n${cells.join('\n')}`))
  const apply = async (who: Person) => {
    const { code, detail, applied_by } = await json(
      as(who, 'payouts/answers/apply', 'POST', { hash }),
    )
    const { data } = await json(as(who, 'payouts'))
    return [applied_by ?? code, data.length, /other batches is booked/.test(detail)]
  }
  expect(await apply('eva')).toEqual(['same_person', 0, false])
  expect(await apply('mia')).toEqual(['same_person', 2, true])
  expect(await apply('mia')).toEqual(['same_person', 2, false])
  expect(await apply('bob')).toEqual([actorOf('bob'), 3, false])
})

test('§20 law 9: who may not confirm a batch reads who may, and what happens next, and finds no button', async () => {
  await enter('payer', 'main', PAYER)
  await enter('payee', 'a', ADA)
  await due('a', '1.00')
  const asked = { ...SENT.prepareBatch, rows: [{ id: 'a:EUR' }] }
  const { id } = await json(as('mia', 'batches', 'POST', asked))
  const pages = async (who: Person) => {
    const { get, post, csrf } = await signedIn(KEY_WORLD, consoleApp, await keyOf(who))
    const at = `/console/${PATH}/batches/${id}`
    const text = await (await get(at)).text()
    return { text, post, at, csrf: await csrf(at) }
  }
  const mia = await pages('mia')
  expect(mia.text).toMatch(/bob.*and.*eva.*may confirm it.*Needs attention/s)
  expect(mia.text).not.toContain('Confirm 1.00')
  const bob = await pages('bob')
  expect(bob.text).toContain('Confirm 1.00')
  const field = (name: string) =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(bob.text)?.[1] ?? ''
  const form = { change: 'confirm', hash: field('hash'), total: field('total') }
  const refused = await mia.post(mia.at, { ...form, csrf: mia.csrf })
  expect([refused.status, await refused.text()]).toEqual([
    409,
    expect.stringContaining('two persons'),
  ])
  expect((await bob.post(bob.at, { ...form, csrf: bob.csrf })).status).toBe(303)
})
