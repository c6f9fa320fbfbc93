import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { type Demo, startService } from './service.ts'

// A client whose types are made of openapi.json by somebody else's generator, over real HTTP.

type Account = Demo['accounts'][number]

const FOLDER = 'examples/client'

let service: Awaited<ReturnType<typeof startService>>
before(async () => {
  service = await startService()
})
after(() => service.stop())

const run = (...args: string[]) =>
  execFileSync(args[0]!, args.slice(1), { cwd: FOLDER, encoding: 'utf8', env: environment() })

function environment() {
  const [firm, brand] = ['forex', 'igaming'].map(
    (name) => service.demo.accounts.find(({ vertical }) => vertical === name)!,
  ) as [Account, Account]
  return {
    ...process.env,
    TRIBUTARY_BASE_URL: service.demo.base_url,
    TRIBUTARY_CLIENT_ID: firm.client_id,
    TRIBUTARY_CLIENT_SECRET: firm.client_secret,
    TRIBUTARY_BRAND_TOKEN: brand.brand_token,
  }
}

test('a generated client compiles, and goes from a token over a bulk to a list', () => {
  run('node_modules/.bin/openapi-typescript', '../../openapi.json', '-o', 'tributary.d.ts')
  run('node_modules/.bin/tsc')
  const said = run(process.execPath, 'first-delivery.ts')
  assert.match(said, /^C-3001 created\nC-3002 created\n/)
  assert.match(said, /listed C-3001\nlisted C-3002\n/)
  assert.match(run(process.execPath, 'first-delivery.ts'), /^C-3001 unchanged\nC-3002 unchanged\n/)
  const lines = ['{"customerId":"P-3001"} created', '{"eventid":"dep-3001"} created']
  assert.equal(
    run(process.execPath, 'first-activity.ts'),
    `${lines.join('\n')}\nlisted Deposit dep-3001\n`,
  )
})
