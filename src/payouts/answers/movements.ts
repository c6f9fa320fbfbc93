import type { StoredMovement } from '../model.ts'

// Which movements of money are known: the same one stands in several files, with and without the reference of the bank.

/** What tells the movements of a transfer apart. */
export type Movement = Pick<
  StoredMovement,
  'reference' | 'direction' | 'day' | 'bank_reference' | 'n'
>

/** What is known of a day: references of the bank, and which movements have none. */
interface Day {
  readonly references: Set<string>
  readonly bare: Set<number>
}

/** Returns what is known of movements, and remembers more of them. */
export function knownMovements(stored: readonly Movement[]) {
  const days = new Map<string, Day>()
  const firsts = new Map<string, string>()
  const note = ({ reference, direction, day, bank_reference, n }: Movement) => {
    const key = `${reference} ${direction} ${day}`
    const of = days.get(key) ?? { references: new Set(), bare: new Set() }
    days.set(key, of)
    if (bank_reference === '') of.bare.add(n)
    else of.references.add(bank_reference)
    const first = firsts.get(`${reference} ${direction}`)
    if (first === undefined) firsts.set(`${reference} ${direction}`, day)
  }
  for (const one of stored) note(one)
  return {
    note,
    /** Returns on which day a transfer moved in a direction; undefined if that is not known. */
    dayOf: (reference: string, direction: Movement['direction']) =>
      firsts.get(`${reference} ${direction}`),
    /**
     * Returns whether a movement is known, under one of these references. One with a reference of the bank is also one
     * without: as many of a day and a direction as are known are the same.
     */
    has({ direction, day, bank_reference, n }: Movement, ...names: readonly string[]): boolean {
      const keys = new Set(names.map((name) => `${name} ${direction} ${day}`))
      const all = [...keys].flatMap((key) => days.get(key) ?? [])
      const count = all.reduce(
        (sum, { references, bare }) => sum + bare.size + (bank_reference ? 0 : references.size),
        0,
      )
      return (
        count >= n ||
        all.some((of) => (bank_reference ? of.references.has(bank_reference) : of.bare.has(n)))
      )
    },
  }
}
