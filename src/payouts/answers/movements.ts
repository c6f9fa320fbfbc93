import type { StoredMovement } from '../model.ts'

// Which movements of money are known: the same one stands in several files, with and without the reference of the bank.

/** What tells the movements of a transfer apart. */
export type Movement = Pick<
  StoredMovement,
  'reference' | 'direction' | 'day' | 'bank_reference' | 'n'
>

type Direction = Movement['direction']

/** Returns what is known of movements, and remembers more of them. */
export function knownMovements(stored: readonly Movement[]) {
  const known = new Map<string, Movement[]>()
  const of = (name: string, direction: Direction) => known.get(`${name} ${direction}`) ?? []
  const note = (one: Movement) => {
    const own = of(one.reference, one.direction)
    own.push(one)
    known.set(`${one.reference} ${one.direction}`, own)
  }
  for (const one of stored) note(one)
  return {
    note,
    /** Returns on which day a transfer moved first in a direction; undefined if that is not known. */
    dayOf: (name: string, direction: Direction) => of(name, direction)[0]?.day,
    /**
     * Returns whether a movement is known, under one of these references. One with a reference of the bank is also one
     * without: as many of a day and a direction as are known are the same.
     */
    has({ direction, day, bank_reference, n }: Movement, ...names: readonly string[]): boolean {
      const all = [...new Set(names)].flatMap((name) => of(name, direction))
      const same = all.filter((one) => one.day === day)
      const bare = same.filter((one) => one.bank_reference === '')
      if (bank_reference === '') return same.length >= n || bare.some((one) => one.n === n)
      return bare.length >= n || same.some((one) => one.bank_reference === bank_reference)
    },
  }
}
