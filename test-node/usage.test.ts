import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import {
  findSwallowedOptions,
  findUnknownOptions,
  type KnownOptions,
} from '../scripts/npm-flags.ts'

// Every program reports wrong arguments in one line on stderr, before it does anything.

const WRONG: Record<string, string[]> = {
  'chaos/chaos.ts': ['--seconds -1', 'nonsense', '--seed x'],
  'bench/cost.ts': ['--records=1e3'],
  'scripts/admin.ts': ['', 'accounts', 'accounts lst', 'accounts list --limit 0'],
  'scripts/capacity.ts': ['--no', '--local --persist-to nowhere', '--local --env production'],
  'scripts/currencies.ts': ['--chek'],
  'scripts/deploy.ts': ['--env nowhere'],
  'scripts/dev.ts': ['--reset=yes', '--port x', '--port 65536'],
  'scripts/fuzz.ts': ['--runs', '--runs -1', '--runs=', '--seed x', '--no', 'x'],
  'scripts/generate.ts': ['--chek'],
  'scripts/keys.ts': ['nothing', '--tracking'],
  'scripts/model.ts': ['--runs -1', '--seed x', '--model'],
  // push.test.ts has the other wrong arguments: each start takes a second.
  'scripts/push.ts': ['--lenint'],
  'scripts/tables.ts': ['--chek'],
}

const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: unknown; stderr: string; stdout: string }>((done) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stderr, stdout }),
    )
  })

for (const [program, lines] of Object.entries(WRONG)) {
  test(`${program} reports wrong arguments in one line, with exit code 2`, async () => {
    for (const line of lines) {
      const args = line === '' ? [] : line.split(' ')
      const { code, stderr, stdout } = await run(program, args)
      assert.equal(code, 2, `${line}: ${stderr}`)
      assert.match(stderr, /^[^\n]+\n$/, line)
      assert.equal(stdout, '', line)
    }
  })
}

test('npm run dev refuses an invalid port', async () => {
  for (const PORT of ['x', '65536']) {
    const { code, stderr } = await run('scripts/dev.ts', [], { PORT })
    assert.equal(code, 2)
    assert.match(stderr, /^PORT [^\n]+ from 1 to 65535\.\n$/)
  }
})

const KNOWN: KnownOptions = {
  vertical: /^(forex|igaming)$/,
  'in-flight': /^\d+$/,
  from: /^\d{4}-/,
  to: /^\d{4}-/,
  name: /./,
  map: /=/,
  verbose: null,
  'no-docs': null,
}

/** The typed line, the variables that npm sets, the words that it passes on, the right line. */
const SWALLOWED: [string, Record<string, string>, string[], string][] = [
  ['--vertical forex', { vertical: 'true' }, ['forex'], '--vertical forex'],
  ['--vertical=forex', { vertical: 'forex' }, [], '--vertical forex'],
  ['--in-flight', { in_flight: 'true' }, [], '--in-flight VALUE'],
  [
    '--in-flight 8 --vertical forex a.csv',
    { in_flight: 'true', vertical: 'true' },
    ['8', 'forex', 'a.csv'],
    'a.csv --vertical forex --in-flight 8',
  ],
  [
    'totals a --from 2026-01-01 --to 2026-01-31',
    { from: 'true', token_description: '2026-01-31' },
    ['totals', 'a', '2026-01-01'],
    'totals a --from 2026-01-01 --to 2026-01-31',
  ],
  ["b --name 'A B'", { name: 'A B' }, ['b'], "b --name 'A B'"],
  ['a.csv --map a=b', { parseable: 'true' }, ['a.csv', 'a=b'], 'a.csv --map a=b'],
  ['--verbose', { loglevel: 'verbose' }, [], '--verbose'],
  ['--no-docs', { docs: '' }, [], '--no-docs'],
]

const npmEnv = (variables: Record<string, string>) => ({
  npm_lifecycle_event: 'x',
  ...Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [`npm_config_${name}`, value]),
  ),
})

for (const [typed, variables, words, correct] of SWALLOWED) {
  test(`npm run x ${typed}: prints the command line with --`, () => {
    const message = findSwallowedOptions('x', KNOWN, words, npmEnv(variables))
    assert.ok(message?.endsWith(`: npm run x -- ${correct}`), String(message))
  })
}

const PASSED: Record<string, [Record<string, string>, string[]]> = {
  'options behind --': [{}, ['--vertical', 'forex']],
  'an option that npm knows and passes on as well': [{ name: 'A' }, ['--name=A']],
  'an unknown variable of npm': [{ user_agent: 'npm', loglevel: 'silent' }, ['a.csv']],
  'a variable that is empty': [{ name: '' }, []],
}

for (const [title, [variables, words]] of Object.entries(PASSED)) {
  test(`${title}: is not reported`, () => {
    assert.equal(findSwallowedOptions('x', KNOWN, words, npmEnv(variables)), null)
  })
}

test('options of npm, of its configuration files and with a value are not reported as unknown', () => {
  const env = npmEnv({ yes: 'true', cache: '/tmp', foo_bar: 'true' })
  const isOfNpm = (name: string) => name === 'yes'
  assert.match(String(findUnknownOptions('x', env, isOfNpm)), /^npm consumed --foo-bar, which /)
  assert.equal(findUnknownOptions('x', npmEnv({ yes: 'true', cache: '/tmp' }), isOfNpm), null)
})

test('variables of npm are ignored in a process that another script started', () => {
  const env = npmEnv({ vertical: 'true' })
  assert.equal(findSwallowedOptions('y', KNOWN, ['forex'], env), null)
})
