import { counted } from '../../commission/engine/reasons.ts'
import { refused } from '../../pages/csv-columns.ts'
import { pick } from '../../pages/form.ts'
import { type Page, useVisit, type Visit, withQuery } from '../../pages/page.ts'
import { Badge, Data, EmptyState, Pager, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { PAYOUT_LIMITS } from '../../payouts/model.ts'
import {
  applyPayoutAnswer,
  listPayoutAnswers,
  previewPayoutAnswer,
} from '../../payouts/operations/answers.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

type Answer = AnswerOf<typeof listPayoutAnswers>['data'][number]

const changes: NonNullable<Page['changes']> = {
  upload: {
    done: 'The file is read.',
    next: (answer, { path }) => withQuery(path, { hash: (answer as Answer).hash }),
    perform(values, { api, account }) {
      const { file } = values
      if (!file) throw refused('Choose a file.')
      return api.call(previewPayoutAnswer, { account, file, ...pick(values, 'payer') })
    },
  },
  book: {
    done: 'The answer is booked.',
    perform: (values, { api, account }) =>
      api.call(applyPayoutAnswer, { account, hash: values('hash') }),
  },
}

/** Returns the fields of the file, and of its payer if there are several. */
async function uploadFields({ api, account }: Visit): Promise<Input[]> {
  const { data } = await api.call(PAYER.list, { account })
  const payers = ['', ...data.map(({ payer }) => payer)]
  const file: Input = {
    ...{ name: 'file', type: 'file', label: 'File of the bank', required: true },
    attributes: { accept: '.xml,.csv,.txt' },
    hint: 'camt.053, camt.054, pain.002 or CSV, also of Wise, Revolut, Mercury and PayPal. At most 10 MiB.',
  }
  const payer: Input = {
    ...{ name: 'payer', options: payers.map((one) => [one, one] as const) },
    hint: 'Needed if the file does not name its account.',
  }
  return data.length > 1 ? [file, payer] : [file]
}

/** What a transfer becomes, in words, and the noun of what is booked. */
const WORDS = {
  paid: ['Paid', 'payment'],
  returned: ['Came back', 'return'],
  rejected: ['Rejected', 'rejection'],
  accepted: ['Accepted', 'acceptance'],
  checked: ['Another name', 'name'],
  held: ['Paid, but held by a case', ''],
} as const

/** Says what an answer books: `2 payments, 1 return`. */
function bookedWords({ booked }: Pick<Answer, 'booked'>): string {
  const sums = Map.groupBy(booked, ({ becomes }) => becomes)
  const words = [...sums].map(([becomes, own]) =>
    counted(
      own.reduce((all, { count }) => all + count, 0),
      WORDS[becomes][1],
    ),
  )
  return words.join(', ') || 'nothing'
}

/** Renders what a file says: what is booked of it, what a person should look at, and the rest. */
function Shown({ answer }: { answer: Answer }) {
  const { format, rows, booked, notices, unchanged, unmatched, applied_at, applied_by } = answer
  return (
    <>
      <p>
        The file is {format} with {counted(rows, 'row')}.{' '}
        {applied_at !== null && (
          <>
            <Actor actor={applied_by ?? ''} /> booked it at <Time at={applied_at} />.
          </>
        )}
        {unchanged > 0 && ` ${counted(unchanged, 'transfer')} of it had been booked before.`}
      </p>
      <Table
        caption={applied_at === null ? 'What will be booked' : 'What was booked'}
        rows={booked}
        columns={{
          Batch: ({ batch }) => <AccountLink at={['batches', batch]}>{batch}</AccountLink>,
          What: ({ becomes }) => WORDS[becomes][0],
          Transfers: { number: ({ count }) => count },
          Amount: 'amount',
        }}
        empty={<EmptyState title="Nothing." />}
      />
      {notices.length > 0 && (
        <Table
          caption="Look at these"
          rows={notices}
          columns={{
            Affiliate: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
            Amount: 'amount',
            What: ({ what, detail }) => (
              <>
                <Badge tone="bad">{WORDS[what][0]}</Badge> <Data text={detail ?? ''} />
              </>
            ),
            Reference: 'transfer',
          }}
        />
      )}
      {unmatched > 0 && (
        <Table
          caption={`Not booked: ${counted(unmatched, 'row')}${unmatched > 100 ? ', of which the first 100 are listed' : ''}.`}
          rows={answer.unmatched_rows}
          columns={{
            Row: ({ row }) => `Row ${row}`,
            Why: { prose: ({ detail }) => <Data text={detail} /> },
          }}
        />
      )}
      {applied_at === null && booked.length > 0 && (
        <ChangeForm change="book" submit={`Book ${bookedWords(answer)}`} needs="approver">
          <input type="hidden" name="hash" value={answer.hash} />
        </ChangeForm>
      )}
    </>
  )
}

/** The latest answers. */
const Latest = ({ rows }: { rows: readonly Answer[] }, { path } = useVisit()) => (
  <Table
    caption="The latest answers"
    rows={rows}
    columns={{
      Read: ({ hash, created_at }) => (
        <a href={withQuery(path, { hash })}>
          <Time at={created_at} />
        </a>
      ),
      File: 'format',
      'What it books': { prose: (row) => bookedWords(row) },
      'Not booked': { number: ({ unmatched }) => unmatched },
      Booked: ({ applied_at }) => (applied_at === null ? 'Not yet' : <Time at={applied_at} />),
    }}
    empty={<EmptyState title="No answers yet." />}
  />
)

/** Reads the file with which a bank answers, shows what it means, and books it. */
export const answerPage: Page = {
  path: '/accounts/:account/answers',
  section: 'Payouts',
  query: ['hash', 'cursor'],
  changes,
  fileBytes: PAYOUT_LIMITS.answerBytes,
  async render(visit) {
    const { api, account, query, path } = visit
    const { hash, cursor } = query
    const [{ data, meta }, fields] = await Promise.all([
      api.call(listPayoutAnswers, { account, hash, cursor }),
      uploadFields(visit),
    ])
    const [answer] = data
    const body =
      hash && answer ? (
        <>
          <PayoutTabs here="Answers" />
          <Shown answer={answer} />
          {answer.applied_at === null ? (
            <p class="quick">
              <a href={path}>Read another file</a>
            </p>
          ) : (
            <ChangeForm change="upload" submit="Read another file" fields={fields} />
          )}
        </>
      ) : (
        <>
          <PayoutTabs here="Answers" />
          <p>
            Read the file with which your bank answers a batch. You see what it means before
            anything is booked: transfers are found by their references.
          </p>
          <ChangeForm change="upload" submit="Read the file" fields={fields} />
          <Latest rows={data} />
          {data.length > 0 && <Pager meta={meta} />}
        </>
      )
    return { title: 'The bank’s answer', body }
  },
}
