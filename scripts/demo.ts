import { readOptions, wholeNumber } from './command-line.ts'
import { banner } from './dev/banner.ts'
import { writeDemo } from './dev/demo-accounts.ts'
import { readSecrets } from './dev/local.ts'

const { port } = readOptions<{ port: number }>(
  'npm run demo',
  'Creates the demo accounts in a service that `npx wrangler dev` runs; writes .demo.json.',
  (command) =>
    command.option('--port <port>', 'the port of the service', wholeNumber(1, 65_535), 8787),
)
const base = `http://127.0.0.1:${port}`
try {
  console.log(banner(base, await writeDemo(base, readSecrets())))
} catch (error) {
  const { cause, message } = error as Error
  const isClosed = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
  console.error(
    isClosed ? `No service answers at ${base}. Start it with \`npx wrangler dev\`.` : message,
  )
  process.exitCode = 1
}
