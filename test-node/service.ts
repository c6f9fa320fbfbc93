import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, resolve, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseEnv } from 'node:util'
import { bundleService } from '../scripts/bundle.ts'
import { BUILT_COPY } from './bundle.ts'
import { leakIn, leakInFiles, sought } from './secrecy/leaks.ts'
import { readConfig } from './wrangler-config.ts'

// Starts the service, for tests that send it requests over HTTP.

/** The content of `.demo.json`. */
export interface Demo {
  base_url: string
  admin_key: string
  /** The keys of persons: one enters what another one approves. */
  member_keys: Record<'manager' | 'approver' | 'second_approver', string>
  accounts: {
    account: string
    name: string
    vertical: string
    client_id: string
    client_secret: string
    brand_token: string
    /** The link of its demo affiliate: visitors follow `/go/{link_id}`. */
    link_id: string
  }[]
}

const REPOSITORY = resolve(import.meta.dirname, '..')
/** Untracked files: output of earlier runs, and folders that are too large to copy. */
const LEFT_OUT = new Set(['node_modules', '.git', '.wrangler', '.dev.vars', '.demo.json', 'dist'])

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** The databases of the service, in a copy of the repository. */
const STATE = '.wrangler/state'

/** The Worker as one file. */
export const WORKER = 'dist/worker.js'

/** Writes the Worker into a copy of the repository as it is deployed. */
async function bundleWorker(root: string): Promise<void> {
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(join(root, WORKER), await bundleService())
}

/**
 * Copies the repository to a temporary folder, with the documents of `buildOnce`, if it has run. A service has its own
 * database and secrets there.
 */
export function copyRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'tributary-dev-'))
  cpSync(REPOSITORY, root, {
    recursive: true,
    // openapi.json stays newer than what it is made of.
    preserveTimestamps: true,
    filter: (path) =>
      !relative(REPOSITORY, path)
        .split(sep)
        .some((name) => LEFT_OUT.has(name)),
  })
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'))
  const built = process.env[BUILT_COPY]
  if (built) cpSync(join(built, 'dist'), join(root, 'dist'), { recursive: true })
  return root
}

/** The folder of a service with its demo accounts, in the copy that `buildOnce` has built. */
const DEMO_FOLDER = 'demo'

/** The files of a service that has run: databases, credentials of the demo accounts and secrets. */
const OF_SERVICE = ['.wrangler', '.dev.vars']

/**
 * Builds a copy of the repository from which `copyServed` and `startService` copy, and returns a function
 * that deletes it.
 */
export async function buildOnce(): Promise<() => void> {
  const root = linkRepository()
  const { status } = spawnSync(process.execPath, ['scripts/site.ts'], {
    cwd: REPOSITORY,
    stdio: 'inherit',
  })
  if (status === 0) {
    readConfig(REPOSITORY)
    for (const name of ['site', 'site.digest', 'wrangler-config.json'])
      cpSync(join(REPOSITORY, 'dist', name), join(root, 'dist', name), { recursive: true })
    await bundleWorker(root)
    process.env[BUILT_COPY] = root
    await createDemo(root)
  }
  return () => rmSync(root, { recursive: true, force: true })
}

/** Creates the demo accounts once: a service with copies of the databases finds them. */
async function createDemo(root: string): Promise<void> {
  const demo = join(root, DEMO_FOLDER)
  mkdirSync(demo)
  linkInto(demo)
  symlinkSync(join(root, 'dist'), join(demo, 'dist'))
  const service = await serveIn(demo)
  await service.end('SIGTERM')
  assertStoresNoSecret(demo, service.demo)
  emptyLogs(join(demo, STATE))
}

/**
 * Moves the write-ahead logs into the databases: each copy is a third as large, and so is what its test
 * searches for secrets. The logs themselves have been searched.
 */
function emptyLogs(folder: string): void {
  for (const path of globSync(join(folder, '**/*.sqlite'))) {
    const database = new DatabaseSync(path)
    // The last connection that closes deletes the log.
    database.exec('pragma wal_checkpoint(truncate)')
    database.close()
  }
}

/** Links every file and folder of the repository into a folder. */
function linkInto(root: string): void {
  for (const name of readdirSync(REPOSITORY))
    if (!LEFT_OUT.has(name)) symlinkSync(join(REPOSITORY, name), join(root, name))
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'))
}

/** Creates a folder that links to the repository, for a service whose sources no test changes. */
function linkRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'tributary-dev-'))
  linkInto(root)
  return root
}

/** Links to the repository, and copies the demo accounts and the documents of `buildOnce`. */
function copyDemo(): string {
  const root = linkRepository()
  const built = process.env[BUILT_COPY]
  if (!built) return root
  for (const name of OF_SERVICE)
    cpSync(join(built, DEMO_FOLDER, name), join(root, name), { recursive: true })
  symlinkSync(join(built, 'dist'), join(root, 'dist'))
  return root
}

/** Copies the repository with the demo accounts of `buildOnce`, if it has run. */
export function copyServed(): string {
  const root = copyRepository()
  const built = process.env[BUILT_COPY]
  for (const name of built ? OF_SERVICE : [])
    cpSync(join(built!, DEMO_FOLDER, name), join(root, name), { recursive: true })
  return root
}

/** Returns a free port of this machine. */
export const freePort = () =>
  new Promise<number>((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => done(port))
    })
  })

/** Whether a command is installed. */
export const has = (command: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))

/** A running service. */
interface Started {
  port: number
  demo: Demo
  /** Returns the output so far. */
  output: () => string
  /** Returns the output once the service has printed its banner or has ended. */
  outputWhenReady: () => Promise<string>
  end: (signal: NodeJS.Signals) => Promise<void>
}

/** Starts `npm run dev` in a folder and waits for the demo accounts. */
export const startIn = (root: string, ...args: string[]) =>
  startProgram(root, ['scripts/dev.ts', ...args])

/** Starts the service in a folder, faster than `npm run dev`, and waits for the demo accounts. */
export async function serveIn(root: string): Promise<Started> {
  if (!existsSync(join(root, WORKER))) await bundleWorker(root)
  return startProgram(root, ['test-node/serve.ts', WORKER])
}

async function startProgram(root: string, args: string[]): Promise<Started> {
  const demoPath = join(root, '.demo.json')
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  rmSync(demoPath, { force: true })
  for (let i = 0; i < 1800 && !existsSync(demoPath) && child.exitCode === null; i++) await wait(100)
  if (!existsSync(demoPath)) {
    child.kill('SIGTERM')
    // Another program has taken the port in the meantime.
    if (output.includes('Address already in use')) return startProgram(root, args)
    assert.fail(output)
  }
  const demo: Demo = JSON.parse(readFileSync(demoPath, 'utf8'))
  const ended = new Promise<void>((done) => child.on('exit', () => done()))
  return {
    port,
    demo,
    output: () => output,
    outputWhenReady: async () => {
      const isPending = () => !output.includes('Press Ctrl-C to stop.') && child.exitCode === null
      for (let i = 0; i < 50 && isPending(); i++) await wait(100)
      return output
    },
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      await ended
    },
  }
}

/** Returns the private keys of a local service. */
function keysOf(root: string): Record<string, string> {
  const { SIGNING_KEYS = '', TRACKING_KEYS = '' } = parseEnv(
    readFileSync(join(root, '.dev.vars'), 'utf8'),
  )
  return { SIGNING_KEYS, TRACKING_KEYS }
}

/** Asserts that no file of the databases and objects contains a secret, even in freed pages. */
function assertStoresNoSecret(root: string, { admin_key, accounts }: Demo): void {
  const secrets: [string, string][] = accounts.flatMap((one) => [
    [`client_secret of ${one.account}`, one.client_secret ?? ''],
    [`brand_token of ${one.account}`, one.brand_token ?? ''],
  ])
  const all = sought({ admin_key, ...Object.fromEntries(secrets) }, keysOf(root))
  assert.equal(leakInFiles(join(root, STATE), all), null)
}

/** Asserts that the output has no key. It does have the credentials of the demo accounts. */
function assertPrintsNoKey(root: string, output: string, { admin_key }: Demo): void {
  assert.equal(leakIn(output, sought({ admin_key }, keysOf(root))), null)
}

/**
 * Starts a service with only the demo accounts in its database. `stop` ends it, asserts that it stored
 * and printed no secret, and deletes its files.
 */
export async function startService() {
  const root = copyDemo()
  const service = await serveIn(root).catch((error) => {
    rmSync(root, { recursive: true, force: true })
    throw error
  })
  const stop = async () => {
    await service.end('SIGTERM')
    try {
      assertStoresNoSecret(root, service.demo)
      assertPrintsNoKey(root, await service.outputWhenReady(), service.demo)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  return { root, demo: service.demo, stop }
}
