import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import failures from '../docs/failures.md?raw'
import wrangler from '../wrangler.toml?raw'
import { surrounded } from './sweep/platform.ts'
import { asks, ROUTES } from './sweep/routes.ts'
import { prepare, type World } from './sweep/worlds.ts'

// Which requests work while one part of the platform is unavailable: each cell of docs/failures.md.

/** The platform without all calls of this name. */
const without = (name: string) => (): Env =>
  surrounded(async (call, act) => {
    if (call.name.startsWith(name)) throw new Error('D1_ERROR: D1 DB is overloaded.')
    return act()
  })

/** The platform with this in place of a secret. */
const having = (secrets: object) => () => ({ ...env, ...secrets }) as Env

/** Each column, the binding or secret that is gone in it, and the platform without it. */
const PARTS: [column: string, binding: string, gone: () => Env][] = [
  ['D1', 'DB', without('DB')],
  ['`TokenGate` objects', 'TOKEN_GATE', without('TOKEN_GATE')],
  ['`ClientGate` objects', 'CLIENT_GATE', without('CLIENT_GATE')],
  ['`ErasureJournal` objects', 'ERASURE_JOURNAL', without('ERASURE_JOURNAL')],
  ['Queue', 'CLICKS', without('CLICKS')],
  ['signing keys', 'SIGNING_KEYS', having({ SIGNING_KEYS: '{"keys":[]}' })],
  ['tracking keys', 'TRACKING_KEYS', having({ TRACKING_KEYS: '{"keys":[]}' })],
  ['admin key', 'ADMIN_KEY', having({ ADMIN_KEY: '' })],
  ['assets', 'ASSETS', without('ASSETS')],
]
const COLUMNS = Object.fromEntries(PARTS.map(([column, , gone]) => [column, gone]))

const named = (pattern: RegExp) => ROUTES.map(({ id }) => id).filter((id) => pattern.test(id))
const OF_TEAM = ROUTES.filter(({ as }) => as === 'team')
const told = /^(changeAccount|rotateClient|regenerateBrandToken|putEventDefinition)$/
const ended = /^(revokeBrandToken|dropEventDefinition)$/
const erased = /^(eraseCustomer|replayErasures)$/

/** Which operations each row is about. */
const ROWS: Record<string, string[]> = {
  'health check, OAuth metadata': ['getHealth', 'getAuthorizationServer'],
  'public keys': ['getJwks'],
  'issue an access token': ['getToken'],
  'revoke an access token': ['revokeToken'],
  'partner API: send and read': named(/^(send|list|get)(PropTrading|Forex)/),
  'brand API: send and read': named(/^(send|list|get)Igaming/),
  'follow a link': ['followLink'],
  'administration: read': OF_TEAM.filter(({ writes }) => !writes).map(({ id }) => id),
  'administration: change what live tokens carry': named(told),
  'administration: revoke a client': ['revokeClient'],
  'administration: revoke a Brand Token, delete an event definition': named(ended),
  'administration: erase a customer, replay erasures': named(erased),
  'administration: all other changes': OF_TEAM.filter(
    ({ id, writes }) =>
      writes && ![told, ended, erased].some((row) => row.test(id)) && id !== 'revokeClient',
  ).map(({ id }) => id),
  documents: named(
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
  const [own = ''] = wrangler.split('[env.')
  const bound = [...own.matchAll(/^(?:binding|name) = "([A-Z_]+)"/gm)].map(([, name]) => name)
  const [, secrets = ''] = /^required = (\[.*\])$/m.exec(own) ?? []
  const all = [...bound, ...JSON.parse(secrets)]
  expect(PARTS.map(([, binding]) => binding).sort()).toEqual(all.sort())
})

describe.each(Object.keys(COLUMNS))('without %s', (column) => {
  const gone = COLUMNS[column]!()
  test.each(Object.keys(ROWS))('%s', async (row) => {
    const said = table.find(([name]) => name === row)?.[Object.keys(COLUMNS).indexOf(column) + 1]
    const worlds = new Map<string, World>()
    const statuses: string[] = []
    for (const id of ROWS[row]!) {
      const route = ROUTES.find((one) => one.id === id)!
      const known = worlds.get(route.vertical)
      const world =
        route.writes || !known ? await prepare(route.vertical, route.records ?? false) : known
      if (!route.writes && route.records) worlds.set(route.vertical, world)
      // What tells a client's tokens is its object: there they are gone, too.
      await runInDurableObject(world.objects().client!, (gate) => {
        Object.assign(gate, { env: gone })
      })
      const context = createExecutionContext()
      const response = await asks(route, world, gone, context)
      await waitOnExecutionContext(context)
      statuses.push(response.status < 400 ? 'yes' : String(response.status))
      if (response.status >= 400) expect(response.headers.has('Retry-After'), id).toBe(true)
    }
    expect([...new Set(statuses)].sort()).toEqual(said?.split(' or ').sort())
  })
})
