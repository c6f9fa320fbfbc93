import type { listAttributed } from '../../admin/attribution.ts'
import { DAY_MS } from '../../durations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, dayBefore, useVisit } from '../page.ts'
import { Badge, Data, Day, EmptyState } from './data.tsx'
import { AffiliateLink } from './names.tsx'
import { Table } from './table.tsx'

// The parts of pages that show customers and where they came from.

/** A customer in a list of the administration API. */
export type Attributed = AnswerOf<typeof listAttributed>['data'][number]

/** Where a customer came from. */
export type Attribution = Attributed['attribution']

/** The words of each verdict, how serious it is, and what it means. */
const VERDICTS: Readonly<
  Record<string, { word: string; tone: 'good' | 'quiet' | 'warn'; means: string }>
> = {
  attributed: {
    word: 'By a link',
    tone: 'good',
    means: 'The signature of the tracking data proves the link and the click.',
  },
  organic: { word: 'Organic', tone: 'quiet', means: 'No tracking data was sent.' },
  altered: {
    word: 'Altered',
    tone: 'warn',
    means:
      'The tracking data was changed or cut on its way: check length, letter case and decoding.',
  },
  foreign: {
    word: 'Of another account',
    tone: 'warn',
    means: 'The tracking data belongs to another account: check for a mix of test and live.',
  },
  unrecognised: {
    word: 'Not by a link',
    tone: 'quiet',
    means: 'The tracking data is not from a link of this service.',
  },
  conflict: {
    word: 'Conflict',
    tone: 'warn',
    means: 'The tracking data names another affiliate than the sender does.',
  },
}

/** Returns the days whose customers without an affiliate are listed by default: the last 30. */
export const unattributedDays = (now: number) => ({
  from: dayBefore(now, 29),
  to: dayBefore(now, 0),
})

/** Renders a link to a customer. */
export const CustomerLink = ({ account, id }: { account: string; id: string }) => (
  <a href={accountPath(account, 'customers', id)}>
    <Data text={id} />
  </a>
)

/** Renders a verdict and what it means. */
export const AttributionVerdict = ({ verdict }: { verdict: string }) => {
  const { word, tone, means } = VERDICTS[verdict] ?? { word: verdict, tone: 'quiet', means: '' }
  return (
    <>
      <Badge tone={tone}>{word}</Badge> <span class="quiet">{means}</span>
    </>
  )
}

/** Returns how many days before `now` (milliseconds) a day was. */
function agoWords(day: string, now: number): string {
  const days = Math.floor(now / DAY_MS) - Date.parse(day) / DAY_MS
  return days <= 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`
}

/** Renders customers with where they came from. */
export const Customers = (
  {
    rows,
    now,
  }: {
    rows: readonly Attributed[]
    /** If given, the signup says how many days before it (milliseconds) it was. */
    now?: number
  },
  visit = useVisit(),
) => (
  <Table
    caption="Customers and who is paid for them"
    rows={rows}
    columns={{
      Customer: ({ customer_id }) => <CustomerLink account={visit.account} id={customer_id} />,
      Signup: ({ day }) => (
        <>
          <Day day={day} /> {now !== undefined && <small>{agoWords(day, now)}</small>}
        </>
      ),
      Affiliate: ({ attribution: { affiliate_id, affiliate_configured } }) => (
        <>
          <AffiliateLink id={affiliate_id} />{' '}
          {affiliate_id !== null && !affiliate_configured && (
            <Badge tone="warn">not configured</Badge>
          )}
        </>
      ),
      Attribution: ({ attribution }) => <AttributionVerdict {...attribution} />,
    }}
  />
)

/** Renders customers without an affiliate. */
export const Unattributed = (props: { rows: readonly Attributed[]; now: number }) =>
  props.rows.length > 0 ? (
    <Customers {...props} />
  ) : (
    <EmptyState title="Every customer who signed up on these days has an affiliate." />
  )
