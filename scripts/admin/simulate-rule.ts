import { counted } from '../../src/commission/engine/reasons.ts'
import type { SimulatedPage } from '../../src/fraud/simulated-page.ts'
import { escapeText } from '../../src/validation/quote.ts'
import { list } from './format.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** A back-test of all affiliates. Sums of pages are not added: a page has affiliates of its own. */
type WholeTest = Omit<SimulatedPage, 'would_hold'>

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
): Promise<WholeTest> {
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
  let all: WholeTest = await ask(null)
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
  const { data, affiliates, skipped, outcomes } = body as WholeTest
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
    ...skipped.map(({ affiliate_id }) => {
      return `${escapeText(affiliate_id)} was left out: it has too many records. Test fewer days.`
    }),
  ].join('\n')
}
