import { counted } from '../../commission/words/english.ts'
import { type Page, useVisit, type Visit, withQuery } from '../../pages/base/page.ts'
import { refused } from '../../pages/csv-columns.ts'
import { pick } from '../../pages/form.ts'
import { amountText, Data, Day, EmptyState, Pager, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Field, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { plainWords } from '../../pages/parts/plain-words.ts'
import { Table } from '../../pages/parts/table.tsx'
import { PAYOUT_LIMITS } from '../../payouts/model.ts'
import {
  applyPayoutAnswer,
  getPayoutAnswer,
  listPayoutAnswers,
  previewPayoutAnswer,
} from '../../payouts/operations/answers.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { BatchState, stateWords } from './batches.tsx'
import { Movements, movementChanges } from './movements.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

type Answer = AnswerOf<typeof getPayoutAnswer>

type Listed = AnswerOf<typeof listPayoutAnswers>['data'][number]

/** Reads the answer that the page shows. */
function readShown({ api, account, query }: Visit) {
  return api.call(getPayoutAnswer, { account, hash: query.hash ?? '' })
}

const changes: NonNullable<Page['changes']> = {
  upload: {
    done: 'The file is read.',
    next: (answer, { path }) => withQuery(path, { hash: (answer as Answer).hash }),
    perform(values, { api, account }) {
      const { file } = values
      if (!file) throw refused('Choose a file.')
      const named = Object.keys(COLUMNS).filter((name) => values(name).trim())
      return api.call(previewPayoutAnswer, {
        ...{ account, file, ...pick(values, 'payer', 'day_order') },
        ...Object.fromEntries(named.map((name) => [name, values(name).trim()])),
      })
    },
  },
  ...movementChanges(readShown),
  book: {
    done: 'The answer is booked.',
    perform: (values, { api, account }) =>
      api.call(applyPayoutAnswer, { account, hash: values('hash') }),
  },
}

/** The columns of a CSV that a member may name. */
const COLUMNS = {
  day_column: 'Booking day',
  amount_column: 'Amount',
  out_column: 'What left, if it is a column of its own',
  in_column: 'What came, if it is a column of its own',
  currency_column: 'Currency',
}

/** Renders the fields that name columns: open once a file was refused. */
const ColumnFields = (_: object, { refused: isRefused }: Visit = useVisit()) => (
  <details open={isRefused?.change === 'upload'}>
    <summary>The file is a CSV that is not recognised</summary>
    <p>Write the headings of its columns as it has them. They are remembered for the payer.</p>
    {Object.entries(COLUMNS).map(([name, label]) => (
      <Field change="upload" name={name} label={label} />
    ))}
  </details>
)

/** Returns the fields of the file, and of its payer if there are several. */
async function uploadFields({ api, account }: Visit): Promise<Input[]> {
  const { data } = await api.call(PAYER.list, { account })
  const payers = data.filter((one) => one.payable_from !== null).map(({ payer }) => payer)
  const file: Input = {
    name: 'file',
    type: 'file',
    label: 'File of the bank',
    required: true,
    attributes: { accept: '.xml,.csv,.txt,.zip' },
    hint: 'camt.052, camt.053, camt.054 or pain.002, also in a ZIP file, or CSV of a bank, Wise, Revolut, Mercury or PayPal, or with the columns Paid on, Amount, Currency and Reference, where a negative amount is a return. At most 10 MiB.',
  }
  const order: Input = {
    name: 'day_order',
    label: 'Order of days such as 05/11/2026',
    options: [
      ['', 'As the file shows'],
      ['day_first', 'Day first'],
      ['month_first', 'Month first'],
    ],
  }
  const payer: Input = {
    name: 'payer',
    options: ['', ...payers].map((one) => [one, one] as const),
    hint: 'Needed if the file does not name its account.',
  }
  return payers.length > 1 ? [file, payer, order] : [file, order]
}

const most = (rows: readonly object[], count: number) =>
  count > rows.length ? `, of which the first ${rows.length} are listed` : ''

/** Renders when an answer was booked, and by whom. */
const Applied = ({ applied_at, applied_by }: Pick<Answer, 'applied_at' | 'applied_by'>) => (
  <>
    <Time at={applied_at} /> by {applied_by && <Actor actor={applied_by} />}
  </>
)

const resultOf = ({ booked, doubts }: Listed): string =>
  [
    ...booked.map(
      ({ becomes, count, amount, currency }) =>
        `${count} ${stateWords(becomes)}, ${amountText(amount, currency)}`,
    ),
    ...(doubts > 0 ? [counted(doubts, 'doubt')] : []),
  ].join('; ') || 'Nothing new'

/** Renders the answers that are booked, the latest first. */
const Read = ({ data, meta }: AnswerOf<typeof listPayoutAnswers>) => (
  <>
    <Table
      caption="Files that were booked, the latest first"
      rows={data}
      columns={{
        When: (one) => (
          <AccountLink at={['answers']} query={{ hash: one.hash }}>
            <Time at={one.applied_at} />
          </AccountLink>
        ),
        By: ({ applied_by }) => applied_by && <Actor actor={applied_by} />,
        File: ({ format, rows }) => `${format}, ${counted(rows, 'row')}`,
        Result: { prose: resultOf },
      }}
    />
    <Pager meta={meta} />
  </>
)

/** Renders what a file says: what is booked of it, and the rest. */
function Shown({ answer }: { answer: Answer }) {
  const { format, rows, booked, transfers, doubts, unchanged, unmatched } = answer
  const isBooked = answer.applied_at !== null
  const before = answer.booked_before
  const count = booked.reduce((all, one) => all + one.count, 0)
  return (
    <>
      {before && (
        <p class="notice">
          This file was booked already on <Applied {...before} />.{' '}
          <AccountLink at={['answers']} query={{ hash: before.hash }}>
            See what it booked
          </AccountLink>
        </p>
      )}
      {isBooked && (
        <p>
          It was booked on <Applied {...answer} />.
        </p>
      )}
      <Movements {...answer} />
      <p>
        The file is {format} with {counted(rows, 'row')}.
        {unchanged > 0 &&
          ` ${counted(unchanged, 'transfer')} of it had been booked or noted before.`}
      </p>
      <Table
        caption={isBooked ? 'What was booked' : 'What will be booked'}
        rows={booked}
        columns={{
          What: ({ becomes }) => <BatchState state={becomes} />,
          Transfers: { number: ({ count }) => count },
          Amount: 'amount',
        }}
        empty={<EmptyState title="Nothing to book" />}
      />
      {count > 0 && (
        <Table
          caption={`${counted(count, 'change')}${most(transfers, count)}`}
          rows={transfers}
          columns={{
            Affiliate: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
            Amount: 'amount',
            What: ({ becomes, reason }) => (
              <>
                <BatchState state={becomes} /> <Data text={reason ?? ''} />
              </>
            ),
            Day: ({ day }) => <Day day={day} />,
            Reference: 'transfer',
          }}
        />
      )}
      {unmatched > 0 && (
        <Table
          caption={`Not booked: ${counted(unmatched, 'row')}${most(answer.unmatched_rows, unmatched)}`}
          rows={answer.unmatched_rows}
          columns={{
            Row: ({ row, states }) => [`Row ${row}`, plainWords(states)].filter(Boolean).join(', '),
            Why: { prose: ({ detail }) => <Data text={plainWords(detail)} /> },
          }}
        />
      )}
      {!isBooked && count + doubts > 0 && (
        <ChangeForm
          change="book"
          submit={`Book ${counted(count, 'change')}${doubts > 0 ? `, note ${counted(doubts, 'doubt')}` : ''}`}
          needs="approver"
        >
          <input type="hidden" name="hash" value={answer.hash} />
        </ChangeForm>
      )}
    </>
  )
}

/** Reads the file with which a bank answers, shows what it means, and books it. */
export const answerPage: Page = {
  path: '/accounts/:account/answers',
  shows: 'account',
  section: 'Payouts',
  query: ['hash', 'cursor'],
  changes,
  fileBytes: PAYOUT_LIMITS.answerBytes,
  async render(visit) {
    const { api, account, query, path } = visit
    const { hash, cursor } = query
    const list = hash
      ? null
      : await api.call(listPayoutAnswers, { account, ...(cursor && { cursor }) })
    const body = hash ? (
      <>
        <Shown answer={await readShown(visit)} />
        <p class="quick">
          <a href={path}>Read another file</a>
        </p>
      </>
    ) : (
      <>
        <p>
          Read the file with which your bank answers a batch. You see what it means before anything
          is booked: transfers are found by their references.
        </p>
        <ChangeForm change="upload" submit="Read the file" fields={await uploadFields(visit)}>
          <ColumnFields />
        </ChangeForm>
        {list && list.data.length > 0 && <Read {...list} />}
      </>
    )
    return { title: 'The bank’s answer', body: [<PayoutTabs here="Answers" />, body] }
  },
}
