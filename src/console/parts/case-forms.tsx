import { addFraudCaseNote, decideFraudCase } from '../../admin/fraud-decisions.ts'
import { counted, listed } from '../../commission/engine/reasons.ts'
import { caseDecision } from '../../fraud/decision-fields.ts'
import { DECISION_LIMITS } from '../../fraud/limits.ts'
import type { getFraudCase } from '../../fraud/operations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { calling } from '../calling.ts'
import { parseField, pick } from '../form.ts'
import { type Change, useVisit, type Values, VisitContext } from '../page.ts'
import { Actor } from './audit-words.tsx'
import { type FraudCase, isHolding } from './cases.tsx'
import { Data, Day, isolated, Time } from './data.tsx'
import { ChangeForm, Field, FoldedForm, type Input } from './forms.tsx'
import { changedMembers } from './schema.ts'

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

/** Decides a case. */
export const decide: Change = {
  done: (answer) =>
    (answer as FraudCase).status === 'open'
      ? 'Your decision is recorded. A second person must agree before it takes effect.'
      : 'The case is decided.',
  perform(values, { api, account, params: { case_id = '' } }) {
    const refuse = readRefused(values)
    return api.call(decideFraudCase, {
      account,
      case_id,
      ...changedMembers({ decision: caseDecision.decision }, values),
      ...(values('shown') && { shown: Number(values('shown')) }),
      reason: values('reason').trim(),
      ...(values('keep_hold') && { keep_hold: true }),
      ...(refuse.length > 0 && { refuse, ...pick(values, 'from') }),
    })
  },
}

/** Decides a case as another person has proposed. */
export const agree: Change = decide

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

/** Renders a box for each customer of the case, with what refusing them means. */
function Refuse(
  { customers, total, proposal }: Omit<DecideProps, 'found' | 'shown'>,
  visit = useVisit(),
) {
  const { refused } = visit
  const isRefused = refused?.change === 'decide'
  const isAll = isRefused && refused.values('refuse_all') !== ''
  const sent = isRefused && !isAll ? readRefused(refused.values) : []
  const ticked = new Set(isRefused ? sent : proposal?.refuse)
  return (
    <fieldset class="choices">
      <legend>Refuse customers</legend>
      {customers.length > 1 && (
        <label>
          <input
            type="checkbox"
            name="refuse_all"
            value={JSON.stringify(customers)}
            checked={isAll}
          />{' '}
          <strong>
            {total > customers.length
              ? `The first ${customers.length} of ${counted(total, 'customer')}`
              : `All ${counted(total, 'customer')}`}
          </strong>
        </label>
      )}
      {customers.map((id, position) => (
        <label>
          <input
            type="checkbox"
            name={refuseName(position)}
            value={id}
            checked={ticked.has(id)}
            aria-label={`Refuse ${isolated(id)}`}
          />{' '}
          <Data text={id} />
        </label>
      ))}
      <p class="note">
        {total > customers.length &&
          `A decision refuses at most ${MOST_REFUSED} customers. Refuse the others on their pages. `}
        The list has the customers with records in this case. Refuse others on their pages. Nobody
        earns commission from a refused customer. What was approved for them is taken back by the
        next statements. Their page ends the refusal.
      </p>
    </fieldset>
  )
}

/** Renders the form that decides a case. */
export const DecideForm = (props: DecideProps, visit = useVisit()) => {
  const { found, shown, customers, total, proposal } = props
  const { refused } = visit
  const keeps =
    refused?.change === 'decide' ? refused.values('keep_hold') !== '' : proposal?.keep_hold
  return (
    // The page says what changed of the records.
    <VisitContext.Provider
      value={
        refused?.changed
          ? { ...visit, refused: { ...refused, detail: 'Check the records, and decide again.' } }
          : visit
      }
    >
      <ChangeForm change="decide" submit="Record the decision" needs="approver">
        <input type="hidden" name="shown" value={shown} />
        <Field
          change="decide"
          name="decision"
          required
          value={proposal?.decision}
          options={[
            ['', 'Choose'],
            ['confirmed', 'Confirm: it is fraud'],
            ['dismissed', 'Dismiss: there is an honest explanation'],
          ]}
        />
        <div class="short">
          <Field
            change="decide"
            name="reason"
            type="area"
            required
            value={proposal?.reason}
            hint="The case and the audit log show it."
          />
        </div>
        {isHolding(found) && (
          <div class="choices">
            <label>
              <input type="checkbox" name="keep_hold" value="yes" checked={keeps} /> Go on holding
              the payouts
            </label>
            <p class="note">
              Only of a case that is confirmed. Otherwise the decision ends the hold.
            </p>
          </div>
        )}
        {customers.length > 0 && (
          <>
            <Refuse customers={customers} total={total} proposal={proposal} />
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
    </VisitContext.Provider>
  )
}

/** Says what a proposed decision does, as a sentence. */
function ProposalWords({ found, proposal }: { found: FraudCase; proposal: Proposal }) {
  const { decision, keep_hold, refuse, from } = proposal
  const hold = isHolding(found) && (keep_hold ? 'the payouts stay held' : 'its hold ends')
  return (
    <p>
      The case is <strong>{decision}</strong>
      {refuse.length > 0 && (
        <>
          , {listed(refuse.slice(0, NAMED).map(isolated))}
          {refuse.length > NAMED && ` and ${refuse.length - NAMED} more`}{' '}
          {refuse.length === 1 ? 'is' : 'are'} refused from{' '}
          {from === null ? 'the beginning' : <Day day={from} />} on
        </>
      )}
      {hold && `, and ${hold}`}.
    </p>
  )
}

/** The refused customers that a sentence names. */
const NAMED = 5

interface AgreeProps {
  readonly found: FraudCase
  readonly shown: number
  readonly proposal: Proposal
}

/** Returns the field of the reason of a second person. */
const reasonOf = ({ reason }: Proposal): Input => ({
  name: 'reason',
  label: 'Your reason',
  type: 'area',
  required: true,
  value: reason,
})

/** Renders the form by which a second person decides what the first one has proposed. */
export const AgreeForm = ({ found, shown, proposal }: AgreeProps) => (
  <ChangeForm
    change="agree"
    submit="Agree"
    needs="approver"
    fields={[
      {
        ...reasonOf(proposal),
        hint: 'It begins with that of the first person. The case and the audit log show both.',
      },
    ]}
  >
    <p>
      <Actor actor={proposal.actor} /> proposed it on <Time at={proposal.at} />. If you agree, it
      takes effect:
    </p>
    <ProposalWords found={found} proposal={proposal} />
    <input type="hidden" name="shown" value={shown} />
    <input type="hidden" name="decision" value={proposal.decision} />
    {proposal.keep_hold && <input type="hidden" name="keep_hold" value="yes" />}
    {proposal.refuse.length > 0 && (
      <>
        <input type="hidden" name="refuse_all" value={JSON.stringify(proposal.refuse)} />
        <input type="hidden" name="from" value={proposal.from ?? ''} />
      </>
    )}
  </ChangeForm>
)

/** Renders the form by which a second person ends the hold that the first one wants to end. */
export const AgreeReleaseForm = ({ proposal }: Pick<AgreeProps, 'proposal'>) => (
  <ChangeForm change="release" submit="Agree" needs="approver" fields={[reasonOf(proposal)]}>
    <p>
      <Actor actor={proposal.actor} /> proposed on <Time at={proposal.at} /> to end the hold. If you
      agree, it ends.
    </p>
  </ChangeForm>
)

/** Renders the form that ends the hold of a confirmed case. */
export const ReleaseForm = () => (
  <FoldedForm
    change="release"
    title="End the hold"
    submit="End the hold"
    needs="approver"
    fields={[
      {
        name: 'reason',
        type: 'area',
        required: true,
        hint: 'The case stays confirmed. The case and the audit log show the reason.',
      },
    ]}
  />
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
