import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import failures from '../docs/failures.md?raw'
import wrangler from '../wrangler.toml?raw'
import { surrounded } from './sweep/platform.ts'
import { asks, ROUTES } from './sweep/routes.ts'
import { prepare, type World } from './sweep/worlds.ts'

// Which requests work while one part of the platform is unavailable: each cell of docs/failures.md.

/** Returns an environment in which every call with this name prefix fails. */
const without = (name: string) => (): Env =>
  surrounded(async (call, act) => {
    if (call.name.startsWith(name)) throw new Error('D1_ERROR: D1 DB is overloaded.')
    return act()
  })

/** Returns an environment with these secrets and bindings. */
const having = (parts: object) => () => ({ ...env, ...parts }) as Env

/** Each column of the table, its binding or secret, and the environment without it. */
const PARTS: [column: string, binding: string, gone: () => Env][] = [
  ['D1', 'DB', without('DB')],
  ['`TokenGate` objects', 'TOKEN_GATE', without('TOKEN_GATE')],
  ['`ClientGate` objects', 'CLIENT_GATE', without('CLIENT_GATE')],
  ['`ErasureJournal` objects', 'ERASURE_JOURNAL', without('ERASURE_JOURNAL')],
  ['queue of clicks', 'CLICKS', without('CLICKS')],
  ['queue of webhooks', 'WEBHOOKS', without('WEBHOOKS')],
  [
    'Workflow',
    'STATEMENT_RUNS',
    having({ STATEMENT_RUNS: { create: () => Promise.reject(new Error('workflow is gone')) } }),
  ],
  ['signing keys', 'SIGNING_KEYS', having({ SIGNING_KEYS: '{"keys":[]}' })],
  ['tracking keys', 'TRACKING_KEYS', having({ TRACKING_KEYS: '{"keys":[]}' })],
  ['admin key', 'ADMIN_KEY', having({ ADMIN_KEY: '' })],
  ['assets', 'ASSETS', without('ASSETS')],
]
const COLUMNS = Object.fromEntries(PARTS.map(([column, , gone]) => [column, gone]))

const idsMatching = (pattern: RegExp) => ROUTES.map(({ id }) => id).filter((id) => pattern.test(id))
const ADMIN_ROUTES = ROUTES.filter(({ as }) => as === 'team')
const settingsChanges = /^(changeAccount|rotateClient|regenerateBrandToken|putEventDefinition)$/
const removals = /^(revokeBrandToken|dropEventDefinition)$/
const withTrackingKeys = ['createLink', 'createWebhook', 'rotateWebhook']
const erasures = /^(eraseCustomer.*|replayErasures)$/

/** The operations that each row covers, by operation id. */
const ROWS: Record<string, string[]> = {
  'health check, OAuth metadata': ['getHealth', 'getAuthorizationServer'],
  'public keys': ['getJwks'],
  'issue an access token': ['getToken'],
  'revoke an access token': ['revokeToken'],
  'partner API: send and read': idsMatching(/^(send|list|get)(PropTrading|Forex)/),
  'brand API: send and read': idsMatching(/^(send|list|get)Igaming/),
  'follow a link': ['followLink'],
  'administration: read': ADMIN_ROUTES.filter(({ writes }) => !writes).map(({ id }) => id),
  'administration: change settings or credentials in use': idsMatching(settingsChanges),
  'administration: revoke a client': ['revokeClient'],
  'administration: revoke a Brand Token, delete an event definition': idsMatching(removals),
  'administration: erase a customer, replay erasures': idsMatching(erasures),
  'administration: create a link or a webhook, rotate the secret of a webhook': withTrackingKeys,
  'administration: start a run of statements': ['startRun'],
  'administration: all other changes': ADMIN_ROUTES.filter(
    ({ id, writes }) =>
      writes &&
      ![settingsChanges, removals, erasures].some((row) => row.test(id)) &&
      !['revokeClient', 'startRun', ...withTrackingKeys].includes(id),
  ).map(({ id }) => id),
  documents: idsMatching(
    /^get(Start|Reference|Guide|Problem|Llms|Openapi|EnvelopeSchema|EntitySchema|Asset)$/,
  ),
}

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const [header = '', , ...lines] = failures.split('\n').filter((line) => line.startsWith('|'))
const table = lines.map(cellsOf)

test('the table in docs/failures.md has exactly these rows and columns', () => {
  expect(cellsOf(header).slice(1)).toEqual(Object.keys(COLUMNS))
  expect(table.map(([name]) => name)).toEqual(Object.keys(ROWS))
})

test('each binding and each secret of wrangler.toml has a column', () => {
  const [topLevel = ''] = wrangler.split('[env.')
  const bound = [...topLevel.matchAll(/^(?:binding|name) = "([A-Z_]+)"/gm)].map(([, name]) => name)
  const [, secrets = ''] = /^required = (\[.*\])$/m.exec(topLevel) ?? []
  const all = [...bound, ...JSON.parse(secrets)]
  expect(PARTS.map(([, binding]) => binding).sort()).toEqual(all.sort())
})

describe.each(Object.keys(COLUMNS))('without %s', (column) => {
  const gone = COLUMNS[column]!()
  test.each(Object.keys(ROWS))('%s', async (row) => {
    const expected = table.find(([name]) => name === row)?.[
      Object.keys(COLUMNS).indexOf(column) + 1
    ]
    const worlds = new Map<string, World>()
    const statuses: string[] = []
    for (const id of ROWS[row]!) {
      const route = ROUTES.find((candidate) => candidate.id === id)!
      const hasRecords = route.records ?? false
      const kind = `${route.vertical}, ${hasRecords}`
      const known = route.writes ? undefined : worlds.get(kind)
      const world = known ?? (await prepare(route.vertical, hasRecords))
      if (!route.writes) worlds.set(kind, world)
      // The client's object calls the objects of its tokens, so they must be gone there as well.
      await runInDurableObject(world.objects().client!, (gate) => {
        Object.assign(gate, { env: gone })
      })
      const context = createExecutionContext()
      const response = await asks(route, world, gone, context)
      await waitOnExecutionContext(context)
      statuses.push(response.status < 400 ? 'yes' : String(response.status))
      if (response.status >= 400) expect(response.headers.has('Retry-After'), id).toBe(true)
    }
    expect([...new Set(statuses)].sort()).toEqual(expected?.split(' or ').sort())
  })
})
