import { tried } from './run.ts'
import type { Shelf } from './shelf.ts'

/** What of a resource is counted and summed. */
export interface Tally {
  readonly name: string
  readonly shelf: Shelf
  /** The columns whose values make a group. */
  readonly groups: readonly string[]
  /** The columns that are summed. */
  readonly sums: readonly string[]
}

/** One group of one day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

/** Decimal places and digits: a whole part and a fraction of 12 places, each in two limbs. */
const LIMB = 1_000_000

/**
 * The totals of each day from `from` to `to`, in order, summed along the index by day. Nothing is
 * kept for it: a counter can drift, the records cannot.
 */
export async function totalsOf(
  session: D1DatabaseSession,
  tallies: readonly Tally[],
  account: string,
  from: string,
  to: string,
): Promise<Total[]> {
  const answers = await tried(() =>
    session.batch<Record<string, unknown>>(
      tallies.map((tally) => session.prepare(statement(tally)).bind(account, from, to)),
    ),
  )
  return tallies
    .flatMap((tally, i) => answers[i]!.results.map((row) => present(tally, row)))
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

function statement({ shelf, groups, sums }: Tally): string {
  const { table, day, holds, indexes } = shelf
  const by = [day, ...groups].join()
  const limbs = sums.flatMap((name) => [
    `sum(${whole(name)} / ${LIMB}) as ${name}_0`,
    `sum(${whole(name)} % ${LIMB}) as ${name}_1`,
    `sum(${fraction(name)} / ${LIMB}) as ${name}_2`,
    `sum(${fraction(name)} % ${LIMB}) as ${name}_3`,
  ])
  return `
    select ${[`${day} as day`, ...groups, 'count(*) as count', ...limbs].join()}
    from ${table}${indexes.day ? ` indexed by ${indexes.day}` : ''}
    where account = ?1 and ${day} between ?2 and ?3${holds ? ' and held = 0' : ''}
    group by ${by} order by ${by}`
}

const whole = (name: string) => `cast(${name} as integer)`

/**
 * The fraction in units of 10^-12. A double keeps 15 digits of a decimal, so of a number with n
 * digits before the point the first 15 - n places are right; the others are noise, and rounded off.
 */
function fraction(name: string): string {
  const scales = Array.from({ length: 12 }, (_, i) => {
    const places = 12 - i
    return `when abs(${name}) < 1e${15 - places} then ${places === 12 ? '1e12' : `1e${places}`}`
  })
  const scale = `case ${scales.join(' ')} else 1 end`
  return `cast(round((${name} - ${whole(name)}) * ${scale}) * (1e12 / ${scale}) as integer)`
}

function present({ name, groups, sums }: Tally, row: Record<string, unknown>): Total {
  return {
    day: String(row.day),
    resource: name,
    ...Object.fromEntries(groups.map((group) => [group, row[group]])),
    count: Number(row.count),
    sums: Object.fromEntries(
      sums
        .filter((sum) => row[`${sum}_0`] !== null)
        .map((sum) => [sum, decimal([0, 1, 2, 3].map((i) => BigInt(Number(row[`${sum}_${i}`]))))]),
    ),
  }
}

const TRILLION = 10n ** 12n

/** Four limbs as decimal text, without zeros at the end of a fraction. */
function decimal([high, low, fine, finest]: bigint[]): string {
  const limb = BigInt(LIMB)
  const units = (high! * limb + low!) * TRILLION + fine! * limb + finest!
  const size = units < 0n ? -units : units
  const places = String(size % TRILLION)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / TRILLION}${places && `.${places}`}`
}
