import { spawnSync } from 'node:child_process'
import { parseCommand } from './command-line.ts'

// Checks every page whole in a browser. `npm test` checks each kind of element once.

parseCommand(
  'npm run accessibility',
  'Checks every page with axe, in light and dark, on a desktop and on a phone. Needs Chromium.',
)
const args = ['--test', '--test-global-setup=test-node/setup.ts', '--test-name-pattern=axe']
const { status } = spawnSync(process.execPath, [...args, 'test-node/browser.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, ACCESSIBILITY: 'whole' },
})
process.exitCode = status ?? 1
