import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test, vi } from 'vitest'
import worker from '../../src/index.ts'
import { linkToken } from '../../src/platform/auth/notice-links.ts'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { rowsOf } from '../books/book-rows.ts'
import { askAdmin, register } from '../partner.ts'
import { ADA, OTHER_IBAN, PATH } from '../payouts/payout-rows.ts'
import { newPasskey } from '../portal/authenticator.ts'
import { hidden, optionsIn } from '../portal/join.ts'
import { forgetWords } from '../words.ts'
import { linksIn, postOffice } from './outgoing.ts'

const PAYEE = `${PATH}/affiliates/aff-7/payee`
const MAILED = 'ada@friends.example'
const { origin } = new URL(env.BASE_URL)

beforeEach(async () => {
  await register('forex', { affiliates: ['aff-7'] })
  await env.DB.exec('update accounts set approvals = 1')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'aff-7', contact_email: MAILED }])
})

/** Opens an address as a browser does, or presses the button of its page. */
async function open(url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', headers = {}) {
  const context = createExecutionContext()
  const sent = { Origin: origin, 'Sec-Fetch-Site': 'same-origin', ...headers }
  const init = method === 'POST' ? { method, headers: sent, body: '' } : { method, headers }
  const response = await worker.fetch(new Request(url, init), env as Env, context)
  await waitOnExecutionContext(context)
  return { status: response.status, text: await response.text() }
}

const press = (url: string, headers = {}) => open(url, 'POST', headers)

const states = async () => (await rowsOf('payees')).map(({ state }) => state)

/** Enters bank details, and returns the links of the e-mail about that. */
async function entered(details: object = ADA) {
  const office = postOffice()
  expect((await office.ask(PAYEE, 'PUT', details)).status).toBe(200)
  const [mail] = await office.deliver()
  const [link = ''] = linksIn(mail!)
  return { link, mail: mail! }
}

test('§20.1 "this was not me" asks on a page, blocks by its button, and works once', async () => {
  const { link, mail } = await entered()
  expect(mail.headers).toBeUndefined()
  for (const method of ['GET', 'HEAD', 'GET'] as const) await open(link, method)
  expect((await open(link)).text).toContain('<form method="post"')
  expect(
    (await press(link, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' })).status,
  ).toBe(404)
  expect(await states()).toEqual(['entered'])
  expect((await press(link)).status).toBe(200)
  expect(await states()).toEqual(['blocked'])
  const { data } = await (await askAdmin('audit-log?account=acme-forex')).json<{ data: object[] }>()
  expect(data[0]).toMatchObject({
    action: 'payee.block',
    actor: expect.stringMatching(/^notice ntc_/),
  })
  await askAdmin(PAYEE, 'PUT', ADA)
  expect((await press(link)).status).toBe(404)
  expect(await states()).toEqual(['blocked', 'entered'])
})

test('§20.1 the link blocks what came next, too, but nothing after that', async () => {
  const { link } = await entered()
  await askAdmin(PAYEE, 'PUT', { ...ADA, iban: OTHER_IBAN })
  expect((await open(link)).status).toBe(200)
  await askAdmin(PAYEE, 'PUT', ADA)
  expect((await press(link)).status).toBe(404)
  expect(await states()).toEqual(['entered', 'entered', 'entered'])
})

test('§21.3 a link ends: that which blocks after 14 days, that which invites after 72 hours', async () => {
  const { link } = await entered()
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const [after, status] of [
    [14 * DAY_MS - 60_000, 200],
    [14 * DAY_MS + 60_000, 404],
  ] as const) {
    vi.setSystemTime(now + after)
    expect((await open(link)).status).toBe(status)
  }
  vi.useRealTimers()
})

test.each(['GET', 'POST'] as const)(
  '§21.3 no link is guessed, or good for another act: %s',
  async (method) => {
    const { link } = await entered()
    const token = link.split('/').at(-1) ?? ''
    const [text = '', code = ''] = token.split('.')
    const forged = `${btoa(JSON.stringify(['acme-forex', 'ntc_1', 9e15])).replaceAll('=', '')}.${code}`
    const other = await linkToken(
      env as Env,
      'application',
      { account: 'acme-forex', id: 'ntc_1' },
      Date.now(),
    )
    const paths = ['x', `${text}.`, `${text}.${'A'.repeat(43)}`, forged, other]
    const urls = [
      ...paths.map((one) => `${origin}/notices/block/${one}`),
      `${origin}/notices/off/${token}`,
    ]
    for (const url of [...urls, `${origin}/notices/x/${token}`, `${origin}/notices/`]) {
      expect((await open(url, method)).status).toBe(404)
    }
    expect(await states()).toEqual(['entered'])
    expect(await rowsOf('mail_stops')).toEqual([])
  },
)

test('§21.3 whoever stops the e-mails, by the page or the mail program, still gets those about security', async () => {
  const office = postOffice()
  const notify = () =>
    env.DB.exec(
      `insert into outbox (account, id, kind, cause, recipient, at, next_at) select 'acme-forex', 'ntc_' || count(*), 'terms_changed', '0 2026-0' || (1 + count(*)) || '-01 x', 'affiliate:aff-7', ${Date.now()}, ${Date.now()} from outbox`,
    )
  await notify()
  const [mail] = await office.deliver()
  const [, off = ''] = linksIn(mail!)
  expect(mail?.headers).toEqual({
    'List-Unsubscribe': `<${off}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
  forgetWords()
  const { text } = await open(off, 'GET', { 'Accept-Language': 'de' })
  expect(text).toContain('<form method="post"')
  expect(text).toContain(WORDS.de.off_lead.split('.')[0])
  expect(WORDS.de.off_lead).not.toBe(WORDS.en.off_lead)
  expect(await rowsOf('mail_stops')).toEqual([])
  // RFC 8058: a mail program has no origin.
  const oneClick = { method: 'POST', body: 'List-Unsubscribe=One-Click' }
  const context = createExecutionContext()
  expect((await worker.fetch(new Request(off, oneClick), env as Env, context)).status).toBe(200)
  await notify()
  expect(await office.deliver()).toEqual([])
  await office.ask(PAYEE, 'PUT', ADA)
  expect(await office.deliver()).toHaveLength(1)
})

test('§21.3 the link of an invitation registers a passkey, once, and notices go to its address', async () => {
  const office = postOffice()
  const invited = await office.ask(`${PATH}/affiliates/aff-7/invitations`, 'POST', {
    email: 'Bob@friends.example',
  })
  expect(await invited.json()).toMatchObject({ email: 'Bob@friends.example', sent: true })
  const [mail] = await office.deliver()
  expect(mail?.to).toBe('Bob@friends.example')
  const [link = ''] = linksIn(mail!)
  const { hash, origin: host, pathname } = new URL(link)
  const post = async (path: string, form: Record<string, string>) => {
    const init = { method: 'POST', body: new URLSearchParams(form), headers: { Origin: host } }
    return worker.fetch(new Request(host + path, init), env as Env, createExecutionContext())
  }
  const secret = hash.slice(1)
  const page = await (await post(pathname, { secret })).text()
  const device = await newPasskey()
  const credential = await device.create(optionsIn(page))
  const form = { secret, state: hidden(page, 'state'), credential, name: 'Bob' }
  expect((await post(`${pathname}/register`, form)).status).toBe(303)
  expect(await rowsOf('affiliate_members')).toMatchObject([
    { name: 'Bob', email: 'Bob@friends.example' },
  ])
  expect((await post(pathname, { secret })).status).toBe(404)
  await office.ask(PAYEE, 'PUT', ADA)
  expect((await office.deliver()).map(({ to }) => to)).toEqual(['Bob@friends.example'])
})

test('§21.3 an invitation that was ended before it was sent is not sent', async () => {
  const office = postOffice()
  await office.ask(`${PATH}/affiliates/aff-7/invitations`, 'POST', { email: MAILED })
  await env.DB.exec(`update affiliate_invitations set ends_at = ${Date.now() - HOUR_MS}`)
  expect(await office.deliver()).toEqual([])
})
