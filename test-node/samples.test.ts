import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { endpointsOf, PAGES } from '../scripts/docs/site/reference/pages.ts'
import { samplesOf } from '../scripts/docs/site/reference/sample.ts'
import type { Spec } from '../scripts/docs/site/spec.ts'
import { ORIGIN } from '../src/platform/documents/origin.ts'
import { has } from './service.ts'
import { type Shared, shareService } from './shared-service.ts'

// Runs the code samples of the reference.

let service: Shared
before(async () => {
  service = await shareService('samples')
})
after(() => service?.stop())

const spec: Spec = JSON.parse(readFileSync('openapi.json', 'utf8'))

const NODE = [process.execPath, '--no-warnings', '--input-type=module-typescript', '-']

/** Runs a sample from its source. Returns its output, or its errors if it fails. */
function run([command = '', ...args]: string[], source: string, env: NodeJS.ProcessEnv) {
  const child = spawn(command, args, { env: { ...process.env, ...env } })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  child.stdin.end(source)
  return new Promise<string>((done) => child.on('close', () => done(output)))
}

/** Operations that cover a form, a JSON body and a query, with a text of the successful response. */
const SAMPLES: Record<string, RegExp> = {
  getToken: /access_token/,
  sendForexCustomers: /delivery_id/,
  getForexTotals: /"?'?data/,
  changeAccount: /takes_effect/,
  listAccounts: /samples-forex/,
}

const skip = has('curl') && has('bash') ? false : 'curl or bash is not installed'

test('the samples of the reference run as they are shown', { skip }, async () => {
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
    const [shell, typescript] = samplesOf(endpoint, spec).map(({ code }) =>
      code.replace(ORIGIN, service.demo.base_url).replace('demo-forex', forex.account),
    )
    assert.match(await run(['bash'], shell!, env), expected, id)
    assert.match(await run(NODE, typescript!, env), expected, id)
  }
})
