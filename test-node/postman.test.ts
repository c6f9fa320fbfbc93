import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startService } from './service.ts'

// The collection of Postman, request by request, as its runner sends them.

interface Item {
  name: string
  item?: Item[]
  event?: { script: { exec: string[] } }[]
  request?: {
    method: string
    auth: { type: string; bearer?: Pair[]; apikey?: Pair[] }
    header: Pair[]
    url: { raw: string; variable?: Pair[] }
    body?: { raw?: string; urlencoded?: Pair[] }
  }
}
interface Pair {
  key: string
  value: string
  disabled?: boolean
}

const collection: { item: Item[]; variable: Pair[] } = JSON.parse(
  readFileSync('examples/tributary.postman_collection.json', 'utf8'),
)
const folder = (name: string) => collection.item.find((one) => one.name === name)!.item!

let service: Awaited<ReturnType<typeof startService>>
before(async () => {
  service = await startService()
})
after(() => service.stop())

/** Sends one request as Postman would, and keeps what its script keeps. */
async function send({ event = [], request }: Item, variables: Map<string, string>) {
  const { method, auth, header, url, body } = request!
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? '')
  const address = (url.variable ?? []).reduce(
    (text, { key, value }) => text.replace(`:${key}`, encodeURIComponent(filled(value))),
    url.raw,
  )
  const headers = new Headers(
    header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, filled(value)]),
  )
  const of = (pairs: Pair[] = [], name: string) =>
    filled(pairs.find(({ key }) => key === name)!.value)
  if (auth.type === 'bearer') headers.set('Authorization', `Bearer ${of(auth.bearer, 'token')}`)
  if (auth.type === 'apikey') headers.set(of(auth.apikey, 'key'), of(auth.apikey, 'value'))
  const form = body?.urlencoded?.map(({ key, value }) => [key, filled(value)] as [string, string])
  const response = await fetch(filled(address), {
    method,
    headers,
    redirect: 'manual',
    ...(body && { body: form ? new URLSearchParams(form) : filled(body.raw!) }),
  })
  const said = await response.text()
  const pm = {
    response: { json: () => JSON.parse(said) },
    collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
  }
  for (const { script } of event) new Function('pm', script.exec.join('\n'))(pm)
  return { status: response.status, said }
}

for (const vertical of ['prop-trading', 'forex', 'igaming']) {
  test(`${vertical}: each request is answered, from the first to the last`, async () => {
    const account = service.demo.accounts.find((one) => one.vertical === vertical)!
    const variables = new Map(collection.variable.map(({ key, value }) => [key, value]))
    variables.set('baseUrl', service.demo.base_url)
    variables.set('clientId', account.client_id ?? '')
    variables.set('clientSecret', account.client_secret ?? '')
    variables.set('brandToken', account.brand_token ?? '')
    const token = folder('tokens').filter(({ name }) => name === 'Get an access token')
    for (const item of [...(vertical === 'igaming' ? [] : token), ...folder(vertical)]) {
      const { status, said } = await send(item, variables)
      assert.ok(status < 300, `${item.name}: ${status} ${said}`)
    }
  })
}

test('every operation is in it once, and no variable is unknown', () => {
  const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const count = Object.values<object>(document.paths).flatMap((path) => Object.keys(path)).length
  assert.equal(collection.item.flatMap(({ item }) => item!).length, count)
  const known = new Set(collection.variable.map(({ key }) => key))
  for (const [, name] of JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}/g)) {
    assert.ok(known.has(name!), name)
  }
})
