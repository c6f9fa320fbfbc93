import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { parseEnv } from 'node:util'
import { configOf } from './config.ts'
import { curlLines } from './curl-lines.ts'
import { demoAccounts } from './demo.ts'
import { newKeySet, newTrackingKeys } from './keys.ts'
import { misused, readOptions } from './said.ts'

// Starts the service with its local database and demo accounts: `npm run dev [-- --reset]`.

const SECRETS = '.dev.vars'
const DEMO = '.demo.json'
const STATE = '.wrangler/state'
const ACCOUNTS = '.wrangler/demo-accounts.json'

/** Wrangler asks nobody anything, and reaches for nothing outside. */
const ENV = {
  ...process.env,
  CI: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

const values = readOptions({ reset: { type: 'boolean', default: false } })
const port = Number(process.env.PORT ?? 8787)
if (!Number.isInteger(port) || port < 1 || port > 65_535)
  misused('PORT is a whole number from 1 to 65535.')
const base = `http://127.0.0.1:${port}`

let running: ChildProcess | undefined
let stopping = false

/** Runs wrangler in a process group of its own, so that all it started ends with it. */
function wrangler(args: string[], stdio: 'inherit' | 'pipe'): ChildProcess {
  running = spawn('node_modules/.bin/wrangler', args, {
    env: ENV,
    stdio: ['ignore', stdio, stdio],
    detached: true,
  })
  return running
}

function stop(signal: NodeJS.Signals) {
  stopping = true
  if (running?.pid && running.exitCode === null) process.kill(-running.pid, signal)
  else process.exit()
}

/** Runs one wrangler command to its end; what it prints is shown only when it fails. */
async function run(...args: string[]) {
  const child = wrangler(args, 'pipe')
  let said = ''
  child.stdout?.on('data', (data) => (said += data))
  child.stderr?.on('data', (data) => (said += data))
  const [code] = await once(child, 'exit')
  if (stopping) process.exit()
  if (code !== 0) {
    console.error(`wrangler ${args.join(' ')} failed:\n${said}`)
    process.exit(1)
  }
}

/** Two services must not share one state: each would count requests and write rows for itself. */
async function checkAlone() {
  const other = existsSync(DEMO) && JSON.parse(readFileSync(DEMO, 'utf8')).base_url
  if (!other || !(await answers(other))) return
  console.error(`The service runs already, at ${other}. End it first, or use another clone.`)
  process.exit(1)
}

async function checkPort() {
  const probe = createServer().listen(port, '127.0.0.1')
  // A server that cannot listen says so as an error, which is what waiting for it ends in.
  const failed = await once(probe, 'listening').then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  )
  probe.close()
  if (!failed) return
  console.error(
    `Port ${port} cannot be used (${failed.code}). Choose another: PORT=8788 npm run dev`,
  )
  process.exit(1)
}

/** Makes the local secrets that are not there yet; what is there stays. */
async function makeSecrets(): Promise<Record<string, string>> {
  const found = existsSync(SECRETS) ? parseEnv(readFileSync(SECRETS, 'utf8')) : {}
  const made: Record<string, string> = {
    SIGNING_KEYS: found.SIGNING_KEYS || (await newKeySet()),
    TRACKING_KEYS: found.TRACKING_KEYS || newTrackingKeys(),
    ADMIN_KEY: found.ADMIN_KEY || randomBytes(32).toString('base64url'),
  }
  const secrets = { ...found, ...made }
  const lines = Object.entries(secrets).map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(SECRETS, lines.join(''), { mode: 0o600 })
  return made
}

async function answers(at: string): Promise<boolean> {
  const response = await fetch(`${at}/healthz`).catch(() => null)
  return response?.ok ?? false
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop('SIGTERM'))
}
// Whatever ends us, a mistake of ours too, ends what we started.
process.on('exit', () => {
  if (running?.pid && running.exitCode === null) process.kill(-running.pid, 'SIGTERM')
})
// Whoever started us may be killed without a word to us.
const parent = process.ppid
setInterval(() => process.ppid !== parent && stop('SIGTERM'), 500).unref()

await checkAlone()
await checkPort()
rmSync(DEMO, { force: true })
if (values.reset)
  for (const path of [STATE, ACCOUNTS]) rmSync(path, { recursive: true, force: true })
const { ADMIN_KEY: admin_key = '' } = await makeSecrets()

console.log('Preparing the local database …')
for (const { binding } of configOf(undefined).d1_databases) {
  await run('d1', 'migrations', 'apply', binding, '--local')
}

const server = wrangler(
  ['dev', '--ip', '127.0.0.1', '--port', String(port), '--var', `BASE_URL:${base}`],
  'inherit',
)
server.on('exit', (code) => process.exit(stopping ? 0 : (code ?? 1)))
while (!(await answers(base))) await new Promise((resolve) => setTimeout(resolve, 100))

const accounts = await demoAccounts(base, admin_key, ACCOUNTS)
const demo = { base_url: base, admin_key, accounts }
writeFileSync(`${DEMO}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
renameSync(`${DEMO}.new`, DEMO)

// In one piece: wrangler prints to the same place, and must not come between the lines.
const shown = accounts.map((account) => {
  const { account: id, name, vertical, client_id, client_secret, brand_token } = account
  const who = client_id
    ? `client_id ${client_id}  client_secret ${client_secret}`
    : `Brand Token ${brand_token}`
  return `
# ${name} (${vertical}, account ${id})
# ${who}

${curlLines(base, account)}
`
})
const help = `Administer it: npm run admin -- --help (the admin key is in ${DEMO}).`
const where = `Tributary answers at ${base}. Credentials are in ${DEMO}, too. Ctrl-C ends it.`
console.log(`${shown.join('')}\n${help}\n${where}`)
