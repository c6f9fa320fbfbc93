import { type Change, dayBefore, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { refused } from '../../pages/csv-columns.ts'
import { Amount, Badge, Data, Day } from '../../pages/parts/data.tsx'
import { ChangeForm, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import type { MovementDoubt } from '../../payouts/model.ts'
import { bookTransfer, dismissMovements } from '../../payouts/operations/answers.ts'
import type { getBatch } from '../../payouts/operations/batches.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { compare, decimal } from '../../platform/money/decimal.ts'

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

/** What a member can do with movements, and of which it is offered. */
const DECISIONS: readonly (readonly [...Option, isOf: (one: Movement) => boolean])[] = [
  ['', 'Choose', () => true],
  ['same', 'Book it: it is what was ordered', (one) => one.can_book],
  [
    'fee',
    'Book it: the difference is a fee of the bank, which is ours',
    (one) => moreOf(one) !== 0,
  ],
  ['owed', 'Book it: only this much was settled, the rest is not', (one) => moreOf(one) < 0],
  ['dismiss', 'Dismiss it: it needs no entry', () => true],
]

/** Returns whether more (1) or less (-1) has moved than was ordered; 0 if as much, or if it cannot be booked. */
const moreOf = ({ can_book, amount, ordered }: Movement): number =>
  can_book && ordered && /^[\d.]+$/.test(amount ?? '')
    ? compare(decimal(amount ?? ''), decimal(ordered))
    : 0

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
function wordsOf(movement: Movement) {
  const { can_book, doubt, difference, note, code, reason, currency, ordered_currency } = movement
  if (doubt === null) return difference && `${DIFFERENCES[difference]}: ${note}`
  const more = moreOf(movement)
  const isOther = doubt === 'not_booked' && more !== 0
  const what = ordered_currency && currency !== ordered_currency ? 'currency' : isOther && 'amount'
  const why = what ? `It is not the ${what} that was ordered.` : DOUBT_WORDS[doubt]
  const as = isOther ? ` as a fee${more < 0 ? ' or with a rest' : ''}` : ''
  const can = can_book
    ? `Book it${as}, or dismiss it.`
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
  Ordered: {
    number: ({ ordered, ordered_currency }) =>
      ordered && <Amount value={ordered} currency={ordered_currency ?? ''} />,
  },
  Why: { prose: (one) => <Data text={wordsOf(one) || ''} /> },
}

/** Renders what moved and is not booked, with what can be done, and what a member booked with a difference. */
export function Movements({ movements }: { movements: readonly Movement[] }) {
  const open = movements.filter((one) => one.doubt !== null)
  const booked = movements.filter((one) => one.doubt === null)
  return (
    <>
      {open.length > 0 && (
        <ChangeForm change="settle" submit="Do it" needs="approver" fields={decideFields(open)}>
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

/** Returns the fields that decide on one of some movements. */
const decideFields = (open: readonly Movement[]) => [
  {
    name: 'decision',
    label: 'What to do',
    pointer: '/difference',
    options: DECISIONS.filter(([, , isOf]) => open.some(isOf)).map(
      ([value, label]): Option => [value, label],
    ),
  },
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
          pointer: '/difference',
          options: [['', 'It does not differ'], ...Object.entries(DIFFERENCES)],
        },
        { name: 'why', label: 'Why it differs', pointer: '/difference/reason' },
      ]}
    />
  )
}
