import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { exitWithUsageError, readOptions, wholeNumber } from './command-line.ts'
import { banner } from './dev/banner.ts'
import { startCrons } from './dev/crons.ts'
import { ACCOUNTS, DEMO, writeDemo } from './dev/demo-accounts.ts'
import {
  createSecrets,
  executeSql,
  migrate,
  readSecrets,
  STATE,
  WRANGLER,
  WRANGLER_ENV,
} from './dev/local.ts'
import { demoMembers } from './dev/members.ts'

// Runs `wrangler dev`. Its build step (scripts/build.ts) applies the migrations that are added later.

const MAX_PORT = 65_535

const options = readOptions<{ port?: number; reset?: true; verbose?: true }>(
  'npm run dev',
  'Starts the service on this machine with demo accounts.',
  (command) =>
    command
      .option(
        '--port <number>',
        'the port, 8787 by default; the variable PORT does the same',
        wholeNumber(1, MAX_PORT),
      )
      .option('--reset', 'starts with an empty database and new demo accounts')
      .option(
        '--verbose',
        'prints every demo account, and all output of wrangler and of the Worker',
      ),
)
const port = options.port ?? Number(process.env.PORT ?? 8787)
if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
  exitWithUsageError('PORT must be a whole number from 1 to 65535.')
const base = `http://127.0.0.1:${port}`

// npm takes `--verbose` for itself if no `--` precedes it.
const isVerbose = options.verbose || process.env.npm_config_loglevel === 'verbose'

let server: ChildProcess | undefined
let isStopping = false
let isReady = false
/** The output before the service is ready, which only a failure or `--verbose` shows. */
const startOutput: string[] = []

function stop(signal: NodeJS.Signals) {
  isStopping = true
  if (server?.pid && server.exitCode === null) process.kill(-server.pid, signal)
  else process.exit()
}

/** Refuses to start twice in one clone, where two services would share one database. */
async function checkAlone() {
  const other = existsSync(DEMO) && JSON.parse(readFileSync(DEMO, 'utf8')).base_url
  if (!other || !(await isHealthy(other))) return
  console.error(`The service already runs at ${other}. Stop it first, or use another clone.`)
  process.exit(1)
}

/** Refuses a port at which something answers: it would be taken for this service. */
async function checkPort() {
  const isUsed = await fetch(base).then(
    () => true,
    () => false,
  )
  if (!isUsed) return
  console.error(`Port ${port} is not available. Choose another: npm run dev -- --port 8788`)
  process.exit(1)
}

async function isHealthy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/healthz`).catch(() => null)
  return response?.ok ?? false
}

/** Starts wrangler in a process group of its own, so that its children end with it. */
function startServer(): ChildProcess {
  const child = spawn(process.execPath, [WRANGLER, 'dev', '--port', String(port)], {
    env: WRANGLER_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', show)
  child.on('close', (code) => {
    if (isStopping) process.exit(0)
    if (!isReady && !isVerbose) console.error(startOutput.join('\n'))
    process.exit(code ?? 1)
  })
  return child
}

/** Lines of wrangler that repeat what the banner shows, and those of requests and of e-mails, which `/console/outbox` has. */
const NOISE =
  /^(?:\s*$|(?:From|To|Subject|Text|HTML): |send_email |\[custom build\]|\[wrangler:info\]|⎔|Using secrets|The file .* changed|Your Worker has|Binding +Resource|env\.\w+ |\{"request_id":.*"method":)/

/** Shows what wrangler and the Worker print; before the service is ready only what the build step does. */
function show(line: string) {
  if (!isReady) startOutput.push(line)
  const plain = stripVTControlCharacters(line)
  const built = /^\[custom build\] *(?!\s|Running:)(.*\S)/.exec(plain)?.[1]
  if (isVerbose) console.log(line)
  else if (built) console.log(built)
  else if (isReady && !NOISE.test(plain)) console.log(plain)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop('SIGTERM'))
}
// An error of this script ends the server, too.
process.on('exit', () => {
  if (server?.pid && server.exitCode === null) process.kill(-server.pid, 'SIGTERM')
})
// A parent that is killed sends no signal.
const parent = process.ppid
setInterval(() => process.ppid !== parent && stop('SIGTERM'), 500).unref()

await checkAlone()
await checkPort()
rmSync(DEMO, { force: true })
if (options.reset)
  for (const path of [STATE, ACCOUNTS]) rmSync(path, { recursive: true, force: true })

console.log('Starting the service …')
// Secrets that the build step creates reach the Worker by a reload, which drops requests.
await createSecrets()
await migrate()
const { keys, sql } = demoMembers()
executeSql('DB', `${sql.join(';\n')};`)
server = startServer()
while (!(await isHealthy(base))) await sleep(100)
startCrons(base)
const secrets = readSecrets()
const demo = await writeDemo(base, secrets, keys)
isReady = true
console.log(
  `${banner(base, { admin: secrets.ADMIN_KEY ?? '', ...keys }, demo, Boolean(isVerbose))}Press Ctrl-C to stop.`,
)
