import { type Answer, type Ask, answered } from '../ask.ts'
import { customer } from '../kill/bulks.ts'
import { asFirm, type Firm, newClient, newFirm, newToken } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { serialOrder, type Told } from './serial.ts'

/** How many clients write at once, and how many records each. */
export interface Size {
  clients: number
  keys: number
}

/** One firm, and so many OAuth clients of it. */
export async function newCrowd(service: Service, { clients }: Size): Promise<Ask[]> {
  const firm = await newFirm(service, 'contended', 'forex', 'reject')
  const crowd: Firm[] = []
  for (let i = 0; i < clients; i++) {
    crowd.push({ ...firm, ...(await newClient(service.admin, firm.account)) })
  }
  const asks: Ask[] = []
  for (const one of crowd) asks.push(asFirm(service, one, await newToken(service, one)))
  await answered(200, asks[0]!('POST', 'customers', { body: [customer('C-1')] }))
  return asks
}

type Rows = { key: string; client: number; revision: number }[]

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

/** All clients send their own version of their keys at once; answers with what each was told. */
async function write(
  { hold }: Setting,
  asks: readonly Ask[],
  keysOf: (client: number) => string[],
): Promise<Told[]> {
  const answers = await Promise.all(
    asks.map((ask, client) => {
      const body = keysOf(client).map((key) => transaction(key, client))
      return ask('POST', 'transactions', { body })
    }),
  )
  return answers.map((answer, client) => {
    hold(answer.status === 200, `client ${client} was answered ${answer.status}`)
    return toldBy(answer, client, keysOf(client))
  })
}

function toldBy({ body, sentAt, answeredAt }: Answer, client: number, keys: string[]): Told {
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

const storedIn = async ({ database }: Service, prefix: string): Promise<Rows> => {
  const found = await database
    .prepare(
      `select transaction_id as key, note as client, revision, status, amount_currency as amount
       from transactions where transaction_id glob ?`,
    )
    .bind(`${prefix}*`)
    .all<{ key: string; client: string; revision: number; status: string; amount: number }>()
  return found.results.map(({ key, client, revision, status, amount }) => {
    // A record that is half of one version and half of another is nobody's.
    const isWhole = status === `status-${client}` && amount === Number(client) + 0.25
    return { key, revision, client: isWhole ? Number(client) : Number.NaN }
  })
}

/** All clients write the same keys: one of them wins, wholly, and none is lost on the way. */
export async function sameKeys(
  setting: Setting,
  service: Service,
  asks: readonly Ask[],
  { keys }: Size,
): Promise<void> {
  const { hold, say } = setting
  const names = Array.from({ length: keys }, (_, i) => `same-${i}`)
  const tolds = await write(setting, asks, () => names)
  const rows = await storedIn(service, 'same-')
  const winners = new Set(rows.map(({ client }) => client))
  const created = tolds.reduce((sum, told) => sum + told.created.size, 0)
  hold(rows.length === keys, `${rows.length} records are stored of ${keys} keys`)
  hold(created === keys, `all answers together have created ${created} of ${keys} keys`)
  const first = tolds.filter((told) => told.created.size > 0)
  hold(first.length === 1, `${first.length} clients were told that they had created records`)
  hold(winners.size === 1, `the versions stored are those of ${[...winners].join(' and ')}`)
  const odd = rows.filter(({ revision }) => revision !== asks.length).length
  hold(odd === 0, `${odd} records have lost a version: their revision is not ${asks.length}`)
  await judgeTotal(setting, asks[0]!, rows)
  say(
    `${asks.length} clients wrote the same ${keys} transactions at once: client ${first[0]?.client} created them, client ${[...winners].join()} came last, each record has ${asks.length} revisions.`,
  )
}

/** Each client shares most of its keys with its neighbours: some serial order explains all of it. */
export async function someKeys(
  setting: Setting,
  service: Service,
  asks: readonly Ask[],
  { keys }: Size,
): Promise<void> {
  const { hold, say } = setting
  const step = Math.ceil(keys / 8)
  const keysOf = (client: number) =>
    Array.from({ length: keys }, (_, i) => `some-${client * step + i}`)
  const tolds = await write(setting, asks, keysOf)
  const rows = await storedIn(service, 'some-')
  const writers = (key: string) => tolds.filter((told) => told.keys.includes(key))
  const created = tolds.reduce((sum, told) => sum + told.created.size, 0)
  hold(created === rows.length, `${created} records were created, and ${rows.length} are stored`)
  const odd = rows.filter(({ key, revision }) => revision !== writers(key).length).length
  hold(odd === 0, `${odd} records have lost a version`)
  const order = serialOrder(tolds, new Map(rows.map(({ key, client }) => [key, client])))
  hold(order !== null, 'no serial order of the clients explains what is stored')
  say(
    `${asks.length} clients wrote ${rows.length} transactions in sets that overlap: one order explains all of it: ${order?.join(' ')}.`,
  )
}

/** The control totals know each record once, with the amount of whoever won. */
async function judgeTotal({ hold }: Setting, ask: Ask, rows: Rows): Promise<void> {
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
  hold(isRight, `the control totals are not ${rows.length} records of ${units} cents: ${is}`)
  const listed = await ask('GET', 'transactions?per_page=1')
  const { total } = listed.body.meta
  hold(total === rows.length, `the list says that it has ${total} records, not ${rows.length}`)
}
