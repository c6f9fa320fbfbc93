import type { Page } from '../../pages/page.ts'
import { Amount, Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { listBatches } from '../../payouts/operations/batches.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { PayoutTabs } from './payout-tabs.tsx'
import { METHOD_WORDS, PrepareBatch, prepareChange, readPayers } from './prepare-batch.tsx'

type Batch = AnswerOf<typeof listBatches>['data'][number]

/** What members call the states of batches and transfers. */
const STATES = {
  preview: ['quiet', 'Preview'],
  created: ['warn', 'Not exported'],
  exported: ['warn', 'Exported'],
  accepted: ['warn', 'Accepted by the bank'],
  paid: ['good', 'Paid'],
  returned: ['bad', 'Came back'],
  rejected: ['bad', 'Refused by the bank'],
  cancelled: ['quiet', 'Cancelled'],
  partial: ['bad', 'Partly paid'],
} as const

/** Renders the state of a batch or of a transfer. */
export const BatchState = ({ state }: { state: keyof typeof STATES }) => {
  const [tone, words] = STATES[state]
  return <Badge tone={tone}>{words}</Badge>
}

/** Returns how many transfers have each state: `12 paid, 1 came back`. */
export const statesText = (states: Batch['states']): string =>
  Object.entries(states)
    .map(([state, n]) => `${n} ${STATES[state as keyof typeof STATES][1].toLowerCase()}`)
    .join(', ')

const UNDER_WAY = ['created', 'exported', 'accepted'] as const

/** Whether some of its transfers are neither paid nor ended. */
export const isUnderWay = ({ states }: Pick<Batch, 'states'>): boolean =>
  UNDER_WAY.some((state) => states[state])

/** The batches under way that a notice names. */
const NAMED = 5

/** Renders where the payouts are that a batch has: they are no longer to pay. */
export const BatchesUnderWay = ({ batches }: { batches: readonly Batch[] }) => {
  const open = batches.filter(isUnderWay)
  if (open.length === 0) return null
  return (
    <p class="notice">
      What is in a batch is not listed here. Under way:{' '}
      {open.slice(0, NAMED).map(({ id, total, currency }, i) => (
        <>
          {i > 0 && ', '}
          <AccountLink at={['batches', id]}>{id}</AccountLink> for{' '}
          <Amount value={total ?? '0'} currency={currency} />
        </>
      ))}
      {open.length > NAMED && (
        <>
          {' '}
          and <AccountLink at={['batches']}>others</AccountLink>
        </>
      )}
      .
    </p>
  )
}

const COLUMNS: Columns<Batch> = {
  Batch: ({ id }) => <AccountLink at={['batches', id]}>{id}</AccountLink>,
  State: ({ state, states }) => (
    <>
      <BatchState state={state} />
      {state === 'partial' && <small class="line">{statesText(states)}</small>}
    </>
  ),
  On: 'execute_on',
  By: ({ method }) => METHOD_WORDS[method],
  From: 'payer',
  Transfers: { number: ({ count }) => count },
  Total: { number: ({ total, currency }) => <Amount value={total ?? '0'} currency={currency} /> },
}

/** The batches of an account, the latest first. */
export const batchesPage: Page = {
  path: '/accounts/:account/batches',
  section: 'Payouts',
  query: ['cursor'],
  changes: { prepare: prepareChange },
  async render(visit) {
    const { api, account, query } = visit
    const [{ data, meta }, payers] = await Promise.all([
      api.call(listBatches, { account, ...query }),
      readPayers(visit),
    ])
    const body = (
      <>
        <PayoutTabs here="Batches" />
        <PrepareBatch payers={payers} method={data[0]?.method} />
        <Table
          caption="Batches, the latest first"
          rows={data}
          columns={COLUMNS}
          empty={
            <EmptyState title="No batches yet.">
              <p>A batch pays what is due by one file, which your bank takes.</p>
            </EmptyState>
          }
        />
        {data.length > 0 && <Pager meta={meta} />}
      </>
    )
    return { title: 'Batches', body }
  },
}
