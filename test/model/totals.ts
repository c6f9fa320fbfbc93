import type { Data } from './oracle.ts'

/** A line of the control totals: a group with its exact sums. */
export interface Total {
  day: string
  resource: string
  count: number
  sums?: Record<string, string>
  [by: string]: unknown
}

const PLACES = 12

/** Returns a decimal in units of its twelfth place. */
function units(written: unknown): bigint {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(written))!
  return BigInt(`${sign}${whole}${part.padEnd(PLACES, '0')}`)
}

/** Returns such a number as the shortest decimal text. */
function decimal(sum: bigint): string {
  const digits = String(sum < 0n ? -sum : sum).padStart(PLACES + 1, '0')
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '')
  return sum < 0n ? `-${text}` : text
}

/** Whether a value is a decimal, as number or as text. */
export const isDecimal = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))

/** Returns a text that is equal exactly for equal decimals. */
export const canonical = (value: unknown) => decimal(units(value))

/** Counts and sums records by day and by the group of the resource. */
export function totalsOf(resource: string, lines: { day: string; by: Data; amounts: Data }[]) {
  const groups = new Map<string, { head: Data; count: number; sums: Map<string, bigint> }>()
  for (const { day, by, amounts } of lines) {
    const head = { day, resource, ...by }
    const name = JSON.stringify(head)
    const group = groups.get(name) ?? { head, count: 0, sums: new Map() }
    group.count += 1
    for (const [member, amount] of Object.entries(amounts))
      if (amount !== undefined)
        group.sums.set(member, (group.sums.get(member) ?? 0n) + units(amount))
    groups.set(name, group)
  }
  return [...groups.values()].map(({ head, count, sums }) => ({
    ...head,
    count,
    sums: Object.fromEntries([...sums].map(([member, sum]) => [member, decimal(sum)])),
  })) as unknown as Total[]
}
