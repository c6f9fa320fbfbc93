import { env } from 'cloudflare:workers'
import { beforeEach, expect, test, vi } from 'vitest'
import { SENDING } from '../../src/people/send-notices.ts'
import { noticeStatement } from '../../src/platform/directory/outbox.ts'
import { rowsOf } from '../books/book-rows.ts'
import { askAdmin, register } from '../partner.ts'
import { ADA, PATH } from '../payouts/payout-rows.ts'
import { forgetWords } from '../words.ts'
import { linksIn, postOffice } from './outgoing.ts'

const PAYEE = `${PATH}/affiliates/aff-7/payee`
const MAILED = 'ada@friends.example'

beforeEach(async () => {
  SENDING.takenMs = 100
  await register('forex', { affiliates: ['aff-7', 'aff-8'] })
  await env.DB.exec('update accounts set approvals = 1')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', contact_email: MAILED, language: 'de' },
  ])
})

/** Enters bank details: the affiliate is told. */
const cause = async ({ ask }: Pick<ReturnType<typeof postOffice>, 'ask'>) => {
  const response = await ask(PAYEE, 'PUT', ADA)
  expect([response.status, await response.text()]).toEqual([200, expect.anything()])
}

const outbox = (kind = 'details_changed') =>
  rowsOf('outbox').then((rows) => rows.filter((row) => row.kind === kind))

test('§21.3 a notice is sent once, in the language of its affiliate, signed by the account', async () => {
  await askAdmin(PATH, 'PATCH', { mail_name: 'Acme Partners', reply_to: 'help@acme.example' })
  const office = postOffice()
  await cause(office)
  forgetWords()
  const [mail, ...others] = await office.deliver()
  expect([...others, ...(await office.deliver())]).toEqual([])
  expect(mail).toMatchObject({
    from: { email: 'notices@tributary.example', name: 'Acme Partners' },
    to: MAILED,
    replyTo: 'help@acme.example',
    subject: expect.stringContaining('Ihre Bankverbindung wurde geändert'),
  })
  const [link] = linksIn(mail!)
  expect(mail?.html).toContain(`href="${link}"`)
  expect(await outbox()).toMatchObject([{ attempts: 1, next_at: null, error: null }])
})

test('§21.3 the real queue and the real service of the platform take it', async () => {
  await askAdmin(`${PATH}/affiliates/aff-7/invitations`, 'POST', { email: 'bob@friends.example' })
  const sent = () => outbox('invitation').then(([row]) => JSON.parse(String(row?.sent)).length)
  await vi.waitUntil(async () => (await sent()) === 1, { timeout: 10_000, interval: 50 })
})

test('§21.3 without the service nothing is lost: what stands in the outbox is sent once there is one', async () => {
  const office = postOffice()
  const from = office.world.MAIL_FROM
  office.world.MAIL_FROM = ''
  await cause(office)
  expect(await office.deliver()).toEqual([])
  expect(await outbox()).toMatchObject([{ attempts: 0 }])
  office.world.MAIL_FROM = from
  expect(await office.deliver()).toHaveLength(1)
})

test.each([
  ['fails', () => Promise.reject(new Error('down')), 'Error', 60_000, 1],
  ['is slow', () => new Promise(() => {}), 'timeout', 60_000, 1],
  [
    'has spent its quota',
    () => Promise.reject(Object.assign(new Error('spent'), { code: 'E_DAILY_LIMIT_EXCEEDED' })),
    ...['E_DAILY_LIMIT_EXCEEDED', 3_600_000, 0],
  ],
] as [string, () => Promise<never>, string, number, number][])(
  '§21.3 a service that %s: the notice is sent later',
  async (_, fault, error, pause, attempts) => {
    let isDown = true
    const office = postOffice(() => (isDown ? fault() : undefined))
    await cause(office)
    expect(await office.deliver()).toEqual([])
    expect(await outbox()).toMatchObject([{ error, attempts, sent: '[]' }])
    isDown = false
    expect(await office.deliver(Date.now() + pause - 1000)).toEqual([])
    expect(await office.deliver(Date.now() + pause + 1000)).toHaveLength(1)
    expect(await outbox()).toMatchObject([{ error: null, next_at: null }])
  },
)

test('§21.3 an address that fails holds up no other one, and is tried again alone', async () => {
  const insert = env.DB.prepare(
    `insert into affiliate_members (account, affiliate_id, id, name, email, created_at, last_seen_at, invited_by)
     values ('acme-forex', 'aff-7', ?1, ?1, ?1 || '@friends.example', '2026', '2026', '')`,
  )
  await env.DB.batch(['ann', 'bob', 'cat'].map((name) => insert.bind(name)))
  let isDown = true
  const office = postOffice(({ to }) =>
    isDown && to.startsWith('ann') ? Promise.reject(new Error('down')) : undefined,
  )
  await cause(office)
  const reached = (mails: readonly { to: string }[]) => mails.map(({ to }) => to.slice(0, 3)).sort()
  expect(reached(await office.deliver())).toEqual(['bob', 'cat'])
  isDown = false
  expect(reached(await office.deliver(Date.now() + 61_000))).toEqual(['ann'])
})

test('§21.3 an attempt that was killed is repeated, and one of two for the same message does nothing', async () => {
  const office = postOffice()
  await cause(office)
  const [lost] = office.queued.splice(0)
  // The queue lost it: it is due again two minutes later.
  expect(await office.deliver(Date.now() + 60_000)).toEqual([])
  expect(await office.deliver(Date.now() + 121_000)).toHaveLength(1)
  await office.consume(lost!.body)
  expect(office.mails).toHaveLength(1)
})

const BOUNCED = {
  type: 'cf.email.sending.message.bounced',
  payload: { recipient: MAILED.toUpperCase(), bounce: { type: 'hard' } },
}

test.each([
  ['the service refuses as suppressed', null],
  ['bounced', BOUNCED],
  ['complained', { ...BOUNCED, type: 'cf.email.sending.message.complained' }],
])('§21.3 an address that %s gets nothing more', async (_, event) => {
  const suppressed = Object.assign(new Error('no'), { code: 'E_RECIPIENT_SUPPRESSED' })
  const office = postOffice(() => (event ? undefined : Promise.reject(suppressed)))
  if (event) await office.consume(event)
  await cause(office)
  expect(await office.deliver()).toEqual([])
  expect(await outbox()).toMatchObject([{ next_at: null, error: null }])
  expect(await rowsOf('mail_stops')).toMatchObject([{ account: '', reason: 'bounced' }])
})

test('§21.3 a bounce for a time stops nothing', async () => {
  const office = postOffice()
  await office.consume({ ...BOUNCED, payload: { ...BOUNCED.payload, bounce: { type: 'soft' } } })
  await cause(office)
  expect(await office.deliver()).toHaveLength(1)
})

test('§21.3 a notice whose cause is no more is not sent', async () => {
  const office = postOffice()
  await cause(office)
  await askAdmin(PAYEE, 'DELETE')
  expect(await office.deliver()).toEqual([])
  expect(await outbox()).toMatchObject([{ error: 'no_cause', next_at: null }])
})

test.each(['x\r\nBcc: eve@evil.example', '<b>Acme</b>', 'a"@b', '\u202egpj'])(
  '§21.3 a name such as %j changes neither header fields nor markup',
  async (name) => {
    await env.DB.prepare('update accounts set name = ?').bind(name).run()
    const office = postOffice()
    await cause(office)
    const [mail] = await office.deliver()
    const { subject, from, html } = mail!
    expect(`${subject}${(from as EmailAddress).name}`).not.toMatch(/[\p{C}\r\n]/u)
    expect((from as EmailAddress).name).toMatch(/^[\p{L}\p{N} ]+$/u)
    expect(html).not.toContain('<b>')
  },
)

test('§21.3 an address that would end its header field gets nothing', async () => {
  const notice = { account: 'acme-forex', kind: 'invitation', cause: 'i-1' } as const
  const address = 'a@b.example\r\nBcc: eve@evil.example'
  await env.DB.exec(
    `insert into affiliate_invitations (account, affiliate_id, id, digest, created_at, created_by, ends_at)
      values ('acme-forex', 'aff-7', 'i-1', '${'0'.repeat(64)}', '', '', ${Date.now() + 100000})`.replace(
      /\n\s*/g,
      ' ',
    ),
  )
  const recipient = { address, language: 'en' } as const
  await env.DB.batch([noticeStatement(env.DB, { ...notice, recipient, about: 'aff-7' })])
  expect(await postOffice().deliver()).toEqual([])
})
