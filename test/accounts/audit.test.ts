import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { PAGES } from '../../src/console/pages.ts'
import { askAdmin, json } from '../partner.ts'
import { operations } from '../requests.ts'
import { worldOf } from '../sweep/endure.ts'
import { asks, ROUTES, type Route } from '../sweep/routes.ts'

// What the audit log has of each operation, by the requests of the sweep.

interface Entry {
  readonly id: string
  readonly actor: string
  readonly name: string | null
  readonly action: string
  readonly url: string | null
  readonly changes: readonly { field: string; before: unknown; after: unknown }[]
}

/** Requests that change nothing, each with its reason. */
const UNCHANGED = {
  cancelMove: 'a move that is done stays so',
  previewPayoutAnswer: 'an answer is only read, and books nothing',
}

/** Operations that put what was not there. */
const NEW = ['putFraudRule', 'importFxRates']

const ACTORS: Partial<Record<Route['as'], RegExp>> = {
  team: /^root-key$/,
  member: /^approver-[\w-]+@team\.example$/,
  affiliate: /^affiliate-key .+ aff-7$/,
}

const PATHS = PAGES.map(({ path }) => new RegExp(`^/console${path.replaceAll(/:\w+/g, '[^/]+')}$`))

const readLog = async (): Promise<Entry[]> => (await json(askAdmin('audit-log'))).data

/** Returns what the audit log gets by a request. */
async function entriesOf(route: Route): Promise<Entry[]> {
  const world = await worldOf(route)
  const before = new Set((await readLog()).map(({ id }) => id))
  const context = createExecutionContext()
  const response = await asks(route, world, env as Env, context)
  expect(response.status, route.id).toBeLessThan(400)
  await waitOnExecutionContext(context)
  return (await readLog()).filter(({ id }) => !before.has(id))
}

/** Returns what an entry lacks. */
function faultsOf({ id, as }: Route, entry: Entry): string[] {
  const { actor, name, action, url, changes } = entry
  const isShown = url !== null && PATHS.some((path) => path.test(new URL(url).pathname))
  const same = changes.filter(
    ({ before, after }) => JSON.stringify(before) === JSON.stringify(after) && before !== '…',
  )
  return [
    ...(ACTORS[as]?.test(actor) ? [] : [`by ${actor}`]),
    ...((name !== null) === (as === 'member') ? [] : [`by the name ${name}`]),
    ...(isShown || action === 'fx-rates.put' ? [] : [`leads to ${url}`]),
    ...same.map(({ field }) => `${field} is as it was`),
  ].map((fault) => `${id}, ${action}: ${fault}`)
}

test('§21.1 each operation that changes something leaves who did it, where it is shown, and old and new of each field', async () => {
  const faults: string[] = []
  for (const route of ROUTES.filter(({ as, writes }) => writes && as in ACTORS)) {
    const { method } = operations.get(route.id)!
    if (method === 'GET') continue
    const entries = await entriesOf(route)
    faults.push(...entries.flatMap((entry) => faultsOf(route, entry)))
    if (entries.length === 0 && !(route.id in UNCHANGED)) faults.push(`${route.id}: nothing`)
    const puts = ['PUT', 'PATCH'].includes(method) && !NEW.includes(route.id)
    const fields = entries.flatMap(({ changes }) => changes.map(({ field }) => field))
    if (puts && fields.length === 0) faults.push(`${route.id}: no field`)
    // A change of some fields names each of them. Of an address the log has the host alone.
    const sent = method === 'PATCH' ? Object.keys(Object(route.body)) : []
    const missing = sent.filter((name) => !fields.some((field) => field.startsWith(name)))
    faults.push(...missing.map((name) => `${route.id}: ${name} is missing`))
  }
  expect(faults).toEqual([])
})
