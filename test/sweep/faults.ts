import { abortAllDurableObjects, evictDurableObject } from 'cloudflare:test'
import { CURABLE, OVERLOAD } from '../faulty.ts'
import type { Call } from './platform.ts'
import { TABLES } from './state.ts'

/** Something that happens to one call of a request: to the nth of its name, or to all from there. */
export interface Fault {
  call: string
  nth: number
  lasting: boolean
  /** What it is, for the title. */
  is: string
  /** Whether our own retry cures it, if it does not last. */
  cured: boolean
  /** How often the call is asked again for it, at most; twice as often if it lasts. */
  again: number
  /** It meets whatever is under way, so nothing else may be. */
  alone: boolean
  happen: (act: () => Promise<unknown>, call: Call) => Promise<unknown>
}

const failure = (message: string, flags = {}) => Object.assign(new Error(message), flags)

/** How a call may fail: what is thrown, and whether another try cures it. */
export type Kind = readonly [error: () => Error, cured: boolean]

const D1_KINDS: readonly Kind[] = [
  ...CURABLE.map((text): Kind => [() => failure(text), true]),
  ...OVERLOAD.map((text): Kind => [() => failure(text), false]),
]
const OBJECT_KINDS: readonly Kind[] = [
  [() => failure('retryable', { retryable: true }), true],
  [() => failure('overloaded', { overloaded: true }), false],
  [() => failure('both', { retryable: true, overloaded: true }), false],
  [() => failure('neither'), false],
]

const kindsOf = ({ db, stub }: Call) => {
  if (db) return D1_KINDS
  return stub ? OBJECT_KINDS : ([[() => failure('gone'), false]] as Kind[])
}

/** Which call it is: the nth of its name. */
export interface Place extends Call {
  nth: number
}

/** A call fails, before it takes effect or after. */
export const failing = (
  { name, nth }: Place,
  [error, cured]: Kind,
  after: boolean,
  lasting: boolean,
) => ({
  ...{ call: name, nth, lasting, cured, again: Number(cured), alone: false },
  is: `${error().message} ${after ? 'after' : 'before'}${lasting ? ', and so on' : ''}`,
  happen: async (act: () => Promise<unknown>) => {
    if (after) await act().catch(() => {})
    throw error()
  },
})

/** What happens to objects only. */
const toObject = ({ stub }: Place, fault: Fault): Fault[] => (stub ? [fault] : [])

/** An object is evicted before it is asked. */
export const evicted = (place: Place): Fault[] =>
  toObject(place, {
    ...{ call: place.name, nth: place.nth, lasting: false, cured: true, again: 0, alone: false },
    is: 'evicted before',
    happen: async (act, { stub }) => {
      // One that does not run is gone already.
      await evictDurableObject(stub!).catch(() => {})
      return act()
    },
  })

/** An object is aborted before it is heard. */
export const aborted = (place: Place): Fault[] =>
  toObject(place, {
    // What the caller is told then has no flag that says whether another try would help.
    ...{ call: place.name, nth: place.nth, lasting: false, cured: false, again: 1, alone: true },
    is: 'aborted meanwhile',
    happen: async (act) => {
      const answer = act()
      answer.catch(() => {})
      await abortAllDurableObjects()
      return answer
    },
  })

/** A table that a call names is not there: the version that runs came before its migration. */
export const unmigrated = ({ name, nth, sql, db }: Place): Fault[] =>
  TABLES.filter((table) => new RegExp(`\\b${table}\\b`).test(sql)).map((table) => ({
    ...{ call: name, nth, lasting: false, cured: false, again: 0, alone: true },
    is: `without ${table}`,
    happen: async (act) => {
      await db!.prepare(`alter table ${table} rename to missing`).run()
      try {
        return await act()
      } finally {
        await db!.prepare(`alter table missing rename to ${table}`).run()
      }
    },
  }))

const WHEN = [false, true]

/** The number of places so far: every second place meets a lasting fault before its effect. */
let places = 0

/**
 * Returns the faults of a place in `npm test`: a transient fault before and after its effect, a
 * lasting one at one of these moments, and an overload at the other. `npm run pairs` has all of them.
 */
export const fewOf = (place: Place): Fault[] => {
  const [first] = kindsOf(place)
  const overload = kindsOf(place).find(([, cured]) => !cured)!
  const isAfter = places++ % 2 === 1
  return [
    ...WHEN.map((after) => failing(place, first!, after, false)),
    failing(place, first!, isAfter, true),
    ...(overload === first ? [] : [failing(place, overload, !isAfter, false)]),
  ]
}

/** All that can be thrown at a place. */
export const allOf = (place: Place): Fault[] =>
  kindsOf(place).flatMap((kind) =>
    WHEN.flatMap((after) => WHEN.map((lasting) => failing(place, kind, after, lasting))),
  )

/** The transient faults of a place that happen once, for pairs of them. */
export const onceOf = (place: Place): Fault[] =>
  WHEN.map((after) => failing(place, kindsOf(place)[0]!, after, false))

/** Its transient fault, for as long as it is asked. */
export const lastingOf = (place: Place): Fault[] =>
  WHEN.map((after) => failing(place, kindsOf(place)[0]!, after, true))
