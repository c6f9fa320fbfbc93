import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import worker from '../../src/index.ts'
import { runCron, runJobs } from '../../src/jobs/cron.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { linkToken } from '../../src/platform/auth/notice-links.ts'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { LANGUAGES } from '../../src/platform/languages.ts'
import { openBrowser, signedIn } from '../console/browser.ts'
import { unescaped } from '../console/form-fields.ts'
import { askAdmin, json, partner } from '../partner.ts'
import { newPasskey } from '../portal/authenticator.ts'
import { hidden, inviteTo, joinAt, openPortal } from '../portal/join.ts'

// The join page: what a stranger sends, and what the team decides.

const AT = '/portal/acme-forex/join'
const PATH = 'accounts/acme-forex'
const words = WORDS.en
const SIGN_UP = {
  open: true,
  questions: ['Where are your visitors from?'],
  terms: { version: 'v1', text: 'We pay <monthly>.' },
}
const FIELDS = {
  name: 'Ada King',
  company: 'Forex Friends',
  country: 'MT',
  email: 'ada@friends.example',
  language: 'de',
  website: 'https://friends.example',
  promotion: 'Videos\r\nand podcasts',
  'answer-0': 'Malta',
  terms: 'v1',
}

/** The service of this deployment, which sends e-mail, and one that sends none. */
const MAILED = env as Env
const UNMAILED = { ...env, MAIL_FROM: '' } as Env

let network = 0

/** Returns the token of the link that proves the address of an application. */
const proofOf = (account: string, id: string) =>
  linkToken(MAILED, 'application', { account, id }, Date.now())

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  await partner('forex')
  await askAdmin(PATH, 'PATCH', { sign_up: SIGN_UP })
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** Returns a visitor of the pages from another network. */
function visitor(world = MAILED, address = `10.9.${network >> 8}.${network++ & 255}`) {
  const browser = openBrowser(world, worker as never)
  const from = { 'CF-Connecting-IP': address }
  const own = { ...from, Origin: 'https://api.example', 'Sec-Fetch-Site': 'same-origin' }
  return {
    get: (path: string, headers = {}) => browser.get(path, { ...from, ...headers }),
    post: (path: string, fields: Record<string, string>) => browser.post(path, fields, own),
  }
}
type Visitor = ReturnType<typeof visitor>

/** Opens the form and waits as long as a person takes. Returns what it sends. */
async function openForm(who: Visitor, fields: object = {}, query = '') {
  const page = await (await who.get(AT + query)).text()
  pass(4000)
  const shown = { form: hidden(page, 'form'), ref: hidden(page, 'ref'), homepage: '' }
  return { ...shown, ...FIELDS, ...fields }
}

/** Applies as somebody of another network does. Returns the response. */
const applyWith = async (fields: object = {}, who = visitor(), query = '') =>
  who.post(AT, await openForm(who, fields, query))

const rows = async <T = Record<string, string>>(sql: string) =>
  (await env.DB.prepare(sql).all<T>()).results
const stored = () => rows('select * from applications order by applied_at')
const notices = () => rows('select kind, cause, recipient from outbox order by at, kind')
const listed = async (query = '') => (await json(askAdmin(`${PATH}/applications${query}`))).data

const LINK = '/notices/application'

/** Proves the address of an application by the link of its mail. */
async function prove(id: string, who = visitor()) {
  const token = await proofOf('acme-forex', id)
  return who.post(`${LINK}/${token}`, {})
}

/** Returns the id of an application whose address is proved. */
async function applied(fields: object = {}, query = ''): Promise<string> {
  await applyWith(fields, visitor(), query)
  const id = (await stored()).at(-1)!.id!
  await prove(id)
  return id
}

/** Returns the answer of a visitor's page: its status and what a reader sees of it. */
const answerOf = async (response: Response) => [
  response.status,
  response.headers.get('Location'),
  await response.text(),
]

test('§21.2 closed, unknown and disabled accounts answer the same 404 on every page', async () => {
  await partner('forex', { account: 'closed-1' })
  await partner('forex', { account: 'stopped1' })
  await askAdmin('accounts/stopped1', 'PATCH', { sign_up: SIGN_UP, disabled: true })
  const answers = async (account: string) => {
    const at = `/portal/${account}/join`
    const sent = [await visitor().get(at), await visitor().post(at, FIELDS)]
    const link = `${LINK}/${await proofOf(account, 'app_1')}`
    sent.push(await visitor().get(link), await visitor().post(link, {}))
    return Promise.all(
      sent.map(async (one) => [one.status, (await one.text()).replaceAll(account, 'ID')]),
    )
  }
  const unknown = await answers('unknown1')
  expect(unknown.map(([status]) => status)).toEqual([404, 404, 404, 404])
  expect(await answers('closed-1')).toEqual(unknown)
  expect(await answers('stopped1')).toEqual(unknown)
})

test('§21.2 a page in five languages without a script, which nobody indexes', async () => {
  for (const language of LANGUAGES) {
    const response = await visitor().get(AT, { 'Accept-Language': language })
    expect(response.headers.get('X-Robots-Tag')).toBe('noindex')
    const page = unescaped(await response.text())
    expect(page).toContain(WORDS[language].join_send)
    expect(page).toContain(`<html lang="${language}"`)
    expect(page).toContain('We pay <monthly>.')
  }
})

test('§21.2 a stranger learns nothing about who is known: same answer, same rows, same notices', async () => {
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'known', contact_email: 'ADA@known.example', display_name: 'Known' },
  ])
  const seen: unknown[] = []
  for (const email of ['ada@known.example', 'ada@never.example', 'Ada@KNOWN.example']) {
    const before = [(await stored()).length, (await notices()).length]
    const answer = await answerOf(await applyWith({ email }))
    const after = [(await stored()).length, (await notices()).length]
    const last = (await notices()).at(-1)!
    seen.push([answer, after[0]! - before[0]!, after[1]! - before[1]!, last.kind])
  }
  expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(seen[0]).toEqual([[303, `${AT}?done=yes`, ''], 1, 1, 'application_received'])
})

test('§21.2 until its address is proved an application is none, and after 24 hours it is gone', async () => {
  await applyWith()
  const [{ id = '' } = {}] = await stored()
  expect(await listed()).toEqual([])
  expect((await askAdmin(`${PATH}/applications/${id}/approve`, 'POST', {})).status).toBe(404)
  // A program that opens the link proves nothing.
  const token = await proofOf('acme-forex', id)
  const page = await (await visitor().get(`${LINK}/${token}`)).text()
  expect(page).toContain('<form method="post"')
  expect((await stored())[0]?.status).toBe('unproved')
  const confirmed = await prove(id)
  expect(await confirmed.text()).toContain('Your address is confirmed')
  expect(await listed()).toMatchObject([
    { id, email: FIELDS.email, promotion: 'Videos\nand podcasts', terms_version: 'v1' },
  ])
  // Twice is once: one notice for the team.
  await prove(id)
  expect((await notices()).map(({ kind }) => kind)).toEqual(['application_received', 'application'])

  await applyWith({ email: 'late@friends.example' })
  const late = (await stored()).at(-1)!.id!
  pass(DAY_MS)
  expect((await prove(late)).status).toBe(404)
  await expire()
  expect((await stored()).map((one) => one.id)).toEqual([id])
})

/** Deletes what is over, as the cron does every hour. */
async function expire() {
  const sent: unknown[] = []
  const ACCOUNT_JOBS = { sendBatch: async (batch: { body: unknown }[]) => sent.push(...batch) }
  const world = { ...env, ACCOUNT_JOBS } as unknown as Env
  await runCron(CRON_SCHEDULES.expire, world, Date.now())
  const messages = sent.map((one) => ({ ...(one as object), ack() {}, retry() {} }))
  await runJobs({ messages } as never, world)
}

test('§21.2 a link works for the account that it was made for, and a guessed one for none', async () => {
  await partner('forex', { account: 'other-fx' })
  await askAdmin('accounts/other-fx', 'PATCH', { sign_up: SIGN_UP })
  await applyWith()
  const [{ id = '' } = {}] = await stored()
  const token = await proofOf('acme-forex', id)
  const wrong = [id, `${token}x`, await proofOf('other-fx', id)]
  for (const one of wrong) {
    expect((await visitor().post(`${LINK}/${one}`, {})).status).toBe(404)
  }
  expect((await stored())[0]?.status).toBe('unproved')
})

test('§21.2 without e-mail an application is listed at once as not proved, and nothing is sent', async () => {
  const page = await (await visitor(UNMAILED).get(`${AT}?done=yes`)).text()
  expect(unescaped(page)).toContain('Your application has arrived')
  await applyWith({}, visitor(UNMAILED))
  expect(await listed()).toMatchObject([{ status: 'waiting', proved_at: null }])
  expect((await notices()).map(({ kind, recipient }) => [kind, recipient])).toEqual([
    ['application', 'role:manager'],
  ])
})

test('a form that is sent twice, also at once, is one application with one mail', async () => {
  const who = visitor()
  const form = await openForm(who)
  const answers = await Promise.all([who.post(AT, form), who.post(AT, form)])
  answers.push(await who.post(AT, { ...form, name: 'Another' }))
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
  expect([await stored(), await notices()]).toMatchObject([[{ name: 'Ada King' }], [{}]])
})

test('§21.2 robots get the ordinary answer and store nothing', async () => {
  const quick = visitor()
  const page = await (await quick.get(AT)).text()
  pass(2999)
  const form = { ...FIELDS, form: hidden(page, 'form'), homepage: '' }
  const answers = [
    await quick.post(AT, form),
    await applyWith({ homepage: 'https://spam.example' }),
  ]
  expect(answers.map((one) => [one.status, one.headers.get('Location')])).toEqual([
    [303, `${AT}?done=yes`],
    [303, `${AT}?done=yes`],
  ])
  expect(await stored()).toEqual([])
})

test.each([
  ['a form that was never shown', { form: 'x' }],
  ['a line break in the address', { email: 'ada@friends.example\r\nBcc: eve@x.example' }],
  ['two addresses', { email: 'ada@friends.example, eve@x.example' }],
  ['an address of 255 characters', { email: `${'a'.repeat(240)}@friends.example`.slice(-255) }],
  ['a letter that looks like another one', { email: 'аda@friends.example' }],
  ['a control character in the name', { name: 'Ada\u202eKing' }],
  ['no name', { name: ' ' }],
  ['no country', { country: 'XX' }],
  ['another language', { language: 'ru' }],
  ['no answer', { 'answer-0': '' }],
  ['a long text', { promotion: 'x'.repeat(1001) }],
  ['terms that were not accepted', { terms: '' }],
  ['earlier terms', { terms: 'v0' }],
])('%s is refused with what was typed, and nothing is stored', async (_, fields) => {
  const response = await applyWith(fields)
  const page = await response.text()
  expect([response.status, await stored()]).toEqual([422, []])
  expect(unescaped(page)).toMatch('form' in fields ? words.join_expired : `${words.join_invalid}`)
  if (!('promotion' in fields)) expect(unescaped(page)).toContain('and podcasts')
})

test('an address of 254 characters and markup are stored as they are, and shown as text', async () => {
  const email = `${'a'.repeat(238)}@friends.example`
  expect(email).toHaveLength(254)
  expect((await applyWith({ email, name: '<b>Ada</b>', company: '' })).status).toBe(303)
  await applied({ email: 'eve@friends.example', name: '<i>Ada</i>', company: '' })
  const [first] = await listed()
  // The first letter is Cyrillic: another address, which is like no other.
  expect(first).toMatchObject({ email: 'eve@friends.example', similar: [] })
  const browser = await signedIn()
  const page = await (await browser.get('/console/accounts/acme-forex/applications')).text()
  expect(page).toContain('&lt;i&gt;Ada&lt;/i&gt;')
  expect(page).not.toContain('<i>Ada')
})

test('§21.2 an address of the network applies five times an hour; that of IPv6 is its /64', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) {
    const who = visitor(MAILED, `2001:db8:0:1::${i + 1}`)
    const response = await applyWith({ email: `a${i}@friends.example` }, who)
    statuses.push(response.status)
    if (response.status === 429)
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
  }
  expect([statuses, (await stored()).length]).toEqual([[303, 303, 303, 303, 303, 429], 5])
  const other = visitor(MAILED, '2001:db8:0:2::1')
  expect((await applyWith({ email: 'b@friends.example' }, other)).status).toBe(303)
  pass(HOUR_MS)
  const again = visitor(MAILED, '2001:db8:0:1::1')
  expect((await applyWith({ email: 'c@friends.example' }, again)).status).toBe(303)
})

test('§21.2 three mails a day go to an address, of all accounts together, in any letter case', async () => {
  for (const email of ['eve@x.example', 'EVE@x.example', 'eve@X.example', 'Eve@x.example']) {
    expect((await applyWith({ email })).status).toBe(303)
  }
  expect([(await stored()).length, (await notices()).length]).toEqual([3, 3])
  pass(DAY_MS)
  await applyWith({ email: 'eve@x.example' })
  expect((await notices()).length).toBe(4)
})

/** Stores applications that came a moment before. */
const fill = (number: number, status: string) =>
  env.DB.prepare(
    `insert into applications (account, id, status, applied_at, name, country, website, promotion, email, language,
       answers, terms_version)
     select 'acme-forex', 'app_' || key, ?1, ?2, 'N', 'MT', 'W', 'P', key || '@x.example', 'en', '[]', 'v1'
     from json_each(?3)`,
  )
    .bind(status, Date.now() - 1, JSON.stringify(Array(number).fill(0)))
    .run()

test('§21.2 an account takes 500 applications a day', async () => {
  await fill(499, 'rejected')
  const who = visitor()
  const form = await openForm(who, { email: 'last@x.example' })
  await applyWith()
  expect((await who.post(AT, form)).status).toBe(409)
  expect(unescaped(await (await visitor().get(AT)).text())).toContain('takes no more applications')
  expect((await stored()).length).toBe(500)
  pass(DAY_MS)
  expect((await applyWith()).status).toBe(303)
})

test('§21.2 at 200 that wait the form is full, and a proof waits; from 150 on the overview says so', async () => {
  await applyWith()
  const own = (await stored()).at(-1)!.id!
  await fill(149, 'waiting')
  const detail = async () => {
    const { data } = await json(askAdmin(`${PATH}/attention`))
    return data.find(({ code }: { code: string }) => code === 'waiting_applications')
  }
  expect(await detail()).toMatchObject({ count: 149, detail: expect.not.stringContaining('full') })
  await env.DB.exec(
    `update applications set id = 'old' || id where id like 'app\\_%' escape '\\' and id <> '${own}'`,
  )
  await fill(51, 'waiting')
  expect(await detail()).toMatchObject({ count: 200, detail: expect.stringContaining('full') })
  const form = await visitor().get(AT)
  expect(unescaped(await form.text())).toContain('takes no more applications')
  expect([(await prove(own)).status, (await stored()).at(-1)]).toMatchObject([409, {}])
  await env.DB.exec(`update applications set status = 'rejected' where id = 'app_0'`)
  expect((await prove(own)).status).toBe(200)
})

test('§21.2 a recommendation names the affiliate of the account alone, and the page never does', async () => {
  await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'inviter-1' }])
  await partner('forex', { account: 'other-fx', affiliates: ['foreign-1'] })
  const codes = await rows<{ affiliate_id: string; share_code: string }>(
    'select affiliate_id, share_code from affiliates',
  )
  const codeOf = (id: string) => codes.find((one) => one.affiliate_id === id)!.share_code
  for (const [ref, parent] of [
    [codeOf('inviter-1'), 'inviter-1'],
    [codeOf('foreign-1'), null],
    ['none', null],
    ["' or 1=1", null],
  ] as const) {
    const query = `?${new URLSearchParams({ ref })}`
    const page = await (await visitor().get(AT + query)).text()
    expect(page).not.toContain('inviter-1')
    const id = await applied({ email: `${crypto.randomUUID()}@x.example` }, query)
    expect((await listed()).find((one: { id: string }) => one.id === id).parent).toBe(parent)
  }
})

test('§21.2 the share link is in the portal while the account is open and shows who is below', async () => {
  const secret = await inviteTo('acme-forex', 'aff-7')
  const browser = openPortal()
  await joinAt('/portal/acme-forex', browser, secret, { device: await newPasskey() })
  const page = async () =>
    unescaped(await (await browser.get('/portal/acme-forex/sub-affiliates')).text())
  expect(await page()).toMatch(/\/portal\/acme-forex\/join\?ref=[\da-f]{16}</)
  for (const change of [
    { affiliate_view: { sub_affiliates: 'none' } },
    { sign_up: { open: false } },
  ]) {
    await askAdmin(PATH, 'PATCH', change)
    expect(await page()).not.toContain('join?ref')
    await askAdmin(PATH, 'PATCH', { affiliate_view: { sub_affiliates: 'totals' } })
  }
})

const decide = (id: string, verb: 'approve' | 'reject', body = {}) =>
  askAdmin(`${PATH}/applications/${id}/${verb}`, 'POST', body)

test('§21.2 an approval makes affiliate, parent and invitation, which nobody of the team has seen', async () => {
  const [{ share_code } = {}] = await rows('select share_code from affiliates')
  const id = await applied({ company: 'Förex & Friends' }, `?ref=${share_code}`)
  const approved = await json(decide(id, 'approve'))
  expect(approved).toMatchObject({ affiliate_id: 'fo-rex-friends', invitation_url: null })
  const { data } = await json(askAdmin(`${PATH}/affiliates?affiliate_id=fo-rex-friends`))
  expect(data).toMatchObject([
    {
      display_name: 'Förex & Friends',
      parent: 'aff-7',
      contact_email: FIELDS.email,
      language: 'de',
    },
  ])
  expect(await rows('select affiliate_id, created_by from affiliate_invitations')).toEqual([
    { affiliate_id: 'fo-rex-friends', created_by: 'sign-up' },
  ])
  expect((await notices()).at(-1)).toMatchObject({
    kind: 'application_approved',
    recipient: `address:${FIELDS.email}`,
  })
  const second = await applied({ company: 'Förex & Friends', email: 'b@x.example' })
  expect((await json(decide(second, 'approve'))).affiliate_id).toBe('fo-rex-friends-2')
})

test('§21.2 the invitation of an address that is not proved counts as by who approved', async () => {
  await applyWith({ company: '' }, visitor(UNMAILED))
  const [{ id }] = await listed()
  const approved = await json(decide(id, 'approve', { affiliate_id: 'ada' }))
  const [, secret = ''] = approved.invitation_url.split('#')
  expect(await rows('select created_by from affiliate_invitations')).toEqual([
    { created_by: 'root-key' },
  ])
  const device = await newPasskey()
  const joined = await joinAt('/portal/acme-forex', openPortal(), secret, { device })
  expect([joined.status, (await notices()).length]).toEqual([303, 1])
})

test('an approval that cannot be is refused as a whole', async () => {
  const id = await applied()
  const tried = [
    [{ affiliate_id: 'aff-7' }, 409],
    [{ affiliate_id: '*' }, 422],
    [{ plan: 'none' }, 422],
  ] as const
  for (const [body, status] of tried)
    expect((await decide(id, 'approve', body)).status).toBe(status)
  expect(await rows('select * from affiliate_invitations')).toEqual([])
  expect((await listed())[0].status).toBe('waiting')
})

test('approval and rejection at the same moment are one outcome with one notice', async () => {
  const verbs = ['approve', 'reject', 'approve', 'reject'] as const
  const id = await applied()
  const answers = await Promise.all(
    verbs.map((verb) => decide(id, verb, verb === 'reject' ? { send: true } : {})),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
  const [{ status, affiliate_id }] = await listed()
  const told = (await notices()).filter(({ kind }) => /_(approved|rejected)$/.test(kind!))
  expect(told.map(({ kind }) => kind)).toEqual([`application_${status}`])
  const made = await rows(`select affiliate_id from affiliates where affiliate_id <> 'aff-7'`)
  expect(made).toEqual(affiliate_id === null ? [] : [{ affiliate_id }])
})

test('a rejection tells only an applicant whose address is proved', async () => {
  const proved = await applied()
  expect((await decide(proved, 'reject', { reason: 'No', send: true })).status).toBe(200)
  expect((await notices()).at(-1)?.kind).toBe('application_rejected')
  await applyWith({ email: 'b@x.example' }, visitor(UNMAILED))
  const [{ id }] = await listed('?status=waiting')
  expect((await decide(id, 'reject', { send: true })).status).toBe(422)
  expect((await decide(id, 'reject')).status).toBe(200)
})

test('§21.2 what is like an application is shown: e-mail, domain, name; a domain of many says nothing', async () => {
  const mailbox = (n: number) => ({ affiliate_id: `m-${n}`, contact_email: `m${n}@mail.example` })
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'same-mail', contact_email: 'ADA@friends.example' },
    { affiliate_id: 'same-domain', contact_email: 'bob@Friends.example' },
    { affiliate_id: 'same-name', display_name: 'forex friends' },
    { affiliate_id: 'another', contact_email: 'eve@enemies.example', display_name: 'Forex' },
    ...Array.from({ length: 6 }, (_, n) => mailbox(n)),
  ])
  const first = await applied()
  const id = await applied()
  const similarTo = async (wanted: string) =>
    (await listed()).find((one: { id: string }) => one.id === wanted).similar
  const none = { affiliate_id: null, application_id: null }
  expect(await similarTo(id)).toEqual([
    { ...none, by: 'email', affiliate_id: 'same-mail' },
    { ...none, by: 'email', application_id: first },
    { ...none, by: 'domain', affiliate_id: 'same-domain' },
    { ...none, by: 'name', affiliate_id: 'same-name' },
  ])
  const free = await applied({ email: 'new@mail.example', name: 'N', company: '' })
  expect(await similarTo(free)).toEqual([])
})

test('a manager approves in the console by one button, and the applicant is in the list', async () => {
  await applied()
  const browser = await signedIn()
  const at = '/console/accounts/acme-forex/applications'
  expect(await (await browser.get('/console/accounts/acme-forex')).text()).toContain(`${at}"`)
  const list = await (await browser.get(at)).text()
  const [, application_id = ''] = /<option value="(app_[^"]*)"/.exec(list) ?? []
  const sent = { csrf: hidden(list, 'csrf'), change: 'approve', application_id }
  expect((await browser.post(at, sent)).status).toBe(303)
  expect(await (await browser.get(`${at}?status=approved`)).text()).toContain('forex-friends')
})

test('the setting needs terms to open, a plan that exists, and at most five questions', async () => {
  await partner('forex', { account: 'other-fx' })
  const change = async (sign_up: object) =>
    (await askAdmin('accounts/other-fx', 'PATCH', { sign_up })).status
  const { terms } = SIGN_UP
  const tried = [{ open: true }, { plan: 'none' }, { questions: Array(6).fill('Q') }]
  for (const one of tried) expect(await change(one)).toBe(422)
  expect(await change({ terms: { version: 'v1', url: 'javascript:alert(1)' } })).toBe(422)
  expect(await change({ open: true, terms })).toBe(200)
  expect(await change({ questions: ['Q'] })).toBe(200)
  expect((await json(askAdmin('accounts/other-fx'))).sign_up).toEqual({
    ...{ open: true, plan: null, questions: ['Q'], terms },
  })
})
