import type { Child } from 'hono/jsx'
import { REQUEST_LIMITS } from '../../commission/limits.ts'
import { simulatePlan } from '../../commission/operations/simulations.ts'
import type { Simulated } from '../../commission/shapes/simulation.ts'
import { counted } from '../../commission/words/english.ts'
import type { Visit } from '../../pages/base/page.ts'
import {
  Amount,
  Amounts as AmountList,
  EmptyState,
  periodWords,
  visible,
} from '../../pages/parts/data.tsx'
import { AffiliateLink, AffiliateName } from '../../pages/parts/names.tsx'
import { differenceOf } from '../../pages/parts/owed.ts'
import { plainWords } from '../../pages/parts/plain-words.ts'
import type { PeriodSums } from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { DAY_MS } from '../../platform/durations.ts'
import { parsePeriod } from '../../platform/money/calendar.ts'
import { type Money, moneyOf, sumByCurrency } from '../../platform/money/sums.ts'

// What terms would have paid, beside what the plans in force paid.

/** What to simulate. */
export interface SimulationInput {
  readonly plan: string
  readonly period: string
  readonly terms: unknown
}

/** Returns the periods of a kind that have ended and have statements, the latest first. */
export function endedPeriods({ data }: PeriodSums, kind: unknown, now: number): string[] {
  const today = Math.floor(now / DAY_MS)
  const ended = data.flatMap(({ period }) => {
    const known = parsePeriod(period)
    return known && known.kind === kind && known.last < today ? [known] : []
  })
  return [...new Map(ended.map((one) => [one.id, one])).values()]
    .sort((a, b) => b.last - a.last)
    .map(({ id }) => id)
}

/** What an affiliate got, and would have got. */
interface Compared {
  readonly affiliate: string
  readonly current: readonly Money[]
  readonly simulated: readonly Money[]
}

/** Returns the amounts that are not 0, or the first one if all are. */
function shownOf(money: readonly Money[]): readonly Money[] {
  const some = money.filter(({ amount }) => /[1-9]/.test(amount))
  return some.length > 0 ? some : money.slice(0, 1)
}

const moneyBy = (rows: Simulated['data'], side: 'current' | 'simulated'): Money[] =>
  moneyOf(sumByCurrency(rows.map((row) => ({ amount: row[side], currency: row.currency }))))

/** Returns the rows of a simulation by affiliate: one may have several plans and currencies. */
function byAffiliate(rows: Simulated['data']): Compared[] {
  const groups = Map.groupBy(rows, ({ affiliate_id }) => affiliate_id)
  return [...groups].map(([affiliate, own]) => ({
    affiliate,
    current: moneyBy(own, 'current'),
    simulated: moneyBy(own, 'simulated'),
  }))
}

const sizeOf = ({ current, simulated }: Compared): number =>
  Math.max(...[...simulated, ...current].map(({ amount }) => Math.abs(Number(amount))), 0)

/** Renders amounts: `12.00 EUR and 3.00 USD`. */
export const Sum = ({ money }: { money: readonly Money[] }) =>
  money.length === 0 ? (
    <strong>nothing</strong>
  ) : (
    shownOf(money).map(({ amount, currency }, i) => (
      <>
        {i > 0 && ' and '}
        <strong>
          <Amount value={amount} currency={currency} />
        </strong>
      </>
    ))
  )

/** Computes and renders what terms would have paid each affiliate, those with the largest amounts first. */
export async function computeFigures(visit: Visit, input: SimulationInput): Promise<Child> {
  const { terms: version, ...sent } = input
  const result = await visit.api.call(simulatePlan, {
    account: visit.account,
    version,
    ...sent,
  })
  const rows = byAffiliate(result.data).toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const current = moneyBy(result.data, 'current')
  const simulated = moneyBy(result.data, 'simulated')
  const span = periodWords(result.period)
  if (rows.length === 0 && result.skipped.length === 0) {
    const why = 'Nobody here has this plan, so nothing was compared.'
    const none = `No affiliate earned anything in ${span}, under these terms or now.`
    return <EmptyState title={result.affiliates > 0 ? none : why} />
  }
  return (
    <>
      <p>
        In {span} these terms would have paid <Sum money={simulated} />. The terms in force pay{' '}
        <Sum money={current} />. Neither has manual entries and corrections of earlier periods.
      </p>
      {result.skipped.map((affiliate_id) => (
        <p class="notice bad">
          <AffiliateName id={affiliate_id} /> is left out, because it depends on more than{' '}
          {REQUEST_LIMITS.facts.toLocaleString('en')} records.
        </p>
      ))}
      {result.warnings.map(({ message }) => (
        <p class="note">Please check: {visible(plainWords(message))}</p>
      ))}
      <Table
        caption={`${span}, ${counted(rows.length, 'affiliate')}`}
        rows={rows}
        columns={{
          Affiliate: ({ affiliate }) => <AffiliateLink id={affiliate} />,
          'In force': {
            number: (row) => <AmountList amounts={shownOf(row.current)} />,
          },
          'These terms': {
            number: (row) => <AmountList amounts={shownOf(row.simulated)} />,
          },
          Difference: {
            number: ({ current, simulated }) => (
              <AmountList
                amounts={shownOf(differenceOf(sumByCurrency(simulated), sumByCurrency(current)))}
              />
            ),
          },
        }}
      />
      {result.meta.next_cursor && (
        <p class="note">These are the first affiliates. There are more.</p>
      )}
    </>
  )
}
