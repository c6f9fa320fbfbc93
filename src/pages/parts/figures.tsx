import type { Child } from 'hono/jsx'
import type { Money } from '../../platform/money/sums.ts'
import { Amount } from './data.tsx'

// The large figures at the top of a page.

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
