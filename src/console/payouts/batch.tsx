import { counted, listed } from '../../commission/words/english.ts'
import {
  accountPath,
  type Change,
  dayBefore,
  type Page,
  useVisit,
  type Visit,
} from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Amount, amountText, Data, Day, isolated, Time } from '../../pages/parts/data.tsx'
import { AccountLink, Pairs, Value } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, type Input } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { FILE_TYPES } from '../../payouts/files/file.ts'
import {
  cancelBatch,
  confirmBatch,
  discardBatch,
  exportBatch,
  getBatch,
  getBatchFile,
  payBatch,
} from '../../payouts/operations/batches.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor, actorTitle } from '../affiliates/audit-words.tsx'
import { canManage, sumsText } from '../books/sums.ts'
import { BatchState, isUnderWay, statesText } from './batches.tsx'
import { BookByHand, bookByHandChange, Movements, movementChanges } from './movements.tsx'
import { Doubts, LookAt, PaidStatements } from './payable-words.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

type Batch = AnswerOf<typeof getBatch>

const idsOf = ({ account, params }: Visit) => ({ account, batch: params.batch ?? '' })

const changes: Record<string, Change> = {
  confirm: calling(confirmBatch, 'The batch is confirmed. Export its files.'),
  discard: {
    ...calling(discardBatch, 'The prepared batch is deleted.'),
    next: (_, { account }) => accountPath(account, 'batches'),
  },
  ...movementChanges((visit) => visit.api.call(getBatch, idsOf(visit))),
  'by-hand': bookByHandChange,
  cancel: calling(cancelBatch, 'The batch is cancelled. What was under way is due again.'),
  export: calling(exportBatch, 'The files are written. Download them, and send them to your bank.'),
  pay: calling(payBatch, 'The batch is booked as paid.'),
}

/** Which file is written of a batch that may pay by the clearing house of the United States. */
const TEMPLATE: Input = {
  name: 'template',
  label: 'File',
  options: [
    ['', 'XML (pain.001)'],
    ['ach', 'CSV for ACH'],
  ],
}

/** Renders the transfers of a batch: whom they pay, for what, what is doubtful, and what became of them. */
const Transfers = ({ state, states, transfers }: Batch) => (
  <Table
    caption={
      state === 'prepared'
        ? `What it pays: ${counted(transfers.length, 'transfer')}`
        : `Transfers: ${statesText(states)}`
    }
    rows={transfers}
    columns={{
      Affiliate: 'affiliate_id',
      'Paid to': ({ name, account }) => (
        <>
          <Data text={name ?? ''} />
          <div>
            <Data text={account ?? ''} />
          </div>
        </>
      ),
      // Banks have fewer letters than names.
      'In the file': transfers.some((one) => one.name_in_file) && 'name_in_file',
      Amount: 'amount',
      For: PaidStatements,
      'Look at': transfers.some((one) => one.doubts.length > 0 || one.note) && {
        prose: (one) => (
          <>
            <Doubts {...one} />
            {one.note && (
              <div>
                By hand: <Data text={one.note} />
              </div>
            )}
          </>
        ),
      },
      Reference: 'id',
      State: state !== 'prepared' && ((transfer) => <BatchState state={transfer.state} />),
      'The bank says':
        state !== 'prepared' &&
        (({ code, reason, name_check }) => (
          <Value name="said" value={[code, reason, name_check].filter(Boolean).join(', ')} />
        )),
    }}
  />
)

/** Says who may confirm a batch, and what happens next, to whoever may not. */
const WhoConfirms = ({ confirmers }: Batch) => (
  <p class="notice">
    {confirmers.length > 0 ? (
      <>
        <strong>{listed(confirmers.map((name) => isolated(actorTitle(name))))}</strong> may confirm
        it, and {confirmers.length === 1 ? 'finds' : 'find'} it under “Needs attention”.
      </>
    ) : (
      'Another approver has to confirm it. The service knows none by name.'
    )}{' '}
    Then its files are exported and sent to the bank. Until then it reserves nothing.
  </p>
)

const Prepared = (batch: Batch, visit = useVisit()) => (
  <>
    {batch.warnings.map(({ next_open_day }) => (
      <p class="notice warn">
        Banks are closed on that day: they pay on <Day day={next_open_day} />.
      </p>
    ))}
    {batch.transfers.length === 0 ? (
      <p class="notice">Nothing can be paid by this batch.</p>
    ) : batch.may_confirm ? (
      <ChangeForm
        change="confirm"
        submit={`Confirm ${amountText(batch.total, batch.currency)}`}
        needs="approver"
      >
        <p>
          Once it is confirmed, its transfers never change, and nothing else can pay their
          statements.
          {batch.method === 'sepa' &&
            ' Your bank compares the name of a single SEPA transfer with the owner of the account.'}
        </p>
        <input type="hidden" name="hash" value={batch.hash} />
        <input type="hidden" name="total" value={batch.total} />
      </ChangeForm>
    ) : (
      <WhoConfirms {...batch} />
    )}
    {batch.transfers.length > 0 && <Transfers {...batch} />}
    {batch.left_out.length > 0 && (
      <Table
        caption={`Left out: ${counted(batch.left_out.length, 'row')} for ${sumsText(batch.left_out)}`}
        rows={batch.left_out}
        columns={{
          Affiliate: 'affiliate_id',
          Amount: 'amount',
          Why: { prose: LookAt },
        }}
      />
    )}
    {canManage(visit) && (
      <>
        <p class="quick">
          <AccountLink at={['payouts']} query={{ batch: batch.id }}>
            Change what it pays
          </AccountLink>
        </p>
        <FoldedForm
          change="discard"
          title="Delete the prepared batch"
          submit="Delete it"
          fields={[]}
        />
      </>
    )}
  </>
)

const Confirmed = (batch: Batch, { member, today } = useVisit()) => (
  <>
    {batch.method === 'manual'
      ? isUnderWay(batch) && (
          <ChangeForm
            change="pay"
            submit="Mark it as paid"
            needs="approver"
            fields={[
              {
                name: 'paid_on',
                label: 'Day of the payment',
                type: 'date',
                required: true,
                value: dayBefore(today, 0),
              },
            ]}
          />
        )
      : batch.states.created && (
          <ChangeForm
            change="export"
            submit="Export the files"
            needs="approver"
            fields={batch.method === 'bank' && batch.currency === 'USD' ? [TEMPLATE] : []}
          />
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

/** A batch: what it pays and who may confirm it, and once it is confirmed what became of it. */
export const batchPage: Page = {
  path: '/accounts/:account/batches/:batch',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['file'],
  changes,
  file: (visit) =>
    visit.query.file
      ? visit.api.file(getBatchFile, { ...idsOf(visit), n: visit.query.file }, FILE_TYPES[0] ?? '')
      : null,
  async render(visit) {
    const batch = await visit.api.call(getBatch, idsOf(visit))
    const { id, state, total, currency, payer, confirmed_by, reason, before } = batch
    const isPrepared = state === 'prepared'
    const body = (
      <>
        <PayoutTabs here="Batches" />
        <Pairs
          pairs={[
            ['State', <BatchState state={state} />],
            [
              'Total',
              <>
                <Amount value={total} currency={currency} /> in{' '}
                {counted(batch.transfers.length, 'transfer')}
              </>,
            ],
            [
              'The batch before',
              before && (
                <>
                  <Amount value={before.total} currency={currency} /> in{' '}
                  {counted(before.transfers, 'transfer')} on <Day day={before.execute_on} />:{' '}
                  <AccountLink at={['batches', before.id]} children={before.id} />
                </>
              ),
            ],
            [
              'From',
              payer && (
                <AccountLink at={['payers']} query={{ payer }} children={<Data text={payer} />} />
              ),
            ],
            ['By', methodWords(batch.method)],
            ['On', <Day day={batch.execute_on} />],
            ['Prepared by', batch.authors.map((actor) => [<Actor actor={actor} />, ' '])],
            ['Can be confirmed until', batch.ends_at && <Time at={batch.ends_at} />],
            ['Confirmed by', confirmed_by && <Actor actor={confirmed_by} />],
            ['Cancelled because', reason && <Data text={reason} />],
          ]}
        />
        {isPrepared ? <Prepared {...batch} /> : <Confirmed {...batch} />}
      </>
    )
    return { title: isPrepared ? `Prepared batch ${id}` : `Batch ${id}`, body }
  },
}
