import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { children } from './cpu.ts'
import { MIGRATIONS } from './schema.ts'

/** A temporary PostgreSQL, and a connection to it. */
export interface Postgres {
  /** The folder of its socket, the only place where it listens. */
  host: string
  pid: number
  client: Client
  end: () => Promise<void>
}

/** The folder of PostgreSQL's programs in Debian's packages. */
export const binaries = () => globSync('/usr/lib/postgresql/*/bin').sort().at(-1)

/** Starts PostgreSQL with default settings in a new folder. Returns null if it is not installed. */
export async function startPostgres(): Promise<Postgres | null> {
  const bin = binaries()
  if (!bin) return null
  const host = mkdtempSync(join(tmpdir(), 'tributary-postgres-'))
  const removed = () => rmSync(host, { recursive: true, force: true })
  const as = otherUser()
  if (as) chownSync(host, as.user, as.group)
  // PostgreSQL refuses to run as root. `setpriv` execs it, so the pid is that of PostgreSQL.
  const dropped = as
    ? ['setpriv', `--reuid=${as.user}`, `--regid=${as.group}`, '--clear-groups']
    : ['env']
  const [command, ...drop] = dropped as [string, ...string[]]
  const setUp = ['-D', join(host, 'data'), '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  execFileSync(command, [...drop, join(bin, 'initdb'), ...setUp, '--no-sync'], { cwd: host })
  const where = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${host}`]
  const server = spawn(
    command,
    [...drop, join(bin, 'postgres'), '-D', join(host, 'data'), ...where],
    { cwd: host, stdio: 'ignore' },
  )
  const killed = () => {
    // On exit nothing can be awaited, and a graceful end would still write.
    for (const pid of [server.pid!, ...children(server.pid)]) process.kill(pid, 'SIGKILL')
    removed()
  }
  process.on('exit', killed)
  const client = await connected(host)
  await client.query(TABLE)
  return {
    host,
    pid: server.pid!,
    client,
    async end() {
      await client.end()
      const ended = once(server, 'exit')
      server.kill('SIGINT')
      await ended
      process.off('exit', killed)
      removed()
    },
  }
}

/** The same table for PostgreSQL, with the same columns, key and indexes. */
const TABLE = MIGRATIONS.filter((sql) =>
  /^create (table|(unique )?index) transactions(_|\b)/i.test(sql),
)
  .map((sql) =>
    sql
      .replace(/\) strict, without rowid$/i, ')')
      .replace(/\breal\b/gi, 'double precision')
      .replace(/\binteger\b/gi, 'bigint'),
  )
  .join(';')

/** The user that root becomes, since PostgreSQL refuses root. */
function otherUser(): { user: number; group: number } | null {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (what: string) => Number(execFileSync('id', [what, name], { stdio: 'pipe' }))
      return { user: id('-u'), group: id('-g') }
    } catch {}
  }
  return null
}

async function connected(host: string): Promise<Client> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ host, user: 'bench', database: 'postgres' })
    try {
      await client.connect()
      return client
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
