import { type Ask, answered } from '../ask.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { Size } from './partner.ts'

const event = (twin: number, i: number) => ({
  eventname: 'Bet',
  customerid: 'P-1',
  createtime: '2026-10-02 10:00',
  Value: i + 0.25,
  twin,
})

/** Creates a brand and one of its customers. */
async function newBrandAsk(service: Service): Promise<Ask> {
  const ask = asBrand(service, await newBrand(service, 'twins'))
  await answered(200, ask('POST', 'customers', { body: [{ customerId: 'P-1' }] }))
  return ask
}

/** Sends many requests with one Idempotency-Key at once, first equal and then different ones. */
export async function twins(setting: Setting, service: Service, { clients, keys }: Size) {
  const { check, say } = setting
  const ask = await newBrandAsk(service)
  const send = (key: string, twinOf: (i: number) => number) =>
    Promise.all(
      Array.from({ length: clients }, (_, twin) => {
        const body = Array.from({ length: keys }, (_, i) => event(twinOf(twin), i))
        return ask('POST', 'activities', { body, headers: { 'Idempotency-Key': key } })
      }),
    )
  const countOutcome = (answers: Awaited<ReturnType<typeof send>>, outcome: string) =>
    answers.filter(({ status, body }) => status === 200 && body.summary[outcome] === keys).length

  const alike = await send('alike', () => 0)
  const [created, unchanged] = [countOutcome(alike, 'created'), countOutcome(alike, 'unchanged')]
  check(created === 1, `of ${clients} twins ${created} were answered that they created the events`)
  check(unchanged === clients - 1, `${unchanged} twins were answered unchanged, not ${clients - 1}`)
  await checkStored(setting, service, 'alike', keys)

  const unlike = await send('unlike', (twin) => twin)
  const made = countOutcome(unlike, 'created')
  const refused = unlike.filter(
    ({ status, body }) => status === 422 && body.code === 'idempotency_key_reused',
  ).length
  check(made === 1, `of ${clients} unlike twins ${made} were answered that they created the events`)
  check(refused === clients - 1, `${refused} unlike twins were refused, not ${clients - 1}`)
  await checkStored(setting, service, 'unlike', keys)
  const { body } = await ask('GET', 'activities?per_page=1')
  check(body.meta.total === 2 * keys, `${body.meta.total} events are listed, not ${2 * keys}`)
  say(
    `${clients} twins of one Idempotency-Key at once: ${created} created, ${unchanged} unchanged; of ${clients} that brought other records under one key ${made} created, ${refused} refused; ${body.meta.total} events in all.`,
  )
}

async function checkStored({ check }: Setting, { database }: Service, key: string, keys: number) {
  const found = await database
    .prepare(
      `select count(*) as n, count(distinct delivery) as deliveries,
         count(distinct details) as twins, max(revision) as revision
       from events where id glob ?`,
    )
    .bind(`k ${key} *`)
    .first<{ n: number; deliveries: number; twins: number; revision: number }>()
  const is = JSON.stringify(found)
  const { n, deliveries, twins, revision } = found!
  const isRight = n === keys && deliveries === 1 && twins === 1 && revision === 1
  check(isRight, `under ${key} not one set of ${keys} events is stored, once: ${is}`)
}
