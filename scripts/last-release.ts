import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { WORKER_OPTIONS } from './bundle.ts'
import { parseCommand } from './command-line.ts'

parseCommand(
  'npm run last-release',
  `Keeps what the present version has in common with the next one: its Durable Objects as a script, and the calls,
messages and parameters that its Worker sends, in test/last-release. Run it when you release a version: the tests of
the next one run against these files.`,
)

/** The crons, which an object runs in development only: with them the whole Worker would be kept. */
const WITHOUT_CRONS = 'export const ALL_CRONS = []; export const runCron = async () => {}'

const { outputFiles } = await build({
  ...WORKER_OPTIONS,
  entryPoints: ['test/last-release/source.ts'],
  plugins: [
    {
      name: 'without crons',
      setup: ({ onLoad }) =>
        onLoad({ filter: /\/run-cron\.ts$/ }, () => ({ contents: WITHOUT_CRONS })),
    },
  ],
})
writeFileSync('test/last-release/objects.js', outputFiles[0]!.text)

// The other tests of the file read what this one writes.
const recording = ['-t', 'the present Worker calls every method']
const vitest = ['run', '--mode', 'release', 'test/last-release.test.ts', ...recording]
const { status } = spawnSync('node_modules/.bin/vitest', vitest, { stdio: 'inherit' })
process.exitCode = status ?? 1
