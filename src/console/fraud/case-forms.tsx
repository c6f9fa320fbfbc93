import { counted } from '../../commission/engine/reasons.ts'
import { DECISION_LIMITS } from '../../fraud/limits.ts'
import { addFraudCaseNote, decideFraudCase } from '../../fraud/operations/fraud-decisions.ts'
import type { getFraudCase } from '../../fraud/operations.ts'
import { calling } from '../../pages/calling.ts'
import { parseField } from '../../pages/form.ts'
import { useVisit, type Values } from '../../pages/page.ts'
import { Data, isolated, Time } from '../../pages/parts/data.tsx'
import { ChangeForm, Field, FoldedForm, type Option, Ticks } from '../../pages/parts/forms.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { type FraudCase, isHolding } from './case-parts.tsx'

// The forms that decide a case and add notes.

/** The most customers that a decision refuses: the form lists as many. */
export const MOST_REFUSED = DECISION_LIMITS.refused

const refuseName = (position: number): string => `refuse${position}`

/** Returns the customers that a form has ticked: those of the box for all, or each of its own. */
const readRefused = (values: Values): string[] =>
  values('refuse_all') === ''
    ? Array.from({ length: MOST_REFUSED }, (_, i) => values(refuseName(i))).filter(Boolean)
    : readAll(values('refuse_all'))

/** Returns the customers of the box for all. */
function readAll(text: string): string[] {
  const all = parseField(text)
  return Array.isArray(all) ? all.map(String) : [text]
}

/** The decisions of a case, in words. */
export const DECISIONS: readonly Option[] = [
  ['', 'Choose'],
  ['confirmed', 'Confirm: it is fraud'],
  ['dismissed', 'Dismiss: there is an honest explanation'],
]

/** What is said of the reason of a decision. */
export const DECISION_HINT = 'The case and the audit log show it.'

/** Decides a case. */
export const decide = calling(
  decideFraudCase,
  (answer) =>
    (answer as FraudCase).status === 'open'
      ? 'Your decision is recorded. A second person must agree before it takes effect.'
      : 'The case is decided.',
  (values) => {
    const refuse = readRefused(values)
    return refuse.length > 0 ? { refuse } : { from: undefined }
  },
)

/** Ends the hold that the decision of a case has kept. */
export const release = calling(
  decideFraudCase,
  (answer) =>
    (answer as FraudCase).keep_hold
      ? 'Your decision is recorded. A second person must agree before it takes effect.'
      : 'The hold is ended.',
  () => ({ decision: 'confirmed' }),
)

/** Adds a note to a case. */
export const addNote = calling(addFraudCaseNote, 'The note is added.')

/** What a person has decided of a case. */
export type Proposal = AnswerOf<typeof getFraudCase>['decisions'][number]

interface DecideProps {
  readonly found: FraudCase
  /** The number of records that the page shows, by which the API notices that some were added. */
  readonly shown: number
  /** The customers of the case, as many as a decision can refuse. */
  readonly customers: readonly string[]
  /** The number of all customers of the case. */
  readonly total: number
  /** What the form begins with; null if nobody has decided. */
  readonly proposal: Proposal | null
}

/** Says who else has decided the case: the form begins with what they decided. */
const Proposed = ({ proposal: { actor, at } }: { proposal: Proposal }) => (
  <p>
    <Actor actor={actor} /> proposed this on <Time at={at} />. Once another person records the same,
    it takes effect.
  </p>
)

/** Renders the form that decides a case. */
export const DecideForm = (props: DecideProps, visit = useVisit()) => {
  const { found, shown, customers, total, proposal } = props
  const { refused } = visit
  const sent = refused?.change === 'decide' ? refused.values : null
  const isAll = sent !== null && sent('refuse_all') !== ''
  const ticked = new Set(isAll ? [] : sent ? readRefused(sent) : proposal?.refuse)
  const isPart = total > customers.length
  return (
    <ChangeForm change="decide" submit="Record the decision" needs="approver">
      {proposal && <Proposed proposal={proposal} />}
      <input type="hidden" name="shown" value={shown} />
      <Field
        change="decide"
        name="decision"
        required
        value={proposal?.decision}
        options={DECISIONS}
      />
      <div class="short">
        <Field
          change="decide"
          name="reason"
          type="area"
          required
          value={proposal?.reason}
          hint={DECISION_HINT}
        />
      </div>
      {isHolding(found) && (
        <Ticks
          title="Payouts"
          ticks={[
            {
              name: 'keep_hold',
              value: 'yes',
              label: 'Go on holding the payouts',
              isTicked: sent ? sent('keep_hold') !== '' : proposal?.keep_hold,
            },
          ]}
          hint="Only of a case that is confirmed. Otherwise the decision ends the hold."
        />
      )}
      {customers.length > 0 && (
        <>
          <Ticks
            title="Refuse customers"
            ticks={[
              ...(customers.length > 1
                ? [
                    {
                      name: 'refuse_all',
                      value: JSON.stringify(customers),
                      label: (
                        <strong>
                          {isPart ? `The first ${customers.length} of ` : 'All '}
                          {counted(total, 'customer')}
                        </strong>
                      ),
                      isTicked: isAll,
                    },
                  ]
                : []),
              ...customers.map((id, position) => ({
                name: refuseName(position),
                value: id,
                label: <Data text={id} />,
                isTicked: ticked.has(id),
                spoken: `Refuse ${isolated(id)}`,
              })),
            ]}
            hint={
              <>
                {isPart &&
                  `A decision refuses at most ${MOST_REFUSED} customers. Refuse the others on their pages. `}
                The list has the customers with records in this case. Refuse others on their pages.
                Nobody earns commission from a refused customer. What was approved for them is taken
                back by the next statements. Their page ends the refusal.
              </>
            }
          />
          <Field
            change="decide"
            name="from"
            label="Refuse them from"
            type="date"
            value={proposal?.from ?? undefined}
            hint="Their first day without commission. Empty: from the beginning."
          />
        </>
      )}
    </ChangeForm>
  )
}

/** Renders the form that ends the hold of a confirmed case; `proposal` is that of another person. */
export const ReleaseForm = ({ proposal }: { proposal: Proposal | null }) => (
  <FoldedForm
    change="release"
    title="End the hold"
    submit="End the hold"
    needs="approver"
    isOpen={proposal !== null}
    fields={[
      {
        name: 'reason',
        type: 'area',
        required: true,
        value: proposal?.reason,
        hint: 'The case stays confirmed. The case and the audit log show the reason.',
      },
    ]}
  >
    {proposal && <Proposed proposal={proposal} />}
  </FoldedForm>
)

/** Renders the form that adds a note. */
export const NoteForm = () => (
  <FoldedForm
    change="note"
    title="Add a note"
    submit="Add the note"
    fields={[{ name: 'text', label: 'Note', type: 'area', required: true }]}
  />
)
