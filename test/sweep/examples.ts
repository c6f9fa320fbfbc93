import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import openapi from '../../openapi.json'
import { ENTITIES } from '../../scripts/docs/entities.ts'
import type { Recorded } from '../../scripts/docs/recorded.ts'
import { ORIGIN as CANONICAL } from '../../src/platform/documents/origin.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { pascalCase } from '../../src/platform/http/operation-words.ts'
import { ORIGIN } from '../partner.ts'
import { operations } from '../requests.ts'
import { worldOf } from './endure.ts'
import { asks, ROUTES, type Route, requestOf } from './routes.ts'
import { prepare, type World } from './worlds.ts'

// Records what openapi.json shows as examples: the answer to each request of the sweep, and what may become of a
// delivery. `npm run generate` runs this file; no test compares it.

/** What differs between runs, and its replacement. */
const VARIES: [RegExp, string][] = [
  [/firm-\d+-of-([a-z-]+)/g, 'acme-$1'],
  [/((?:dlv|run|mov|man|qst|msg|note|exp)_)[\dA-Z]{26}/g, '$101M7W0R4W8E3V15G8XPED3Z94X'],
  [/"[\dA-HJKMNP-TV-Z]{26}(-\d{5})?"/g, '"01M7W0R4W8Y6N1S2Q9E0J8T4ZB$1"'],
  [
    /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g,
    'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
  ],
  [/((?:whk|pbk)_)[\dA-Za-z]{22}/g, '$14f8Kd02LmQzX7vBn1TcY5s'],
  [/evt_[\da-f]{27}/g, 'evt_1a20138dc52e28b68519d761e08'],
  [/whsec_[\w+/]{43}=/g, `whsec_${'A'.repeat(43)}=`],
  [/(t[a-z]{2}_(?:test|live))_\w{49}/g, '$1_shown-once'],
  [/(invitation)#[\w-]+/g, '$1#shown-once'],
  [/tr1[\w-]{44}/g, 'tr1kBm7Qx2VnR8sYt4Wz6LcDf0GhJ3pTa5UeXvNq9MbKyRw'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl'],
  [/("next_cursor"):"[^"]+"/g, '$1:"bmV4dA"'],
  [/("(?:previous_secret_until|ends_at|invited_until)"):"[^"]+"/g, '$1:"2026-10-06T09:00:00.000Z"'],
  [/("lag_seconds"):\d+/g, '$1:12'],
  [/("yesterday"):"[a-z_]+"/g, '$1:"arrived"'],
  [/("link_id"):"[^"]+"/g, '$1:"Lk7Qm2Xv"'],
  [/\/go\/[\w-]+/g, '/go/Lk7Qm2Xv'],
  [/"([BT])[\dA-HJKMNP-TV-Z]{9}"/g, '"$1R4W8Y6N1S"'],
  [/[\da-f]{16}-(?=[\da-f]{64})/g, '4053ee0f95f29d65-'],
  [/[\da-f]{64}/g, '6f1c2b9d4e8a7f3051c6d2b8e94a7f1063d5c8b2a9e47f1036d8c5b2e9a4f710'],
]

/** The day that is shown in place of today, and the days beside today that answers name, by their distance. */
const SHOWN_TODAY = Date.UTC(2026, 9, 5)
const SHOWN_DAYS = [0, -1, 1, -30]

/** Replaces what differs between runs. */
function shown(value: unknown): unknown {
  if (value === null) return null
  let text = JSON.stringify(value).replaceAll(ORIGIN, CANONICAL)
  for (const distance of SHOWN_DAYS) {
    const [day, shownDay] = [Date.now(), SHOWN_TODAY].map((at) =>
      new Date(at + distance * DAY_MS).toISOString().slice(0, 10),
    )
    text = text
      .replaceAll(new RegExp(`${day}T[\\d:.]+Z`, 'g'), `${shownDay}T09:00:00.000Z`)
      .replaceAll(`${day}`, `${shownDay}`)
  }
  for (const [pattern, constant] of VARIES) text = text.replaceAll(pattern, constant)
  return JSON.parse(text)
}

const parsed = (text: string, type: string | null): unknown => {
  if (/json/.test(type ?? '')) return JSON.parse(text)
  return /urlencoded/.test(type ?? '') ? Object.fromEntries(new URLSearchParams(text)) : text
}

const takes: Recorded[] = []

/** Sends the request of a route, and records it with its answer. */
async function take(route: Route, world: World, name: string, summary: string) {
  const sent = requestOf(route, world)
  const text = await sent.text()
  const context = createExecutionContext()
  const response = await asks(route, world, env, context)
  await waitOnExecutionContext(context)
  const [type, answer] = [response.headers.get('Content-Type'), await response.text()]
  takes.push({
    ...{ operation: route.id, name, summary, status: response.status },
    request: shown(text === '' ? null : parsed(text, sent.headers.get('Content-Type'))),
    answer: shown(/json/.test(type ?? '') ? JSON.parse(answer) : null),
  })
}

/** Returns a record with another value in the first member of its key. */
function withOtherKey(record: Record<string, unknown>) {
  const [name, value] = Object.entries(record)[0]!
  return { ...record, [name]: name === 'date' ? '2026-10-03' : String(value).replace(/\d$/, '2') }
}

/** Records what may become of deliveries of each entity, in the order in which a sender begins. */
async function takeDeliveries() {
  const verticals = Map.groupBy(ENTITIES, ({ vertical }) => vertical)
  for (const [vertical, entities] of verticals) {
    const world = await prepare(vertical, false)
    await env.DB.prepare(`insert into affiliates (account, affiliate_id) values (?, 'IB-07')`)
      .bind(world.account)
      .run()
    for (const { resource, example } of entities) {
      const id = `send${pascalCase(vertical)}${pascalCase(resource.replaceAll('-', ' '))}`
      const send = (name: string, summary: string, body: unknown, headers = {}) =>
        take({ id, vertical, as: 'account', body, headers }, world, name, summary)
      const time = Object.keys(example).find((one) => /date|time/.test(one))!
      const wrong = { ...withOtherKey(example), [time]: '2026-02-31 08:30' }
      await send('one', 'A single record, which is new', example)
      await send('again', 'The same in an array: nothing changes', [example])
      await send(
        'lenient',
        'An invalid record beside a valid one, with `handling=lenient`',
        [withOtherKey(example), wrong],
        { Prefer: 'handling=lenient' },
      )
      await send('wrong', 'An invalid record: nothing is stored', [wrong])
    }
  }
}

/** Returns a request of a list with one row a page. */
function paged({ query = '', ...route }: Route): Route {
  const { method, path } = operations.get(route.id)!
  const { parameters = [] } = Reflect.get(openapi.paths, path)[method.toLowerCase()]
  const isList = JSON.stringify(parameters).includes('"per_page"')
  if (!isList || typeof query !== 'string' || query.includes('per_page')) return { ...route, query }
  return { ...route, query: `${query || '?'}&per_page=1` }
}

test('examples are recorded', async () => {
  await takeDeliveries()
  const worlds = new Map<string, World>()
  const isFirst = (route: Route, i: number) =>
    !route.id.startsWith('send') &&
    operations.has(route.id) &&
    ROUTES.findIndex(({ id }) => id === route.id) === i
  for (const route of ROUTES.filter(isFirst)) {
    const key = JSON.stringify([route.vertical, route.records])
    const world = (!route.writes && worlds.get(key)) || (await worldOf(route))
    if (!route.writes) worlds.set(key, world)
    await take(paged(route), world, 'one', 'An example')
  }
  const failed = takes.filter(({ name, status }) => name !== 'wrong' && status >= 400)
  expect(failed).toEqual([])
  await fetch('http://recorder.local/', { method: 'POST', body: JSON.stringify(takes) })
})
