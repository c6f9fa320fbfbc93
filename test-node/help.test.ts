import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

// Every program of package.json explains its options, and does nothing else when asked to.

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}

/** Programs started by `node`, alone or in a chain, each with the npm script that starts it alone. */
const programs = new Map(
  Object.entries(scripts).flatMap(([name, line]) =>
    [...line.matchAll(/node (\S+\.ts)/g)].map(
      ([, path = '']) => [path, line === `node ${path}` ? name : null] as const,
    ),
  ),
)

const run = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((done) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

describe('--help', { concurrency: 2 }, () => {
  for (const [path, name] of programs) {
    test(`${path} --help prints its usage`, async () => {
      const { code, stdout, stderr } = await run([path, '--help'])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      assert.match(stdout, name ? new RegExp(`npm (run )?(-s )?${name}\\b`) : /^Usage: /)
    })
  }
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
