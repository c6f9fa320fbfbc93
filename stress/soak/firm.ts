import type { Firm } from '../parties.ts'
import type { Actor, ActorContext } from './actor.ts'
import { eraseCustomerAction, issueTokenAction } from './credentials.ts'
import { drawRecords, entryOf, type FirmLane, RESOURCES, type Resource } from './firm-records.ts'
import {
  entriesOf,
  heldOf,
  isEqual,
  isHeld,
  isPredicted,
  type KeyedRecord,
  newLedger,
  predict,
} from './ledger.ts'
import { readActions, refusedActions } from './reads.ts'

/** Makes an actor of a firm. If the firm holds records, their customers come late or never. */
export function firmActor(context: ActorContext, firm: Firm): Actor {
  const { responses, draw, ask } = context
  const { expectStatus } = responses
  const ledger = newLedger()
  const erased = new Set<string>()
  const lane = { ...context, firm, holds: firm.vertical === 'forex', ledger, erased }
  const at = (path: string) => pathOf(lane, path)
  return {
    actions: [
      [6, () => postRecords(lane, 'customers')],
      [10, () => postRecords(lane, 'transactions')],
      [6, () => postRecords(lane, 'trading-activity')],
      [2, () => postLenient(lane)],
      [4, () => readRecord(lane)],
      [0.5, eraseCustomerAction(context, firm, ledger, erased)],
      [1, issueTokenAction(context, firm.vertical)],
      ...readActions({ expectStatus, draw, ask, at, lists: RESOURCES }),
      ...refusedActions({ expectStatus, draw, ask, at, resource: 'transactions' }),
    ],
    entries: () => entriesOf(ledger, entryOf),
    held: () => heldOf(ledger),
  }
}

const pathOf = ({ firm }: FirmLane, path: string) => `/api/v1/${firm.vertical}/${path}`

/** Sends records of one resource, and checks the summary of the response. */
async function postRecords(lane: FirmLane, resource: Resource): Promise<void> {
  const { draw, ledger, responses } = lane
  const drawn = drawRecords(lane, resource)
  if (drawn.length === 0) return
  const dryRun = draw.below(6) === 0
  const single = draw.below(5) === 0
  const records = single ? drawn.slice(0, 1) : drawn
  const prediction = predict(ledger, records, dryRun)
  const status = single && prediction.created === 1 ? 201 : 200
  const { body } = await send(lane, resource, records, { dryRun, single, status })
  if (!isPredicted(body.summary, prediction)) {
    responses.reportProblem(
      `${pathOf(lane, resource)}: ${JSON.stringify(body.summary)}, not ${JSON.stringify(prediction)}`,
    )
  }
  if (resource !== 'customers' || dryRun) return
  for (const { record } of records) ledger.customers.add(String(record.customer_id))
}

/** Sends records in one of the accepted forms. `single` sends an object instead of a bulk. */
function send(
  lane: FirmLane,
  resource: Resource,
  records: readonly KeyedRecord[],
  { dryRun, single, status }: { dryRun: boolean; single: boolean; status: number },
) {
  const { draw, ask, responses } = lane
  const bodies = records.map(({ record }) => record)
  const query = dryRun ? '?dry_run=true' : ''
  const request = ask('POST', resource + query, {
    body: single ? bodies[0] : draw.below(2) ? bodies : { data: bodies },
    headers: { ...(draw.below(3) === 0 && { Prefer: 'return=minimal' }) },
  })
  return responses.expectStatus(`POST ${pathOf(lane, resource)}${query}`, [status], request)
}

/** Sends transactions with an invalid one among them, and checks that only that one is rejected. */
async function postLenient(lane: FirmLane): Promise<void> {
  const { ledger, ask, responses } = lane
  const valid = drawRecords(lane, 'transactions')
  if (valid.length === 0) return
  const prediction = predict(ledger, valid)
  const invalid = { ...valid[0]!.record, transaction_id: `${lane.lane}-bad`, currency: 'EUX' }
  const body = [invalid, ...valid.map(({ record }) => record)]
  const request = ask('POST', 'transactions', { body, headers: { Prefer: 'handling=lenient' } })
  const route = `POST ${pathOf(lane, 'transactions')}, lenient`
  const { summary } = (await responses.expectStatus(route, [207], request)).body
  if (isPredicted(summary, prediction) && summary.rejected === 1) return
  responses.reportProblem(`lenient: ${JSON.stringify(summary)}, not ${JSON.stringify(prediction)}`)
}

/** Reads one customer or transaction, and compares it with the ledger. */
async function readRecord(lane: FirmLane): Promise<void> {
  const { draw, ledger, ask, responses } = lane
  const [key, stored] = draw.one([...ledger.records]) ?? []
  if (!key || !stored || key.startsWith('trading')) return
  const [resource, id] = key.split(' ') as [string, string]
  const status = isHeld(ledger, stored) ? 404 : 200
  const isByQuery = draw.below(2) === 0
  const idName = resource === 'customers' ? 'customer_id' : 'transaction_id'
  const path = isByQuery ? `${resource}/by-id?${idName}=${id}` : `${resource}/${id}`
  const route = `GET ${pathOf(lane, resource)}/${isByQuery ? 'by-id' : '{id}'}`
  const { body } = await responses.expectStatus(route, [status], ask('GET', path))
  if (status === 404 || isEqual(body, stored.record)) return
  responses.reportProblem(`${key} is ${JSON.stringify(body)}, not ${JSON.stringify(stored.record)}`)
}
