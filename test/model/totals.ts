import type { Data } from './oracle.ts'

/** One line of the control totals: what counts as one group, and its exact sums. */
export interface Total {
  day: string
  resource: string
  count: number
  sums?: Record<string, string>
  [by: string]: unknown
}

const PLACES = 12

/** A decimal as it was written, in units of its twelfth place. */
function units(written: unknown): bigint {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(written))!
  return BigInt(`${sign}${whole}${part.padEnd(PLACES, '0')}`)
}

/** The same as the shortest decimal text. */
function decimal(sum: bigint): string {
  const digits = String(sum < 0n ? -sum : sum).padStart(PLACES + 1, '0')
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '')
  return sum < 0n ? `-${text}` : text
}

/** Whether it is a decimal, as number or as text. */
export const isDecimal = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))

/** What is equal if, and only if, the decimals are. */
export const canonical = (value: unknown) => decimal(units(value))

/** What is counted and summed: by day, and by what the resource is grouped by. */
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
