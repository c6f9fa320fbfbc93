import { type ListedPart, readArchivedList } from '../db/archive/list-parts.ts'
import { restoreFirst } from '../db/archive/needed.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from '../db/archive/tables.ts'
import type { ReadArchived } from '../db/commission/facts.ts'
import { type ArchiveReader, compareKeys, groupsOf, openPart, readArchive } from './reader.ts'

/** The limits of the records of a customer that are read from objects. */
export const CUSTOMER_LIMITS = {
  /** The objects. If there are more, their months are restored. */
  objects: 24,
  /** The characters of their rows as JSON: a value of SQL has at most 2 MB. */
  characters: 600_000,
}

/** Returns the function that reads archived records of a customer on some days. */
export const customerReader =
  (reader: ArchiveReader): ReadArchived =>
  (resource, days, customer_id) =>
    readArchive(reader, async () => {
      const list = {
        ...{ account: reader.account, resource, customer_id },
        ...{ first_day: Math.min(...days), last_day: Math.max(...days) },
      }
      const all = { rows: Number.MAX_SAFE_INTEGER }
      const { months, parts } = await readArchivedList(reader.db, list, all, null)
      const wanted = parts.filter((part) =>
        days.some((day) => day >= part.first_day && day <= part.last_day),
      )
      const restoreAll = () => {
        const needed = wanted.map((part) => ({ ...part, resource }))
        return restoreFirst(reader.db, reader.account, needed)
      }
      if (wanted.length > CUSTOMER_LIMITS.objects) return restoreAll()
      const rows: unknown[][] = []
      let characters = 0
      for (const part of wanted) {
        const own = await readPart(reader, { resource, customer_id, days: new Set(days) }, part)
        characters += JSON.stringify(own).length
        if (characters > CUSTOMER_LIMITS.characters) return restoreAll()
        rows.push(...own)
      }
      return { months, rows }
    })

/** Reads the records of a customer on some days from an object. */
async function readPart(
  reader: ArchiveReader,
  wanted: {
    readonly resource: ArchivedResource
    readonly customer_id: string
    readonly days: ReadonlySet<number>
  },
  part: ListedPart,
): Promise<unknown[][]> {
  const { resource, customer_id, days } = wanted
  const { columns, dayColumn } = ARCHIVED_TABLES[resource]
  const rows: unknown[][] = []
  let read: Awaited<ReturnType<typeof openPart>> | null = null
  for (const [i, [, first, last]] of groupsOf(part).entries()) {
    const mayHave = [...days].some(
      (day) =>
        compareKeys([day, customer_id], first) >= 0 && compareKeys([day, customer_id], last) <= 0,
    )
    if (!mayHave) continue
    read ??= await openPart(reader, resource, part)
    for (const row of await read(i)) {
      if (row.customer_id !== customer_id || !days.has(Number(row[dayColumn]))) continue
      rows.push(columns.map(({ name }) => row[name] ?? null))
    }
  }
  return rows
}
