import { moneyText } from '../../commission/books/money.ts'
import { nextPeriod, parsePeriod } from '../../commission/engine/calendar.ts'
import { add, decimal, ZERO } from '../../commission/engine/decimal.ts'
import { listStatements } from '../../commission/statements/operations.ts'
import { ApiError } from '../../errors.ts'
import type { Visit } from '../page.ts'
import { Amount, periodWords } from './data.tsx'
import { AccountLink } from './fields.tsx'
import type { Statement } from './statement-lists.tsx'

// What was approved for customers who were refused since: it stays payable until the next statement takes it back.

/** What a draft takes back. */
export interface TakenBack {
  /** The id of the draft. */
  readonly statement: string
  readonly period: string
  /** The sum of its corrections, which is negative. */
  readonly amount: string
}

/** Says how much is taken back by the statement of which period. */
export const TakenBackText = ({
  visit,
  found: { statement, period, amount },
  currency,
}: {
  visit: Visit
  found: TakenBack
  currency: string
}) => (
  <>
    <Amount value={amount.replace('-', '')} currency={currency} /> will be taken back in{' '}
    <AccountLink visit={visit} at={['statements', statement]}>
      {periodWords(period)}
    </AccountLink>
  </>
)

/** What the drafts of an affiliate take back, by draft; null if they have too many records to be computed. */
export type TakenBackByDraft = readonly (TakenBack & { readonly currency: string })[] | null

/** The stored statements of a status that are read of an affiliate. */
const READ = 100

/** Returns the first open period of plans by week or by month: that of a draft, or the one after the approved ones. */
function firstOpen(
  isWeek: boolean,
  drafts: readonly string[],
  approved: readonly string[],
): readonly string[] {
  const ofKind = (periods: readonly string[]) =>
    periods.filter((one) => one.includes('W') === isWeek).sort()
  const last = parsePeriod(ofKind(approved).at(-1) ?? '')
  const first = ofKind(drafts)[0] ?? (last && nextPeriod(last, 1).id)
  return first ? [first] : []
}

/**
 * Computes what the first drafts of an affiliate take back because these customers were refused. The drafts are
 * computed now, since a run has perhaps not seen the refusals yet.
 */
export async function computeTakenBack(
  { api, account }: Visit,
  affiliate_id: string,
  customers: readonly string[],
): Promise<TakenBackByDraft> {
  const read = async (status: 'draft' | 'approved') => {
    const query = { account, affiliate_id, status, per_page: READ }
    const { data } = await api.call(listStatements, query)
    return data.map(({ period }) => period)
  }
  const [drafts, approved] = await Promise.all([read('draft'), read('approved')])
  const periods = [true, false].flatMap((isWeek) => firstOpen(isWeek, drafts, approved))
  try {
    const computed = await Promise.all(
      periods.map((period) =>
        api.call(listStatements, { account, affiliate_id, period, status: 'draft', fresh: true }),
      ),
    )
    return computed.flatMap((one) => one.data).flatMap((draft) => takenBackBy(draft, customers))
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Returns what a draft takes back because of these customers; nothing if that is nothing. */
function takenBackBy(
  { id, period, currency, adjustments = [] }: Statement,
  customers: readonly string[],
): (TakenBack & { currency: string })[] {
  const own = adjustments.filter(({ causes }) =>
    causes.some((one) => one.kind === 'refusal' && customers.includes(one.customer_id)),
  )
  const sum = own.reduce((total, { amount }) => add(total, decimal(amount)), ZERO)
  const amount = moneyText(sum, currency)
  return amount.startsWith('-') ? [{ statement: id, period, amount, currency }] : []
}

/** Says what becomes of the commission that was approved for the refused customers of a case. */
export function TakenBackWords({ visit, found }: { visit: Visit; found: TakenBackByDraft }) {
  if (found?.length === 0) return null
  return (
    <p class="notice">
      What was approved for the refused customers stays payable until the next statement takes it
      back
      {found === null
        ? '. The draft has the amount after the next run'
        : found.map((one, i) => (
            <>
              {i === 0 ? ': ' : ', '}
              <TakenBackText visit={visit} found={one} currency={one.currency} />
            </>
          ))}
      . Approve that statement before you pay the affiliate.
    </p>
  )
}
