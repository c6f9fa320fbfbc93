import { factAmount } from '../engine/decimal.ts'
import type { Amounts } from '../engine/facts.ts'

/**
 * The amounts of a record, read from its row or its object of KPIs. An amount is converted to an exact
 * number when it is read, since plans read only one or two amounts of most facts. This is a class because
 * the closures of a function would take more memory than the amounts, for each of a million facts.
 */
export class SentAmounts implements Amounts {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #fields: readonly string[]

  constructor(values: Readonly<Record<string, unknown>>, fields: readonly string[]) {
    this.#values = values
    this.#fields = fields
  }

  has(field: string): boolean {
    return typeof this.#values[field] === 'number'
  }

  get(field: string): bigint | undefined {
    const value = this.#values[field]
    return typeof value === 'number' ? this.unitsOf(value) : undefined
  }

  /** Returns a value as an exact number. */
  protected unitsOf(value: number): bigint {
    return factAmount(value)
  }

  *[Symbol.iterator](): Generator<readonly [string, bigint]> {
    for (const field of this.#fields) {
      const units = this.get(field)
      if (units !== undefined) yield [field, units]
    }
  }
}

/** The amounts of an outflow that was sent negative: their magnitudes (§16.26). */
export class SentMagnitudes extends SentAmounts {
  protected override unitsOf(value: number): bigint {
    return factAmount(Math.abs(value))
  }
}
