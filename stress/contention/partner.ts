import { type Answer, expectBody, type RequestSender } from '../ask.ts'
import { customer } from '../kill/bulks.ts'
import { asFirm, type Firm, newClient, newFirm, newToken } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { type ClientResult, serialOrder } from './serial.ts'

/** How many clients write at once, and how many records each of them sends. */
export interface ContentionSize {
  clients: number
  keys: number
}

/** Creates one firm with a number of OAuth clients. */
export async function newClientSenders(
  service: Service,
  { clients }: ContentionSize,
): Promise<RequestSender[]> {
  const firm = await newFirm(service, 'contended', 'forex', 'reject')
  const crowd: Firm[] = []
  for (let i = 0; i < clients; i++) {
    crowd.push({ ...firm, ...(await newClient(service.admin, firm.account)) })
  }
  const asks: RequestSender[] = []
  for (const one of crowd) asks.push(asFirm(service, one, await newToken(service, one)))
  await expectBody(200, asks[0]!('POST', 'customers', { body: [customer('C-1')] }))
  return asks
}

type StoredRevisions = { key: string; client: number; revision: number }[]

const transaction = (transaction_id: string, client: number) => ({
  transaction_id,
  customer_id: 'C-1',
  transaction_type: 'deposit',
  amount_currency: client + 0.25,
  currency: 'EUR',
  transaction_date: '2026-10-02T09:30:00.000Z',
  status: `status-${client}`,
  note: String(client),
})

/** Lets all clients send their own version of their keys at once. Returns the responses. */
async function write(
  { check }: Setting,
  asks: readonly RequestSender[],
  keysOf: (client: number) => string[],
): Promise<ClientResult[]> {
  const answers = await Promise.all(
    asks.map((ask, client) => {
      const body = keysOf(client).map((key) => transaction(key, client))
      return ask('POST', 'transactions', { body })
    }),
  )
  return answers.map((answer, client) => {
    check(answer.status === 200, `client ${client} was answered ${answer.status}`)
    return resultOf(answer, client, keysOf(client))
  })
}

function resultOf(
  { body, sentAt, answeredAt }: Answer,
  client: number,
  keys: string[],
): ClientResult {
  const results: { index: number; outcome: string }[] = body.results ?? []
  const created = results.filter(({ outcome }) => outcome === 'created')
  return {
    client,
    keys,
    created: new Set(created.map(({ index }) => keys[index]!)),
    sentAt,
    answeredAt,
  }
}

const storedIn = async ({ database }: Service, prefix: string): Promise<StoredRevisions> => {
  const found = await database
    .prepare(
      `select transaction_id as key, note as client, revision, status, amount_currency as amount
       from transactions where transaction_id glob ?`,
    )
    .bind(`${prefix}*`)
    .all<{ key: string; client: string; revision: number; status: string; amount: number }>()
  return found.results.map(({ key, client, revision, status, amount }) => {
    // A record that mixes two versions belongs to no client.
    const isWhole = status === `status-${client}` && amount === Number(client) + 0.25
    return { key, revision, client: isWhole ? Number(client) : Number.NaN }
  })
}

/** All clients write the same keys: one of them wins all keys, and no version is lost. */
export async function writeSameKeys(
  setting: Setting,
  service: Service,
  asks: readonly RequestSender[],
  { keys }: ContentionSize,
): Promise<void> {
  const { check, print } = setting
  const names = Array.from({ length: keys }, (_, i) => `same-${i}`)
  const results = await write(setting, asks, () => names)
  const rows = await storedIn(service, 'same-')
  const winners = new Set(rows.map(({ client }) => client))
  const created = results.reduce((sum, result) => sum + result.created.size, 0)
  check(rows.length === keys, `${rows.length} records are stored of ${keys} keys`)
  check(created === keys, `all answers together have created ${created} of ${keys} keys`)
  const first = results.filter((result) => result.created.size > 0)
  check(first.length === 1, `${first.length} clients were answered that they created records`)
  check(winners.size === 1, `the versions stored are those of ${[...winners].join(' and ')}`)
  const wrongRevisions = rows.filter(({ revision }) => revision !== asks.length).length
  check(
    wrongRevisions === 0,
    `${wrongRevisions} records have lost a version: their revision is not ${asks.length}`,
  )
  await checkTotal(setting, asks[0]!, rows)
  print(
    `${asks.length} clients wrote the same ${keys} transactions at once: client ${first[0]?.client} created them, client ${[...winners].join()} came last, each record has ${asks.length} revisions.`,
  )
}

/** Each client shares most keys with its neighbours: a serial order explains the result. */
export async function writeOverlappingKeys(
  setting: Setting,
  service: Service,
  asks: readonly RequestSender[],
  { keys }: ContentionSize,
): Promise<void> {
  const { check, print } = setting
  const step = Math.ceil(keys / 8)
  const keysOf = (client: number) =>
    Array.from({ length: keys }, (_, i) => `some-${client * step + i}`)
  const results = await write(setting, asks, keysOf)
  const rows = await storedIn(service, 'some-')
  const writers = (key: string) => results.filter((result) => result.keys.includes(key))
  const created = results.reduce((sum, result) => sum + result.created.size, 0)
  check(created === rows.length, `${created} records were created, and ${rows.length} are stored`)
  const wrongRevisions = rows.filter(({ key, revision }) => revision !== writers(key).length).length
  check(wrongRevisions === 0, `${wrongRevisions} records have lost a version`)
  const order = serialOrder(results, new Map(rows.map(({ key, client }) => [key, client])))
  check(order !== null, 'no serial order of the clients explains what is stored')
  print(
    `${asks.length} clients wrote ${rows.length} transactions in sets that overlap: one order explains all of it: ${order?.join(' ')}.`,
  )
}

/** The control totals count each record once, with the amount of the winning client. */
async function checkTotal(
  { check }: Setting,
  ask: RequestSender,
  rows: StoredRevisions,
): Promise<void> {
  const { body } = await ask('GET', 'totals?from=2026-10-02&to=2026-10-02')
  const data: { resource: string; count: number; sums: Record<string, string> }[] = body.data
  const totals = data.filter(({ resource }) => resource === 'transactions')
  const units = rows.length * (rows[0]!.client * 100 + 25)
  const is = JSON.stringify(totals)
  const [only] = totals
  const isRight =
    totals.length === 1 &&
    only!.count === rows.length &&
    Number(only!.sums.amount_currency) * 100 === units
  check(isRight, `the control totals are not ${rows.length} records of ${units} cents: ${is}`)
  const listed = await ask('GET', 'transactions?per_page=1')
  const { total } = listed.body.meta
  check(total === rows.length, `the list reports ${total} records, not ${rows.length}`)
}
