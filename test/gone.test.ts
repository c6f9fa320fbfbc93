import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import failures from '../docs/failures.md?raw'
import wrangler from '../wrangler.toml?raw'
import { openBrowser, signedIn } from './console/browser.ts'
import { surrounded } from './sweep/platform.ts'
import { asks, ROUTES } from './sweep/routes.ts'
import { prepare, type World } from './sweep/worlds.ts'

// Which requests work while one part of the platform is unavailable: each cell of docs/failures.md.

/** A part of the platform: the calls that fail without it, by the beginning of their names, or its value. */
type Part = string | Partial<Record<keyof Env, unknown>>

/** Returns an environment without these parts. */
function without(parts: readonly Part[]): Env {
  const prefixes = parts.filter((part) => typeof part === 'string')
  const platform = surrounded(async (call, act) => {
    if (prefixes.some((prefix) => call.name.startsWith(prefix)))
      throw new Error('D1_ERROR: D1 DB is overloaded.')
    return act()
  })
  return Object.assign(platform, ...parts.filter((part) => typeof part !== 'string'))
}

/** Each column of the table, its binding or secret, and what it is without. */
const PARTS: [column: string, binding: string, part: Part][] = [
  ['D1', 'DB', 'DB'],
  ['`TokenGate` objects', 'TOKEN_GATE', 'TOKEN_GATE'],
  ['`ClientGate` objects', 'CLIENT_GATE', 'CLIENT_GATE'],
  ['`ErasureJournal` objects', 'ERASURE_JOURNAL', 'ERASURE_JOURNAL'],
  ['`BackgroundJob` objects', 'BACKGROUND_JOBS', 'BACKGROUND_JOBS'],
  ['R2', 'ARCHIVE', 'ARCHIVE'],
  ['queue of clicks', 'CLICKS', 'CLICKS'],
  ['queue of jobs', 'ACCOUNT_JOBS', { ACCOUNT_JOBS: {} }],
  ['queue of webhooks', 'WEBHOOKS', 'WEBHOOKS'],
  [
    'Workflow',
    'STATEMENT_RUNS',
    { STATEMENT_RUNS: { create: () => Promise.reject(new Error('workflow is gone')) } },
  ],
  [
    'Workflow of moves',
    'ACCOUNT_MOVES',
    { ACCOUNT_MOVES: { createBatch: () => Promise.reject(new Error('workflow is gone')) } },
  ],
  ['signing keys', 'SIGNING_KEYS', { SIGNING_KEYS: '{"keys":[]}' }],
  ['tracking keys', 'TRACKING_KEYS', { TRACKING_KEYS: '{"keys":[]}' }],
  ['admin key', 'ADMIN_KEY', { ADMIN_KEY: '' }],
  ['assets', 'ASSETS', 'ASSETS'],
]
const COLUMNS = Object.fromEntries(PARTS.map(([column, , part]) => [column, part]))

const idsMatching = (pattern: RegExp) => ROUTES.map(({ id }) => id).filter((id) => pattern.test(id))
const ADMIN_ROUTES = ROUTES.filter(({ as }) => as === 'team')
const settingsChanges = /^(changeAccount|rotateClient|regenerateBrandToken|putEventDefinition)$/
const endings = ['revokeClient', 'endAffiliateKey', 'endAffiliateKeyById']
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
  'administration: revoke a client, end a key of an affiliate': endings,
  'administration: revoke a Brand Token, delete an event definition': idsMatching(removals),
  'administration: erase a customer, replay erasures': idsMatching(erasures),
  'administration: create a link or a webhook, rotate the secret of a webhook': withTrackingKeys,
  'administration: start a run of statements': ['startRun'],
  'administration: all other changes': ADMIN_ROUTES.filter(
    ({ id, writes }) =>
      writes &&
      ![settingsChanges, removals, erasures].some((row) => row.test(id)) &&
      ![...endings, 'startRun', ...withTrackingKeys].includes(id),
  ).map(({ id }) => id),
  documents: idsMatching(
    /^get(Start|Reference|Guide|Problem|Llms|Openapi|EnvelopeSchema|EntitySchema|Asset)$/,
  ),
}

/** Returns an environment in which members sign in to the console with their keys. */
const withKeys = (gone: Env): Env => Object.assign(gone, { ACCESS_TEAM: '', ACCESS_AUD: '' })

/** The rows of the console, whose pages are no operations. */
const CONSOLE: Record<string, (gone: Env) => Promise<Response>> = {
  'console: sign in': (gone) => openBrowser(withKeys(gone)).signIn(),
  'console: a page': async (gone) => (await signedIn()).get('/console', {}, withKeys(gone)),
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
  expect(table.map(([name]) => name)).toEqual([...Object.keys(ROWS), ...Object.keys(CONSOLE)])
})

test('each binding and each secret of wrangler.toml has a column', () => {
  const [topLevel = ''] = wrangler.split('[env.')
  const bound = [...topLevel.matchAll(/^(?:binding|name) = "([A-Z_]+)"/gm)].map(([, name]) => name)
  const [, secrets = ''] = /^required = (\[.*\])$/m.exec(topLevel) ?? []
  const all = [...bound, ...JSON.parse(secrets)]
  expect(PARTS.map(([, binding]) => binding).sort()).toEqual(all.sort())
})

/** Returns how a request is answered: `yes` or the status of an error, which says when to retry. */
function answerOf({ status, headers }: Response, name: string): string {
  if (status >= 400) expect(headers.has('Retry-After'), name).toBe(true)
  return status < 400 ? 'yes' : String(status)
}

/** Returns how a row of the console is answered. */
async function consoleAnswers(row: string, gone: Env): Promise<string[]> {
  const page = await CONSOLE[row]!(gone)
  expect(page.headers.get('Location') ?? '', 'is signed in').not.toContain('sign-in')
  return [answerOf(page, row)]
}

/** Returns the ways in which the operations of a row are answered. */
async function operationAnswers(row: string, gone: Env): Promise<string[]> {
  const worlds = new Map<string, World>()
  const answers: string[] = []
  for (const id of ROWS[row]!) {
    const route = ROUTES.find((candidate) => candidate.id === id)!
    const hasRecords = route.records ?? false
    const kind = `${route.vertical}, ${hasRecords}`
    const world = worlds.get(kind) ?? (await prepare(route.vertical, hasRecords))
    worlds.set(kind, world)
    // The client's object calls the objects of its tokens, so they must be gone there as well.
    await runInDurableObject(world.objects().client!, (clientObject) => {
      Object.assign(clientObject, { env: gone })
    })
    const context = createExecutionContext()
    const response = await asks(route, world, gone, context)
    await waitOnExecutionContext(context)
    answers.push(answerOf(response, id))
    if (response.status < 400 && route.writes) worlds.delete(kind)
  }
  return [...new Set(answers)].sort()
}

const answersOf = (row: string, gone: Env) =>
  row in CONSOLE ? consoleAnswers(row, gone) : operationAnswers(row, gone)

/** Returns the cell of a row and a column. */
const cellOf = (row: string, column: string) =>
  table.find(([name]) => name === row)?.[Object.keys(COLUMNS).indexOf(column) + 1]

describe.each([...Object.keys(ROWS), ...Object.keys(CONSOLE)])('%s', (row) => {
  const all = Object.keys(COLUMNS)
  const needless = all.filter((column) => cellOf(row, column) === 'yes')

  // A request that works without several parts works without each of them.
  test.runIf(needless.length > 0)(`works without ${needless.join(', ')}`, async () => {
    const gone = without(needless.map((column) => COLUMNS[column]!))
    expect(await answersOf(row, gone)).toEqual(['yes'])
  })

  test.each(all.filter((column) => !needless.includes(column)))('without %s', async (column) => {
    const expected = cellOf(row, column)?.split(' or ').sort()
    expect(await answersOf(row, without([COLUMNS[column]!]))).toEqual(expected)
  })
})
