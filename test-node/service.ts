import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { leakIn, leakInFiles, sought } from './secrecy/leaks.ts'

// The service as `npm run dev` starts it, for tests that ask it over real HTTP.

/** What `.demo.json` says. */
export interface Demo {
  base_url: string
  admin_key: string
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
/** What a run leaves behind, and what is too much to copy: nothing of it is tracked. */
const LEFT_OUT = new Set(['node_modules', '.git', '.wrangler', '.dev.vars', '.demo.json', 'dist'])

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** A copy of the repository in a folder of its own, whose database and secrets are nobody else's. */
export function copyRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'tributary-dev-'))
  cpSync(REPOSITORY, root, {
    recursive: true,
    filter: (path) =>
      !relative(REPOSITORY, path)
        .split(sep)
        .some((name) => LEFT_OUT.has(name)),
  })
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'))
  return root
}

/** A port of this machine that nobody listens on. */
export const freePort = () =>
  new Promise<number>((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => done(port))
    })
  })

/** Whether a command is there to be run. */
export const has = (command: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))

/** A service that runs. */
interface Started {
  port: number
  demo: Demo
  /** Returns the output so far. */
  output: () => string
  /** Returns the output once the last line of the start is there. */
  outputWhenReady: () => Promise<string>
  end: (signal: NodeJS.Signals) => Promise<void>
}

/** `npm run dev` in a folder, once it answers and its demo accounts are there. */
export async function startIn(root: string, ...args: string[]): Promise<Started> {
  const demoPath = join(root, '.demo.json')
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/dev.ts', ...args], {
    cwd: root,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  rmSync(demoPath, { force: true })
  for (let i = 0; i < 600 && !existsSync(demoPath) && child.exitCode === null; i++) await wait(100)
  if (!existsSync(demoPath)) {
    child.kill('SIGTERM')
    // Since it was found free, another program has taken the port.
    if (output.includes('Address already in use')) return startIn(root, ...args)
    assert.fail(output)
  }
  const demo: Demo = JSON.parse(readFileSync(demoPath, 'utf8'))
  const ended = new Promise<void>((done) => child.on('exit', () => done()))
  return {
    port,
    demo,
    output: () => output,
    outputWhenReady: async () => {
      for (let i = 0; i < 50 && !output.includes('Press Ctrl-C to stop.'); i++) await wait(100)
      return output
    },
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      await ended
    },
  }
}

/** The private keys of a local service. */
function keysOf(root: string): Record<string, string> {
  const { SIGNING_KEYS = '', TRACKING_KEYS = '' } = parseEnv(
    readFileSync(join(root, '.dev.vars'), 'utf8'),
  )
  return { SIGNING_KEYS, TRACKING_KEYS }
}

/** Its databases and objects have no secret, not even in a page that was freed. */
function assertStoresNone(root: string, { admin_key, accounts }: Demo): void {
  const secrets: [string, string][] = accounts.flatMap((one) => [
    [`client_secret of ${one.account}`, one.client_secret ?? ''],
    [`brand_token of ${one.account}`, one.brand_token ?? ''],
  ])
  const all = sought({ admin_key, ...Object.fromEntries(secrets) }, keysOf(root))
  assert.equal(leakInFiles(join(root, '.wrangler/state'), all), null)
}

/** The demo's credentials are printed for whoever follows; its keys never are. */
function assertPrintsNone(root: string, output: string, { admin_key }: Demo): void {
  assert.equal(leakIn(output, sought({ admin_key }, keysOf(root))), null)
}

/**
 * A service with an empty database; `stop` ends it and leaves nothing behind, having looked whether
 * it stored or printed a secret.
 */
export async function startService() {
  const root = copyRepository()
  const service = await startIn(root).catch((error) => {
    rmSync(root, { recursive: true, force: true })
    throw error
  })
  const stop = async () => {
    await service.end('SIGTERM')
    try {
      assertStoresNone(root, service.demo)
      assertPrintsNone(root, await service.outputWhenReady(), service.demo)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  return { root, demo: service.demo, stop }
}
