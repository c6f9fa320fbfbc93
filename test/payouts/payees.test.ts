import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import { decryptDetails, encryptDetails } from '../../src/payouts/details.ts'
import { readDetails, type SentDetails } from '../../src/payouts/fields.ts'
import { PAYEE_OPERATIONS } from '../../src/payouts/operations/payees.ts'
import {
  approveDetails,
  blockDetails,
  type Caller,
  currentDetails,
  enterDetails,
  eraseDetails,
  showDetails,
  tendDetails,
} from '../../src/payouts/payees.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { isFor } from '../../src/platform/http/operation-words.ts'
import { askAda, rowsOf } from '../books/book-rows.ts'
import { at } from '../days.ts'
import { ask, askAdmin, json, register } from '../partner.ts'
import { asTeam } from '../requests.ts'
import { TABLES } from '../sweep/state.ts'
import { ADA, MAIN } from './payee-rows.ts'

const PATH = 'accounts/acme-forex'
const PAYEE = `${PATH}/affiliates/aff-7/payee`
const NOW = '2030-01-10T12:00:00.000Z'
const OTHER_IBAN = 'FR1420041010050500013M02606'

beforeEach(async () => {
  at(NOW)
  await register('forex', { affiliates: ['aff-7', 'aff-8', 'aff-9'] })
})

const importing = (csv: string) =>
  ask(`/admin/v1/${PATH}/payees`, {
    ...{ method: 'POST', body: csv },
    headers: { ...asTeam(), 'Content-Type': 'text/csv' },
  })

const faultsOf = (sent: object) =>
  readDetails(sent as SentDetails).issues.map(({ pointer, code }) => `${pointer} ${code}`)

test.each([
  [
    'an IBAN as people type it',
    { ...ADA, iban: 'de89 3704 0044 0532 0130 00' },
    { iban: ADA.iban },
  ],
  ['a French one with letters', { ...ADA, iban: OTHER_IBAN }, { iban: OTHER_IBAN }],
  ['a country by its name', { ...ADA, address: { city: 'X', country: 'germany' } }, {}],
  [
    'an account in the United States',
    {
      ...{ ...ADA, method: 'bank', iban: undefined, account: '00-123 456', bic: 'chasus33' },
      ...{ routing: '021000021', currency: 'USD' },
    },
    { account: '00123456', bic: 'CHASUS33' },
  ],
  ['Wise by e-mail', { ...ADA, method: 'wise', iban: undefined, email: 'a@x.example' }, {}],
  ['nothing for what is paid by hand', { ...ADA, method: 'manual', iban: undefined }, {}],
])('§20.1 %s is accepted', (_, sent, stored) => {
  const { details, issues } = readDetails(sent as SentDetails)
  expect(issues).toEqual([])
  expect(details).toMatchObject(stored)
})

const BANK = { ...ADA, method: 'bank', bic: 'COBADEFF', currency: 'EUR' }
test.each([
  ['a wrong digit', { ...ADA, iban: 'DE88370400440532013000' }, ['/iban pattern']],
  ['a wrong national digit', { ...ADA, iban: 'FR7630006000011234567890188' }, ['/iban pattern']],
  ['a missing digit', { ...ADA, iban: 'DE8937040044053201300' }, ['/iban pattern']],
  ['no IBAN', { ...ADA, iban: undefined }, ['/iban required']],
  ['an IBAN outside of SEPA', { ...ADA, iban: 'AE070331234567890123456' }, ['/iban pattern']],
  ['IBAN and account', { ...BANK, account: '123456' }, ['/iban choice']],
  ['neither of them', { ...BANK, iban: undefined }, ['/iban choice']],
  ['no BIC', { ...BANK, bic: undefined }, ['/bic required']],
  ['a wrong BIC', { ...BANK, bic: 'COBADE' }, ['/bic pattern']],
  ['a wrong routing number', { ...BANK, routing: '021000022' }, ['/routing pattern']],
  ['what the method does not need', { ...ADA, bic: 'COBADEFF' }, ['/bic not_applicable']],
  ['PayPal without e-mail', { ...ADA, iban: undefined, method: 'paypal' }, ['/email required']],
  ['no country', { ...ADA, address: { city: 'X', country: 'ZZ' } }, ['/address/country pattern']],
  ['a name of nothing', { ...ADA, name: '\u200b' }, ['/name pattern']],
])('§20.1 %s is refused', (_, sent, faults) => expect(faultsOf(sent)).toEqual(faults))

test('§20.1 a mistake is 422 with pointer and hint, and quotes no number', async () => {
  const response = await askAdmin(PAYEE, 'PUT', { ...ADA, iban: 'DE88370400440532013000' })
  const { errors } = await json(response)
  expect(response.status).toBe(422)
  expect(errors).toEqual([
    {
      ...{ pointer: '/iban', code: 'pattern' },
      message: 'The value is not valid. Expected an IBAN whose check digits fit.',
      hint: 'A character is wrong, or two are swapped.',
    },
  ])
})

const callAs = async (actor: string, changed: object = {}): Promise<Caller> => {
  const account = { ...(await findAccount(env.DB, 'acme-forex'))!, ...changed }
  return { env, db: env.DB, account, actor, waitUntil: () => {} }
}

const step = fc.oneof(
  fc.record({ do: fc.constant('enter'), who: fc.nat(2), which: fc.nat(1) }),
  fc.record({ do: fc.constant('approve'), who: fc.nat(2), which: fc.nat(5) }),
  fc.record({
    do: fc.constantFrom('block', 'return', 'erase', 'wait'),
    who: fc.nat(2),
    which: fc.nat(1),
  }),
)

/** What the model knows of the current version. */
interface Model {
  state: string
  by: number
  which: number
  at: number
  /** Who approved it, and whether these were enough. */
  approved: number[]
  enough: boolean
}

test('§20.1 only what others than its author approved is paid, once its hold is over', async () => {
  const play = async (steps: { do: string; who: number; which: number }[], approvals: number) => {
    await env.DB.exec('delete from payees')
    let now = Date.parse(NOW)
    let model = null as Model | null
    let version = 0
    for (const { do: what, who, which } of steps) {
      now += 1000
      if (what === 'wait') now += 40 * HOUR_MS
      at(new Date(now).toISOString())
      const call = await callAs(`p-${who}`, { approvals, payee_hold_hours: 72 })
      const refusal = (change: Promise<unknown>) =>
        change.then(
          () => false,
          () => true,
        )
      let isRefused = false
      if (what === 'enter') {
        await enterDetails(call, 'payee', [{ id: 'aff-7', sent: { ...ADA, name: `N ${which}` } }])
        const isSame = model?.which === which && /entered|approved/.test(model.state)
        if (!isSame) {
          version += 1
          model = { state: 'entered', by: who, which, at: now, approved: [], enough: false }
        }
      } else if (what === 'approve') {
        const asked = which === 0 ? version - 1 : version
        isRefused = await refusal(approveDetails(call, 'payee', 'aff-7', asked))
        const isMine = model?.by === who && model.state !== 'approved'
        const mayNot = !model || asked !== version || model.state === 'blocked' || isMine
        expect(isRefused).toBe(mayNot)
        if (model && !mayNot && model.state !== 'approved') {
          const before = model.state
          model.approved = [...new Set([...model.approved, who])]
          model.enough ||= model.approved.length >= approvals
          if (before === 'returned' || model.enough) model.state = 'approved'
        }
      } else if (what === 'block') {
        isRefused = await refusal(blockDetails(call, 'payee', 'aff-7', 'No'))
        expect(isRefused).toBe(!model)
        if (model) model.state = 'blocked'
      } else if (what === 'return' && model?.state === 'approved') {
        await env.DB.exec(`update payees set state = 'returned' where version = ${version}`)
        model.state = 'returned'
      } else if (what === 'erase') {
        await eraseDetails(call, 'payee', 'aff-7')
        if (model) version += 1
        model = null
      }
      const shown = await showDetails(call, 'payee', 'aff-7')
      expect([shown.state, shown.version]).toEqual([model?.state ?? 'missing', version])
      const isPayable =
        shown.state === 'approved' && Date.parse(shown.payable_from ?? '9999-01-01') <= now
      const isAllowed =
        model?.state === 'approved' && model.enough && now - model.at >= 72 * HOUR_MS
      expect(isPayable).toBe(isAllowed)
      if (isPayable)
        expect(
          shown.approvals.filter((one) => one !== `p-${model!.by}`).length,
        ).toBeGreaterThanOrEqual(approvals)
    }
  }
  const histories = fc.array(step, { minLength: 4, maxLength: 14 })
  await fc.assert(fc.asyncProperty(histories, fc.constantFrom(1, 2), play), {
    ...{ numRuns: 40, seed: env.SEED },
  })
})

test('§20.1 what has changed is named, also where it is masked in the same way', async () => {
  const sent = { ...ADA, address: { ...ADA.address, street: 'A' } }
  await askAdmin(PAYEE, 'PUT', sent)
  await askAda(`${PAYEE}/approve`, 'POST', { version: 1 })
  const next = { ...sent, kind: 'company', address: { ...sent.address, street: 'B' } }
  const { details, previous, changed } = await json(askAdmin(PAYEE, 'PUT', next))
  expect(details).toEqual({ ...previous, kind: 'company' })
  expect(changed).toEqual(['kind', 'street'])
})

test('§20.1 of simultaneous changes one wins, and the others are 409', async () => {
  const names = ['A', 'B', 'C', 'D']
  const put = (name: string) => askAdmin(PAYEE, 'PUT', { ...ADA, name })
  const answers = await Promise.all(names.map(put))
  const stored = answers.filter(({ status }) => status === 200).length
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(names.length - stored)
  expect(await rowsOf('payees')).toHaveLength(stored)
  const { version } = await json(askAdmin(PAYEE))
  expect(version).toBe(stored)
  const call = await callAs('eve')
  await Promise.allSettled([
    approveDetails(call, 'payee', 'aff-7', version),
    blockDetails(call, 'payee', 'aff-7', 'No'),
  ])
  await enterDetails(call, 'payee', [{ id: 'aff-7', sent: { ...ADA, name: 'E' } }])
  await expect(approveDetails(call, 'payee', 'aff-7', version)).rejects.toMatchObject({
    code: 'conflict',
  })
})

test('§20.1 a file is entered as a whole or not at all, with its mistakes by row', async () => {
  const head = 'affiliate_id;name;kind;city;country;method;iban'
  const good = `aff-8;Bob;person;Paris;France;sepa;${OTHER_IBAN}`
  const bad = [
    'aff-7;Ada;person;Berlin;DE;sepa;DE00',
    'aff-99;Eve;person;Rome;IT;manual;',
    'aff-8;Bob;robot;;IT;manual;',
  ]
  const refused = await importing([head, good, ...bad].join('\n'))
  const { errors } = await json(refused)
  expect(errors.map((one: Record<string, string>) => `${one.pointer} ${one.code}`).sort()).toEqual([
    '/1/iban pattern',
    '/2/affiliate_id unknown_affiliate',
    '/3 duplicate_key',
    '/3/address/city required',
    '/3/kind enum',
  ])
  expect(await rowsOf('payees')).toEqual([])
  expect(await json(importing(`${head}\n${good}`))).toEqual({ received: 1, changed: 1 })
  expect(await json(importing(`${head}\n${good}`))).toEqual({ received: 1, changed: 0 })
})

test('§20.1 no number is in an answer, a row, an event or a line of the log but what is revealed', async () => {
  const lines = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
  await env.DB.exec(
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at) values ('acme-forex', 'whk_1', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00.000Z')`,
  )
  const seen = [
    ...[
      await askAdmin(PAYEE, 'PUT', ADA),
      await askAda(`${PAYEE}/approve`, 'POST', { version: 1 }),
    ],
    await askAdmin(PAYEE, 'PUT', { ...ADA, iban: OTHER_IBAN }),
    await importing(
      `affiliate_id,name,kind,city,country,method,iban\naff-8,B,person,X,FR,sepa,${OTHER_IBAN}\n`,
    ),
    await askAdmin(`${PATH}/payers/main`, 'PUT', MAIN),
    ...(await Promise.all(
      ['payees', 'payers', 'payers/main', 'affiliates/aff-7/payee', 'attention'].map((one) =>
        askAdmin(`${PATH}/${one}`),
      ),
    )),
    await askAdmin(`${PAYEE}/block`, 'POST', { reason: 'No' }),
  ]
  const revealed = await json(askAdmin(`${PAYEE}/reveal`, 'POST', { reason: 'The bank asks' }))
  expect(revealed).toEqual({ version: 2, details: { ...ADA, iban: OTHER_IBAN } })
  seen.push(await askAdmin('audit-log'))
  const texts = await Promise.all(seen.map((one) => one.text()))
  expect(texts[3]).toBe('{"received":1,"changed":1}')
  expect(texts[2]).toContain('FR…2606')
  expect(texts[2]).toContain('DE…3000')
  expect(texts[5]).toContain('"shared_with":["aff-8"]')
  expect(texts.at(-1)).toContain('payee.reveal')
  const rows = await Promise.all(TABLES.map(rowsOf))
  const events = await rowsOf('webhook_events')
  expect(events.map(({ data }) => JSON.parse(String(data)).state)).toEqual([
    ...['entered', 'approved', 'entered', 'entered', 'blocked'],
  ])
  const everything = [
    ...texts,
    JSON.stringify(rows),
    JSON.stringify(lines.map(({ mock }) => mock.calls)),
  ]
  for (const number of [ADA.iban, OTHER_IBAN, MAIN.iban]) {
    for (const text of everything) expect(text).not.toContain(number.slice(4, -4))
  }
})

test('§20.1 an erasure leaves what payments used until its years are over, and nobody reads it', async () => {
  const call = await callAs('eve', { retain_years: 10 })
  for (const name of ['A', 'B', 'C'])
    await enterDetails(call, 'payee', [{ id: 'aff-7', sent: { ...ADA, name } }])
  await env.DB.exec(
    `insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements, state, changed_at) values ('acme-forex', 'T1', 'B1', 'aff-7', 2, 'EUR', '1.00', '[]', 'paid', ${Date.parse('2029-03-01')})`,
  )
  expect(await json(askAdmin(PAYEE, 'DELETE'))).toEqual({
    kept: [{ version: 2, until: '2039-03-01' }],
  })
  const left = async () =>
    (await rowsOf('payees')).filter(({ details }) => details !== null).map(({ version }) => version)
  expect(await left()).toEqual([2])
  expect(await json(askAdmin(PAYEE))).toMatchObject({
    state: 'missing',
    details: null,
    previous: null,
  })
  expect((await askAdmin(`${PAYEE}/reveal`, 'POST', { reason: 'R' })).status).toBe(404)
  expect((await currentDetails(env.DB, 'acme-forex', 'payee', ['aff-7'])).size).toBe(0)
  await tendDetails(env, env.DB, call.account, Date.parse('2039-02-28'))
  expect(await left()).toEqual([2])
  await tendDetails(env, env.DB, call.account, Date.parse('2039-03-02'))
  expect(await left()).toEqual([])
})

test('§20.1 a morning encrypts anew what another key has encrypted, and the digests with it', async () => {
  const [old, key] = await Promise.all([1, 2].map(newKey))
  const ofKeys = (...keys: unknown[]) =>
    ({ ...env, TRACKING_KEYS: JSON.stringify({ keys }) }) as Env
  const call = { ...(await callAs('eve')), env: ofKeys(old) }
  const entered = ['aff-7', 'aff-8'].map((id) => ({ id, sent: ADA }))
  await enterDetails(call, 'payee', entered)
  await enterDetails({ ...call, env: ofKeys(key, old) }, 'payee', [{ id: 'aff-9', sent: ADA }])
  const before = await rowsOf('payees')
  expect(new Set(before.map(({ digest }) => digest)).size).toBe(2)
  await tendDetails(ofKeys(key, old), env.DB, call.account, Date.now())
  const rotated = { ...call, env: ofKeys(key) }
  const shown = await showDetails(rotated, 'payee', 'aff-7')
  expect(shown).toMatchObject({ details: { iban: 'DE…3000' }, shared_with: ['aff-8', 'aff-9'] })
  const found = await currentDetails(env.DB, 'acme-forex', 'payee', ['aff-7'])
  expect(await decryptDetails(rotated.env, 'acme-forex', found.get('aff-7')!)).toEqual(ADA)
  const of = { account: 'acme-forex', party: 'payee', id: 'aff-7', version: 1 } as const
  const { digest, key_id } = await encryptDetails(rotated.env, of, ADA)
  expect(await rowsOf('payees')).toMatchObject(before.map(() => ({ digest, key_id })))
})

const newKey = async (kid: number) => ({
  ...{ kty: 'oct', alg: 'HS256', kid: String(kid) },
  k: btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', ''),
})

test('§20.1 no key of an affiliate reads or changes bank details', () => {
  for (const of of PAYEE_OPERATIONS) {
    expect(['account', 'affiliate', 'anyone'].some((who) => isFor(of, who as never))).toBe(false)
  }
})
