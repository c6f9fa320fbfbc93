import type { Database } from './databases.ts'
import { ACT, type Fill, measureFill, readQuotas } from './fill.ts'
import { formatFill } from './format.ts'

/** Prints how full the databases are. Returns the exit code: 1 if one of them is nearly full. */
export async function report(
  databases: readonly Database[],
  now: number,
  print: (text: string) => void,
): Promise<number> {
  const fills: Fill[] = []
  for (const database of databases) fills.push(await measureFill(database, now))
  const quotas = await readQuotas(databases)
  for (const fill of fills) print(formatFill(fill, quotas))
  const [emptiest] = fills.toSorted((a, b) => a.bytes - b.bytes)
  if (emptiest && fills.length > 1) {
    print(`New accounts: --database ${emptiest.binding}, the emptiest of these databases`)
  }
  return fills.some(({ share }) => share >= ACT) ? 1 : 0
}
