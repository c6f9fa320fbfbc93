import { counted, figure, money } from '../../commission/engine/reasons.ts'
import type { Figure, LeftOut } from '../../fraud/kind.ts'
import { KINDS } from '../../fraud/kinds.ts'
import { titleOf } from '../../pages/parts/data.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { FraudCase } from './case-parts.tsx'

// The figures of a case beside their thresholds.

/** Units that are counted, in their singular. */
const COUNTED: Readonly<Record<string, string>> = {
  customers: 'customer',
  bets: 'bet',
  days: 'day',
  fees: 'fee',
  hours: 'hour',
  records: 'record',
  seconds: 'second',
  signups: 'signup',
  transactions: 'transaction',
}

/** Writes a value of a figure with its unit: `80 %`, `1,200.00 EUR`, `3 days`. */
export function figureText(value: string, unit: string): string {
  if (unit === 'percent') return `${figure(value)} %`
  if (unit === 'points') return `${figure(value)} percentage points`
  if (/^[A-Z]{3}$/.test(unit)) return money(value, unit)
  const one = Object.hasOwn(COUNTED, unit) ? COUNTED[unit] : undefined
  return one && /^\d+$/.test(value)
    ? counted(Number(value), one)
    : `${figure(value)} ${unit}`.trim()
}

/** What a value is, compared with its threshold. */
const COMPARISONS: Readonly<Record<Figure['comparison'], string>> = {
  at_least: 'at least',
  at_most: 'at most',
  more_than: 'more than',
  less_than: 'less than',
}

/** The titles of figures whose name does not say it well. */
const TITLES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...KINDS.map(({ titles }) => titles),
)

const figureTitle = (name: string): string =>
  Object.hasOwn(TITLES, name) ? (TITLES[name] ?? name) : titleOf(name)

/** Says which amounts a figure leaves out: `2 amounts in XOF are left out: there is no rate.` */
function leftOutText({ currency, amounts }: LeftOut): string {
  const verb = amounts === 1 ? 'is' : 'are'
  return currency === null
    ? `${counted(amounts, 'amount')} without a currency ${verb} left out.`
    : `${counted(amounts, 'amount')} in ${currency} ${verb} left out, because there is no rate.`
}

/** A value that is compared with one threshold or several. */
interface Compared {
  readonly figure: Figure
  readonly thresholds: readonly string[]
}

/** Units that are measured, although they are written with a plural. */
const MEASURED: ReadonlySet<string> = new Set(['days', 'hours', 'seconds'])

const thresholdText = ({ comparison, threshold, unit }: Figure): string => {
  const isFewer = comparison === 'less_than' && Object.hasOwn(COUNTED, unit) && !MEASURED.has(unit)
  return `${isFewer ? 'fewer than' : COMPARISONS[comparison]} ${figureText(threshold, unit)}`
}

/** Joins figures of the same value: it is shown once. */
const joinSame = (figures: readonly Figure[]): Compared[] =>
  [
    ...Map.groupBy(figures, ({ name, value, unit }) =>
      JSON.stringify([name, value, unit]),
    ).values(),
  ].flatMap((same): Compared[] => {
    const [first, ...others] = same
    if (!first) return []
    return [{ figure: { ...others[0], ...first }, thresholds: same.map(thresholdText) }]
  })

/** Renders what a rule compared, each beside its threshold. */
export const Figures = ({ figures }: Pick<FraudCase, 'figures'>) => (
  <Table
    caption="What was compared"
    rows={joinSame(figures)}
    columns={{
      Figure: ({ figure: { name } }) => figureTitle(name),
      Found: {
        number: ({ figure: { value, unit } }) => <strong>{figureText(value, unit)}</strong>,
      },
      Threshold: { number: ({ thresholds }) => thresholds.join(', ') },
      'Left out':
        figures.some(({ left_out }) => left_out) &&
        (({ figure: { left_out = [] } }) =>
          left_out.map((one) => <small class="line">{leftOutText(one)}</small>)),
    }}
  />
)
