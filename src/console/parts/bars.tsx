import type { Child } from 'hono/jsx'

// Bars for categories: one below the other, so that their names fit into all widths.

/** A bar: its name, its value as it is written, and its size; null if the value cannot be compared. */
export interface Bar {
  readonly name: Child
  readonly text: Child
  readonly value: number | null
}

/** The most bars of a list. */
export const MAX_BARS = 12

interface BarListProps {
  readonly title: string
  readonly bars: readonly Bar[]
  /** Whether the bars keep their order, as those of weeks do; else the largest is the first. */
  readonly isInOrder?: boolean
}

/**
 * Renders values as bars that begin at 0. The bar of a negative value is left of the zero line. Everything is
 * in the document, so no script is needed.
 */
export function BarList({ title, bars, isInOrder = false }: BarListProps) {
  const sizeOf = ({ value }: Bar) => (value === null ? -1 : Math.abs(value))
  // The largest are shown, also those below 0; then they stand in their order.
  const largest = bars.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MAX_BARS)
  const byValue = largest.toSorted((a, b) => (b.value ?? -Infinity) - (a.value ?? -Infinity))
  const shown = isInOrder ? bars.slice(0, MAX_BARS) : byValue
  const values = bars.map(({ value }) => value ?? 0)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const percent = (value: number) => `${(value / (high - low || 1)) * 100}%`
  const rest = bars.length - MAX_BARS
  return (
    <section class="bar-list" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {shown.map(({ name, text, value }) => (
          <li>
            <span>{name}</span>
            <span class="number">{text}</span>
            <svg aria-hidden="true" width="100%" height="8">
              {value !== null && value !== 0 && (
                <rect
                  x={percent(Math.min(0, value) - low)}
                  width={percent(Math.abs(value))}
                  height="8"
                  rx="2"
                  class={value < 0 ? 'below' : undefined}
                />
              )}
            </svg>
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="note">{`The table has ${rest} more.`}</p>}
    </section>
  )
}
