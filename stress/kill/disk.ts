import { cpSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A problem that SQLite reports about a file. */
export interface Flaw {
  file: string
  problem: string
}

/**
 * Opens copies of all databases of a state that no process uses. SQLite recovers them from their logs
 * as workerd will, and the originals stay as the kill left them. Returns their flaws, their number,
 * and what `read` returns for the one with our tables.
 */
export function inspect<T>(state: string, scratch: string, read: (database: DatabaseSync) => T) {
  rmSync(scratch, { recursive: true, force: true })
  cpSync(state, scratch, { recursive: true, filter: (path) => !path.endsWith('-shm') })
  const flaws: Flaw[] = []
  const contents: T[] = []
  const files = readdirSync(scratch, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.sqlite'),
  )
  for (const path of files) {
    const database = new DatabaseSync(join(scratch, path))
    try {
      const all = (sql: string) => database.prepare(sql).all() as Record<string, unknown>[]
      const checks = [...all('pragma integrity_check'), ...all('pragma foreign_key_check')]
      for (const check of checks) {
        if (check.integrity_check === 'ok') continue
        flaws.push({ file: basename(path), problem: JSON.stringify(check) })
      }
      const ours = "select 1 from sqlite_master where name = 'deliveries'"
      if (all(ours).length > 0) contents.push(read(database))
    } finally {
      database.close()
    }
  }
  if (contents.length !== 1) throw new Error(`${contents.length} databases have our tables.`)
  return { flaws, files: files.length, content: contents[0]! }
}
