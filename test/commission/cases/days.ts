import {
  dayNumber,
  dayText,
  nextPeriod,
  overlapping,
  parsePeriod,
  periodOf,
  quarterOf,
  storedPeriod,
} from '../../../src/commission/engine/calendar.ts'
import {
  buildPlansInForce,
  governingVersion,
  overrideVersion,
} from '../../../src/commission/engine/plans-in-force.ts'
import { buildTree } from '../../../src/commission/engine/tree.ts'
import { dayOf, terms } from './build.ts'
import { type Case, example } from './case.ts'

const ids = (of: string): (string | null)[] => [parsePeriod(of)?.id ?? null]
const once = { id: 'r', kind: 'once', trigger: { signup: true }, amount: '1' } as const

/** Builds the plans in force: one plan `P` whose versions have these first days, in this order. */
const plansInForceOf = (from: readonly string[], assignments: readonly [string, string][] = []) =>
  buildPlansInForce({
    plans: [
      {
        plan: 'P',
        versions: from.map((effective_from, index) => ({
          version: index + 1,
          terms: terms(index === 0 ? [once] : [], { effective_from }),
        })),
      },
      { plan: 'empty', versions: [] },
    ],
    assignments: assignments.map(([plan, day]) => ({
      affiliate_id: 'A',
      plan,
      from: dayOf(day),
      customers: 'all',
    })),
    minorDigits: () => 2,
  })

const parents = (pairs: readonly (readonly [string, string | null])[]) =>
  buildTree(
    pairs.map(([affiliate_id, value]) => ({ affiliate_id, parents: [{ from: null, value }] })),
  )

/** Examples of periods, versions, assignments and the tree. */
export const DAYS: readonly Case[] = [
  example(
    'periods that are none',
    () =>
      ['2026-13', '2026-W54', '2027-W53', '2026-W00', 'x2026-10', '2026-10x', '2026-W41x'].flatMap(
        ids,
      ),
    Array.from({ length: 7 }, () => null),
  ),
  example('periods', () => ['2026-10', '2026-W53', '2026-W01'].flatMap(ids), [
    '2026-10',
    '2026-W53',
    '2026-W01',
  ]),
  example(
    'a stored id that is not a period is an error',
    () => {
      try {
        return storedPeriod('2026-13')
      } catch (error) {
        return String(error)
      }
    },
    'Error: 2026-13 is not a period.',
  ),
  example(
    'the year of a week has four digits',
    () => periodOf(dayNumber('0999-06-05'), 'week').id,
    '0999-W23',
  ),
  example('the text of a day', () => dayText(dayNumber('2026-02-03')), '2026-02-03'),
  example('the periods before and after', () => {
    const month = parsePeriod('2026-12')!
    const week = parsePeriod('2026-W53')!
    return [
      nextPeriod(month, 1),
      nextPeriod(month, -1),
      nextPeriod(week, 1),
      nextPeriod(week, -1),
    ].map(({ id }) => id)
  }, ['2027-01', '2026-11', '2027-W01', '2026-W52']),
  example(
    'the number of a quarter',
    () => ['2026-03-31', '2026-04-01', '2027-01-01'].map((day) => quarterOf(dayNumber(day))),
    [8104, 8105, 8108],
  ),
  example(
    'a week that starts on the last day of a month overlaps it',
    () => overlapping(parsePeriod('2026-08')!).map(({ id }) => id),
    ['2026-W31', '2026-W32', '2026-W33', '2026-W34', '2026-W35', '2026-W36'],
  ),
  example(
    'the months of a week',
    () => overlapping(parsePeriod('2026-W36')!).map(({ id, kind }) => `${kind} ${id}`),
    ['month 2026-08', 'month 2026-09'],
  ),
  example(
    'versions stand in order of `effective_from`, then version',
    () =>
      plansInForceOf(['2026-03-01', '2026-01-01', '2026-02-01', '2026-01-01'])
        .plans.get('P')!
        .versions.map(({ version }) => version),
    [2, 4, 3, 1],
  ),
  example(
    'a plan without versions is left out',
    () => [...plansInForceOf(['2026-01-01']).plans.keys()],
    ['P'],
  ),
  example('no version governs without a plan', () => {
    const inForce = plansInForceOf(['2026-01-01'], [['gone', '2026-01-01']])
    const day = dayOf('2026-02-01')
    return [
      governingVersion(inForce, 'A', day, day),
      governingVersion(inForce, 'B', day, day),
      overrideVersion(inForce, 'A', day),
      overrideVersion(inForce, 'B', day),
    ]
  }, [null, null, null, null]),
  example('without assignments there are none, and those of `*` end with the first own', () => {
    const inForce = buildPlansInForce({
      plans: [],
      assignments: (
        [
          ['*', 1],
          ['*', 5],
          ['A', 3],
          ['*', 3],
        ] as const
      ).map(([affiliate_id, from]) => ({ affiliate_id, plan: 'P', from, customers: 'new' })),
      minorDigits: () => 2,
    })
    const found = (id: string) =>
      inForce.assignmentsOf(id).map(({ affiliate_id, from }) => `${affiliate_id}${from}`)
    return [found('A'), found('B'), plansInForceOf([]).assignmentsOf('A')]
  }, [['*1', 'A3'], ['*1', '*3', '*5'], []]),
  example('a circle of parents ends', () => {
    const tree = parents([
      ['A', 'B'],
      ['B', 'C'],
      ['C', 'B'],
      ['D', 'D'],
    ])
    return [tree.uplines('A', 0), tree.uplines('B', 0), tree.uplines('D', 0)]
  }, [['B', 'C'], ['C'], []]),
  example('a parent that is not configured is none', () => {
    const tree = parents([
      ['A', 'gone'],
      ['B', null],
      ['C', 'B'],
    ])
    return [
      tree.uplines('A', 0),
      tree.uplines('B', 0),
      tree.below('B', 1, 0),
      tree.below('null', 1, 0),
    ]
  }, [[], [], ['C'], []]),
]
