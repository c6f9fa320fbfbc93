import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import {
  DETAIL_CHOICES,
  DETAIL_NAMES,
  detailPointer,
  flatDetails,
  nestedDetails,
  readDetails,
} from '../../src/payouts/fields.ts'
import { PAYEE_OPERATIONS } from '../../src/payouts/operations/payees.ts'
import * as payees from '../../src/payouts/payees.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { isFor } from '../../src/platform/http/operation-words.ts'
import { askAda, rowsOf } from '../books/book-rows.ts'
import { at } from '../days.ts'
import { askAs, keyOfRole } from '../members.ts'
import { ask, askAdmin, json, register } from '../partner.ts'
import { asTeam } from '../requests.ts'
import { TABLES } from '../sweep/state.ts'
import {
  ADA,
  askExport,
  askFile,
  change,
  confirm,
  confirmed,
  due,
  enter as enterApproved,
  MAIN,
  OTHER_IBAN,
  PATH,
  PAYER,
  prepare,
  show,
} from './payout-rows.ts'

const PAYEE = `${PATH}/affiliates/aff-7/payee`
const NOW = '2030-01-10T12:00:00.000Z'
const BANK = { ...ADA, method: 'bank', bic: 'COBADEFF', currency: 'EUR' }
const NO_IBAN = { iban: undefined }
const ACH = {
  ...{ ...BANK, ...NO_IBAN, bic: undefined, currency: 'USD' },
  ...{ account: '000123456789', account_type: 'savings', routing: '021000021' },
}
const { iban: _, ...PERSON } = ADA
const PAYPAL = { ...PERSON, method: 'paypal' } as const

beforeEach(async () => {
  at(NOW)
  await register('forex', { affiliates: ['aff-7', 'aff-8', 'aff-9'] })
})

test.each<[string, object, object]>([
  ['an IBAN as people type it', { ...ADA, iban: 'de89 3704 0044 0532 0130 00' }, ADA],
  ['a currency in small letters', { ...BANK, currency: 'eur' }, BANK],
  ['a country by its name', { ...ADA, address: { city: 'Berlin', country: 'germany' } }, ADA],
  ['an account', { ...BANK, ...NO_IBAN, account: '00-1 a', bic: 'bofaus3n' }, { account: '001A' }],
  ['a bank in the United States', ACH, { routing: '021000021', account_type: 'savings' }],
  ['a bank in the United States with a BIC', { ...ACH, bic: 'CHASUS33' }, { bic: 'CHASUS33' }],
  ['Wise by e-mail', { ...ADA, ...NO_IBAN, method: 'wise', email: 'a@x.example' }, {}],
  ['Wise by IBAN', { ...ADA, method: 'wise', email: 'a@x.example' }, { iban: ADA.iban }],
  ['nothing for what is paid by hand', { ...ADA, ...NO_IBAN, method: 'manual' }, {}],
])('§20.1 %s is accepted', (_, sent, stored) => {
  const { details, issues } = readDetails('payee', JSON.parse(JSON.stringify(sent)))
  expect(issues).toEqual([])
  expect(details).toMatchObject(stored)
})

test.each([
  ['a wrong digit', { ...ADA, iban: 'DE88370400440532013000' }, '/iban pattern'],
  ['a wrong national digit', { ...ADA, iban: 'FR7630006000011234567890188' }, '/iban pattern'],
  ['no IBAN', { ...ADA, ...NO_IBAN }, '/iban required'],
  ['an IBAN outside of SEPA', { ...ADA, iban: 'AE070331234567890123456' }, '/iban not_applicable'],
  ['IBAN and account', { ...BANK, account: '123456' }, '/account unknown_field'],
  ['neither of them', { ...BANK, ...NO_IBAN }, '/iban required'],
  ['no BIC', { ...BANK, bic: undefined }, '/bic required'],
  ['neither BIC nor routing', { ...ACH, routing: undefined }, '/bic required'],
  ['IBAN and routing', { ...BANK, routing: '021000021' }, '/routing unknown_field'],
  ['a type of account that does not exist', { ...ACH, account_type: 'x' }, '/account_type enum'],
  ['a wrong BIC', { ...BANK, bic: 'COBADE' }, '/bic pattern'],
  ['a wrong routing number', { ...ACH, routing: '021000022' }, '/routing pattern'],
  ['what the method does not need', { ...ADA, bic: 'COBADEFF' }, '/bic unknown_field'],
  ['PayPal without e-mail', { ...ADA, ...NO_IBAN, method: 'paypal' }, '/email required'],
  ['no country', { ...ADA, address: { city: 'X', country: 'ZZ' } }, '/address/country pattern'],
  ['a name of nothing', { ...ADA, name: '\u200b' }, '/name pattern'],
])('§20.1 %s is refused', (_, sent, fault) => {
  const { issues } = readDetails('payee', JSON.parse(JSON.stringify(sent)))
  expect(issues.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([fault])
})

/** Addresses of wallets by their networks, all published as examples or of well-known contracts. */
const WALLETS = {
  ethereum: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  base: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  polygon: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  solana: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
}

test('§20.1 a wallet is an address of its network, whose check fits, and keeps its letters', () => {
  const faults = (network: string, wallet_address: string, asset = 'USDT') => {
    const sent = { ...PERSON, method: 'wallet', network, asset, wallet_address }
    const { issues, details } = readDetails('payee', sent)
    const found = issues.map((one) => `${one.pointer} ${one.code}`).join()
    return found || details.wallet_address
  }
  const isEvm = (network: string) => !/solana|tron/.test(network)
  const refused = '/wallet_address pattern'
  for (const [network, address] of Object.entries(WALLETS)) {
    expect(faults(network, ` ${address.replace(/.{9}/, '$&\u200b')}\n`)).toBe(address)
    for (const [other, foreign] of Object.entries(WALLETS)) {
      const fits = other === network || (isEvm(other) && isEvm(network))
      expect(faults(network, foreign)).toBe(fits ? foreign : refused)
    }
    const coins = network === 'tron' ? '/asset pattern' : address
    expect(faults(network, address, 'USDC')).toBe(coins)
    if (network === 'solana') continue
    // No edit of one character passes.
    for (let at = 0; at < address.length; at++) {
      for (const letter of 'aAbB12') {
        const edited = address.slice(0, at) + letter + address.slice(at + 1)
        if (edited !== address) expect(faults(network, edited)).toBe(refused)
      }
    }
  }
  for (const text of ['', '0x', WALLETS.ethereum.toLowerCase(), '1'.repeat(31), '0'.repeat(44)]) {
    for (const network of Object.keys(WALLETS)) expect(faults(network, text)).not.toBe(text)
  }
  expect(faults('solana', '1'.repeat(32))).toBe('1'.repeat(32))
  expect(faults('bitcoin', WALLETS.base)).toBe('/network enum')
})

test('§20.1 a number is read without what no eye sees, in any width, with its name before it', () => {
  const sent = {
    ...{ ...BANK, ...NO_IBAN, account: '000123456789', routing: '021000021' },
    tax: { vat_id: 'DE123456789' },
  }
  const wide = (text: string) =>
    text.replaceAll(/[!-~]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0))
  const unseen = fc.constantFrom(
    ...'\u200b\u200e\u202a\u202c\u00ad\u2060\ufeff\u00a0\u202f\u2007\u2028 \n.-‑/',
  )
  const paste = (text: string, noise: string[], before: string) =>
    before + [...text].map((letter, i) => letter + (noise[i] ?? '')).join('')
  const pasted = fc.tuple(
    fc.array(unseen, { maxLength: 12 }),
    fc.constantFrom('', 'IBAN ', 'iban: ', 'IBAN：', '\u202a'),
    fc.constantFrom(
      wide,
      (text: string) => text,
      (text: string) => text.toLowerCase(),
    ),
  )
  const read = ([noise, before, form]: [string[], string, (text: string) => string]) => {
    for (const of of [ADA, sent]) {
      const messy = JSON.stringify(of, (name, value) =>
        value && /^(iban|account|bic|routing|vat_id)$/.test(name)
          ? paste(form(value), noise, before)
          : value,
      )
      const { details, issues } = readDetails('payee', JSON.parse(messy))
      expect([issues, details]).toEqual([[], JSON.parse(JSON.stringify(of))])
    }
  }
  fc.assert(fc.property(pasted, read), { seed: env.SEED, numRuns: 60 })
})

const LETTERLESS = [
  '王小明',
  'محمد أحمد',
  'สมชาย ใจดี',
  'გიორგი მელიქიძე',
  'יוסי כהן',
  '山田 太郎',
  '😀 Anna',
]

test.each([...LETTERLESS, 'Ивайло', 'Κώστας', 'Nguyễn Văn Ừ', 'İpek Şahin', "'t Hooft & Søn"])(
  '§20.1 %s is entered for a bank only if banks can write it, anywhere in name and address',
  (text) => {
    const isMissing = LETTERLESS.includes(text)
    for (const [party, own] of [
      ['payee', ADA],
      ['payer', MAIN],
    ] as const) {
      for (const name of ['name', 'city', 'street', 'postcode', 'building']) {
        const flat = new Map([...flatDetails(own), [name, text]])
        const codes = (sent: Iterable<readonly [string, string]>) =>
          readDetails(party, nestedDetails(sent)).issues.map((one) => `${one.pointer} ${one.code}`)
        expect(codes(flat)).toEqual(isMissing ? [`${detailPointer(name)} no_latin`] : [])
        const byHand = new Map([...flat, ['method', 'manual'], ['iban', '']])
        if (party === 'payee') expect(codes(byHand)).toEqual([])
      }
    }
  },
)

test('§20.1 no text begins as a formula does, in any width: it is refused, or stored without', () => {
  const texts = DETAIL_NAMES.filter((name) => !DETAIL_CHOICES.has(name))
  for (const [party, own] of [
    ['payee', { ...ADA, email: 'a@x.example' }],
    ['payer', MAIN],
  ] as const) {
    for (const sign of '=+-@＝＋－＠﹦﹢﹣﹫\t\r') {
      const flat = new Map(flatDetails(own))
      for (const name of texts.filter((one) => party === 'payee' || one !== 'email')) {
        const sent = nestedDetails([...flat, [name, `${sign}${flat.get(name) ?? '1'}`]])
        const { issues, details } = readDetails(party, sent)
        const stored = new Map(flatDetails(details)).get(name) ?? ''
        expect([name, sign, issues.length > 0 || /^[A-Za-z\d]/.test(stored)]).toEqual([
          name,
          sign,
          true,
        ])
      }
    }
  }
  const inner = { ...ADA, name: 'Ada;=HYPERLINK("x")' }
  expect(readDetails('payee', inner).issues).toMatchObject([{ pointer: '/name', code: 'pattern' }])
})

test('§20 law 6: no text that everybody reads names an account, in any spelling', () => {
  const iban = ADA.iban.replaceAll(/(....)/g, '$1 ')
  const flat = flatDetails({ ...ADA, address: { ...ADA.address, street: 'Main St' } })
  for (const name of ['name', 'city', 'street'])
    for (const number of [ADA.iban, ADA.iban.toLowerCase(), iban, iban.replaceAll(' ', '-')]) {
      const at = (text: string) => nestedDetails([...flat, [name, text]])
      const { issues } = readDetails('payee', at(`A ${number}`))
      expect([name, JSON.stringify(issues).includes('number of an account')]).toEqual([name, true])
      expect(JSON.stringify(issues)).not.toContain(number)
      expect(readDetails('payee', at('A 12 1234')).issues).toEqual([])
    }
})

test('§20.1 an error names the letters that banks do not know, and not the name', async () => {
  const { errors } = await json(askAdmin(PAYEE, 'PUT', { ...ADA, name: '王小明 李' }))
  const [{ message, hint }] = errors
  expect(`${message} ${hint}`).toBe(
    'Banks cannot write `小`, `明`, `李`, `王`. Send it in Latin letters, as the bank writes it.',
  )
})

const callAs = async (actor: string, changed: object = {}): Promise<payees.Caller> => {
  const account = { ...(await findAccount(env.DB, 'acme-forex'))!, ...changed }
  return { env, db: env.DB, account, actor, waitUntil: () => {} }
}

const enter = (call: payees.Caller, sent: object = ADA, id = 'aff-7') =>
  payees.enterDetails(call, 'payee', [{ id, sent }])

type Act = (call: payees.Caller, which: number, version: number) => Promise<unknown>

/** What may happen to details; 0 if nothing has changed. */
const DOES: Readonly<Record<string, Act>> = {
  enter: (call, which) => enter(call, { ...ADA, name: `N ${which}` }),
  approve: (call, which, now) => payees.approveDetails(call, 'payee', 'aff-7', now - which),
  block: (call) => payees.blockDetails(call, 'payee', 'aff-7', 'No'),
  erase: (call) => payees.eraseDetails(call, 'payee', 'aff-7'),
  async return({ db }, _, version) {
    const sql = `update payees set state = 'returned' where state = 'approved' and version = ?`
    return (await db.prepare(sql).bind(version).run()).meta.changes
  },
  wait: async () => 0,
}

test('§20.1 only what others than its author approved is paid, once its hold is over', async () => {
  const play = async (steps: { does: string; who: number; which: number }[], approvals: number) => {
    await env.DB.exec('delete from payees')
    let now = Date.parse(NOW)
    let version = 0
    let shown = await payees.showDetails(await callAs('eve'), 'payee', 'aff-7')
    // What was done to the current version, its entry first.
    let done: { does: string; who: number; at: number }[] = []
    for (const { does, who, which } of steps) {
      now += does === 'wait' ? 73 * HOUR_MS : 1000
      at(new Date(now).toISOString())
      const call = await callAs(`p-${who}`, { approvals, payee_hold_hours: 72 })
      const isDone = (await DOES[does]!(call, which, version).catch(() => 0)) !== 0
      const isOwn = shown.entered_by === call.actor && shown.state !== 'approved'
      if (does === 'approve' && (which > 0 || isOwn)) expect(isDone).toBe(false)
      if (isDone && does === 'enter') version += 1
      const before = does === 'enter' ? [] : done
      if (isDone) done = does === 'erase' ? [] : [...before, { does, who, at: now }]
      shown = await payees.showDetails(call, 'payee', 'aff-7')
      expect([shown.state === 'missing', shown.version]).toEqual([done.length === 0, version])
      const names = done.map((one) => one.does)
      const others = done.filter((one) => one.does === 'approve' && one.who !== done[0]?.who)
      const isPayable =
        // Whoever entered it is one of two.
        others.length > 0 &&
        !names.includes('block') &&
        names.lastIndexOf('return') < names.lastIndexOf('approve') &&
        now - done[0]!.at >= 72 * HOUR_MS
      const from = shown.state === 'approved' ? Date.parse(shown.payable_from ?? '') : Infinity
      expect(from <= now).toBe(isPayable)
    }
  }
  const step = fc.record({
    does: fc.constantFrom('enter', 'approve', 'approve', ...Object.keys(DOES)),
    who: fc.nat(2),
    which: fc.constantFrom(0, 0, 0, 1),
  })
  const histories = fc.array(step, { minLength: 4, maxLength: 14 })
  const options = { numRuns: 40, seed: env.SEED }
  await fc.assert(fc.asyncProperty(histories, fc.constantFrom(1, 2), play), options)
})

test('§20.1 an approver sees what changed, even behind one mask; no manager learns by trial whose number it is', async () => {
  await enterApproved('payee', 'aff-7', ADA)
  const trial = { ...ADA, iban: OTHER_IBAN, address: { ...ADA.address, street: 'Main Street' } }
  for (const id of ['aff-7', 'aff-8']) await enter(await callAs('eve'), trial, id)
  const told = async (key: string) => {
    const read = (path: string) => json(askAs(key, `${PATH}/${path}`))
    const all = [...(await read('payees')).data, await read('affiliates/aff-7/payee')]
    return all.map(({ changed, same_account }) => [...changed, ...same_account].join())
  }
  expect(await told(await keyOfRole('manager'))).toEqual(['', '', ''])
  expect(await told(env.ADMIN_KEY)).toEqual(['street,iban,aff-8', 'aff-7', 'street,iban,aff-8'])
})

test('§20.1 who is paid to one account is named where money is confirmed, until an approver says why', async () => {
  const [ids, all] = [
    ['aff-7', 'aff-8', 'aff-9'],
    () => json(prepare({ execute_on: NOW.slice(0, 10) })),
  ]
  await enterApproved('payer', 'main', PAYER)
  const names = async () => {
    const { data } = await json(askAdmin(`${PATH}/attention`))
    const found = data.find(({ code }: { code: string }) => code === 'same_account')
    const { transfers } = await all()
    const marked = transfers.map(({ doubts }: { doubts: { code: string; detail: string }[] }) =>
      doubts.flatMap(({ code, detail }) =>
        code === 'same_account' ? [detail.replace('The same account as ', '')] : [],
      ),
    )
    const payees = await Promise.all(
      ids.map(async (id) => (await json(askAdmin(`${PATH}/affiliates/${id}/payee`))).same_account),
    )
    return [found?.names.join(' ') ?? '', marked.join(), payees.map((one) => one.join(' ')).join()]
  }
  const explain = (id: string) =>
    askAdmin(`${PATH}/affiliates/${id}/payee/same-account`, 'POST', { reason: 'An agency' })
  for (const id of ids) await due(id, '1.00')
  // Whoever enters details learns nothing from what viewers see, also not of what is approved already.
  await enterApproved('payee', 'aff-7', ADA)
  await enterApproved('payee', 'aff-8', ADA, { state: 'entered', payable_from: null })
  expect(await names()).toEqual(['', '', 'aff-8,aff-7,'])
  await change(`update payees set state = 'approved', payable_from = 1`)
  const paypal = { ...PAYPAL, email: 'Ada@x.example' }
  await enterApproved('payee', 'aff-9', paypal)
  expect(await names()).toEqual(['aff-7 aff-8', 'aff-8,aff-7', 'aff-8,aff-7,'])
  expect((await explain('aff-9')).status).toBe(409)
  const seen = await all()
  for (const status of [200, 200]) expect((await explain('aff-7')).status).toBe(status)
  expect((await confirm(seen)).status).toBe(409)
  expect(await names()).toEqual(['aff-8', ',aff-7', ',aff-7,'])
  await explain('aff-8')
  expect(await names()).toEqual(['', ',', ',,'])
  // Another account, and another version, is another question.
  await enterApproved('payee', 'aff-8', { ...PAYPAL, email: 'ada@X.example' }, { version: 2 })
  expect(await names()).toEqual(['aff-8 aff-9', '', ',aff-9,aff-8'])
})

test('§17 affiliates who share an account are a case each, once, which names the bank details', async () => {
  for (const id of ['aff-7', 'aff-8', 'aff-9']) await enter(await callAs('eve'), ADA, id)
  await enter(await callAs('eve'), { ...ADA, iban: OTHER_IBAN }, 'aff-9')
  await enter(await callAs('eve'), ADA, 'aff-9')
  const rule = { kind: 'shared_payee', name: 'Twins', severity: 'high' }
  const put = { ...rule, effective_from: NOW.slice(0, 10) }
  await askAdmin(`${PATH}/fraud-rules/twins`, 'PUT', put)
  for (const day of ['11', '12']) {
    at(`2030-01-${day}T12:00:00.000Z`)
    await askAdmin(`${PATH}/fraud-rules/run`, 'POST')
    const { data } = await json(askAdmin(`${PATH}/cases`))
    const ids = data.map((one: { affiliate_id: string }) => one.affiliate_id).sort()
    expect([ids.join(), data[0].evidence_total]).toEqual(['aff-7,aff-8,aff-9', 3])
    expect(data[0].sentence).toBe('The affiliate is paid to the account of 2 other affiliates.')
    const evidence = await json(askAdmin(`${PATH}/cases/${data[0].case_id}/evidence`))
    expect(evidence.data).toMatchObject(
      ['aff-7 1', 'aff-8 1', 'aff-9 3'].map((id) => ({
        ...{ resource: 'payees', id, day: '2030-01-10', changed: false },
        values: { state: 'entered', method: 'sepa' },
      })),
    )
  }
})

test('§20.1 a manager learns nothing by entering what is approved: it waits like anything else', async () => {
  const manager = { ...(await callAs('mia')), role: 'manager' as const }
  const enterAll = async (ids: string[], call: payees.Caller) =>
    payees.enterDetails(
      call,
      'payee',
      ids.map((id) => ({ id, sent: ADA })),
    )
  await enterApproved('payee', 'aff-7', ADA)
  await enterApproved('payee', 'aff-8', { ...ADA, iban: OTHER_IBAN })
  expect(await enterAll(['aff-7', 'aff-8'], manager)).toBe(2)
  const [right, wrong] = await Promise.all(
    ['aff-7', 'aff-8'].map(async (id) => {
      const { previous: _, ...shown } = await payees.showDetails(manager, 'payee', id)
      return shown
    }),
  )
  expect(right).toMatchObject({ state: 'entered', version: 2, payable_from: null })
  expect(wrong).toEqual(right)
  expect(await enterAll(['aff-7', 'aff-8'], manager)).toBe(2)
  // Approvers may see them, and repeat what is entered.
  expect(await enterAll(['aff-7', 'aff-8'], { ...manager, role: 'approver' })).toBe(0)
})

test('§20.1 of simultaneous changes one wins, and the others are 409', async () => {
  const names = ['A', 'B', 'C', 'D']
  const answers = await Promise.all(names.map((name) => askAdmin(PAYEE, 'PUT', { ...ADA, name })))
  const stored = answers.filter(({ status }) => status === 200).length
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(names.length - stored)
  const { version } = await json(askAdmin(PAYEE))
  expect([version, (await rowsOf('payees')).length]).toEqual([stored, stored])
})

const HEAD = 'Affiliate ID;name;kind;city;country;method;iban'
const GOOD = `aff-8;Bob;person;Paris;France;sepa;${OTHER_IBAN}`

const importing = (...lines: string[]) =>
  ask(`/admin/v1/${PATH}/payees`, {
    method: 'POST',
    body: lines.join('\n'),
    headers: { ...asTeam(), 'Content-Type': 'text/csv' },
  })

test('§20.1 a file is entered as a whole or not at all, with its mistakes by row', async () => {
  const bad = [
    'aff-7;Ada;person;Berlin;DE;sepa;DE00',
    'aff-99;Eve;person;Rome;IT;manual;',
    'aff-8;Bob;person;;IT;manual;',
  ]
  const { errors } = await json(importing(HEAD, GOOD, ...bad))
  const faults = errors.map((one: Record<string, string>) => `${one.pointer} ${one.code}`)
  expect(faults.sort().join()).toBe(
    '/1/iban pattern,/2/affiliate_id unknown_affiliate,/3 duplicate_key,/3/address/city required',
  )
  expect(await rowsOf('payees')).toEqual([])
  expect(await json(importing(HEAD, GOOD))).toEqual({ changed: 1 })
  expect(await json(importing(HEAD, GOOD))).toEqual({ changed: 0 })
})

test('an approval of two persons at once counts, or is refused', async () => {
  const entered = { state: 'entered', payable_from: null } as const
  await enterApproved('payee', 'aff-7', ADA, entered)
  const calls = await Promise.all(['p-1', 'p-2'].map((who) => callAs(who, { approvals: 2 })))
  const both = await Promise.allSettled(
    calls.map((call) => payees.approveDetails(call, 'payee', 'aff-7', 1)),
  )
  const [row] = await rowsOf('payees')
  const counted = both.filter(({ status }) => status === 'fulfilled')
  expect(JSON.parse(String(row?.approvals))).toHaveLength(counted.length)
})

test('§20.1 no number is in an answer, a row, an event or a line of the log but what is revealed', async () => {
  const lines = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
  await env.DB.exec(
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at) values ('acme-forex', 'whk_1', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00.000Z')`,
  )
  const other = { ...ADA, iban: OTHER_IBAN }
  const seen: string[] = []
  const see = async (answer: Promise<Response>) => {
    seen.push(await (await answer).text())
    return seen.at(-1)
  }
  const wrong = { ...ADA, iban: 'DE88370400440532013000' }
  expect(await see(askAdmin(PAYEE, 'PUT', wrong))).toContain('Compare each character.')
  await see(askAdmin(PAYEE, 'PUT', ADA))
  await see(askAda(`${PAYEE}/approve`, 'POST', { version: 1 }))
  expect(await see(askAdmin(PAYEE, 'PUT', other))).toMatch(/FR…2606.*DE…3000/)
  await see(importing(HEAD, GOOD))
  await see(askAdmin(`${PATH}/payers/main`, 'PUT', MAIN))
  for (const path of ['payees', 'payers', 'payers/main', 'attention']) {
    await see(askAdmin(`${PATH}/${path}`))
  }
  expect(await see(askAdmin(PAYEE))).toContain('"same_account":["aff-8"]')
  await see(askAdmin(`${PAYEE}/block`, 'POST', { reason: 'No' }))
  const revealed = await json(askAdmin(`${PAYEE}/reveal`, 'POST', { reason: 'The bank asks' }))
  expect(revealed).toMatchObject({ version: 2, details: other })
  expect(await see(askAdmin('audit-log'))).toContain('payee.reveal')
  const events = await rowsOf('webhook_events')
  const states = events.flatMap(({ data }) => JSON.parse(String(data)).state ?? [])
  expect(states.join(' ')).toBe('entered approved entered entered blocked')
  const rows = await Promise.all(TABLES.map(rowsOf))
  const logged = lines.map(({ mock }) => mock.calls)
  const everything = [...seen, JSON.stringify(rows), JSON.stringify(logged)].join()
  for (const { iban } of [wrong, other, MAIN]) expect(everything).not.toContain(iban.slice(4, -4))
})

test('§20.1 an erasure leaves what payments used until its years are over, and nobody reads it', async () => {
  const call = await callAs('eve', { retain_years: 10 })
  await enter(call)
  await enterApproved('payer', 'main', PAYER)
  await enterApproved('payee', 'aff-7', ADA, { version: 2 })
  await due('aff-7', '1.00')
  const { id, transfers } = await confirmed({ execute_on: NOW.slice(0, 10) })
  expect([transfers[0].name, (await askExport(id)).status]).toEqual([ADA.name, 200])
  await enter(call, { ...ADA, name: 'C' })
  const erased = { state: 'missing', details: null, previous: null, entered_by: null }
  expect(await json(askAdmin(PAYEE, 'DELETE'))).toMatchObject(erased)
  // The last one is that of the payer.
  const left = async () =>
    (await rowsOf('payees')).flatMap(({ details, version }) => (details ? [version] : []))
  expect(await left()).toEqual([2, 1])
  expect((await askAdmin(`${PAYEE}/reveal`, 'POST', { reason: 'R' })).status).toBe(404)
  await enter(call, { ...ADA, name: 'D' })
  expect(await json(askAdmin(PAYEE))).toMatchObject({ version: 4, previous: null })
  expect((await show(id)).transfers).toMatchObject([{ name: null }])
  expect((await askFile(id)).status).toBe(409)
  await payees.tendDetails(env, env.DB, call.account, Date.parse('2040-01-10'))
  expect(await left()).toEqual([2, 4, 1])
  await payees.tendDetails(env, env.DB, call.account, Date.parse('2040-01-11'))
  expect(await left()).toEqual([4, 1])
})

test('§20.1 a morning encrypts anew what another key has encrypted, and the digests with it', async () => {
  const [old, key] = ['A', 'Q'].map((letter) => ({ kty: 'oct', k: letter.repeat(43) }))
  const call = await callAs('eve')
  const under = (...keys: unknown[]) => ({
    ...call,
    env: { ...env, TRACKING_KEYS: JSON.stringify({ keys }) } as Env,
  })
  await enter(under(old), ADA, 'aff-7')
  await enter(under(old), ADA, 'aff-8')
  await enter(under(key, old), ADA, 'aff-9')
  await payees.tendDetails(under(key, old).env, env.DB, call.account, Date.now())
  const rotated = under(key)
  const shown = await payees.showDetails(rotated, 'payee', 'aff-7')
  expect(shown).toMatchObject({ details: { iban: 'DE…3000' }, same_account: ['aff-8', 'aff-9'] })
  expect(await payees.revealDetails(rotated, 'payee', 'aff-8', 'R')).toEqual(ADA)
})

test('§20.1 no key of an affiliate reads or changes bank details', () => {
  const others = ['account', 'affiliate', 'anyone'] as const
  expect(PAYEE_OPERATIONS.filter((of) => others.some((who) => isFor(of, who)))).toEqual([])
})
