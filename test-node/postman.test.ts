import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { createCommissions } from '../scripts/dev/commissions/create.ts'
import { adminCalls } from '../scripts/dev/demo-accounts.ts'
import { LANGUAGES } from '../scripts/docs/site/reference/languages.ts'
import { endpointsOf, PAGES } from '../scripts/docs/site/reference/pages.ts'
import { requestOf } from '../scripts/docs/site/reference/sample.ts'
import type { Spec } from '../scripts/docs/site/spec.ts'
import { ORIGIN } from '../src/docs/origin.ts'
import { has } from './service.ts'
import { type Shared, shareService } from './shared-service.ts'

// Runs the Postman collection request by request, and the code samples of the reference.

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

let service: Shared
before(async () => {
  service = await shareService('postman')
  const { base_url, admin_key, accounts } = service.demo
  // Some requests of the collection read statements.
  const call = adminCalls(base_url, admin_key)
  await createCommissions(base_url, call, accounts, Promise.resolve())
})
after(() => service?.stop())

/** Sends a request like Postman, and runs the script that stores variables. */
async function send({ event = [], request }: Item, variables: Map<string, string>) {
  const { method, auth, header, url, body } = request!
  const filled = (template: string) =>
    template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? '')
  const address = (url.variable ?? []).reduce(
    (text, { key, value }) => text.replace(`:${key}`, encodeURIComponent(filled(value))),
    url.raw,
  )
  const headers = new Headers(
    header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, filled(value)]),
  )
  const pairValue = (pairs: Pair[] = [], name: string) =>
    filled(pairs.find(({ key }) => key === name)?.value ?? '')
  if (auth.type === 'bearer')
    headers.set('Authorization', `Bearer ${pairValue(auth.bearer, 'token')}`)
  if (auth.type === 'apikey')
    headers.set(pairValue(auth.apikey, 'key'), pairValue(auth.apikey, 'value'))
  const form = body?.urlencoded?.map(({ key, value }) => [key, filled(value)] as [string, string])
  const response = await fetch(filled(address), {
    method,
    headers,
    redirect: 'manual',
    ...(body && { body: form ? new URLSearchParams(form) : filled(body.raw!) }),
  })
  const text = await response.text()
  const pm = {
    response: { json: () => JSON.parse(text) },
    collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
  }
  for (const { script } of event) new Function('pm', script.exec.join('\n'))(pm)
  return { status: response.status, text }
}

for (const vertical of ['prop-trading', 'forex', 'igaming']) {
  test(`${vertical}: every request of the collection succeeds in order`, async () => {
    const account = service.demo.accounts.find((one) => one.vertical === vertical)!
    const variables = new Map(collection.variable.map(({ key, value }) => [key, value]))
    variables.set('baseUrl', service.demo.base_url)
    variables.set('clientId', account.client_id ?? '')
    variables.set('clientSecret', account.client_secret ?? '')
    variables.set('brandToken', account.brand_token ?? '')
    const token = folder('tokens').filter(({ name }) => name === 'Get an access token')
    for (const item of [...(vertical === 'igaming' ? [] : token), ...folder(vertical)]) {
      const { status, text } = await send(item, variables)
      assert.ok(status < 300, `${item.name}: ${status} ${text}`)
    }
  })
}

test('the collection has every operation once and no undefined variable', () => {
  const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const count = Object.values<object>(document.paths).flatMap((path) => Object.keys(path)).length
  assert.equal(collection.item.flatMap(({ item }) => item!).length, count)
  const known = new Set(collection.variable.map(({ key }) => key))
  for (const [, name] of JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}/g)) {
    assert.ok(known.has(name!), name)
  }
})

const spec: Spec = JSON.parse(readFileSync('openapi.json', 'utf8'))

/** The commands that run a sample from their standard input. */
const RUNNERS: Record<string, string[]> = {
  bash: ['bash'],
  typescript: [process.execPath, '--input-type=module-typescript', '-'],
  python: ['python3', '-'],
  php: ['php'],
}

/** Runs a program from its source. Returns its output, or its errors if it fails. */
function run(command: string[], source: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { env: { ...process.env, ...env } })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  child.stdin.end(source)
  return new Promise((done) => child.on('close', () => done(output)))
}

/** Operations that cover a form, a JSON body and a query, with a text of the successful response. */
const SAMPLES: Record<string, RegExp> = {
  getToken: /access_token/,
  sendForexCustomers: /delivery_id/,
  getForexTotals: /"?'?data/,
  changeAccount: /takes_effect/,
  listAccounts: /postman-forex/,
}

for (const { name, title, write } of LANGUAGES) {
  const command = RUNNERS[name] ?? []
  const skip = command[0]?.startsWith('/') || has(command[0] ?? '') ? false : `no ${command[0]}`

  test(`the ${title} samples of the reference run as they are shown`, { skip }, async () => {
    const forex = service.demo.accounts.find(({ vertical }) => vertical === 'forex')
    assert.ok(forex)
    const { client_id, client_secret } = forex
    const token = await fetch(`${service.demo.base_url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
    })
    const { access_token } = (await token.json()) as { access_token: string }
    const env = {
      TOKEN: access_token,
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
      ADMIN_KEY: service.demo.admin_key,
    }
    const endpoints = PAGES.flatMap((page) => endpointsOf(page, spec))
    for (const [id, expected] of Object.entries(SAMPLES)) {
      const endpoint = endpoints.find(({ operation }) => operation.operationId === id)
      assert.ok(endpoint, id)
      const request = requestOf(endpoint, spec)
      const url = request.url.replace(ORIGIN, service.demo.base_url)
      const sample = write({ ...request, url: url.replace('demo-forex', forex.account) })
      const source = name === 'php' ? `<?php ${sample}` : sample
      assert.match(await run(command, source, env), expected, `${title}, ${id}`)
    }
  })
}
