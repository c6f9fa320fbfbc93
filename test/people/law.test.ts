import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import catalogue from '../../src/catalogues/notices.json'
import { isSecurity, type Mail, mailOf, noticeText } from '../../src/people/mail.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import {
  NOTICE_KINDS,
  type NoticeKind,
  type StoredNotice,
} from '../../src/platform/directory/outbox.ts'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { LANGUAGES } from '../../src/platform/languages.ts'
import { rowsOf } from '../books/book-rows.ts'
import { overriding } from '../overriding.ts'
import { ada, issuedPartner, register } from '../partner.ts'
import { ADA, OTHER_IBAN, PATH } from '../payouts/payout-rows.ts'
import { linksIn, postOffice } from './outgoing.ts'

const KINDS = Object.keys(NOTICE_KINDS) as NoticeKind[]

/** What a text may name: nothing of a customer, and no number of an account. */
const FACTS = {
  ...{ amount: '1234.5', currency: 'EUR', day: '2026-03-01', period: '2026-02' },
  ...{
    reference: 'R-1',
    plan: 'p-1',
    name: 'N-1',
    by: 'B-1',
    affiliate: 'A-1',
    count: 7,
    fresh: 3,
  },
  ...{ page: 'x/1', link: 'l-1', has_details: 1 },
}

const NAMES: readonly string[] = ['account', ...Object.keys(FACTS)]

test('§21.3 each text is in five languages, which name the same things, and nothing else', () => {
  for (const [name, texts] of Object.entries(catalogue)) {
    const named = LANGUAGES.map((language) =>
      [...new Set(texts[language].match(/(?<=\{)\w+(?=\})/g) ?? [])].sort(),
    )
    for (const own of named) expect([name, own]).toEqual([name, named[0]])
    expect(named[0]?.filter((one) => !NAMES.includes(one))).toEqual([])
    expect(new Set(LANGUAGES.map((language) => texts[language])).size).toBeGreaterThan(3)
  }
})

test('§21.3 the e-mail of each kind says the same as text and as HTML, and only what its facts say', async () => {
  await register('forex')
  const account = await findAccount(env.DB, 'acme-forex')
  for (const kind of KINDS) {
    for (const language of LANGUAGES) {
      const notice = { account: 'acme-forex', id: 'ntc_1', kind, recipient: 'affiliate:a' }
      const stored = notice as StoredNotice
      const person = { address: 'ada@friends.example', language }
      const mail = await mailOf(env as Env, account, stored, FACTS, person, Date.now())
      const { subject, paragraphs } = noticeText(account, stored, FACTS, language)
      expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/[{}]|undefined|\[object|null/)
      expect(mail.subject).toBe(subject)
      for (const text of paragraphs) expect(mail.text).toContain(text)
      expect(mail.html).toContain(`lang="${language}"`)
      // No image, script or address of others; each link of the text is in the HTML.
      expect(mail.html).not.toMatch(/<(?:img|script|link|iframe)|url\(/)
      const links = linksIn(mail)
      for (const link of links) expect(new URL(link).host).toBe(new URL(env.BASE_URL).host)
      expect(mail.html.match(/href="/g) ?? []).toHaveLength(links.length)
      expect(mail.headers !== undefined).toBe(!isSecurity(stored))
      expect(mail.text.includes(WORDS[language].off)).toBe(!isSecurity(stored))
    }
  }
})

const STEPS = ['enter', 'other', 'erase', 'invite', 'uninvite'] as const
const FAULTS = ['none', 'none', 'no_cause', 'refused', 'lost_answer', 'lost_message'] as const
const CUSTOMER = { first_name: 'Zorra', last_name: 'Xylander', email: 'zorra@c.example' }
const MAILED = 'ada@friends.example'

/** Returns what the link of an e-mail acts on: the id of a notice, or the digest of an invitation. */
const actedOn = (mail: Mail): string[] =>
  linksIn(mail).flatMap((link) => {
    const [, token] = /(?:block\/|#)([\w-]+)\.[\w-]{43}$/.exec(link) ?? []
    if (!token) return []
    const bytes = Uint8Array.fromBase64(token, { alphabet: 'base64url' })
    return [JSON.parse(new TextDecoder().decode(bytes))[1] as string]
  })

test('§21 law 3: each notice is sent at least once, none without its cause, whatever is killed, and none has what it must not', async () => {
  const history = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...FAULTS)), {
    minLength: 3,
    maxLength: 8,
  })
  const runs = { numRuns: env.FUZZ_RUNS > 0 ? 60 : 8, seed: env.SEED }
  let number = 0
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      for (const table of ['outbox', 'payees', 'affiliate_invitations']) {
        await env.DB.exec(`delete from ${table}`)
      }
      const name = `run-${++number}`
      const acme = await issuedPartner('forex', { account: name, affiliates: ['aff-7'] })
      await acme.post('customers', [{ ...ada, ...CUSTOMER }])
      await env.DB.exec(`update accounts set approvals = 1`)
      const path = PATH.replace('acme-forex', name)
      const payee = `${path}/affiliates/aff-7/payee`
      const invitations = `${path}/affiliates/aff-7/invitations`
      let fault: (typeof FAULTS)[number] = 'none'
      const office = postOffice(() => {
        if (fault === 'refused') throw new Error('refused')
      })
      const { EMAIL, DB } = office.world
      const killed = overriding(DB, { batch: () => Promise.reject(new Error('killed')) })
      const lossy = {
        async send(mail: Mail) {
          await EMAIL.send(mail)
          throw new Error('The Worker was killed after that.')
        },
      }
      await office.ask(`${path}/affiliates`, 'PUT', [
        { affiliate_id: 'aff-7', contact_email: MAILED },
      ])
      const step = async (which: (typeof STEPS)[number]) => {
        switch (which) {
          case 'enter':
            return office.ask(payee, 'PUT', ADA)
          case 'other':
            return office.ask(payee, 'PUT', { ...ADA, iban: OTHER_IBAN })
          case 'erase':
            return office.ask(payee, 'DELETE')
          case 'invite':
            return office.ask(invitations, 'POST', { email: MAILED })
          default:
            return env.DB.exec(`update affiliate_invitations set ends_at = 1 where used_at is null`)
        }
      }
      for (const [which, wrong] of steps) {
        fault = wrong
        if (wrong === 'no_cause') Object.assign(office.world, { DB: killed })
        if (wrong === 'lost_answer') Object.assign(office.world, { EMAIL: lossy })
        await step(which).catch(() => {})
        if (wrong === 'lost_message') office.queued.splice(0)
        Object.assign(office.world, { DB })
        await office.deliver()
        Object.assign(office.world, { EMAIL })
      }
      fault = 'none'
      for (let hour = 1; hour < 40; hour += 7) await office.deliver(Date.now() + hour * 3_600_000)

      const [outbox, payees, invited] = await Promise.all(
        ['outbox', 'payees', 'affiliate_invitations'].map(rowsOf),
      )
      const sent = new Set(office.mails.flatMap(actedOn))
      const told = outbox!.filter(({ kind }) => kind === 'details_changed')
      // One notice for each cause that is stored, and for nothing else.
      const versions = payees!.map(({ version, id }) => `${version} ${id}`)
      expect(told.map(({ cause }) => cause).sort()).toEqual(versions.sort())
      const open = invited!.filter(({ ends_at }) => Number(ends_at) > Date.now())
      const live = told.filter(({ cause }) =>
        payees!.some((one) => `${one.version} ${one.id}` === cause && one.state !== 'missing'),
      )
      for (const { id } of live) expect(sent).toContain(id)
      for (const { digest } of open) expect(sent).toContain(digest)
      const causes = [...told.map(({ id }) => id), ...invited!.map((one) => one.digest)]
      for (const one of sent) expect(causes).toContain(one)
      const all = JSON.stringify(office.mails)
      for (const hidden of [ADA.iban, OTHER_IBAN, ...Object.values(CUSTOMER)]) {
        expect(all).not.toContain(hidden)
      }
    }),
    runs,
  )
}, 120_000)
