import { counted } from '../../commission/words/english.ts'
import { type Change, type Page, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Amount, amountText, Data, Day } from '../../pages/parts/data.tsx'
import { AccountLink, Pairs, Value } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, Ticks } from '../../pages/parts/forms.tsx'
import { AffiliateLink, AffiliateName } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { FILE_TYPES } from '../../payouts/files/file.ts'
import { DOUBTS, type LeftOut } from '../../payouts/model.ts'
import {
  cancelBatch,
  confirmBatch,
  exportBatch,
  getBatch,
  getBatchFile,
  previewBatch,
} from '../../payouts/operations/batches.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { sumsText } from '../books/payout-forms.tsx'
import { BatchState, isUnderWay, statesText } from './batches.tsx'
import { BookByHand, bookByHandChange, Movements, movementChanges } from './movements.tsx'
import { PayoutTabs } from './payout-tabs.tsx'
import { prepareChange } from './prepare-batch.tsx'

type Batch = AnswerOf<typeof getBatch>

/** Why a statement is not in a batch, and what to do. */
const REASONS: Readonly<Record<LeftOut, string>> = {
  held: 'The fraud review holds the payout.',
  no_payee: 'No bank details are entered.',
  blocked: 'The bank details are blocked.',
  returned: 'It came back or was refused. Look at the bank details before you tick it.',
  case: 'The affiliate has an open case. Look at the case before you tick it.',
  not_approved: 'The bank details wait for an approval.',
  changed: 'The bank details changed a short while ago.',
  suspended: 'The affiliate is suspended. Tick it if it is to be paid nevertheless.',
  other_method: 'They are paid in another way: prepare a batch for it.',
  other_currency: 'It is in another currency than the account has from which the batch pays.',
  paid_twice: 'A payment may have left twice. Look at it with your bank before you tick it.',
  next_batch: 'The batch is full: prepare another one after it.',
}

/** The statements that a page lists of those that are left out. */
const SHOWN = 500

const idsOf = ({ account, params }: Visit) => ({ account, batch: params.batch ?? '' })

const changes: Record<string, Change> = {
  confirm: calling(confirmBatch, 'The batch is confirmed. Export its file.'),
  ...movementChanges((visit) => visit.api.call(getBatch, idsOf(visit))),
  'by-hand': bookByHandChange,
  cancel: calling(cancelBatch, 'The batch is cancelled. What was under way is due again.'),
  export: calling(exportBatch, 'The file is written. Download it, and send it to your bank.'),
  again: {
    ...prepareChange,
    async perform(values, { api, account, params: { batch = '' } }) {
      const seen = await api.call(getBatch, { account, batch })
      const { payer, method, execute_on, transfers, left_out } = seen
      const added = left_out.map(({ statement_id }) => statement_id).filter((id) => values(id))
      const statements = transfers.flatMap((one) => one.statements).concat(added)
      return api.call(previewBatch, { account, payer, method, execute_on, statements })
    },
  },
}

/** Renders the transfers of a batch: whom they pay, and once it is confirmed what became of them. */
const Transfers = ({ state, states, transfers }: Batch) => (
  <Table
    caption={state === 'preview' ? 'What it pays' : `Transfers: ${statesText(states)}`}
    rows={transfers}
    columns={{
      Affiliate: 'affiliate_id',
      'Paid to': 'name',
      // Banks have fewer letters than names.
      'In the file': transfers.some((one) => one.name_in_file) && 'name_in_file',
      Amount: 'amount',
      Statements: { number: ({ statements }) => statements.length },
      'Same account as': transfers.some((one) => one.same_account.length > 0) && {
        prose: ({ same_account }) => same_account.map((id) => [<AffiliateLink id={id} />, ' ']),
      },
      Reference: 'id',
      State: state !== 'preview' && ((transfer) => <BatchState state={transfer.state} />),
      'The bank says':
        state !== 'preview' &&
        (({ code, reason, name_check }) => (
          <Value name="said" value={[code, reason, name_check].filter(Boolean).join(', ')} />
        )),
    }}
  />
)

/** Renders what is due and not in a preview, and why. Some of it a person may add. */
function LeftOutList({ left_out }: Batch) {
  const addable = left_out.filter(({ reason }) => DOUBTS.some((one) => one === reason))
  return (
    <>
      {addable.length > 0 && (
        <ChangeForm change="again" submit="Prepare the batch again with the ticked">
          <Ticks
            title="Pay also"
            ticks={addable.map(({ statement_id: name, affiliate_id, amount, currency }) => ({
              name,
              label: [<AffiliateName id={affiliate_id} />, `, ${amountText(amount, currency)}`],
              isTicked: false,
            }))}
          />
        </ChangeForm>
      )}
      <Table
        caption={`Not in this batch: ${counted(left_out.length, 'statement')} for ${sumsText(left_out)}`}
        rows={left_out.slice(0, SHOWN)}
        columns={{
          Affiliate: 'affiliate_id',
          Amount: 'amount',
          Why: { prose: ({ reason }) => REASONS[reason] },
          Statement: ({ statement_id: id }) => (
            <AccountLink at={['statements', id]}>Open</AccountLink>
          ),
        }}
      />
      {left_out.length > SHOWN && <p class="note">The first {SHOWN} are listed.</p>}
    </>
  )
}

const Preview = (batch: Batch) => (
  <>
    {batch.warnings.map(({ next_open_day }) => (
      <p class="notice">
        Banks do not execute SEPA transfers on that day: TARGET is closed. They do so on{' '}
        <Day day={next_open_day} />.
      </p>
    ))}
    {batch.transfers.length === 0 ? (
      <p class="notice">Nothing can be paid by this batch. What is due stands below.</p>
    ) : (
      <>
        <ChangeForm change="confirm" submit="Confirm the batch" needs="approver">
          <p>
            Once it is confirmed, its transfers never change, and nothing else can pay their
            statements.
            {batch.method === 'sepa' &&
              ' Your bank compares the name of a single SEPA transfer with the owner of the account.'}
          </p>
          <input type="hidden" name="hash" value={batch.hash} />
          <input type="hidden" name="total" value={batch.total} />
        </ChangeForm>
        <Transfers {...batch} />
      </>
    )}
    {batch.left_out.length > 0 && <LeftOutList {...batch} />}
  </>
)

const Confirmed = (batch: Batch, { member } = useVisit()) => (
  <>
    {batch.states.created && (
      <ChangeForm change="export" submit="Export the file" needs="approver" />
    )}
    {isAtLeast(member.role, 'approver') &&
      batch.files.map(({ n, name }) => (
        <p>
          <AccountLink at={['batches', batch.id]} query={{ file: String(n) }}>
            Download {name}
          </AccountLink>
        </p>
      ))}
    <Movements {...batch} />
    <Transfers {...batch} />
    <BookByHand {...batch} />
    {isUnderWay(batch) && (
      <FoldedForm
        change="cancel"
        title="Cancel the batch"
        submit="Cancel what is under way"
        needs="approver"
        isDanger
        fields={[{ name: 'reason', label: 'Why', required: true }]}
      >
        <p>
          Its statements are due again. If you have sent the file to the bank, first make sure that
          it does not execute it.
        </p>
      </FoldedForm>
    )}
  </>
)

/** A batch: what it pays and leaves out before it is confirmed, and what became of it after. */
export const batchPage: Page = {
  path: '/accounts/:account/batches/:batch',
  section: 'Payouts',
  query: ['file'],
  changes,
  file: (visit) =>
    visit.query.file
      ? visit.api.file(getBatchFile, { ...idsOf(visit), n: visit.query.file }, FILE_TYPES[0] ?? '')
      : null,
  async render(visit) {
    const batch = await visit.api.call(getBatch, idsOf(visit))
    const { id, state, total, currency, payer, confirmed_by, reason } = batch
    const isPreview = state === 'preview'
    const body = (
      <>
        <PayoutTabs here="Batches" />
        <Pairs
          pairs={[
            ['State', <BatchState state={state} />],
            ['Total', <Amount value={total} currency={currency} />],
            [
              'From',
              <AccountLink at={['payers']} query={{ payer }} children={<Data text={payer} />} />,
            ],
            ['By', methodWords(batch.method)],
            ['On', <Day day={batch.execute_on} />],
            ['Prepared by', <Actor actor={batch.created_by} />],
            ['Confirmed by', confirmed_by && <Actor actor={confirmed_by} />],
            ['Cancelled because', reason && <Data text={reason} />],
          ]}
        />
        {isPreview ? <Preview {...batch} /> : <Confirmed {...batch} />}
      </>
    )
    return { title: isPreview ? 'Preview of a batch' : `Batch ${id}`, body }
  },
}
