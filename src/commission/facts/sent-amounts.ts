import { factAmount } from '../engine/decimal.ts'
import type { Amounts } from '../engine/facts.ts'

/**
 * The amounts of a record, read from the row or object that has them. An amount becomes exact when it is
 * asked for: most facts are asked for one of theirs. Plans name no other column of a row. A class, since
 * closures would cost each of a million facts more memory than its amounts.
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
    return typeof value === 'number' ? factAmount(value) : undefined
  }

  *[Symbol.iterator](): Generator<readonly [string, bigint]> {
    for (const field of this.#fields) {
      const units = this.get(field)
      if (units !== undefined) yield [field, units]
    }
  }
}
