import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { expectBody, type RequestSender, until } from '../chaos/ask.ts'
import { AFFILIATE, asAffiliate, asFirm, newFirm, newToken } from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, runCron, type Service, serve } from '../chaos/service.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// Postbacks of the Worker with its database and queue, against a tracker on loopback.

const FIRM = 'tracked-firm'

let service: Service
let receiver: Receiver
let firm: RequestSender
let affiliate: RequestSender
let end = () => {}

before(async () => {
  const { folder, script, end: remove } = await newHome()
  end = remove
  receiver = await startReceiver()
  service = await serve({ script, state: join(folder, 'tracked'), secrets: await newSecrets() })
  await migrate(service)
  const party = await newFirm(service, FIRM, 'forex', 'reject')
  firm = asFirm(service, party, await newToken(service, party))
  affiliate = await asAffiliate(service, FIRM, AFFILIATE)
})
after(async () => {
  await service?.end()
  await receiver?.stop()
  end()
})

const attemptsOf = async (id: string) =>
  (await expectBody(200, affiliate('GET', `postbacks/${id}/attempts`))).data

/** Creates a postback at a path of the receiver. Returns its id. */
async function newPostback(path: string): Promise<string> {
  const query = '?ev={event}&tx={id}&amt={amount}&cur={currency}&c={customer}&p={period}'
  const body = { url: `${receiver.url}${path}${query}`, events: ['signup'] }
  return (await expectBody(201, affiliate('POST', 'postbacks', { body }))).id
}

/** Sends a customer who signs up now, and reads the causes. */
async function signUp(customer_id: string): Promise<void> {
  const signup_date = new Date().toISOString()
  const body = [{ customer_id, affiliate_id: AFFILIATE, tracking_data: 'click', signup_date }]
  await expectBody(200, firm('POST', 'customers', { body }))
  await runCron(service, 'propagate')
}

test('a tracker that fails, hangs, redirects or answers late holds up no other one', async () => {
  const names = ['fail', 'redirect', 'hang', 'late']
  const ids: string[] = []
  for (const name of names) {
    ids.push(await newPostback(`/${name}/own`))
  }
  await newPostback('/ok/own')
  await signUp('c-1')
  assert.ok(await until(() => receiver.at('/ok/own').length === 1, 8))
  const [arrived] = receiver.at('/ok/own')
  assert.equal(arrived?.values.ev, 'signup')
  assert.match(arrived?.values.c ?? '', /^c_[\da-f]{24}$/)
  assert.deepEqual([arrived?.body, arrived?.headers['webhook-signature']], ['', undefined])
  const errors = async () =>
    (await Promise.all(ids.map(attemptsOf))).map((log) => [log[0]?.error, log[0]?.response_status])
  await until(async () => (await errors()).every(([error]) => error !== null), 40)
  assert.deepEqual(await errors(), [
    ['http_status', 500],
    ['redirect', 302],
    ['timeout', null],
    ['timeout', null],
  ])
  assert.deepEqual(receiver.at('/ok/redirected'), [])
  // The event has one id at all trackers, at each attempt.
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1)
  const { data } = await expectBody(200, affiliate('GET', 'postbacks'))
  for (const { id } of data) await affiliate('DELETE', `postbacks/${id}`)
})

test('a POST is JSON with a right signature; 410 is that of webhooks', async () => {
  const add = async (path: string) => {
    const body = { url: `${receiver.url}${path}?cid={sub1}`, method: 'POST', events: ['signup'] }
    const made = await expectBody(201, affiliate('POST', 'postbacks', { body }))
    receiver.secrets.set(path, made.secret)
    return made.id as string
  }
  await add('/ok/signed')
  const gone = await add('/gone/signed')
  await signUp('c-2')
  assert.ok(await until(() => receiver.at('/ok/signed').length === 1))
  const [{ isSigned, event, id } = assert.fail()] = receiver.at('/ok/signed')
  assert.equal(isSigned, true)
  assert.deepEqual([event.type, event.data.id, event.data.event], ['signup', id, 'signup'])
  const reasonOf = async () => {
    const { data } = await expectBody(200, affiliate('GET', 'postbacks'))
    return data.find((one: { id: string }) => one.id === gone)?.disabled_reason
  }
  assert.ok(await until(async () => (await reasonOf()) === 'gone'))
})
