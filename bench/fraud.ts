import { add, type Decimal, decimal, fixedText, ZERO } from '../src/commission/engine/decimal.ts'
import type { Kind, Vertical } from '../src/fraud/kind.ts'
import { kindsOf } from '../src/fraud/kinds.ts'
import { type SimulatedCase, sumHeld } from '../src/fraud/simulate.ts'
import { type Chapter, formatHundredths, formatInteger, type Table } from './chapter.ts'
import { YEAR } from './fraud/days.ts'
import { drawsOf } from './fraud/draw.ts'
import { type Book, bookOf, casesOfKind } from './fraud/evaluate.ts'
import { PATTERNS, PLANTED, STRENGTHS, type Strength } from './fraud/patterns.ts'
import { PROPOSALS } from './fraud/proposals.ts'
import { affiliatesOf, customersOf } from './fraud/year.ts'
import type { World } from './world.ts'

/** The affiliates that each pattern is planted into, one after another. */
const PLANTINGS = 4

/** The first seed. The terms in `proposals.ts` were chosen on the years of the seeds 1 to 3, so these are others. */
const SEEDS = 11

const VERTICALS: readonly Vertical[] = ['forex', 'igaming', 'prop-trading']

/** The cases of a kind in a year: those of the honest year, and those of each planted pattern. */
interface Result {
  readonly honest: readonly SimulatedCase[]
  readonly planted: Readonly<Record<Strength, readonly (readonly SimulatedCase[])[]>>
}

/**
 * Applies every kind of fraud rule to an honest year and to planted fraud. Nothing of it depends on the machine.
 * It needs no running service.
 */
export async function fraud({ scale: { affiliates } }: Pick<World, 'scale'>): Promise<Chapter> {
  const tables = VERTICALS.flatMap((vertical, seed) => tablesOf(vertical, SEEDS + seed, affiliates))
  return {
    title: 'Fraud rules',
    notes: `An honest year of ${affiliates} affiliates, each with 400 customers on average, in each vertical, whose distributions stand in \`bench/fraud/year.ts\` and \`bench/fraud/lives.ts\`, and each pattern of \`bench/fraud/patterns.ts\` in three strengths, planted one by one into ${PLANTINGS} affiliates from the largest to the smallest that have no case of the kind. Every kind has its default parameters and is applied to each day. Found: of the patterns, how many opened a case of the affiliate or of a planted customer that the honest year does not have. False alarms: cases of the honest year by affiliate and year. Held: what is payable while a case is open, if it holds the payouts and nobody decides: of all patterns of the middle strength, and of all false alarms. The second table of a vertical has kinds with false alarms again, with other parameters or terms, which were chosen on other years of the same distributions. All distributions are assumptions: none was measured on records of a firm.`,
    tables,
  }
}

function tablesOf(vertical: Vertical, seed: number, count: number): Table[] {
  const affiliates = affiliatesOf(drawsOf(seed), count)
  const books = affiliates.map((affiliate, i) =>
    bookOf(vertical, affiliate, customersOf(drawsOf(1000 * seed + i), vertical, affiliate)),
  )
  const usual = kindsOf(vertical).map((kind) => ({
    name: kind.kind,
    result: resultOf(vertical, seed, kind, books),
  }))
  const others = kindsOf(vertical).map((kind, i) => {
    const proposal = PROPOSALS[kind.kind]
    const own = usual[i]
    if (!proposal || own?.result.honest.length === 0) return { name: null, result: own?.result }
    const { words, parameters, of = (one: Kind) => one } = proposal
    return {
      name: `${kind.kind}: ${words}`,
      result: resultOf(vertical, seed, of(kind), books, parameters),
    }
  })
  const all = (results: readonly { result: Result | undefined }[]) =>
    formatHundredths(results.flatMap(({ result }) => result?.honest ?? []).length / books.length)
  return [
    [
      [vertical, ...HEAD],
      ...usual.map(({ name, result }) => [name, ...cellsOf(result, books)]),
      ['all kinds', '', '', '', all(usual), '', ''],
    ],
    [
      [`${vertical}, with other terms`, ...HEAD],
      ...others.flatMap(({ name, result }) =>
        name && result ? [[name, ...cellsOf(result, books)]] : [],
      ),
      ['all kinds, these in place of theirs', '', '', '', all(others), '', ''],
    ],
  ]
}

const HEAD = [
  ...['found weak', 'middle', 'strong', 'false alarms'],
  ...['held, planted, EUR', 'held, false alarms, EUR'],
]

function resultOf(
  vertical: Vertical,
  seed: number,
  kind: Kind,
  books: readonly Book[],
  parameters: object = {},
): Result {
  const own = books.map((book) => ({ book, cases: casesOfKind(kind, book, parameters) }))
  const soils = soilsOf(
    kind,
    own.filter(({ cases }) => !cases.some(isOfAffiliate)).map(({ book }) => book),
  )
  const plantedAt = (strength: Strength) =>
    soils.map((book, i) => {
      const { grown, day } = plant(vertical, kind, book, strength, 100 * seed + i)
      return casesOfKind(kind, grown, parameters, day - 1).filter(
        (one) => isOfAffiliate(one) || isOfPlanted(one),
      )
    })
  return {
    honest: own.flatMap(({ cases }) => cases),
    planted: {
      weak: plantedAt('weak'),
      middle: plantedAt('middle'),
      strong: plantedAt('strong'),
    },
  }
}

const isOfAffiliate = ({ finding }: SimulatedCase): boolean => 'affiliate_id' in finding.subject

const isOfPlanted = ({ finding: { subject } }: SimulatedCase): boolean =>
  Object.values(subject)
    .flat()
    .every((id) => id.startsWith(PLANTED))

/** Returns the affiliates that a pattern is planted into: from large to small, all there from the beginning. */
function soilsOf({ kind }: Kind, books: readonly Book[]): Book[] {
  const { plan } = PATTERNS[kind] ?? {}
  const fit = books
    .filter(({ affiliate }) => affiliate.firstDay === YEAR.opened)
    .filter(({ affiliate }) => plan === undefined || affiliate.plan === plan)
    .toSorted((a, b) => b.customers.length - a.customers.length)
  const step = (fit.length - 1) / (PLANTINGS - 1)
  const chosen = Array.from({ length: PLANTINGS }, (_, i) => fit[Math.round(i * step)])
  return [...new Set(chosen)].flatMap((book) => book ?? [])
}

/** Returns an affiliate with a pattern, which begins in spring, and its first day. */
function plant(
  vertical: Vertical,
  { kind }: Kind,
  { affiliate, customers }: Book,
  strength: Strength,
  seed: number,
): { readonly grown: Book; readonly day: number } {
  const draw = drawsOf(seed)
  const day = YEAR.first + draw.integer(100, 200)
  const soil = { draw, vertical, affiliate, customers, day, strength }
  const more = PATTERNS[kind]?.plant(soil) ?? []
  return { grown: bookOf(vertical, affiliate, [...customers, ...more]), day }
}

function cellsOf({ honest, planted }: Result, books: readonly Book[]): string[] {
  const found = STRENGTHS.map((strength) => {
    const all = planted[strength]
    return `${all.filter((cases) => cases.length > 0).length} of ${all.length}`
  })
  return [
    ...found,
    formatHundredths(honest.length / books.length),
    heldBy(planted.middle),
    heldBy([honest]),
  ]
}

/** Returns what cases hold, in EUR; what two patterns hold counts twice. */
function heldBy(groups: readonly (readonly SimulatedCase[])[]): string {
  const sums = groups.flatMap((cases) => sumHeld(cases.flatMap(({ held }) => held)))
  const total = sums.reduce((sum: Decimal, { amount }) => add(sum, decimal(amount)), ZERO)
  return formatInteger(Number(fixedText(total, 2)))
}
