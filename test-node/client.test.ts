import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { startService } from './service.ts'

// A client whose types are made of openapi.json by somebody else's generator, over real HTTP.

const FOLDER = 'examples/client'

let service: Awaited<ReturnType<typeof startService>>
before(async () => {
  service = await startService()
})
after(() => service.stop())

const run = (...args: string[]) =>
  execFileSync(args[0]!, args.slice(1), { cwd: FOLDER, encoding: 'utf8', env: environment() })

function environment() {
  const firm = service.demo.accounts.find(({ vertical }) => vertical === 'forex')!
  return {
    ...process.env,
    TRIBUTARY_BASE_URL: service.demo.base_url,
    TRIBUTARY_CLIENT_ID: firm.client_id,
    TRIBUTARY_CLIENT_SECRET: firm.client_secret,
  }
}

test('a generated client compiles, and goes from a token over a bulk to a list', () => {
  run('node_modules/.bin/openapi-typescript', '../../openapi.json', '-o', 'tributary.d.ts')
  run('node_modules/.bin/tsc')
  const said = run(process.execPath, 'first-delivery.ts')
  assert.match(said, /^C-2001 created\nC-2002 created\n/)
  assert.match(said, /listed C-2001\nlisted C-2002\n/)
  assert.match(run(process.execPath, 'first-delivery.ts'), /^C-2001 unchanged\nC-2002 unchanged\n/)
})
