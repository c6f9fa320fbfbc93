import type { Page } from '../../pages/base/page.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { listBatches } from '../../payouts/operations/batches.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { PayoutTabs } from './payout-tabs.tsx'
import { PrepareBatch, prepareChange, readPayers } from './prepare-batch.tsx'

type Batch = AnswerOf<typeof listBatches>['data'][number]

/** What members call the states of batches and transfers. */
const STATES = {
  preview: ['quiet', 'Preview'],
  created: ['warn', 'Confirmed'],
  exported: ['warn', 'Exported'],
  accepted: ['warn', 'Accepted by the bank'],
  paid: ['good', 'Paid'],
  returned: ['bad', 'Came back'],
  rejected: ['bad', 'Refused by the bank'],
  cancelled: ['quiet', 'Cancelled'],
  partial: ['bad', 'Partly paid'],
} as const

/** Renders the state of a batch or of a transfer. */
export const BatchState = ({ state }: { state: keyof typeof STATES }) => (
  <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
)

/** Returns how many transfers have each state: `12 paid, 1 came back`. */
export const statesText = (states: Batch['states']): string =>
  Object.entries(states)
    .map(([state, n]) => `${n} ${STATES[state as keyof typeof STATES][1].toLowerCase()}`)
    .join(', ')

/** Whether some of its transfers are neither paid nor ended. */
export const isUnderWay = ({ states }: Pick<Batch, 'states'>): boolean =>
  (states.created ?? states.exported ?? states.accepted) !== undefined

/** Renders where the payouts are that a batch has: they are no longer to pay. */
export const BatchesUnderWay = ({ batches }: { batches: readonly Batch[] }) =>
  batches.some(isUnderWay) && (
    <p class="notice">
      What the <AccountLink at={['batches']}>batches under way</AccountLink> pay is not listed here.
    </p>
  )

const COLUMNS: Columns<Batch> = {
  Batch: ({ id }) => <AccountLink at={['batches', id]}>{id}</AccountLink>,
  State: ({ state }) => <BatchState state={state} />,
  On: 'execute_on',
  By: ({ method }) => methodWords(method),
  From: 'payer',
  Transfers: ({ states }) => statesText(states),
  Total: 'total',
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
          empty={<EmptyState title="No batches yet." />}
        />
        {data.length > 0 && <Pager meta={meta} />}
      </>
    )
    return { title: 'Batches', body }
  },
}
