import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Answer } from '../chaos/ask.ts'
import { sendSlowly } from '../chaos/faults.ts'
import { asBrand, newBrand } from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, type Service, serve } from '../chaos/service.ts'

// A service whose isolate has as little memory as the real one: it ends where it takes more.

let service: Service
let end: () => void

before(async () => {
  const home = await newHome()
  const { folder, script } = home
  end = home.end
  const secrets = await newSecrets()
  service = await serve({ script, state: join(folder, 's'), secrets, isLimited: true })
  await migrate(service)
})

after(async () => {
  await service.end()
  end()
})

/** Creates a brand with a customer. */
async function newSender(account: string) {
  const token = await newBrand(service, account)
  const ask = asBrand(service, token)
  await ask('POST', 'customers', { body: { customerId: 'c' } })
  return { token, ask }
}

type Sender = Awaited<ReturnType<typeof newSender>>

/** A bulk of almost 8 MiB: 1000 events. Made once, as it takes the client as long as the service. */
const MAXIMAL = new TextEncoder().encode(
  JSON.stringify(
    Array.from({ length: 1000 }, (_, i) => ({
      ...{ eventname: 'Bet', customerid: 'c', Value: 1, Currency: 'EUR', eventid: `${i}` },
      ...{ createtime: '2026-10-09 11:00', story: 'lorem ipsum '.repeat(680) },
    })),
  ),
)

/** Sends the bulk, and returns the answer. */
const sendMaximal = ({ ask }: Sender): Promise<Answer> =>
  ask('POST', 'activities', { body: MAXIMAL, headers: { 'Content-Type': 'application/json' } })

test('9 bulks of 8 MiB at once wait for each other: 4 or more are stored, others refused with Retry-After, and the isolate lives', async () => {
  const senders = await Promise.all(['honest', 'hostile', 'slow'].map(newSender))
  const [honest, hostile, slow] = senders as [Sender, Sender, Sender]
  const slowly = sendSlowly(service, slow.token)
  const isStored = ({ status }: Answer) => status === 200
  let stored = 0
  const bulks = Array.from({ length: 8 }, async () => {
    const answer = await sendMaximal(hostile)
    stored += Number(isStored(answer))
    return answer
  })
  const answer = await sendMaximal(honest)
  const ahead = stored
  assert.ok(isStored(answer))
  const answers = [answer, ...(await Promise.all(bulks))]
  for (const one of answers)
    assert.ok(isStored(one) || (one.status === 503 && Number(one.headers.get('Retry-After')) > 0))
  assert.ok(stored >= 3, `${stored} bulks of the hostile account were stored`)
  // The honest account takes its turn between them, beside a slow one.
  assert.ok(ahead < stored, `it was answered after ${ahead} bulks of the hostile account`)
  await slowly
  assert.ok(service.pids.every((pid) => existsSync(`/proc/${pid}`)))
})
