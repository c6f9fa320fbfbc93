import { abortAllDurableObjects, evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { fractions } from '../../scripts/dev/fractions.ts'
import { CURABLE, OVERLOAD } from '../platform/faulty.ts'
import type { Call } from './platform.ts'
import { TABLES } from './state.ts'

/** A fault of one call of a request: the nth of its name, or all from there on. */
export interface Fault {
  call: string
  nth: number
  lasting: boolean
  /** A description for messages. */
  is: string
  /** Whether the service's own retry succeeds, unless the fault lasts. */
  cured: boolean
  /** The largest number of retries of the call; twice as many if the fault lasts. */
  again: number
  /** Whether it hits every running request, so that it must be the only one. */
  alone: boolean
  happen: (act: () => Promise<unknown>, call: Call) => Promise<unknown>
}

const failure = (message: string, flags = {}) => Object.assign(new Error(message), flags)

/** A way to fail: the error, and whether another try succeeds. */
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

const R2_KINDS: readonly Kind[] = [
  [() => failure('get: We encountered an internal error. (10001)'), true],
  [() => failure('get: Reduce your request rate. (10058)'), false],
]

const kindsOf = ({ db, stub, name }: Call) => {
  if (db) return D1_KINDS
  if (name.startsWith('EXPORTS.')) return R2_KINDS
  return stub ? OBJECT_KINDS : ([[() => failure('gone'), false]] as Kind[])
}

/** A call of a request: the nth of its name. */
export interface Place extends Call {
  nth: number
}

/** Returns a function that says whether a call site, of any request, is new to it. */
export function newCallSites() {
  const met = new Set<string>()
  return ({ name, sql }: Place) => {
    const { size } = met
    return met.add(`${name} ${sql}`).size > size
  }
}

/** Returns a fault that throws before the effect of a call, or after. */
export const failing = (
  { name, nth }: Place,
  [error, cured]: Kind,
  after: boolean,
  lasting: boolean,
) => ({
  call: name,
  nth,
  lasting,
  cured,
  again: Number(cured),
  alone: false,
  is: `${error().message} ${after ? 'after' : 'before'}${lasting ? ', and so on' : ''}`,
  happen: async (act: () => Promise<unknown>) => {
    if (after) await act().catch(() => {})
    throw error()
  },
})

/** Returns a fault only for calls of objects. */
const toObject = ({ stub }: Place, fault: Fault): Fault[] => (stub ? [fault] : [])

/** Returns the eviction of an object before the call. */
export const evicted = (place: Place): Fault[] =>
  toObject(place, {
    call: place.name,
    nth: place.nth,
    lasting: false,
    cured: true,
    again: 0,
    alone: false,
    is: 'evicted before',
    happen: async (act, { stub }) => {
      // Fails for an object that is not running.
      await evictDurableObject(stub!).catch(() => {})
      return act()
    },
  })

/** Returns the abortion of an object before its response arrives. */
export const aborted = (place: Place): Fault[] =>
  toObject(place, {
    // The error has no flag that says whether a retry is useful.
    call: place.name,
    nth: place.nth,
    lasting: false,
    cured: false,
    again: 1,
    alone: true,
    is: 'aborted meanwhile',
    happen: async (act) => {
      const answer = act()
      answer.catch(() => {})
      await abortAllDurableObjects()
      return answer
    },
  })

/** Returns, for each table of a call, its absence: the running version is newer than the migration. */
export const unmigrated = ({ name, nth, sql, db }: Place): Fault[] =>
  TABLES.filter((table) => new RegExp(`\\b${table}\\b`).test(sql)).map((table) => ({
    call: name,
    nth,
    lasting: false,
    cured: false,
    // Reads that were sent together are then sent one by one.
    again: Number(isReading(sql)),
    alone: true,
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

/** Whether a call to D1 only reads. */
export const isReading = (sql: string) =>
  /^(select|with)\b(?!.*\b(insert|update|delete)\b)/is.test(sql)

const random = fractions(env.DAY)

/** Draws some of a list by the day. */
export const draw = <T>(list: readonly T[], count: number): T[] =>
  list
    .map((one) => ({ one, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ one }) => one)

/** Returns every fault of a place. */
export const allOf = (place: Place): Fault[] => [
  ...kindsOf(place).flatMap((kind) =>
    WHEN.flatMap((after) => WHEN.map((lasting) => failing(place, kind, after, lasting))),
  ),
  ...unmigrated(place),
  ...aborted(place),
  ...evicted(place),
]

/** Returns the transient faults of a place that happen once, for pairs of them. */
export const onceOf = (place: Place): Fault[] =>
  WHEN.map((after) => failing(place, kindsOf(place)[0]!, after, false))

/** Returns the transient faults of a place that last. */
export const lastingOf = (place: Place): Fault[] =>
  WHEN.map((after) => failing(place, kindsOf(place)[0]!, after, true))
