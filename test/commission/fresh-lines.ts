import { settle, sumFacts } from '../../src/commission/run/compute.ts'
import { unbooked } from '../../src/commission/run/starts.ts'
import type { Booked } from '../books/check-books.ts'
import { add, isZero, parse, plain, type Rational, ZERO } from './oracle/rational.ts'
import { accountOf } from './stored.ts'

export type Amounts = readonly (readonly [line: readonly unknown[], amount: string])[]

/** Returns the sum of each line of each period as text; lines of 0 are left out. */
export function sumsOf(amounts: Amounts): string[] {
  const sums = new Map<string, Rational>()
  for (const [line, amount] of amounts) {
    const key = JSON.stringify(line)
    sums.set(key, add(sums.get(key) ?? ZERO, parse(amount)))
  }
  return [...sums].flatMap(([key, one]) => (isZero(one) ? [] : [`${key} ${plain(one)}`])).sort()
}

/** Returns what statements say of each line: its own amount and its adjustments. */
export const bookedLines = (statements: readonly Booked[]): string[] =>
  sumsOf(
    statements.flatMap(
      ({ affiliate_id, plan, period, own, adjustments }): Amounts => [
        ...own.map(
          ({ rule, version, scope, amount }) =>
            [[affiliate_id, plan, period, rule, version, scope], amount] as const,
        ),
        ...adjustments.flatMap(({ of, rule, version, scope, amount }) =>
          of.line === null
            ? []
            : [[[affiliate_id, plan, of.period, rule, version, scope], amount] as const],
        ),
      ],
    ),
  )

/** Computes each line up to a period from the records, as if nothing had been closed. */
export async function freshLines(
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<string[]> {
  const start = unbooked(await accountOf(account, period), affiliates)
  const results = settle(start, await sumFacts(start), affiliates)
  return sumsOf(
    results.flatMap(({ statement }) =>
      (statement?.lines ?? []).map(({ rule, version, scope, amount }) => {
        const { affiliate_id, plan, period: of } = statement ?? {}
        return [[affiliate_id, plan, of, rule, version, scope], amount] as const
      }),
    ),
  )
}
