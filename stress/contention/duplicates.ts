import { type Answer, expectBody, type RequestSender } from '../ask.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { ContentionSize } from './partner.ts'

/** Makes the event at index `i`. Events of different clients differ in `client`. */
const event = (client: number, i: number) => ({
  eventname: 'Bet',
  customerid: 'P-1',
  createtime: '2026-10-02 10:00',
  Value: i + 0.25,
  client,
})

/** Creates a brand and one of its customers. */
async function newBrandSender(service: Service): Promise<RequestSender> {
  const ask = asBrand(service, await newBrand(service, 'duplicates'))
  await expectBody(200, ask('POST', 'customers', { body: [{ customerId: 'P-1' }] }))
  return ask
}

/** Sends many requests with one Idempotency-Key at once, first equal and then different ones. */
export async function concurrentDuplicates(
  setting: Setting,
  service: Service,
  size: ContentionSize,
) {
  const { check, print } = setting
  const { clients, keys } = size
  const ask = await newBrandSender(service)
  const equal = await sendEqual(setting, service, ask, size)
  const different = await sendDifferent(setting, service, ask, size)
  const { total } = (await ask('GET', 'activities?per_page=1')).body.meta
  check(total === 2 * keys, `${total} events are listed, not ${2 * keys}`)
  print(
    `${clients} equal requests with one Idempotency-Key at once: ${equal.created} created the events, ${equal.unchanged} left them unchanged; ${clients} different requests with one key: ${different.created} created, ${different.refused} refused; ${total} events in all.`,
  )
}

/** Sends the same events from all clients. One creates them; the others get `unchanged`. */
async function sendEqual(
  setting: Setting,
  service: Service,
  ask: RequestSender,
  size: ContentionSize,
) {
  const { check } = setting
  const { clients, keys } = size
  const answers = await sendAtOnce(ask, 'equal', size, () => 0)
  const created = countOutcome(answers, 'created', keys)
  const unchanged = countOutcome(answers, 'unchanged', keys)
  check(created === 1, `${created} of ${clients} equal requests created the events, not 1`)
  check(
    unchanged === clients - 1,
    `${unchanged} equal requests were answered unchanged, not ${clients - 1}`,
  )
  await checkStored(setting, service, 'equal', keys)
  return { created, unchanged }
}

/** Sends other events from each client. One creates them; the others are refused. */
async function sendDifferent(
  setting: Setting,
  service: Service,
  ask: RequestSender,
  size: ContentionSize,
) {
  const { check } = setting
  const { clients, keys } = size
  const answers = await sendAtOnce(ask, 'different', size, (client) => client)
  const created = countOutcome(answers, 'created', keys)
  const refused = answers.filter(
    ({ status, body }) => status === 422 && body.code === 'idempotency_key_reused',
  ).length
  check(created === 1, `${created} of ${clients} different requests created the events, not 1`)
  check(refused === clients - 1, `${refused} different requests were refused, not ${clients - 1}`)
  await checkStored(setting, service, 'different', keys)
  return { created, refused }
}

const sendAtOnce = (
  ask: RequestSender,
  key: string,
  { clients, keys }: ContentionSize,
  variantOf: (client: number) => number,
) =>
  Promise.all(
    Array.from({ length: clients }, (_, client) => {
      const body = Array.from({ length: keys }, (_, i) => event(variantOf(client), i))
      return ask('POST', 'activities', { body, headers: { 'Idempotency-Key': key } })
    }),
  )

const countOutcome = (answers: readonly Answer[], outcome: string, keys: number) =>
  answers.filter(({ status, body }) => status === 200 && body.summary[outcome] === keys).length

async function checkStored({ check }: Setting, { database }: Service, key: string, keys: number) {
  const found = await database
    .prepare(
      `select count(*) as n, count(distinct delivery) as deliveries,
         count(distinct details) as variants, max(revision) as revision
       from events where id glob ?`,
    )
    .bind(`k ${key} *`)
    .first<{ n: number; deliveries: number; variants: number; revision: number }>()
  const is = JSON.stringify(found)
  const { n, deliveries, variants, revision } = found!
  const isRight = n === keys && deliveries === 1 && variants === 1 && revision === 1
  check(isRight, `under ${key} not one set of ${keys} events is stored, once: ${is}`)
}
