import { counted } from '../../commission/engine/reasons.ts'
import { calling } from '../../pages/calling.ts'
import { type Change, type Page, useVisit, type Visit } from '../../pages/page.ts'
import { Amount, Data, Day, Time, visible } from '../../pages/parts/data.tsx'
import { AccountLink, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { FILE_TYPES } from '../../payouts/files/file.ts'
import type { LeftOut } from '../../payouts/model.ts'
import {
  cancelBatch,
  confirmBatch,
  getBatch,
  getBatchFile,
  previewBatch,
} from '../../payouts/operations/batches.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { sumsText } from '../books/payout-forms.tsx'
import { BatchState, isUnderWay, statesText } from './batches.tsx'
import { PayoutTabs } from './payout-tabs.tsx'
import { METHOD_WORDS, prepareChange } from './prepare-batch.tsx'

type Batch = AnswerOf<typeof getBatch>
type Transfer = Batch['transfers'][number]
type LeftOutRow = Batch['left_out'][number]

/** Why a statement is not in a batch, and what to do. */
const REASONS: Readonly<Record<LeftOut, string>> = {
  held: 'The fraud review holds the payout.',
  no_payee: 'No bank details are entered.',
  blocked: 'The bank details are blocked.',
  returned: 'It came back, or the bank refused it. Tick it if it is to be paid again.',
  not_approved: 'The bank details wait for an approval.',
  changed: 'The bank details changed a short while ago.',
  suspended: 'The affiliate is suspended. Tick it if it is to be paid nevertheless.',
  other_method: 'They are paid in another way: prepare a batch for it.',
  other_currency: 'It is in another currency than the account has from which the batch pays.',
  next_batch: 'The batch is full: prepare another one after it.',
}

/** The statements that a page lists of those that are left out. */
const SHOWN = 500

const tickName = (position: number) => `statement${position}`

const idsOf = ({ account, params }: Visit) => ({ account, batch: params.batch ?? '' })

const changes: Record<string, Change> = {
  confirm: calling(confirmBatch, 'The batch is confirmed. Download its file.'),
  cancel: calling(cancelBatch, 'The batch is cancelled. What was under way is due again.'),
  download: {
    done: '',
    perform: (_, visit) => visit.api.file(getBatchFile, idsOf(visit), FILE_TYPES[0] ?? ''),
  },
  again: {
    ...prepareChange,
    async perform(values, visit) {
      const { payer, method, execute_on, transfers } = await visit.api.call(getBatch, idsOf(visit))
      const ticked = Array.from({ length: SHOWN }, (_, i) => values(tickName(i)))
      const statements = [...transfers.flatMap((one) => one.statements), ...ticked.filter(Boolean)]
      const { account } = visit
      return visit.api.call(previewBatch, { account, payer, method, execute_on, statements })
    },
  },
}

/** Renders whom a transfer pays, and how the file writes the name. */
const Payee = ({ name, name_in_file: written }: Transfer) => (
  <>
    <Data text={name ?? 'Erased'} />
    {written !== name && (
      <small class="line">
        In the file: <Data text={written ?? ''} />
      </small>
    )}
  </>
)

const TRANSFER: Columns<Transfer> = {
  Affiliate: 'affiliate_id',
  'Paid to': Payee,
  Amount: 'amount',
  Statements: {
    number: ({ statements: [first = '', ...others] }) => (
      <>
        <AccountLink at={['statements', first]}>1</AccountLink>
        {others.map((id, i) => (
          <>
            {', '}
            <AccountLink at={['statements', id]}>{i + 2}</AccountLink>
          </>
        ))}
      </>
    ),
  },
  Reference: 'id',
}

/** The columns of a batch that is confirmed. */
const CONFIRMED: Columns<Transfer> = {
  ...(TRANSFER as object),
  State: ({ state, code, reason, name_check }) => (
    <>
      <BatchState state={state} />
      {[code, reason, name_check && `Name check: ${name_check}`].filter(Boolean).map((text) => (
        <small class="line">
          <Data text={text ?? ''} />
        </small>
      ))}
    </>
  ),
}

/** Renders what is due and not in a preview, and why. What a person may add stands first, and has a box. */
function LeftOutList({ left_out }: Batch, { member } = useVisit()) {
  if (left_out.length === 0) return null
  const isNamed = ({ reason }: LeftOutRow) =>
    (reason === 'returned' || reason === 'suspended') && isAtLeast(member.role, 'manager')
  const rows = [...left_out.filter(isNamed), ...left_out.filter((one) => !isNamed(one))]
  const isAny = rows.some(isNamed)
  const table = (
    <Table
      caption={`Not in this batch: ${counted(rows.length, 'statement')} for ${sumsText(rows)}`}
      rows={rows.slice(0, SHOWN)}
      columns={{
        Affiliate: 'affiliate_id',
        Amount: 'amount',
        Why: { prose: ({ reason }) => REASONS[reason] },
        Statement: ({ statement_id }) => (
          <AccountLink at={['statements', statement_id]}>Open</AccountLink>
        ),
      }}
      {...(isAny && {
        tick: (row: LeftOutRow, position: number) =>
          isNamed(row) && (
            <input
              type="checkbox"
              name={tickName(position)}
              value={row.statement_id}
              aria-label={`Add ${visible(row.affiliate_id)}, ${row.amount} ${row.currency}`}
            />
          ),
      })}
    />
  )
  return (
    <>
      {isAny ? (
        <ChangeForm change="again" submit="Prepare the batch again with the ticked">
          {table}
        </ChangeForm>
      ) : (
        table
      )}
      {rows.length > SHOWN && <p class="note">The first {SHOWN} are listed.</p>}
    </>
  )
}

const Preview = (batch: Batch) => (
  <>
    {batch.count === 0 ? (
      <p class="notice">Nothing can be paid by this batch. What is due stands below.</p>
    ) : (
      <ChangeForm change="confirm" submit="Confirm the batch" needs="approver">
        <p>
          Once it is confirmed, its transfers never change, and nothing else can pay their
          statements.
        </p>
        <input type="hidden" name="hash" value={batch.hash} />
        <input type="hidden" name="total" value={batch.total ?? ''} />
      </ChangeForm>
    )}
    {batch.method === 'sepa' && (
      <p class="note">
        The bank always checks the name of a single SEPA transfer against the account. Ask your bank
        whether it checks the names of a file with several.
      </p>
    )}
    <Table
      caption="What it pays"
      rows={batch.count === 0 ? [] : batch.transfers}
      columns={TRANSFER}
      empty=""
    />
    <LeftOutList {...batch} />
  </>
)

const Confirmed = (batch: Batch) => (
  <>
    {batch.state !== 'cancelled' && (
      <ChangeForm change="download" submit="Download the file" needs="approver">
        {batch.exported_at === null && (
          <p>Take it where you pay. The download marks the batch as exported.</p>
        )}
      </ChangeForm>
    )}
    {isUnderWay(batch) && (
      <p class="quick">
        <AccountLink at={['answers']} children="Upload the bank’s answer" />
      </p>
    )}
    <Table caption="Its transfers" rows={batch.transfers} columns={CONFIRMED} />
    {isUnderWay(batch) && (
      <FoldedForm
        change="cancel"
        title="Cancel the batch"
        submit="Cancel what is under way"
        needs="approver"
        isDanger
        fields={[{ name: 'reason', label: 'Why', required: batch.exported_at !== null }]}
      >
        <p>
          Its statements are due again.{' '}
          {batch.exported_at !== null &&
            'The file was exported: first make sure that the bank does not execute it.'}
        </p>
      </FoldedForm>
    )}
  </>
)

/** A batch: what it pays and leaves out before it is confirmed, and what became of it after. */
export const batchPage: Page = {
  path: '/accounts/:account/batches/:batch',
  section: 'Payouts',
  changes,
  async render(visit) {
    const batch = await visit.api.call(getBatch, idsOf(visit))
    const { state, states, total, currency, count, method, exported_at, confirmed_by } = batch
    const isPreview = state === 'preview'
    const body = (
      <>
        <PayoutTabs here="Batches" />
        <Pairs
          pairs={[
            ['State', <BatchState state={state} />],
            ['Total', <Amount value={total ?? '0'} currency={currency} />],
            ['Transfers', Object.keys(states).length > 1 ? statesText(states) : count],
            [
              'From',
              <AccountLink at={['payers', batch.payer]}>
                <Data text={batch.payer} />
              </AccountLink>,
            ],
            ['By', METHOD_WORDS[method]],
            ['On', <Day day={batch.execute_on} />],
            ['Prepared by', <Actor actor={batch.created_by} />],
            ['Confirmed by', confirmed_by && <Actor actor={confirmed_by} />],
            ['Exported', exported_at && <Time at={exported_at} />],
            ['Cancelled because', batch.reason && <Data text={batch.reason} />],
          ]}
        />
        {isPreview ? <Preview {...batch} /> : <Confirmed {...batch} />}
      </>
    )
    return { title: isPreview ? 'Preview of a batch' : `Batch ${batch.id}`, body }
  },
}
