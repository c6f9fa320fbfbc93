// The first delivery: sends customers and transactions, then compares the totals with what was sent.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

interface Answer {
  access_token: string
  errors: Record<string, string>[]
  results: { key: object; outcome: string; warnings?: object[] }[]
  data: { resource: string; currency: string; count: number; sums: Record<string, string> }[]
}

const { TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_ID, TRIBUTARY_CLIENT_SECRET } = process.env
const { EXAMPLE_INPUT = `${import.meta.dirname}/../first-delivery.json` } = process.env
const api: Record<string, string> = { 'Content-Type': 'application/json' }

/** Sends a request, at most 5 times. Repeating a request is safe. */
async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const method = init.body ? 'POST' : 'GET'
  for (let left = 4; ; left--) {
    // A redirect would send the token elsewhere and turn a POST into a GET.
    const request = { method, headers: api, redirect: 'error', ...init } as const
    const response = await fetch(TRIBUTARY_BASE_URL + path, request)
    if (response.ok) return response.json() as Promise<Answer>
    if (left > 0 && [429, 503].includes(response.status)) {
      await sleep(1000 * Number(response.headers.get('Retry-After') ?? 1))
    } else if (left > 0 && response.status === 401 && !init.headers) {
      await signIn() // The token has expired or was revoked.
    } else if (response.status === 422) {
      for (const e of ((await response.json()) as Answer).errors)
        console.error(`record ${e.index} ${e.pointer} ${e.code}: ${e.message} ${e.hint ?? ''}`)
      process.exit(1)
    } else throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
}

async function signIn() {
  const client = btoa(`${TRIBUTARY_CLIENT_ID}:${TRIBUTARY_CLIENT_SECRET}`)
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  const answer = await call('/oauth/token', { headers: { Authorization: `Basic ${client}` }, body })
  api.Authorization = `Bearer ${answer.access_token}`
}

await signIn()
const data = JSON.parse(readFileSync(EXAMPLE_INPUT, 'utf8'))
const [sent, counted] = [new Map<string, number>(), new Map<string, number>()]
const add = (to: typeof sent, name: string, n: number) => to.set(name, (to.get(name) ?? 0) + n)
// 0.1 + 0.2 is not 0.3, so sums are whole cents. A single amount is sent as it was read.
const cents = (amount: number | string = 0) => Math.round(Number(amount) * 100)
for (const resource of ['customers', 'transactions']) {
  const answer = await call(`/api/v1/forex/${resource}`, { body: JSON.stringify(data[resource]) })
  for (const { key, outcome, warnings = [] } of answer.results)
    console.log(resource, ...Object.values(key), outcome, ...warnings)
  add(sent, resource, data[resource].length)
}
for (const one of data.transactions) add(sent, `${one.currency} cents`, cents(one.amount_currency))
for (const t of (await call(`/api/v1/forex/totals?from=${data.from}&to=${data.to}`)).data) {
  add(counted, t.resource, t.count)
  add(counted, `${t.currency} cents`, cents(t.sums.amount_currency))
}
for (const [name, n] of sent) console.log(`${name}: sent ${n}, counted ${counted.get(name)}`)
if ([...sent].some(([name, n]) => counted.get(name) !== n)) throw new Error('not reconciled')
console.log('reconciled')
