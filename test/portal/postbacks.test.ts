import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { fill } from '../../src/platform/languages.ts'
import { affiliateWorld } from '../affiliates/affiliate-world.ts'
import { askAdmin, json } from '../partner.ts'
import { type Browser, hidden, signedInFor } from './join.ts'

// Postbacks in the portal: a page that works without script.

const AT = '/portal/acme-forex/postbacks'
const words = WORDS.en
const URL_TYPED = 'https://tracker.example/p?cid={sub1}&tx={id}'

let world: Awaited<ReturnType<typeof affiliateWorld>>
let browser: Browser

beforeEach(async () => {
  world = await affiliateWorld()
  browser = await signedInFor('acme-forex', 'own')
})

const read = async (query = '') => (await browser.get(`${AT}${query}`)).text()

/** Sends a form of the page. */
async function change(fields: Record<string, string>) {
  const csrf = hidden(await read(), 'csrf')
  return browser.post(AT, { csrf, ...fields })
}

const add = (fields: Record<string, string> = {}) =>
  change({ change: 'add', url: URL_TYPED, 'on signup': 'yes', method: 'GET', ...fields })

const stored = async () =>
  (await json(askAdmin(`${world.path}/affiliates/own/postbacks`))).data as {
    id: string
    url: string
    disabled_reason: string | null
    events: string[]
  }[]

test('a member adds, tests, pauses, changes and deletes a postback without script', async () => {
  expect(await read()).toContain(words.postback_none)
  expect((await add()).status).toBe(303)
  const [one] = await stored()
  expect(one).toMatchObject({ url: URL_TYPED, events: ['signup'], disabled_reason: null })
  const postback = one?.id ?? ''
  await change({ change: 'pause', postback })
  expect(await stored()).toMatchObject([{ disabled_reason: 'affiliate' }])
  expect(await read()).toContain(words.postback_off_affiliate)
  await change({ change: 'resume', postback })
  await change({ change: 'save', postback, url: `${URL_TYPED}&x=1`, 'on qualified': 'yes' })
  expect(await stored()).toMatchObject([{ url: `${URL_TYPED}&x=1`, events: ['qualified'] }])
  await change({ change: 'delete', postback })
  expect(await stored()).toEqual([])
})

test('a test shows once what the tracker answered, also while the postback is paused', async () => {
  await add()
  const [one] = await stored()
  const postback = one?.id ?? ''
  await change({ change: 'pause', postback })
  const fetching = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(`<b>${'no '.repeat(100)}`, { status: 404 }))
  onTestFinished(() => fetching.mockRestore())
  const tested = await change({ change: 'test', postback })
  expect(tested.headers.get('Location')).toBe(`${AT}#${postback}`)
  expect(String(fetching.mock.calls[0]?.[0])).toMatch(/\?cid=test-1&tx=evt_[\da-f]{27}$/)
  const page = await read()
  expect(page).toContain(words.postback_answer)
  expect(page).toContain(fill(words.result_http_status, { status: '404' }))
  expect(page).toContain(`&lt;b&gt;${'no '.repeat(100).slice(0, 197)}<`)
  expect(await read()).not.toContain(words.postback_answer)
})

test('a form of no change, or of no postback, says that the postback is gone', async () => {
  for (const fields of [
    { change: '' },
    { change: 'burn', postback: 'x' },
    ...['delete', 'pause', 'save', 'test'].map((one) => ({ change: one })),
  ]) {
    const response = await change(fields)
    expect([fields, response.status]).toEqual([fields, 422])
    expect(await response.text()).toContain(words.postback_gone)
  }
})

test('the secret of a postback that signs is shown once', async () => {
  const added = await add({ method: 'POST' })
  expect(added.headers.get('Location')).toBe(`${AT}?done=added`)
  const page = await read('?done=added')
  expect(page).toContain(words.postback_done_added)
  const [secret = ''] = /whsec_[\w+/]+=/.exec(page) ?? []
  expect(secret).toHaveLength(50)
  expect(await read('?done=added')).not.toContain('whsec_')
  expect(await stored()).toHaveLength(1)
})

test('a form that is refused keeps what was typed, and says why', async () => {
  const url = 'https://tracker.example/?a={payout}'
  const refused = await add({ url, 'on statement.paid': 'yes' })
  expect(refused.status).toBe(422)
  const page = await refused.text()
  expect(page).toContain(fill(words.postback_wrong_url, { length: '2000' }))
  expect(page).toContain(`value="${url}"`)
  expect(page).toMatch(/name="on statement\.paid" value="yes" checked/)
  const long = `https://tracker.example/?a=${'x'.repeat(5200)}`
  const whole = await (await add({ url: long, 'on statement.paid': 'yes' })).text()
  expect(whole).toContain('at most 2000 characters')
  expect(whole).toContain(`value="${long}"`)
  expect(whole).not.toMatch(/<input[^>]*name="url"[^>]*maxlength/)
  const empty = await change({ change: 'add', url: URL_TYPED, method: 'GET' })
  expect(await empty.text()).toContain(words.postback_wrong_events)
  expect((await stored()).length).toBe(0)
  const gone = await change({ change: 'test', postback: 'pbk_none' })
  expect(await gone.text()).toContain(words.postback_gone)
})

test('a form of another session, or of another site, changes nothing', async () => {
  const other = await signedInFor('acme-forex', 'other')
  const csrf = hidden(await (await other.get(AT)).text(), 'csrf')
  const fields = { csrf, change: 'add', url: URL_TYPED, 'on signup': 'yes', method: 'GET' }
  expect((await browser.post(AT, fields)).status).toBe(400)
  const own = { ...fields, csrf: hidden(await read(), 'csrf') }
  const foreign = { Origin: 'https://evil.example' }
  expect((await browser.post(AT, own, foreign)).status).toBe(400)
  expect(await stored()).toEqual([])
})
