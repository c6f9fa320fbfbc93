import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

// Every program of package.json explains its options, and does nothing else when asked to.

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}

/** The programs of the scripts, each with the npm script that starts it. */
const programs = new Map(
  Object.entries(scripts).flatMap(([name, line]) => {
    const [, path] = /^node (?:--\S+ )*(\S+\.ts)$/.exec(line) ?? []
    return path === undefined ? [] : [[path, name] as const]
  }),
)

/** Programs that `npm run generate` and `npm run check` start. */
const STEPS = ['currencies', 'tables', 'sql', 'generate', 'check-config', 'check-bundle']

const run = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((done) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

describe('--help', { concurrency: 2 }, () => {
  for (const [path, name] of programs) {
    test(`${path} --help prints the usage of npm run ${name}`, async () => {
      const { code, stdout, stderr } = await run([path, '--help'])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      assert.match(stdout, new RegExp(`npm (run )?(-s )?${name}\\b`))
    })
  }
  for (const step of STEPS) {
    test(`scripts/${step}.ts --help prints its usage`, async () => {
      const { code, stdout, stderr } = await run([`scripts/${step}.ts`, '--help'])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      assert.match(stdout, /^Usage: /)
    })
  }
})

test('every script is a program that explains itself', () => {
  const others = Object.keys(scripts).filter((name) => ![...programs.values()].includes(name))
  assert.deepEqual(others, [])
})

describe('npm run check', () => {
  test('--help lists every step and runs none', async () => {
    const { stdout } = await run(['scripts/steps/check.ts', '--help'])
    for (const step of ['biome ci .', 'node scripts/generate.ts --check', 'tsc']) {
      assert.ok(stdout.includes(`\n  ${step}\n`), step)
    }
  })

  const steps = (...commands: string[]) => [
    '--input-type=module',
    '-e',
    `import { runSteps } from './scripts/steps/run-steps.ts'
     runSteps('npm run x', 'X.', ${JSON.stringify(commands)})`,
  ]

  test('runs its steps in order', async () => {
    assert.deepEqual(await run(steps('echo one', 'echo two')), {
      code: 0,
      stdout: 'one\ntwo\n',
      stderr: '',
    })
  })

  test('stops at the first step that fails, with its exit code', async () => {
    assert.deepEqual(await run(steps('echo one', 'exit 3', 'echo two')), {
      code: 3,
      stdout: 'one\n',
      stderr: 'npm run x stopped at: exit 3\n',
    })
  })
})

test('npm test and npm run keys, check, fix, lint-openapi and generate report options that npm consumed', () => {
  for (const line of ['keys --tracking', 'check --foo', 'fix --foo', 'lint-openapi --foo']) {
    const [name, option] = line.split(' ')
    const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', ...line.split(' ')], {
      encoding: 'utf8',
    })
    assert.deepEqual(
      { status, stdout, stderr },
      {
        status: 2,
        stdout: '',
        stderr: `npm consumed ${option}, which npm run ${name} does not have. npm run ${name} -- --help shows how to call it.\n`,
      },
    )
  }
  const test = spawnSync('npm', ['test', '-s', '--seed'], { encoding: 'utf8' })
  assert.equal(test.status, 2)
  assert.match(test.stderr, /npm consumed --seed, which npm run test does not have/)
  const { status } = spawnSync('npm', ['run', '-s', 'generate', '--check'])
  assert.equal(status, 2)
})

test('an option that npm consumed is answered with the command line that passes it on', async () => {
  const env = { npm_lifecycle_event: 'fuzz', npm_config_runs: 'true' }
  assert.deepEqual(await run(['scripts/fuzz.ts', '50'], env), {
    code: 2,
    stdout: '',
    stderr:
      'npm consumed --runs. Put -- before the arguments of the script: npm run fuzz -- --runs 50\n',
  })
})
