import type { listAttributed } from '../../ingest/operations/attribution.ts'
import { accountPath, useVisit } from '../../pages/base/page.ts'
import { Badge, Data } from '../../pages/parts/data.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

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

/** Renders a link to a customer. */
export const CustomerLink = ({ account, id }: { account: string; id: string }) => (
  <a href={accountPath(account, 'customers', id)}>
    <Data text={id} />
  </a>
)

/** Renders links to customers. */
export const CustomerLinks = ({ ids }: { ids: readonly string[] }, { account } = useVisit()) => (
  <>
    {ids.map((id, i) => (
      <>
        {i > 0 && ', '}
        <CustomerLink account={account} id={id} />
      </>
    ))}
  </>
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
