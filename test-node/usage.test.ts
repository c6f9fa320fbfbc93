import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'

// Whoever calls one of our programs wrongly is answered in one line, before anything is done.

const WRONG: Record<string, string[]> = {
  'proof/kill.ts': ['--times -1'],
  'proof/mutate.ts': ['--only nobody'],
  'proof/pairs.ts': ['--every 0', '--nonsense'],
  'bench/cost.ts': ['--records=1e3'],
  'scripts/capacity.ts': ['--no', '--local --persist-to nowhere', '--local --env production'],
  'scripts/currencies.ts': ['--chek'],
  'scripts/deploy.ts': ['--env nowhere'],
  'scripts/dev.ts': ['--reset=yes'],
  'scripts/fuzz.ts': ['--runs', '--runs -1', '--runs=', '--seed x', '--no', 'x'],
  'scripts/generate.ts': ['--chek'],
  'scripts/keys.ts': ['nothing', '--tracking'],
  'scripts/tables.ts': ['--chek'],
}

const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: unknown; said: string; printed: string }>((done) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    execFile(process.execPath, [program, ...args], options, (error, printed, said) =>
      done({ code: error?.code ?? 0, said, printed }),
    )
  })

for (const [program, lines] of Object.entries(WRONG)) {
  test(`${program} answers a wrong word in one line, with exit code 2`, async () => {
    for (const line of lines) {
      const { code, said, printed } = await run(program, line.split(' '))
      assert.equal(code, 2, `${line}: ${said}`)
      assert.match(said, /^[^\n]+\n$/, line)
      assert.equal(printed, '', line)
    }
  })
}

test('npm run dev says which ports there are', async () => {
  for (const PORT of ['x', '65536']) {
    const { code, said } = await run('scripts/dev.ts', [], { PORT })
    assert.deepEqual({ code, said }, { code: 2, said: 'PORT is a whole number from 1 to 65535.\n' })
  }
})
