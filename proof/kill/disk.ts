import { cpSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** What SQLite itself says of a file; a sound one says nothing. */
export interface Flaw {
  file: string
  says: string
}

/**
 * Opens copies of all databases of a state that nobody runs: what is in their logs is taken over as
 * workerd will do it, and the originals stay as the kill left them. Answers with what is wrong with
 * any of them, how many there are, and the one that has our tables.
 */
export function inspect<T>(state: string, scratch: string, look: (database: DatabaseSync) => T) {
  rmSync(scratch, { recursive: true, force: true })
  cpSync(state, scratch, { recursive: true, filter: (path) => !path.endsWith('-shm') })
  const flaws: Flaw[] = []
  const seen: T[] = []
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
        flaws.push({ file: basename(path), says: JSON.stringify(check) })
      }
      const ours = "select 1 from sqlite_master where name = 'deliveries'"
      if (all(ours).length > 0) seen.push(look(database))
    } finally {
      database.close()
    }
  }
  if (seen.length !== 1) throw new Error(`${seen.length} databases have our tables.`)
  return { flaws, files: files.length, seen: seen[0]! }
}
