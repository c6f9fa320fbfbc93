import { decimal, fixedText, sum } from '../../src/commission/engine/decimal.ts'
import { compareText } from '../../src/commission/engine/facts.ts'
import { counted } from '../../src/commission/engine/reasons.ts'
import { minorDigits } from '../../src/commission/minor-digits.ts'
import { comparisonWords, WITHOUT_DRAFTS } from '../../src/fraud/comparison-words.ts'
import type { ComparedVersion, HeldSum, SimulatedPage } from '../../src/fraud/simulated-page.ts'
import { escapeText } from '../../src/validation/quote.ts'
import { list } from './format.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** Adds what two pages hold: each has affiliates of its own. */
const addHeld = (a: readonly HeldSum[], b: readonly HeldSum[]): HeldSum[] =>
  [...Map.groupBy([...a, ...b], ({ currency }) => currency)]
    .map(([currency, sums]) => ({
      currency,
      amount: fixedText(sum(sums.map(({ amount }) => decimal(amount))), minorDigits(currency)),
      statements: sums.reduce((total, { statements }) => total + statements, 0),
    }))
    .sort((x, y) => compareText(x.currency, y.currency))

const addCompared = (
  a: ComparedVersion | null,
  b: ComparedVersion | null,
): ComparedVersion | null =>
  a && b
    ? {
        version: b.version,
        cases: a.cases + b.cases,
        same: a.same + b.same,
        would_hold: addHeld(a.would_hold, b.would_hold),
      }
    : null

/**
 * Tests a rule, or a version that is not stored: requests all pages, and returns their cases as one
 * list.
 */
export async function simulateRule(
  send: SendRequest,
  request: AdminRequest,
  version: object | undefined,
  { options }: Input,
  report: (text: string) => void,
): Promise<SimulatedPage> {
  const [from, to] = [options.from?.[0], options.to?.[0]]
  const affiliate_id = options.affiliate?.[0]
  const ask = async (cursor: string | null) =>
    (await send({
      ...request,
      body: { from, to, version },
      query: {
        ...(affiliate_id !== undefined && { affiliate_id }),
        ...(cursor !== null && { cursor }),
      },
    })) as SimulatedPage
  let all = await ask(null)
  while (all.meta.next_cursor !== null) {
    const page = await ask(all.meta.next_cursor)
    all = {
      ...page,
      data: [...all.data, ...page.data],
      opened: [],
      outcomes: {
        confirmed: all.outcomes.confirmed + page.outcomes.confirmed,
        dismissed: all.outcomes.dismissed + page.outcomes.dismissed,
        reversed: all.outcomes.reversed + page.outcomes.reversed,
      },
      would_hold: addHeld(all.would_hold, page.would_hold),
      compared_with: addCompared(all.compared_with, page.compared_with),
      affiliates: all.affiliates + page.affiliates,
      skipped: [...all.skipped, ...page.skipped],
    }
    report(`${counted(all.data.length, 'case')} so far.`)
  }
  return all
}

const formatTable = list([
  'day',
  'affiliate_id',
  'subject',
  'status',
  'outcome',
  'would_hold',
  'sentence',
])

/** Formats a back-test as a table of its cases. */
export function formatBackTest(body: unknown, input: Input): string {
  const page = body as SimulatedPage
  const { data, affiliates, skipped, outcomes } = page
  const isHolding = data.some(({ action }) => action === 'hold')
  const compared = comparisonWords(page)
  const rows = data.map((one) => ({
    day: one.opened_for,
    affiliate_id: one.affiliate_id,
    subject: Object.values(one.subject).flat().join(' '),
    status: one.status,
    outcome: one.outcome ?? '',
    would_hold: one.would_hold.map(({ amount, currency }) => `${amount} ${currency}`).join(', '),
    sentence: one.sentence,
  }))
  return [
    formatTable({ data: rows }, input),
    `${counted(data.length, 'case')} of ${counted(affiliates, 'affiliate')}.`,
    `Persons have confirmed ${outcomes.confirmed}, dismissed ${outcomes.dismissed}, and confirmed but released ${outcomes.reversed} of them.`,
    ...(compared === null ? [] : [compared]),
    ...(isHolding ? [WITHOUT_DRAFTS] : []),
    ...skipped.map(({ affiliate_id }) => {
      return `${escapeText(affiliate_id)} was left out: it has too many records. Test fewer days.`
    }),
  ].join('\n')
}
