import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { app } from '../../src/app.ts'
import { consoleApp } from '../../src/console/app.ts'
import { portalApp } from '../../src/portal/app.tsx'
import { STATEMENT_ID } from '../commission/statement-rows.ts'
import { signedIn } from '../console/browser.ts'
import { usedObjects } from '../objects.ts'
import { askAdmin } from '../partner.ts'
import { signedInFor } from '../portal/join.ts'
import { operations } from '../requests.ts'
import { parametersOf, ROUTES, requestOf } from '../sweep/routes.ts'
import { prepare, type World } from '../sweep/worlds.ts'
import { contentsOfDatabases } from '../world.ts'

// Law 10 of §20: reading changes nothing, in any operation and on any page, as GET or as HEAD.

/** What reading may change, by table: a column, or all. It grows only with a reason. */
const CHANGED_BY_READING: Readonly<Record<string, string>> = {
  // The first read of an affiliate makes the key of the pseudonyms that they see.
  accounts: 'pseudonym_key',
  // Keys and members show on which day they were last there.
  affiliate_keys: 'last_used_on',
  affiliate_members: 'last_seen_at',
  // A visit to `/go` is a click, which its queue stores and counts.
  clicks: 'all',
  arrivals: 'all',
}

/** What objects store of reads: gates count requests. */
const COUNT = 'rate'

/** Returns all that is stored, by the name of its table or object, without what reading may change. */
async function stored(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [db, { tables }] of await contentsOfDatabases(true)) {
    for (const [table, rows] of Object.entries(tables)) {
      const column = CHANGED_BY_READING[table] ?? ''
      const lines = rows.map((row) => JSON.stringify({ ...(row as object), [column]: null }))
      if (column !== 'all')
        found[`${db === env.DB ? 'DB' : 'DB_2'} ${table}`] = lines.sort().join('\n')
    }
  }
  for (const { id, namespace } of usedObjects.values()) {
    const entries = await runInDurableObject(namespace.get(id), (_, { storage }) =>
      [...storage.kv.list()].filter(([key]) => key !== COUNT),
    )
    if (entries.length > 0) found[`object ${id}`] = JSON.stringify(entries)
  }
  const { objects } = await env.EXPORTS.list()
  return { ...found, files: objects.map(({ key, etag }) => `${key} ${etag}`).join() }
}

/** Headers that differ from one response to the next, and what differs in the address of a landing page. */
const VARY = /^(x-request-id|ratelimit|set-cookie)/
const CODE = /tracking_data=.+/

const headOf = ({ status, headers }: Response) => [
  status,
  ...[...headers].flatMap(([name, value]) =>
    VARY.test(name) ? [] : [`${name}: ${value.replace(CODE, '')}`],
  ),
]

/** A request to read: what it is called, whether it succeeds, and a function that sends it. */
interface Reading {
  readonly name: string
  readonly exists: boolean
  send(method: 'GET' | 'HEAD'): Promise<Response>
}

/** How many requests are sent between two looks at all that is stored. */
const TOGETHER = 8

async function check(all: Reading[]) {
  expect(all.length).toBeGreaterThan(TOGETHER)
  let before = await stored()
  while (all.length > 0) {
    const names: string[] = []
    for (const { name, exists, send } of all.splice(0, TOGETHER)) {
      const [got, head] = [await send('GET'), await send('HEAD')]
      await got.arrayBuffer()
      expect([name, got.status < 400]).toEqual([name, exists])
      // The path of a change may look like that of something to read, which is not found then.
      expect([name, ...headOf(head)]).toEqual([name, ...headOf(got)])
      expect([name, await head.text()]).toEqual([name, ''])
      names.push(name)
    }
    const after = await stored()
    const changed = Object.keys({ ...before, ...after }).filter((one) => after[one] !== before[one])
    expect({ names, changed }).toEqual({ names, changed: [] })
    before = after
  }
}

test('§20 law 10: no operation that reads changes a row, and HEAD answers as GET does, 405 where there is none', async () => {
  const worlds = new Map<string, World>()
  const all: Reading[] = []
  const reads = new Set(
    [...operations.values()].flatMap(({ method, path }) => (method === 'GET' ? [path] : [])),
  )
  for (const route of ROUTES) {
    const key = JSON.stringify([route.vertical, route.unread])
    const world = worlds.get(key) ?? (await prepare(route.vertical, true, route))
    worlds.set(key, world)
    const { method, path } = operations.get(route.id) ?? { method: 'GET', path: '' }
    const exists = method === 'GET'
    if (!exists && reads.has(path)) continue
    const send: Reading['send'] = async (as) => {
      const { url, headers } = requestOf(route, world)
      const context = createExecutionContext()
      const response = await app.fetch(new Request(url, { method: as, headers }), env, context)
      await waitOnExecutionContext(context)
      return response
    }
    all.push({ name: route.id, exists, send })
  }
  await check(all)
})

test('§20 law 10: no page changes a row, and HEAD answers as GET does', async () => {
  const world = await prepare('forex', true)
  const terms = { version: 'v1', text: 'We pay by the 15th.' }
  await askAdmin(`accounts/${world.account}`, 'PATCH', { sign_up: { open: true, terms } })
  const named: Record<string, string> = {
    ...parametersOf(world),
    ...{ plan: 'swept', rule: 'stored', resource: 'transactions', id: 't-1' },
    statement: STATEMENT_ID,
  }
  const browsers = [
    [consoleApp, await signedIn()],
    [portalApp, await signedInFor(world.account, 'aff-7')],
  ] as const
  const all = browsers.flatMap(([{ routes }, browser]) =>
    routes
      .filter(({ method }) => method === 'GET')
      .flatMap(({ path }) => [path, `${path}?format=csv`])
      .map((path): Reading => {
        const name = path.replaceAll(/:(\w+)/g, (_, part: string) => named[part] ?? part)
        // It is there in development alone.
        const exists = !path.startsWith('/console/outbox')
        return { name, exists, send: (method) => browser.send(name, { method }) }
      }),
  )
  await check(all)
})
