import type { StoredMovement } from '../model.ts'

// Which movements of money are known: the same one stands in several files, with and without the reference of the bank.

/** What tells the movements of a transfer apart. */
export type Movement = Pick<
  StoredMovement,
  'reference' | 'direction' | 'day' | 'other' | 'bank_reference' | 'n'
>

/** Returns what is known of movements, and remembers more of them. */
export function knownMovements(stored: readonly Movement[]) {
  /** The movements of a reference, a direction, a day and another amount, and how many of them have no reference of the bank. */
  const days = new Map<string, { readonly marks: Set<string>; bare: number }>()
  const firsts = new Map<string, string>()
  const markOf = ({ bank_reference, n }: Movement) => bank_reference || `#${n}`
  const note = (one: Movement) => {
    const of = `${one.reference} ${one.direction}`
    const day = days.get(`${of} ${one.day} ${one.other}`) ?? { marks: new Set(), bare: 0 }
    day.marks.add(markOf(one))
    if (one.bank_reference === '') day.bare += 1
    days.set(`${of} ${one.day} ${one.other}`, day)
    firsts.set(of, firsts.get(of) ?? one.day)
  }
  for (const one of stored) note(one)
  return {
    note,
    /** Returns on which day a transfer moved first in a direction; undefined if that is not known. */
    dayOf: (reference: string, direction: Movement['direction']) =>
      firsts.get(`${reference} ${direction}`),
    /**
     * Returns whether a movement is known, under one of these references. One with a reference of the bank is also one
     * without: as many of a day and a direction as are known are the same.
     */
    has(one: Movement, ...names: readonly string[]): boolean {
      const keys = [...new Set(names)].map(
        (name) => `${name} ${one.direction} ${one.day} ${one.other}`,
      )
      const known = keys.flatMap((key) => days.get(key) ?? [])
      const counts = known.map(({ marks, bare }) => (one.bank_reference ? bare : marks.size))
      const count = counts.reduce((sum, n) => sum + n, 0)
      return count >= one.n || known.some(({ marks }) => marks.has(markOf(one)))
    },
  }
}
