import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'
import { buildOurs, COMPATIBILITY_DATE } from './build.ts'
import { formatTenths } from './chapter.ts'
import { cpuOf } from './cpu.ts'
import { median, table } from './figures.ts'

// Measures what the size of the service costs a cold start: workerd with the bundle that is deployed,
// beside workerd with an empty Worker, in turn.

const { rounds } = readOptions<{ rounds: number }>(
  'npm run cold-start',
  'Prints the time and CPU from the start of workerd to the first response, beside an empty Worker.',
  (command) =>
    command.option(
      '--rounds <count>',
      'how often each Worker is started',
      wholeNumber(1, 1000),
      15,
    ),
)

const EMPTY = 'export default { fetch: () => new Response("ok") }'
const WORKERD = fileURLToPath(import.meta.resolve('workerd/bin/workerd'))

/** A configuration of workerd with one script and a socket on a free port. */
const configOf = (script: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "index.js", esModule = embed "${script}")],
    compatibilityDate = "${COMPATIBILITY_DATE}",
    bindings = [(name = "BASE_URL", text = "http://127.0.0.1")],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`

/** The milliseconds of one start. */
interface Start {
  wall: number
  cpu: number
}

/** Starts workerd, waits for its first response and ends it. */
async function startOnce(config: string): Promise<Start> {
  const begun = performance.now()
  const child = spawn(WORKERD, ['serve', config, '--control-fd=3'], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const exited = once(child, 'exit')
  try {
    const response = await fetch(`http://127.0.0.1:${await portOf(child)}/healthz`)
    if (!response.ok) throw new Error(`The first response is ${response.status}.`)
    await response.arrayBuffer()
    return { wall: performance.now() - begun, cpu: cpuOf([child.pid!]) ?? Number.NaN }
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

/** Returns the port that workerd names on its control pipe once it listens. */
async function portOf({ stdio }: ChildProcess): Promise<number> {
  for await (const line of stdio[3] as NodeJS.ReadableStream) {
    const { event, port } = JSON.parse(String(line))
    if (event === 'listen') return port
  }
  throw new Error('workerd has ended.')
}

/** Returns the CPU that V8 takes to run the script's top level, as wrangler samples it. */
function startupCpu(folder: string): string {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' }
  const wrangler = (...args: string[]) =>
    execFileSync('node_modules/.bin/wrangler', args, { encoding: 'utf8', env })
  const [bundle, profile] = [join(folder, 'worker.bundle'), join(folder, 'startup.cpuprofile')]
  const deploy = ['deploy', '--minify', '--dry-run']
  wrangler(...deploy, '--env', 'production', '--outfile', bundle)
  const output = wrangler('check', 'startup', '--worker', bundle, '--outfile', profile)
  return /Active: (.+? ms)/.exec(output)?.[1] ?? 'not known'
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-cold-'))
try {
  const code = await buildOurs()
  const configs = Object.entries({ service: code, 'empty Worker': EMPTY }).map(([name, script]) => {
    const file = name.replace(' ', '-')
    writeFileSync(join(folder, `${file}.js`), script)
    writeFileSync(join(folder, `${file}.capnp`), configOf(`${file}.js`))
    return { path: join(folder, `${file}.capnp`), starts: [] as Start[] }
  })
  for (let round = 0; round < rounds; round++)
    for (const { path, starts } of configs) starts.push(await startOnce(path))
  const [service, empty] = configs.map(({ starts }) => ({
    wall: median(starts.map(({ wall }) => wall)),
    cpu: median(starts.map(({ cpu }) => cpu)),
  }))
  const row = (name: string, { wall, cpu }: Start) => [name, ...[wall, cpu].map(formatTenths)]
  const more = { wall: service!.wall - empty!.wall, cpu: service!.cpu - empty!.cpu }
  const kib = formatTenths(gzipSync(code).byteLength / 1024)
  console.log(
    [
      `The bundle has ${kib} KiB (gzip). From the start of workerd to the first response, median of ${rounds}:`,
      table([
        ['', 'ms', 'CPU-ms'],
        row('service', service!),
        row('empty Worker', empty!),
        row('difference', more),
      ]),
      `CPU at startup, sampled by \`wrangler check startup\`: ${startupCpu(folder)}.`,
    ].join('\n\n'),
  )
} finally {
  rmSync(folder, { recursive: true })
}
