import type { Service } from '../service.ts'

/** The tables of records. */
const TABLES = ['customers', 'transactions', 'activity', 'events']

/** Measures the database. */
export interface Meter {
  /** Returns the size of the database without free pages, in bytes. */
  databaseBytes: () => Promise<number>
  /** Returns the bytes of all columns of all records. */
  recordBytes: () => Promise<number>
}

/**
 * Prepares the statements and runs each once. Miniflare blocks this process while it prepares a
 * statement or runs one for the first time. This process also reads workerd's log. So after an
 * attack, when hundreds of requests are logged at once, workerd would wait for a reader of its log,
 * and this process for workerd.
 */
export async function newMeter({ database }: Service): Promise<Meter> {
  const size = database.prepare('select 1')
  const sums = await Promise.all(
    TABLES.map(async (table) => {
      const { results } = await database.prepare(`pragma table_info(${table})`).all()
      const columns = results.map(({ name }) => `ifnull(octet_length(${name}), 0)`)
      return database.prepare(`select sum(${columns.join(' + ')}) as bytes from ${table}`)
    }),
  )
  const meter: Meter = {
    databaseBytes: async () => Number((await size.run()).meta.size_after),
    async recordBytes() {
      const bytes = await Promise.all(sums.map((sum) => sum.first<number | null>('bytes')))
      return bytes.reduce<number>((all, one) => all + (one ?? 0), 0)
    },
  }
  await meter.databaseBytes()
  await meter.recordBytes()
  return meter
}
