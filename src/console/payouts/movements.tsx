import { type Change, dayBefore, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { refused } from '../../pages/csv-columns.ts'
import { Badge, Data, Day } from '../../pages/parts/data.tsx'
import { ChangeForm, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import type { MovementDoubt } from '../../payouts/model.ts'
import { bookTransfer, dismissMovements } from '../../payouts/operations/answers.ts'
import type { getBatch } from '../../payouts/operations/batches.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

// What moved and is not booked: pages of batches and answers show it, and what a member can do with it.

type Batch = AnswerOf<typeof getBatch>

type Movement = Batch['movements'][number]

/** Why what moved is not booked. */
const DOUBT_WORDS: Readonly<Record<MovementDoubt, string>> = {
  paid_twice: 'It left twice. Was the file uploaded twice?',
  paid_after_cancel: 'It left, although it is cancelled or refused.',
  not_booked: 'It is of another account, or of a payment that is not booked.',
}

const DIFFERENCES = {
  fee: 'The bank kept the difference',
  owed: 'The rest stays as it was',
} as const

/** What a member can do with a movement. */
const DECISIONS: readonly Option[] = [
  ['', 'Choose'],
  ['same', 'Book it: it is what was ordered'],
  ['fee', 'Book it: the bank kept the difference, which is ours'],
  ['owed', 'Book it: only this much was settled, the rest is not'],
  ['dismiss', 'Dismiss it: it needs no entry'],
]

/** Returns what names a movement in a form. */
const keyOf = ({ reference, direction, day, amount, bank_reference }: Movement): string =>
  [reference, direction, day, amount, bank_reference].join(' ')

/** Returns the difference that a member has chosen. */
const differenceOf = (kind: string, reason: string) =>
  kind === 'fee' || kind === 'owed' ? { difference: { kind, reason } as const } : {}

/** Returns the changes of a page with movements, which it reads once more. */
export const movementChanges = (
  read: (visit: Visit) => Promise<{ readonly movements: readonly Movement[] }>,
): Record<'settle', Change> => ({
  settle: {
    done: 'Done.',
    async perform(values, visit) {
      const { movements } = await read(visit)
      const chosen = movements.find((one) => keyOf(one) === values('movement'))
      if (!chosen) throw refused('Choose one of the movements. It may be decided already.')
      const { reference, direction, day: booked_on, bank_reference, amount } = chosen
      const { api, account } = visit
      const [decision, reason] = [values('decision'), values('reason')]
      if (!decision) throw refused('Choose what to do.')
      if (decision === 'dismiss') {
        return api.call(dismissMovements, { account, reference, reason })
      }
      return api.call(bookTransfer, {
        ...{ account, reference, direction, booked_on, amount: amount ?? '' },
        ...(bank_reference && { bank_reference }),
        ...differenceOf(decision, reason),
      })
    },
  },
})

/** Says why a movement is not booked, and what can be done with it, or how a member booked it. */
function wordsOf({ can_book, doubt, amount, ordered, difference, note, code, reason }: Movement) {
  if (doubt === null) return difference && `${DIFFERENCES[difference]}: ${note}`
  const isOther = doubt === 'not_booked' && ordered !== null && amount !== ordered
  const why = isOther ? 'It is not the amount that was ordered.' : DOUBT_WORDS[doubt]
  const can = can_book
    ? `Book it${isOther ? ' as a fee or with a rest' : ''}, or dismiss it.`
    : 'Ask your bank, and dismiss it once you know why.'
  const said = [code, reason].filter(Boolean).join(', ')
  return [why, can, said && `The bank says: ${said}`].filter(Boolean).join(' ')
}

/** The columns of movements. */
const COLUMNS: Columns<Movement> = {
  Reference: 'reference',
  What: ({ direction, doubt }) => (
    <Badge tone={doubt ? 'warn' : 'good'}>{direction === 'paid' ? 'Left' : 'Came back'}</Badge>
  ),
  Day: ({ day }) => <Day day={day || null} />,
  Amount: 'amount',
  Ordered: { number: ({ ordered }) => ordered },
  Why: { prose: (one) => <Data text={wordsOf(one) || ''} /> },
}

/** Renders what moved and is not booked, with what can be done, and what a member booked with a difference. */
export function Movements({ movements }: { movements: readonly Movement[] }) {
  const open = movements.filter((one) => one.doubt !== null)
  const booked = movements.filter((one) => one.doubt === null)
  return (
    <>
      {open.length > 0 && (
        <ChangeForm change="settle" submit="Do it" needs="approver" fields={DECIDE}>
          <Table
            caption="Look at it with your bank"
            rows={open}
            columns={COLUMNS}
            tick={(one, position) => (
              <input
                type="radio"
                name="movement"
                value={keyOf(one)}
                checked={position === 0}
                aria-label={`Decide ${one.reference}`}
              />
            )}
          />
        </ChangeForm>
      )}
      {booked.length > 0 && (
        <Table caption="Booked with a difference" rows={booked} columns={COLUMNS} />
      )}
    </>
  )
}

const DECIDE = [
  { name: 'decision', label: 'What to do', options: DECISIONS },
  { name: 'reason', label: 'Why', hint: 'Needed for a difference, and to dismiss it.' },
]

/** The change that books what no file of a bank says. */
export const bookByHandChange: Change = calling(bookTransfer, 'It is booked.', (values) => ({
  bank_reference: values('bank_reference').trim() || undefined,
  ...differenceOf(values('kind'), values('why')),
}))

/** Renders the form that books what no file of a bank says. */
export function BookByHand({ transfers }: Pick<Batch, 'transfers'>, { today } = useVisit()) {
  const sent = transfers.filter(({ state }) => ['exported', 'accepted', 'paid'].includes(state))
  const [first] = sent
  if (!first) return null
  return (
    <FoldedForm
      change="by-hand"
      title="Book a payment by hand"
      submit="Book it"
      needs="approver"
      fields={[
        {
          name: 'reference',
          label: 'Transfer',
          options: sent.map(({ id, name, affiliate_id, amount, currency }) => [
            id,
            `${name ?? affiliate_id}, ${amount} ${currency}, ${id}`,
          ]),
        },
        {
          name: 'direction',
          label: 'What',
          options: [
            ['paid', 'It was paid'],
            ['returned', 'It came back'],
          ],
        },
        {
          name: 'booked_on',
          label: 'On',
          type: 'date',
          value: dayBefore(today, 0),
          required: true,
        },
        { name: 'amount', value: first.amount, required: true },
        { name: 'bank_reference', label: 'Reference of the bank, or hash of the transaction' },
        {
          name: 'kind',
          label: 'If the amount differs',
          options: [['', 'It does not differ'], ...Object.entries(DIFFERENCES)],
        },
        { name: 'why', label: 'Why it differs', pointer: '/difference/reason' },
      ]}
    />
  )
}
