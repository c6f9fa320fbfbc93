import type { RequestSender } from '../ask.ts'
import { type Draw, SPAN, type WeightedAction } from './draw.ts'
import type { ResponseLog } from './response-log.ts'

/** The tools of actions that only read or are refused. */
interface Reader {
  expectStatus: ResponseLog['expectStatus']
  draw: Draw
  ask: RequestSender
  /** Returns the whole path, as the summary prints it. */
  at: (path: string) => string
}

const PAGES = 3

/** Days that change all the time are summed for a tenth of the time, or not at all. */
export const TOTALS_STATUSES = [200, 429, 503]

/** Returns actions that read what an account may read. */
export function readActions({
  expectStatus,
  draw,
  ask,
  at,
  lists,
}: Reader & { lists: readonly string[] }): WeightedAction[] {
  const get = (path: string, statuses = [200]) =>
    expectStatus(`GET ${at(path.split('?')[0]!)}`, statuses, ask('GET', path))
  const walk = async () => {
    const name = draw.one(lists)
    const days = name === 'customers' || draw.below(2) ? '' : `&from=${draw.day()}`
    let { body } = await get(`${name}?per_page=${1 + draw.below(200)}${days}`)
    for (let page = 1; page < PAGES && body.meta.next_cursor; page++) {
      body = (await get(`${name}?cursor=${body.meta.next_cursor}${days}`)).body
    }
  }
  const delivery = async () => {
    const { body } = await get('deliveries?per_page=20')
    const found = draw.one<{ delivery_id: string } | undefined>(body.data)
    if (!found) return
    const path = `deliveries/${found.delivery_id}`
    await expectStatus(`GET ${at('deliveries/{id}')}`, [200], ask('GET', path))
  }
  return [
    [4, walk],
    [2, delivery],
    [1, () => get(`totals?from=${SPAN.from}&to=${SPAN.to}`, TOTALS_STATUSES)],
    [1, () => get('held?per_page=100')],
    [1, () => get('feed')],
    [1, () => get('account')],
  ]
}

/** Returns actions that the service refuses. */
export function refusedActions({
  expectStatus,
  draw,
  ask,
  at,
  resource,
}: Reader & { resource: string }): WeightedAction[] {
  const send = (
    status: number,
    method: string,
    path: string,
    sent?: Parameters<RequestSender>[2],
  ) =>
    expectStatus(`${method} ${at(path.split('?')[0]!)}, refused`, [status], ask(method, path, sent))
  const json = { 'Content-Type': 'application/json' }
  const refused = [
    () => send(400, 'POST', resource, { body: '[{"a": 1', headers: json }),
    () => send(415, 'POST', resource, { body: 'a,b', headers: { 'Content-Type': 'text/csv' } }),
    () => send(422, 'POST', resource, { body: [] }),
    () => send(422, 'POST', resource, { body: [{ nobody: 'knows this' }, null, 7] }),
    () => send(422, 'POST', `${resource}?dry_run=true`, { body: { currency: 'EUX' } }),
    () => send(413, 'POST', resource, { body: `["${'x'.repeat(9_000_000)}"]`, headers: json }),
    () => send(400, 'GET', `${resource}?page=0`),
    () => send(400, 'GET', `${resource}?cursor=nobody.gave-it-out`),
    () => send(404, 'GET', 'nothing-of-that-name'),
    () => send(404, 'GET', 'deliveries/dlv_01K00000000000000000000000'),
    () => send(405, 'DELETE', resource),
  ]
  return [[3, () => draw.one(refused)()]]
}
