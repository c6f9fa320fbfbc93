import type { Child } from 'hono/jsx'
import { Amount } from './data.tsx'
import type { Money } from './owed.ts'

// The large figures at the top of a page.

const [WIDTH, HEIGHT, GAP] = [120, 28, 2]

/** Draws values as bars, the latest last. A negative value has a bar below the line. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  if (low === high) return null
  const heightOf = (value: number) => (Math.abs(value) / (high - low)) * HEIGHT
  const zero = heightOf(high)
  const step = WIDTH / values.length
  const round = (value: number) => Math.round(value * 10) / 10
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, i) => (
        <rect
          x={round(i * step)}
          y={round(value < 0 ? zero : zero - heightOf(value))}
          width={round(step - GAP)}
          height={round(Math.max(heightOf(value), 1))}
          class={i === values.length - 1 ? 'latest' : undefined}
        />
      ))}
    </svg>
  )
}

/** Renders a card with a title, its figures, and what they mean. */
export const FigureCard = ({ title, children }: { title: Child; children?: Child }) => (
  <section class="figure-card">
    <h2>{title}</h2>
    {children}
  </section>
)

/** Renders amounts, one line each. */
export const Moneys = ({ amounts, none }: { amounts: readonly Money[]; none: string }): Child =>
  amounts.length === 0 ? (
    <p class="big quiet">{none}</p>
  ) : (
    amounts.map(({ amount, currency }) => (
      <p class="big">
        <Amount value={amount} currency={currency} />
      </p>
    ))
  )

/**
 * Says what the whole period before has. It is not compared with what there is so far, because a statement has no
 * days: a part of a month is no share of another month.
 */
export const WholeText = ({ amount, of }: { amount: Money; of: string }) => (
  <>
    {of} as a whole: <Amount value={amount.amount} currency={amount.currency} />
  </>
)
