import { listAffiliateFigures } from '../admin/affiliate-figures.ts'
import { csvHeaders, writeCsv } from '../commission/csv.ts'
import { ApiError } from '../errors.ts'
import type { Values, Visit } from './page.ts'
import type { AffiliateFigures } from './parts/affiliate-figures.tsx'
import { tickName } from './payment-rows.ts'

// The affiliates that a member ticks, and the file of affiliates.

/** The affiliates of one page of the list, each with a tick box. */
export const LISTED = 100

/** The most affiliates that a file has. */
const MAX_EXPORTED = 5000

/** The affiliates that are read at once for a file. */
const PER_PAGE = 500

/** Returns the ids of the affiliates that a form has ticked. */
export const tickValues = (values: Values): string[] =>
  Array.from({ length: LISTED }, (_, i) => values(tickName(i))).filter(Boolean)

/**
 * Returns the ids of the affiliates that a form has ticked, at least one.
 *
 * @throws ApiError `validation_failed` if none is ticked.
 */
export function tickedAffiliates(values: Values): string[] {
  const ids = tickValues(values)
  if (ids.length > 0) return ids
  throw new ApiError('validation_failed', { detail: 'Tick at least one affiliate.' })
}

/** Reads the affiliates that a filter matches. */
export const readFigures = (
  { api, account, query: { search, only, sort } }: Visit,
  page: { readonly cursor?: string | undefined; readonly per_page: number },
) => api.call(listAffiliateFigures, { account, search, only, sort, ...page })

/**
 * Returns the file of all affiliates that the filter of the page matches.
 *
 * @throws ApiError `conflict` if there are more than 5000.
 */
export async function downloadAll(visit: Visit): Promise<Response> {
  const rows: AffiliateFigures[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, meta } = await readFigures(visit, { cursor, per_page: PER_PAGE })
    if (meta.total > MAX_EXPORTED) {
      const detail = `A file has at most ${MAX_EXPORTED.toLocaleString('en')} affiliates. Narrow the list.`
      throw new ApiError('conflict', { detail })
    }
    rows.push(...data)
    if (meta.next_cursor === null) return fileOf(rows, visit)
    cursor = meta.next_cursor
  }
}

const sortedSet = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

/** Returns a row of names and a row for each affiliate: amounts have a column for each currency and period. */
async function fileOf(rows: readonly AffiliateFigures[], { account, names }: Visit) {
  const planNames = await names.plans()
  const nameOf = (plan = '') => planNames.get(plan) ?? plan
  const currencies = sortedSet(
    rows.flatMap(({ balances }) => balances.map(({ currency }) => currency)),
  )
  const earned = sortedSet(
    rows.flatMap((row) => row.earned.map(({ period, currency }) => `${period} ${currency}`)),
  )
  const header = [
    ...['affiliate_id', 'name', 'parent', 'plan', 'plan_from', 'plan_for_all', 'last_signup'],
    ...currencies.flatMap((currency) => [`balance_${currency}`, `payable_${currency}`]),
    ...earned.map((one) => `earned_${one.replace(' ', '_')}`),
  ]
  const lines = rows.map(
    ({ affiliate_id, display_name, parent, plan, last_signup, balances, earned: sums }) => [
      ...[
        affiliate_id,
        display_name ?? '',
        parent ?? '',
        // A plan of all others must not become one of their own when the file is uploaded again.
        ...(plan?.for_all
          ? ['', '', nameOf(plan.plan)]
          : [nameOf(plan?.plan), plan?.from ?? '', '']),
        last_signup ?? '',
      ],
      ...currencies.flatMap((currency) => {
        const found = balances.find((one) => one.currency === currency)
        return [found?.balance ?? '', found?.due ?? '']
      }),
      ...earned.map(
        (one) => sums.find(({ period, currency }) => `${period} ${currency}` === one)?.total ?? '',
      ),
    ],
  )
  return new Response(writeCsv([header, ...lines]), { headers: csvHeaders('affiliates', account) })
}
